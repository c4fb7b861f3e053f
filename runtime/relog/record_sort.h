/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sorts records by their keys; records of one key stay in the order in which they came. What does
 * not fit in memory is sorted in pieces, which lie in a file without a name in $TMPDIR, else
 * /var/tmp, until they are merged. A piece that continues where the one before ended extends the
 * same run, so records that come in order are one run, however many they are.
 *
 * Memory: 64 MiB, and 128 KiB for each run.
 */
#ifndef ETWAS_RELOG_RECORD_SORT_H
#define ETWAS_RELOG_RECORD_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Precedes each record, which begins on a multiple of 8 behind it. */
struct etwas_relog_entry {
    int64_t key;
    uint32_t bytes; /* of the record; 0: a gap */
    uint16_t processor;
    uint16_t logger_id;
};
_Static_assert(sizeof(struct etwas_relog_entry) == 16, "no padding: written as it is");

/* An entry in memory. Entries with one key lie in the order in which they came. */
struct etwas_relog_sort_place {
    int64_t key;
    uint32_t at;
};

struct etwas_relog_run {
    /*
     * position in the file of what is left; for the last run, which is in memory, an index into
     * `places`
     */
    uint64_t at;
    uint64_t end;
    int64_t last_key;
    uint8_t *window; /* NULL: the run is in memory */
    uint32_t window_at;
    uint32_t window_bytes;
    const struct etwas_relog_entry *entry; /* its first entry that was not returned yet */
};

struct etwas_relog_sort {
    uint8_t *memory;
    uint32_t used;
    struct etwas_relog_sort_place *places;
    uint32_t count;
    bool is_in_order; /* `places` is sorted */
    int descriptor;   /* -1: everything is in memory */
    uint32_t code;    /* code of the first failure; nothing is added after it */
    uint64_t written;
    struct etwas_relog_run *runs;
    size_t run_count;
    /* runs that have an entry left; NULL until etwas_relog_sort_end */
    struct etwas_relog_run **heap;
    size_t heap_count;
};

/*
 * Opens a sort. Returns ERROR_SUCCESS or ERROR_NOT_ENOUGH_MEMORY; in both cases
 * etwas_relog_sort_free is called in the end.
 */
uint32_t etwas_relog_sort_open(struct etwas_relog_sort *sort);

/*
 * Adds a copy. Returns a code of files that cannot be made or written, or ERROR_NOT_ENOUGH_MEMORY;
 * after a failure always the same code.
 */
uint32_t etwas_relog_sort_add(struct etwas_relog_sort *sort, const struct etwas_relog_entry *entry,
                              const void *record);

/*
 * Ends adding and begins the merge. Returns ERROR_NOT_ENOUGH_MEMORY, or the code of the first
 * failed addition.
 */
uint32_t etwas_relog_sort_end(struct etwas_relog_sort *sort);

/* Returns the first entry that is left, with its record behind it; NULL: none is left. */
const struct etwas_relog_entry *etwas_relog_sort_first(const struct etwas_relog_sort *sort);

/*
 * Goes to the next entry. Returns ERROR_WRITE_FAULT if the file does not have what was written to
 * it.
 */
uint32_t etwas_relog_sort_next(struct etwas_relog_sort *sort);

void etwas_relog_sort_free(struct etwas_relog_sort *sort);

#endif
