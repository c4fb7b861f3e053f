/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records in the order of their keys; of one key in the order in which they came. What does not fit
 * in memory is sorted in pieces, and these lie in a file without a name in $TMPDIR, else /var/tmp,
 * until they are merged. A piece that goes on where the one before ended is the same run, so records
 * that come in order are one run, however many they are.
 *
 * Memory: 64 MiB, and 128 KiB for each run.
 */
#ifndef ETWAS_RELOG_RECORD_SORT_H
#define ETWAS_RELOG_RECORD_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lies before each record, which begins on a multiple of 8 behind it. */
struct etwas_relog_entry {
    int64_t key;
    uint32_t bytes; /* of the record; 0: something is missing here */
    uint16_t processor;
    uint16_t logger_id;
};
_Static_assert(sizeof(struct etwas_relog_entry) == 16, "no padding: written as it is");

/* An entry in memory. Of one key the one that came first lies first. */
struct etwas_relog_sort_place {
    int64_t key;
    uint32_t at;
};

struct etwas_relog_run {
    uint64_t
        at; /* in the file: what is left of it; of the last run, in memory, an index of `places` */
    uint64_t end;
    int64_t last_key;
    uint8_t *window; /* NULL: it is in memory */
    uint32_t window_at;
    uint32_t window_bytes;
    const struct etwas_relog_entry *entry; /* its first that was not given yet */
};

struct etwas_relog_sort {
    uint8_t *memory;
    uint32_t used;
    struct etwas_relog_sort_place *places;
    uint32_t count;
    bool is_in_order; /* the places are */
    int descriptor;   /* -1: all is in memory */
    uint32_t code;    /* of what failed: since then nothing is added */
    uint64_t written;
    struct etwas_relog_run *runs;
    size_t run_count;
    struct etwas_relog_run **heap; /* of the runs that have an entry left; NULL before the end */
    size_t heap_count;
};

/* To be ended with etwas_relog_sort_free, also where it fails: ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_relog_sort_open(struct etwas_relog_sort *sort);

/* Copies it. Codes of files that cannot be made or written, ERROR_NOT_ENOUGH_MEMORY; from then on the same code. */
uint32_t etwas_relog_sort_add(struct etwas_relog_sort *sort, const struct etwas_relog_entry *entry,
                              const void *record);

/* No more are added. ERROR_NOT_ENOUGH_MEMORY, and the code of the first that could not be added. */
uint32_t etwas_relog_sort_end(struct etwas_relog_sort *sort);

/* The first that is left, with its record behind it; NULL: none is. */
const struct etwas_relog_entry *etwas_relog_sort_first(const struct etwas_relog_sort *sort);

/* Goes on to the next. ERROR_WRITE_FAULT: the file does not have what was written to it. */
uint32_t etwas_relog_sort_next(struct etwas_relog_sort *sort);

void etwas_relog_sort_free(struct etwas_relog_sort *sort);

#endif
