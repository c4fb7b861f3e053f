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

#include "etl/loss_table.h"
#include "relog/buffer_writer.h"
#include "relog/first_buffer.h"
#include "relog/record_sort.h"

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
    struct etwas_etl_totals totals; /* also by its header; without what another input repeats */
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
    uint16_t logger_id; /* that of the input, if there is one alone */
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

/* Returns how much of buffer 0 clock snapshots and losses may take. */
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
