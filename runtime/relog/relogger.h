/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a relogger knows: of each input what its header said when it was opened, and of the output what it has
 * so far. Records go through the sort into buffers at the end alone, when it is known which is the first.
 *
 *     open     what the inputs are (relog_inputs.c)
 *     inject   a record into the sort
 *     finish   buffer 0's facts, clock snapshots, records, buffer 0 (relog_output.c)
 */
#ifndef ETWAS_RELOG_RELOGGER_H
#define ETWAS_RELOG_RELOGGER_H

#include <etwas/relog.h>

#include "relog/buffer_writer.h"
#include "relog/first_buffer.h"
#include "relog/record_sort.h"
#include "session/loss_table.h"

struct etwas_relog_input {
    etwas_trace_handle handle;
    struct etwas_etl_log_header64 fields;
    struct etwas_etl_clock clock;
    int64_t first_raw;
    bool own;
    bool has_clock;
    uint32_t processors;      /* streams: one for each processor and perhaps the extra one */
    uint32_t first_processor; /* which the input's first is in the output */
    uint32_t buffer_bytes;
    uint32_t record_bytes;          /* no record of it is longer */
    struct etwas_etl_totals totals; /* by its header, too; without what another input tells */
    bool says_attempted;            /* how many events were */
    struct etwas_relog_first_buffer first;
    int64_t *newest; /* of each processor, by system time: the latest key */
};

struct etwas_relogger {
    struct etwas_relog_input *inputs; /* `count` */
    uint32_t count;
    uint32_t base;  /* the input that started first */
    bool own;       /* all inputs are of etwas */
    bool converted; /* they are of several machines, or of a clock that nobody knows */
    bool finished;
    int64_t first_raw;  /* in the output */
    uint16_t logger_id; /* of one input */
    uint64_t gaps;
    int64_t last_key; /* of what was injected last */
    struct etwas_clock_snapshot_list snapshots;
    struct etwas_loss_table losses; /* of all inputs, where stamps stay what they are */
    struct etwas_relog_sort sort;
    struct etwas_relog_writer writer;
    uint8_t record[ETWAS_ETL_LARGEST_RECORD_BYTES]; /* one that is changed */
};

/* Looks at the traces, which are in our hands. ERROR_NOT_SUPPORTED, ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_relog_inputs_read(struct etwas_relogger *relogger,
                                 struct etwas_trace *const *traces);

void etwas_relog_inputs_free(struct etwas_relogger *relogger);

/* What clock snapshots and losses may have of buffer 0. */
static inline size_t etwas_relog_free_bytes(const struct etwas_relogger *relogger)
{
    return relogger->writer.buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES -
           relogger->inputs[relogger->base].first.bytes - ETWAS_RELOG_OWN_BYTES;
}

/* How many clock snapshots fit there. */
static inline size_t etwas_relog_clock_snapshots_limit(const struct etwas_relogger *relogger)
{
    size_t losses_bytes = relogger->losses.count * sizeof(struct etwas_etl_loss_record);

    return (etwas_relog_free_bytes(relogger) - losses_bytes) /
           sizeof(struct etwas_etl_clock_snapshot_record);
}

/* All of the file. */
uint32_t etwas_relog_write_file(struct etwas_relogger *relogger, bool all);

#endif
