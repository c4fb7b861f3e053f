/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Makes the rows about the end of a file.
 *
 * `recorded` is the number of attempted events without those overwritten and lost. It is the
 * session's own count, not the number of events in the file. A part of a set counts the attempts
 * made while it was written, and their events may be in the next part. So `recorded` of one part is
 * meaningless by itself, and may be less than 0, modulo 2^64. The sum over a session's files is
 * right, in UInt64 too.
 *
 * The totals of an appended file cover all its sessions together. For each session but the last,
 * the events in the file are counted, and taken as all that it recorded. The rest, with all losses,
 * belongs to the last session. A snapshot or a file of another system does not state its attempts,
 * so the events in it are counted. Each snapshot of a recorder states the overwritten events again,
 * so none counts them.
 */

#include "ship/read/count.h"
#include "ship/read/partition_day.h"
#include "ship/read/rows.h"
#include "trace/losses.h"

/* Reads the losses by cause, as far as the file states them. The rest has no known cause. */
static bool read_losses(struct etwas_ship_file *file, struct etwas_ship_buffer_row *row)
{
    struct etwas_trace_losses losses = {NULL, 0, 0};
    uint64_t left = row->lost;

    if (!etwas_trace_losses_read(&losses, file->trace)) {
        return etwas_ship_file_fail(file, "there is no memory for its losses");
    }
    for (uint32_t i = 0; i < losses.count; i++) {
        const struct etwas_trace_loss *loss = &losses.list[i];
        uint64_t events = loss->events < left ? loss->events : left;

        row->lost_by[loss->cause <= ETWAS_LOST_CAUSES ? loss->cause : 0] += events;
        left -= events;
    }
    row->lost_by[0] += left;
    etwas_trace_losses_free(&losses);
    return true;
}

/* 0 attempts means that the file does not state them, unless it is a part of a set. */
static bool says_attempted(const struct etwas_ship_file *file)
{
    return file->information.attempted_events != 0 || (file->is_own && file->facts.part != 0);
}

static bool needs_counts(const struct etwas_ship_file *file)
{
    return file->facts.is_appended || !says_attempted(file);
}

/* Computes the totals of the last session. `counts` is used if they are needed. */
static void read_totals(const struct etwas_ship_file *file, const struct etwas_ship_counts *counts,
                        struct etwas_ship_buffer_row *row)
{
    const etwas_trace_information *information = &file->information;

    row->overwritten = file->facts.snapshot_of != 0 ? 0 : information->overwritten_events;
    row->lost = information->lost_events;
    row->recorded = says_attempted(file)
                        ? information->attempted_events - row->overwritten - row->lost
                        : counts->events;
    for (uint32_t i = 0; i + 1 < counts->sessions; i++) {
        row->recorded -= counts->by_session[i];
    }
}

static void put_rows(struct etwas_ship_file *file, const struct etwas_ship_counts *counts,
                     struct etwas_ship_buffer_row *row, struct etwas_columns *buffers)
{
    uint32_t day = etwas_ship_partition_day_of(file, etwas_ship_file_end_ns(file));
    struct etwas_ship_buffer_row earlier = {.state = row->state,
                                            .cpu = row->cpu,
                                            .first = row->first,
                                            .last = row->last,
                                            .ended = true};
    uint32_t last = counts->sessions > 0 ? counts->sessions - 1 : 0;

    for (uint32_t i = 0; i < last; i++) {
        earlier.recorded = counts->by_session[i];
        etwas_ship_put_buffer(buffers, file->host, file->name, etwas_ship_file_session(file, i),
                              file->facts.part, day, &earlier);
    }
    etwas_ship_put_buffer(buffers, file->host, file->name, etwas_ship_file_session(file, last),
                          file->facts.part, day, row);
}

static bool make_rows(struct etwas_ship_file *file, struct etwas_columns *buffers)
{
    const struct etwas_ship_position begin = {0, 0};
    struct etwas_ship_counts counts = {.events = 0};
    struct etwas_ship_buffer_row row = {
        .state = file->facts.part == ETWAS_SHIP_RECOVERED_PART ? ETWAS_SHIP_STATE_RECOVERED
                                                               : ETWAS_SHIP_STATE_END,
        .cpu = ETWAS_SHIP_UNKNOWN_CPU,
        .first = etwas_ship_file_start_ns(file),
        .last = etwas_ship_file_end_ns(file),
        .bytes = file->facts.bytes,
        .offset = file->facts.bytes,
        .ended = file->facts.ends_session,
    };
    bool is_made = (!needs_counts(file) || etwas_ship_count(file, &begin, &counts)) &&
                   (read_totals(file, &counts, &row), read_losses(file, &row));

    if (is_made) {
        put_rows(file, &counts, &row, buffers);
    }
    etwas_ship_counts_free(&counts);
    return is_made &&
           (!buffers->failed || etwas_ship_file_fail(file, "there is no memory for its end"));
}

enum etwas_ship_block_result etwas_ship_block_end(struct etwas_ship_file *file,
                                                  struct etwas_ship_block *block)
{
    const struct etwas_ship_position end = {file->facts.bytes, 0};

    block->bounds = (struct etwas_ship_bounds){.from = end, .until = end};
    etwas_columns_reset(block->events, &block->events->dialect);
    etwas_columns_reset(block->buffers, &block->buffers->dialect);
    if (!file->facts.has_ended) {
        (void)etwas_ship_file_fail(file, "it has no end");
        return ETWAS_SHIP_FAILED;
    }
    return make_rows(file, block->buffers) ? ETWAS_SHIP_BLOCK : ETWAS_SHIP_FAILED;
}
