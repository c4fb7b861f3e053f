/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A relogger: for each input the contents of its header when it was opened, and the output so far.
 * Records go from the sort into buffers only at the end, when the first one is known.
 *
 *     open     reads the inputs' headers (relog_inputs.c)
 *     inject   adds a record to the sort
 *     finish   writes clock snapshots, records and buffer 0 (relog_output.c)
 */
#ifndef ETWAS_RELOG_RELOGGER_H
#define ETWAS_RELOG_RELOGGER_H

#include <etwas/relog.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"
#include "etl/loss_table.h"
#include "etl/own_record.h"
#include "etl/record.h"
#include "reader/timeline.h"
#include "reader/trace.h"

/*
 * Sorts records by their keys; records of one key stay in the order in which they came. What does
 * not fit in memory is sorted in pieces, which lie in a file without a name in $TMPDIR, else
 * /var/tmp, until they are merged. A piece that continues where the one before ended extends the
 * same run, so records that come in order are one run, however many they are.
 *
 * Memory: 64 MiB, and 128 KiB for each run.
 */

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
    /* runs with entries left; NULL until etwas_relog_sort_end */
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
 * Goes to the next entry. Returns ERROR_WRITE_FAULT if what was written to the file cannot be read
 * back.
 */
uint32_t etwas_relog_sort_next(struct etwas_relog_sort *sort);

void etwas_relog_sort_free(struct etwas_relog_sort *sort);

/*
 * Puts records into buffers, which are written one after the other. Each processor has one buffer
 * that is filled, and a full one gets the next number. Buffer 0 is written by relog_output.c
 * (relogger.h).
 */

enum {
    ETWAS_RELOG_PROCESSORS = ETWAS_ETL_PROCESSOR_INDEX_MASK + 1,
};

/* The buffer that is filled for one processor. */
struct etwas_relog_buffer {
    struct etwas_etl_buffer_header header; /* `offset`: where its data end; 0: it is empty */
    int64_t key;                           /* key of its last record */
    uint64_t gaps; /* how many of the writer's gaps the processor's buffers have marked */
    uint8_t *content;
};

struct etwas_relog_writer {
    int descriptor;
    uint32_t buffer_bytes;
    /*
     * the output is in etwas' own form, where a buffer whose stamps decrease counts as damaged:
     * another one begins then
     */
    bool own;
    uint64_t gaps;       /* gaps until now: places where something was missing */
    uint32_t buffers;    /* in the file, including buffer 0 */
    uint32_t processors; /* greater than the number of any processor with a record */
    int64_t newest;      /* newest stamp of all records */
    uint64_t end;        /* end of the file */
    uint64_t last_at;    /* position of the last buffer */
    struct etwas_etl_buffer_header last;
    uint8_t *compressed; /* room for one compressed buffer; NULL: buffers are not compressed */
    void *memory;        /* memory of the compressor */
    struct etwas_relog_buffer *of[ETWAS_RELOG_PROCESSORS];
};

/*
 * Opens a writer. The caller sets descriptor, which stays its own, buffer_bytes and own; everything
 * else is 0. Room is left for buffer 0. Returns ERROR_SUCCESS or ERROR_NOT_ENOUGH_MEMORY; in both
 * cases etwas_relog_writer_free is called in the end.
 */
uint32_t etwas_relog_writer_open(struct etwas_relog_writer *writer, bool compressed);

/*
 * Adds a record that fits in a buffer, with its stamp if it has one. An entry without bytes is a
 * gap: for each processor, the buffer with its next record is marked. Returns a Win32 code if
 * writing fails.
 */
uint32_t etwas_relog_writer_add(struct etwas_relog_writer *writer,
                                const struct etwas_relog_entry *entry, const void *record,
                                const int64_t *stamp);

/* Writes the filled part of a processor's buffer, if it has any. */
uint32_t etwas_relog_writer_close_buffer(struct etwas_relog_writer *writer, uint32_t processor);

/* Does the same for all processors, and marks the last buffer in the file. */
uint32_t etwas_relog_writer_end(struct etwas_relog_writer *writer);

void etwas_relog_writer_free(struct etwas_relog_writer *writer);

/* Writes at a position. Returns a Win32 code. */
uint32_t etwas_relog_write_at(int descriptor, const void *bytes, size_t count, uint64_t position);

/*
 * Buffer 0 of the output: the records of one input's buffer 0 as they are, except what differs in
 * the output. Among the records that etwas writes for itself, the calibration and the clock are
 * taken over and the totals are computed anew; relog_output.c adds the clock snapshots.
 */

/* The contents of an input's buffer 0. */
struct etwas_relog_first_buffer {
    uint8_t *records; /* the records that the reader delivers, each on a multiple of 8 */
    uint32_t bytes;
    uint32_t passed; /* bytes of records that were delivered already */
    bool calibrated;
    bool has_trust;
    struct etwas_etl_calibration calibration;
    struct etwas_etl_clock_trust trust;
};

/* The header of the output. */
struct etwas_relog_header_facts {
    struct etwas_etl_log_header64 fields;
    struct etwas_etl_totals totals;
    bool own;       /* written by etwas */
    bool converted; /* stamps are nanoseconds since 1970 */
    int64_t first_raw;
};

enum {
    /* Records beyond this limit are ordinary events, not part of buffer 0. */
    ETWAS_RELOG_FIRST_BUFFER_BYTES = 64 << 10,
    /* The most bytes that etwas' own records add in front of the clock snapshots. */
    ETWAS_RELOG_OWN_BYTES = sizeof(struct etwas_etl_calibration_record) +
                            sizeof(struct etwas_etl_totals_record) +
                            sizeof(struct etwas_etl_clock_trust_record),
};

/* Reads buffer 0 of an input. Returns ERROR_SUCCESS or ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_relog_first_buffer_read(struct etwas_relog_first_buffer *first,
                                       struct etwas_trace *trace);

/*
 * Returns whether the record is the next one of buffer 0, and skips it then. The reader delivers
 * these before all others of the file. Later records may be identical byte for byte, since merging
 * on Windows leaves such records.
 */
bool etwas_relog_first_buffer_skip_record(struct etwas_relog_first_buffer *first,
                                          const struct etwas_record *record);

/* Returns whether its log file header has the 64-bit form. */
bool etwas_relog_first_buffer_is_wide(const struct etwas_relog_first_buffer *first);

/* Sets the stamp in a copy of a record, if it has one. */
void etwas_relog_set_stamp(uint8_t *bytes, const struct etwas_record *record, int64_t stamp);

/* Writes what buffer 0 has in front of the clock snapshots. Returns how many bytes. */
uint32_t etwas_relog_first_buffer_write(const struct etwas_relog_first_buffer *first,
                                        const struct etwas_relog_header_facts *facts,
                                        uint8_t *content);

/* Makes a clock snapshot record. Whether it is the first or the last decides the reason in it. */
struct etwas_etl_clock_snapshot_record etwas_relog_clock_snapshot(
    const struct etwas_relog_first_buffer *first, const struct etwas_clock_snapshot *snapshot,
    bool is_first, bool is_last);

struct etwas_relog_input {
    etwas_trace_handle handle;
    struct etwas_etl_log_header64 fields;
    struct etwas_etl_clock clock;
    int64_t first_raw;
    bool own;
    bool has_clock;
    uint32_t processors;      /* streams: one for each processor, and perhaps the extra one */
    uint32_t first_processor; /* number of the input's first processor in the output */
    uint32_t buffer_bytes;
    uint32_t record_bytes;          /* limit of its records */
    struct etwas_etl_totals totals; /* also from its header; without counts that others repeat */
    bool says_attempted;            /* it says how many events were attempted */
    struct etwas_relog_first_buffer first;
    int64_t *newest; /* latest key of each processor, if the clock is system time */
};

struct etwas_relogger {
    struct etwas_relog_input *inputs; /* `count` */
    uint32_t count;
    uint32_t base; /* index of the input that started first */
    bool own;      /* all inputs were written by etwas */
    /* stamps are converted, because the inputs are of several machines or of an unknown clock */
    bool converted;
    bool finished;
    int64_t first_raw;  /* in the output */
    uint16_t logger_id; /* that of the input, if there is only one */
    uint64_t gaps;
    int64_t last_key; /* key of the record that was injected last */
    struct etwas_clock_snapshot_list snapshots;
    struct etwas_loss_table losses; /* losses of all inputs, if stamps are not converted */
    struct etwas_relog_sort sort;
    struct etwas_relog_writer writer;
    uint8_t record[ETWAS_ETL_LARGEST_RECORD_BYTES]; /* a copy of a record that is changed */
};

/*
 * Reads the inputs' headers. The caller processes the traces. Returns ERROR_NOT_SUPPORTED or
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_relog_inputs_read(struct etwas_relogger *relogger,
                                 struct etwas_trace *const *traces);

void etwas_relog_inputs_free(struct etwas_relogger *relogger);

/* Returns how many bytes of buffer 0 clock snapshots and losses may take. */
static inline size_t etwas_relog_free_bytes(const struct etwas_relogger *relogger)
{
    return relogger->writer.buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES -
           relogger->inputs[relogger->base].first.bytes - ETWAS_RELOG_OWN_BYTES;
}

/* Returns how many clock snapshots fit there beside the losses. */
static inline size_t etwas_relog_clock_snapshots_limit(const struct etwas_relogger *relogger)
{
    size_t losses_bytes = relogger->losses.count * sizeof(struct etwas_etl_loss_record);

    return (etwas_relog_free_bytes(relogger) - losses_bytes) /
           sizeof(struct etwas_etl_clock_snapshot_record);
}

/* Writes the whole file. `all`: every event of the inputs was injected. */
uint32_t etwas_relog_write_file(struct etwas_relogger *relogger, bool all);

#endif
