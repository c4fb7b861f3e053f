/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_window.h"

#include <etwas/winerror.h>
#include <string.h>

#include "buffer/slot.h"
#include "file/log_file_internal.h"

/* ---- which time is covered ------------------------------------------------------------------- */

/* Adds the part of a gap that is within what was requested, unless it is empty. */
static void coverage_add_gap(struct etwas_coverage *coverage, uint32_t slot, int64_t from,
                             int64_t to)
{
    from = from > coverage->begin ? from : coverage->begin;
    if (to > from) {
        coverage->gaps[coverage->gap_count++] =
            (struct etwas_coverage_gap){.slot = slot, .from = from, .to = to};
    }
}

/*
 * Limits the coverage to a slot's interval, after `from` and until `to`. Returns false, and changes
 * nothing, if the moment is not in it.
 */
static bool coverage_limit_to(struct etwas_coverage *coverage, int64_t from, int64_t to)
{
    if (coverage->moment < from || coverage->moment > to) {
        return false;
    }
    coverage->from = from > coverage->from ? from : coverage->from;
    coverage->to = to < coverage->to ? to : coverage->to;
    return true;
}

/* Finds the coverage of one slot. Returns false if what was recorded at the moment is missing. */
static bool coverage_find_slot(struct etwas_coverage *coverage,
                               const struct etwas_covered_buffer *buffers, uint32_t count)
{
    uint32_t slot = buffers[0].slot;
    uint32_t last = ETWAS_NO_BUFFER; /* the previous kept one */
    int64_t from = coverage->begin;
    int64_t to = coverage->begin; /* everything after `from` and until here is there */
    bool has_moment = false;

    for (uint32_t index = 0; index < count; index++) {
        const struct etwas_covered_buffer *buffer = &buffers[index];

        if (!buffer->kept) {
            continue;
        }
        if (buffer->previous != ETWAS_NO_BUFFER && buffer->previous != last &&
            buffer->previous_newest > to) {
            has_moment = coverage_limit_to(coverage, from, to) || has_moment;
            coverage_add_gap(coverage, slot, to, buffer->previous_newest);
            from = buffer->previous_newest;
            to = from;
        }
        last = buffer->buffer;
        to = buffer->newest > to ? buffer->newest : to;
    }
    if (buffers[count - 1].kept) {
        to = coverage->until;
    }
    has_moment = coverage_limit_to(coverage, from, to) || has_moment;
    coverage_add_gap(coverage, slot, to, coverage->until);
    return has_moment;
}

void etwas_coverage_find(struct etwas_coverage *coverage,
                         const struct etwas_covered_buffer *buffers, uint32_t count)
{
    bool has_moment = true;

    coverage->from = coverage->begin;
    coverage->to = coverage->until;
    coverage->gap_count = 0;
    for (uint32_t index = 0; index < count;) {
        uint32_t end = index + 1;

        while (end < count && buffers[end].slot == buffers[index].slot) {
            end++;
        }
        has_moment = coverage_find_slot(coverage, &buffers[index], end - index) && has_moment;
        index = end;
    }
    if (!has_moment) {
        coverage->from = coverage->moment;
        coverage->to = coverage->moment;
    }
}

/* ---- the records ----------------------------------------------------------------------------- */

/* Appends a record to the scratch buffer. */
static void window_append_record(struct etwas_log_file *file, struct etwas_drained *buffer,
                                 uint8_t type, uint8_t version, const void *payload, size_t bytes)
{
    uint8_t *to = file->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes;
    struct etwas_etl_full_header header =
        etwas_log_header_own(&file->header, sizeof header + bytes, type, version);

    header.time_stamp = buffer->newest;
    memcpy(to, &header, sizeof header);
    memcpy(to + sizeof header, payload, bytes);
    buffer->data_bytes += (uint32_t)(sizeof header + bytes);
    buffer->records++;
}

static bool window_has_room(const struct etwas_log_file *file, const struct etwas_drained *buffer)
{
    return ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes +
               sizeof(struct etwas_etl_full_header) + sizeof(struct etwas_etl_window) <=
           file->buffer_bytes;
}

struct etwas_log_write etwas_log_window_write(struct etwas_log_file *file,
                                              const struct etwas_etl_window *window,
                                              const struct etwas_coverage_gap *gaps, int64_t stamp,
                                              uint32_t sequence_number)
{
    struct etwas_log_write result = {.code = ERROR_SUCCESS};
    uint32_t gap = 0;
    bool begun = false;

    while (!begun || gap < window->missing) {
        struct etwas_drained buffer = {
            .whole = file->scratch,
            .data = file->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES,
            .time_stamp = stamp,
            .newest = stamp,
            .sequence_number = sequence_number != 0 ? sequence_number + result.written : 0,
        };
        struct etwas_log_write write = {.code = ERROR_SUCCESS};

        if (!begun) {
            window_append_record(file, &buffer, ETWAS_ETL_WINDOW_TYPE, ETWAS_ETL_WINDOW_VERSION,
                                 window, sizeof *window);
            begun = true;
        }
        for (; gap < window->missing && window_has_room(file, &buffer); gap++) {
            const struct etwas_etl_missing missing = {
                .version = ETWAS_ETL_MISSING_VERSION,
                .processor = gaps[gap].slot,
                .from_raw = gaps[gap].from,
                .to_raw = gaps[gap].to,
            };

            window_append_record(file, &buffer, ETWAS_ETL_MISSING_TYPE, ETWAS_ETL_MISSING_VERSION,
                                 &missing, sizeof missing);
        }
        etwas_log_write_buffers(file, &buffer, 1, &write);
        result.written += write.written;
        result.code = write.code;
        if (write.written == 0) {
            break;
        }
    }
    return result;
}
