/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The output: the clock snapshots that do not fit in buffer 0, the records in their order, and
 * buffer 0 last, when its contents are known.
 */
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "relog/relogger.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES
#define CLOCK_SNAPSHOT_BYTES (uint32_t)sizeof(struct etwas_etl_clock_snapshot_record)

static struct etwas_relog_first_buffer *relog_first_buffer_of(struct etwas_relogger *relogger)
{
    return &relogger->inputs[relogger->base].first;
}

/* ---- clock snapshots ------------------------------------------------------------------------- */

/* Returns how many clock snapshots lie in buffers of their own: those behind the first one. */
static size_t relog_moved_snapshot_count(struct etwas_relogger *relogger)
{
    enum {
        LEAST = 8
    };
    size_t count = relogger->snapshots.count;
    uint32_t data_bytes = relogger->writer.buffer_bytes - HEADER_BYTES;
    size_t room = etwas_relog_clock_snapshots_limit(relogger);
    size_t rest;

    if (count <= room) {
        return 0;
    }
    rest = (count - room) % (data_bytes / CLOCK_SNAPSHOT_BYTES);
    /* No such buffer holds fewer than LEAST. */
    return count - room + (rest != 0 && rest < LEAST && room > 2 * LEAST ? LEAST - rest : 0);
}

static struct etwas_etl_clock_snapshot_record relog_snapshot_at(struct etwas_relogger *relogger,
                                                                size_t index)
{
    return etwas_relog_clock_snapshot(relog_first_buffer_of(relogger),
                                      &relogger->snapshots.snapshots[index], index == 0,
                                      index + 1 == relogger->snapshots.count);
}

/* Writes the moved clock snapshots. No record of processor 0 is older than their stamps. */
static uint32_t relog_write_snapshots(struct etwas_relogger *relogger)
{
    const struct etwas_relog_entry *oldest = etwas_relog_sort_first(&relogger->sort);
    struct etwas_relog_entry entry = {.key = relogger->first_raw, .bytes = CLOCK_SNAPSHOT_BYTES};
    size_t moved = relog_moved_snapshot_count(relogger);
    uint32_t code = ERROR_SUCCESS;

    if (oldest != NULL && oldest->key < entry.key) {
        entry.key = oldest->key;
    }
    for (size_t i = 1; i <= moved && code == ERROR_SUCCESS; i++) {
        struct etwas_etl_clock_snapshot_record record = relog_snapshot_at(relogger, i);

        record.header.time_stamp = entry.key;
        code = etwas_relog_writer_add(&relogger->writer, &entry, &record, &entry.key);
    }
    return code == ERROR_SUCCESS ? etwas_relog_writer_close_buffer(&relogger->writer, 0) : code;
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t relog_write_records(struct etwas_relogger *relogger)
{
    const struct etwas_relog_entry *entry;
    uint32_t code = ERROR_SUCCESS;

    while (code == ERROR_SUCCESS && (entry = etwas_relog_sort_first(&relogger->sort)) != NULL) {
        const uint8_t *bytes = (const uint8_t *)(entry + 1);
        struct etwas_record record = {0};

        if (entry->bytes > 0 && etwas_record_measure(bytes, &record) == ETWAS_RECORD_MEASURED) {
            (void)etwas_record_parse(bytes, &record);
        }
        code = etwas_relog_writer_add(&relogger->writer, entry, bytes,
                                      record.has_stamp ? &record.stamp : NULL);
        if (code == ERROR_SUCCESS) {
            code = etwas_relog_sort_next(&relogger->sort);
        }
    }
    return code;
}

/* ---- buffer 0 -------------------------------------------------------------------------------- */

static uint32_t relog_saturate(uint64_t count)
{
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

/*
 * Returns whether the input, or a recovered file of the same session, says how many events were
 * attempted.
 */
static bool relog_input_says_attempted(const struct etwas_relogger *relogger, uint32_t index)
{
    const struct etwas_etl_log_header64 *own = &relogger->inputs[index].fields;

    for (uint32_t i = 0; i < relogger->count; i++) {
        const struct etwas_relog_input *other = &relogger->inputs[i];

        if (other->says_attempted &&
            (i == index || (other->totals.ends & ETWAS_ETL_ENDS_RECOVERED) != 0) &&
            other->fields.start_filetime == own->start_filetime &&
            other->fields.clock_type == own->clock_type) {
            return true;
        }
    }
    return false;
}

/*
 * Returns whether another file of the same session states at least as many processes that could not
 * log, so that this file's are not added. The first of equal ones counts.
 */
static bool relog_input_is_repeated(const struct etwas_relogger *relogger, uint32_t index)
{
    const struct etwas_relog_input *own = &relogger->inputs[index];

    for (uint32_t i = 0; i < relogger->count; i++) {
        const struct etwas_relog_input *other = &relogger->inputs[i];
        const uint32_t more = other->totals.unattached_processes;

        if (i != index && other->fields.start_filetime == own->fields.start_filetime &&
            other->fields.clock_type == own->fields.clock_type &&
            (more > own->totals.unattached_processes ||
             (more == own->totals.unattached_processes && i < index))) {
            return true;
        }
    }
    return false;
}

static struct etwas_etl_totals relog_output_totals(const struct etwas_relogger *relogger, bool all)
{
    struct etwas_etl_totals sum = {.version = ETWAS_ETL_TOTALS_VERSION};

    all = all && relogger->gaps == 0;
    for (uint32_t i = 0; i < relogger->count; i++) {
        const struct etwas_etl_totals *totals = &relogger->inputs[i].totals;

        sum.overwritten_events += totals->overwritten_events;
        sum.overwritten_buffers += totals->overwritten_buffers;
        sum.lost_events += totals->lost_events;
        sum.lost_buffers += totals->lost_buffers;
        sum.attempted_events += totals->attempted_events;
        if (totals->unattached_code != 0 && !relog_input_is_repeated(relogger, i)) {
            sum.unattached_code = totals->unattached_code;
            sum.unattached_processes = etwas_etl_saturate16((uint32_t)sum.unattached_processes +
                                                            totals->unattached_processes);
        }
        all = all && relog_input_says_attempted(relogger, i);
    }
    sum.lost_buffers += relogger->gaps;
    sum.attempted_events = all ? sum.attempted_events : 0;
    return sum;
}

static int64_t relog_output_end(const struct etwas_relogger *relogger)
{
    const struct etwas_relog_input *base = &relogger->inputs[relogger->base];
    int64_t end = base->fields.start_filetime;
    bool unfinished = false;

    for (uint32_t i = 0; i < relogger->count; i++) {
        int64_t ended = relogger->inputs[i].fields.start.end_filetime;

        end = ended > end ? ended : end;
        unfinished |= ended == 0;
    }
    if (unfinished && relogger->writer.newest != INT64_MIN) {
        int64_t newest = relogger->converted
                             ? relogger->writer.newest / 100 + ETWAS_ETL_FILETIME_OF_1970
                             : etwas_etl_clock_to_filetime(&base->clock, relogger->writer.newest);

        end = newest > end ? newest : end;
    }
    return end;
}

static bool relog_output_is_compressed(const struct etwas_relogger *relogger)
{
    return relogger->writer.compressed != NULL;
}

static uint32_t relog_output_mode(const struct etwas_relogger *relogger)
{
    static const uint32_t of_files = EVENT_TRACE_FILE_MODE_CIRCULAR | EVENT_TRACE_FILE_MODE_APPEND |
                                     EVENT_TRACE_FILE_MODE_NEWFILE |
                                     EVENT_TRACE_FILE_MODE_PREALLOCATE |
                                     EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_REAL_TIME_MODE |
                                     EVENT_TRACE_COMPRESSED_MODE | EVENT_TRACE_ADDTO_TRIAGE_DUMP;
    uint32_t mode = relogger->inputs[relogger->base].fields.start.log_file_mode & ~of_files;

    /* If the processors of one input are known, they are shown. */
    for (uint32_t i = 0; i < relogger->count; i++) {
        mode &= relogger->inputs[i].fields.start.log_file_mode |
                ~EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING;
    }
    return mode | EVENT_TRACE_FILE_MODE_SEQUENTIAL | EVENT_TRACE_RELOG_MODE |
           (relog_output_is_compressed(relogger) ? EVENT_TRACE_COMPRESSED_MODE : 0);
}

static struct etwas_relog_header_facts relog_output_facts(const struct etwas_relogger *relogger,
                                                          bool all)
{
    struct etwas_relog_header_facts facts = {
        .fields = relogger->inputs[relogger->base].fields,
        .totals = relog_output_totals(relogger, all),
        .own = relogger->own,
        .converted = relogger->converted,
        .first_raw = relogger->first_raw,
    };
    struct etwas_etl_log_header_start *start = &facts.fields.start;

    start->buffer_bytes = relogger->writer.buffer_bytes;
    start->version[2] = relog_output_is_compressed(relogger) ? 2 : 1; /* version of the layout */
    start->version[3] = relog_output_is_compressed(relogger) ? 0 : 5;
    start->end_filetime = relog_output_end(relogger);
    start->maximum_file_size = 0;
    start->pointer_bytes =
        etwas_relog_first_buffer_is_wide(&relogger->inputs[relogger->base].first) ? 8 : 4;
    start->log_file_mode = relog_output_mode(relogger);
    start->buffers_written = relogger->writer.buffers;
    start->start_buffers = 1;
    start->events_lost = relog_saturate(facts.totals.lost_events);
    facts.fields.buffers_lost = relog_saturate(facts.totals.lost_buffers);
    start->number_of_processors = relogger->writer.processors;
    for (uint32_t i = 0; i < relogger->count; i++) {
        const struct etwas_relog_input *input = &relogger->inputs[i];

        if (input->first_processor + input->processors > start->number_of_processors) {
            start->number_of_processors = input->first_processor + input->processors;
        }
    }
    if (relogger->converted) {
        facts.fields.clock_type = ETWAS_ETL_CLOCK_PERFORMANCE;
        facts.fields.performance_frequency_hz = 1000000000;
    }
    return facts;
}

/* Writes the losses behind the clock snapshots. Returns how many bytes. */
static uint32_t relog_write_losses(struct etwas_relogger *relogger, uint8_t *at)
{
    struct etwas_etl_loss_record record = {
        .header = etwas_etl_own_header(relog_first_buffer_of(relogger)->records, sizeof record,
                                       ETWAS_ETL_LOSS_TYPE, ETWAS_ETL_LOSS_VERSION),
    };

    for (uint32_t i = 0; i < relogger->losses.count; i++) {
        record.loss = relogger->losses.losses[i];
        memcpy(at + i * sizeof record, &record, sizeof record);
    }
    return relogger->losses.count * (uint32_t)sizeof record;
}

static uint32_t relog_write_first_buffer(struct etwas_relogger *relogger, bool all)
{
    const struct etwas_relog_writer *writer = &relogger->writer;
    const struct etwas_relog_header_facts facts = relog_output_facts(relogger, all);
    size_t moved = relog_moved_snapshot_count(relogger);
    uint32_t end;
    struct etwas_etl_buffer_header header = {
        .buffer_bytes = writer->buffer_bytes,
        .logger_id = relogger->count == 1 ? relogger->logger_id : 0,
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_FLUSH_MARKER,
        .type = ETWAS_ETL_BUFFER_HEADER,
    };
    uint8_t *content = malloc(writer->buffer_bytes);
    uint32_t code;

    if (content == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    memset(content, ETWAS_ETL_PADDING_BYTE, writer->buffer_bytes);
    end = HEADER_BYTES + etwas_relog_first_buffer_write(relog_first_buffer_of(relogger), &facts,
                                                        content + HEADER_BYTES);
    for (size_t i = 0; i < relogger->snapshots.count; i++) {
        if (i == 0 || i > moved) {
            struct etwas_etl_clock_snapshot_record record = relog_snapshot_at(relogger, i);

            memcpy(content + end, &record, sizeof record);
            end += CLOCK_SNAPSHOT_BYTES;
        }
    }
    end += relog_write_losses(relogger, content + end);
    header.offset = end;
    header.saved_offset = end;
    header.current_offset = end;
    memcpy(content, &header, sizeof header);
    code = etwas_relog_write_at(writer->descriptor, content, writer->buffer_bytes, 0);
    free(content);
    return code;
}

uint32_t etwas_relog_write_file(struct etwas_relogger *relogger, bool all)
{
    uint32_t code = etwas_relog_sort_end(&relogger->sort);

    if (code == ERROR_SUCCESS) {
        code = relog_write_snapshots(relogger);
    }
    if (code == ERROR_SUCCESS) {
        code = relog_write_records(relogger);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_relog_writer_end(&relogger->writer);
    }
    return code == ERROR_SUCCESS ? relog_write_first_buffer(relogger, all) : code;
}
