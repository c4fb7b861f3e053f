/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The functions of <etwas/relog.h>, which write events of log files into another file. */
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/event_metadata.h"
#include "platform/cancel.h"
#include "reader/trace_table.h"
#include "relog/relogger.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

/* ---- open and close -------------------------------------------------------------------------- */

static uint32_t relog_larger(uint32_t left, uint32_t right)
{
    return left > right ? left : right;
}

/*
 * Returns the size of the output's buffers: as large as an input's, up to the usual size, but with
 * room for each record and for buffer 0.
 */
static uint32_t relog_buffer_bytes(const struct etwas_relogger *relogger)
{
    enum {
        USUAL_BYTES = 64 << 10,
        STEP_BYTES = 4096, /* ETW documents no smaller buffer; what describes our own class fits */
    };
    uint32_t bytes = HEADER_BYTES + relogger->inputs[relogger->base].first.bytes +
                     ETWAS_RELOG_OWN_BYTES +
                     2 * (uint32_t)sizeof(struct etwas_etl_clock_snapshot_record);

    for (uint32_t i = 0; i < relogger->count; i++) {
        const struct etwas_relog_input *input = &relogger->inputs[i];
        uint32_t record = input->record_bytes < ETWAS_ETL_LARGEST_RECORD_BYTES
                              ? input->record_bytes
                              : ETWAS_ETL_LARGEST_RECORD_BYTES;

        bytes = relog_larger(bytes, HEADER_BYTES + (uint32_t)etwas_etl_round_up_8(record));
        bytes = relog_larger(bytes,
                             input->buffer_bytes < USUAL_BYTES ? input->buffer_bytes : USUAL_BYTES);
    }
    return (bytes + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
}

/*
 * Readers do not search compressed buffers for clock snapshots, so every second one is dropped
 * until all fit in buffer 0.
 */
static void relog_thin_snapshots(struct etwas_relogger *relogger)
{
    struct etwas_clock_snapshot_list *list = &relogger->snapshots;

    while (list->count > etwas_relog_clock_snapshots_limit(relogger)) {
        size_t kept = 0;

        for (size_t i = 0; i < list->count; i++) {
            if (i % 2 == 0 || i + 1 == list->count) {
                list->snapshots[kept++] = list->snapshots[i];
            }
        }
        list->count = kept;
    }
}

/* Limits the losses to half of buffer 0. */
static void relog_limit_losses(struct etwas_relogger *relogger)
{
    size_t fit = etwas_relog_free_bytes(relogger) / 2 / sizeof(struct etwas_etl_loss_record);

    if (fit >= ETWAS_LOSSES_LEAST) {
        etwas_loss_table_limit(&relogger->losses,
                               fit < ETWAS_LOSSES ? (uint32_t)fit : ETWAS_LOSSES);
    } else {
        etwas_loss_table_clear(&relogger->losses);
    }
}

static uint32_t relog_open_writer(struct etwas_relogger *relogger, bool compressed)
{
    struct etwas_relog_writer *writer = &relogger->writer;

    writer->own = relogger->own;
    writer->buffer_bytes = relog_buffer_bytes(relogger);
    relog_limit_losses(relogger);
    if (compressed) {
        relog_thin_snapshots(relogger);
    }
    return etwas_relog_writer_open(writer, compressed);
}

static int64_t relog_unix_ns(int64_t filetime)
{
    return etwas_etl_saturate(((etwas_etl_wide)filetime - ETWAS_ETL_FILETIME_OF_1970) * 100);
}

static uint32_t relog_prepare(struct etwas_relogger *relogger, struct etwas_trace *const *traces,
                              bool compressed)
{
    const uint32_t mode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    const struct etwas_relog_input *base;
    uint32_t code;

    for (uint32_t i = 0; i < relogger->count; i++) {
        if (traces[i]->session_name != NULL ||
            (traces[i]->logfile.w.ProcessTraceMode & mode) != mode) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    code = etwas_relog_inputs_read(relogger, traces);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    base = &relogger->inputs[relogger->base];
    relogger->first_raw =
        relogger->converted ? relog_unix_ns(base->fields.start_filetime) : base->first_raw;
    relogger->last_key = relogger->first_raw;
    code = relog_open_writer(relogger, compressed);
    return code == ERROR_SUCCESS ? etwas_relog_sort_open(&relogger->sort) : code;
}

static struct etwas_relogger *relog_new(const etwas_trace_handle *traces, uint32_t count,
                                        int descriptor)
{
    struct etwas_relogger *new = calloc(1, sizeof *new);

    if (new == NULL) {
        return NULL;
    }
    new->writer.descriptor = descriptor;
    new->sort.descriptor = -1;
    new->inputs = calloc(count, sizeof *new->inputs);
    if (new->inputs == NULL) {
        free(new);
        return NULL;
    }
    new->count = count;
    for (uint32_t i = 0; i < count; i++) {
        new->inputs[i].handle = traces[i];
    }
    return new;
}

/* Reads the inputs. Cancellation is off, since reading is a cancellation point. */
static uint32_t relog_read_inputs(struct etwas_relogger *new, struct etwas_trace *const *taken,
                                  bool compressed)
{
    ETWAS_UNCANCELLED_SCOPE;

    new->logger_id = taken[0]->log.buffer.logger_id;
    return relog_prepare(new, taken, compressed);
}

uint32_t etwas_relog_open(const etwas_trace_handle *traces, uint32_t count, int descriptor,
                          uint32_t flags, etwas_relogger **relogger)
{
    struct etwas_trace **taken;
    struct etwas_relogger *new;
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    if (traces == NULL || relogger == NULL || count == 0 || count > ETWAS_TRACES ||
        (flags & ~ETWAS_RELOG_COMPRESSED) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    new = relog_new(traces, count, descriptor);
    taken = calloc(count, sizeof(struct etwas_trace *));
    if (new != NULL && taken != NULL) {
        code = etwas_trace_table_acquire(traces, count, taken);
    }
    if (code == ERROR_SUCCESS) {
        code = relog_read_inputs(new, taken, (flags & ETWAS_RELOG_COMPRESSED) != 0);
        etwas_trace_table_release(traces, count);
    }
    free(taken);
    if (code != ERROR_SUCCESS) {
        etwas_relog_close(new);
        return code;
    }
    *relogger = new;
    return ERROR_SUCCESS;
}

void etwas_relog_close(etwas_relogger *relogger)
{
    if (relogger != NULL) {
        etwas_relog_sort_free(&relogger->sort);
        etwas_relog_writer_free(&relogger->writer);
        etwas_relog_inputs_free(relogger);
        free(relogger);
    }
}

/* ---- events ---------------------------------------------------------------------------------- */

static struct etwas_relog_input *relog_find_input(struct etwas_relogger *relogger,
                                                  etwas_trace_handle trace)
{
    for (uint32_t i = 0; i < relogger->count; i++) {
        if (relogger->inputs[i].handle == trace) {
            return &relogger->inputs[i];
        }
    }
    return NULL;
}

/*
 * Finds the record as it lies on disk: the reader delivers a payload in place, at the record's end.
 * Returns false if this is not an event of the reader.
 */
static bool relog_find_record(const EVENT_RECORD *event, struct etwas_record *record)
{
    uint32_t size = event->EventHeader.Size;
    uint32_t head = size - event->UserDataLength;
    const uint8_t *bytes = event->UserData;

    return bytes != NULL && size >= event->UserDataLength && head >= ETWAS_RECORD_MEASURE_BYTES &&
           event->BufferContext.ProcessorIndex < ETWAS_RELOG_PROCESSORS &&
           etwas_record_measure(bytes - head, record) == ETWAS_RECORD_MEASURED &&
           record->size == size && etwas_record_parse(bytes - head, record) &&
           record->payload_at == head;
}

/*
 * If the clock is system time, which may have been set back, records keep the order of delivery.
 * Returns false without memory.
 */
static bool relog_keep_order(struct etwas_relog_input *input, struct etwas_relog_entry *entry)
{
    if (input->fields.clock_type != ETWAS_ETL_CLOCK_SYSTEM) {
        return true;
    }
    if (input->newest == NULL) {
        input->newest = malloc(ETWAS_RELOG_PROCESSORS * sizeof *input->newest);
        for (uint32_t i = 0; input->newest != NULL && i < ETWAS_RELOG_PROCESSORS; i++) {
            input->newest[i] = INT64_MIN;
        }
    }
    if (input->newest != NULL) {
        int64_t *newest = &input->newest[entry->processor];

        *newest = entry->key > *newest ? entry->key : *newest;
        entry->key = *newest;
    }
    return input->newest != NULL;
}

static uint16_t relog_processor_of(const struct etwas_relogger *relogger,
                                   const struct etwas_relog_input *input, const EVENT_RECORD *event)
{
    uint32_t processor = event->BufferContext.ProcessorIndex;

    if (relogger->converted && processor >= input->processors) {
        processor = input->processors > 0 ? input->processors - 1 : 0;
    }
    return (uint16_t)(input->first_processor + processor);
}

static uint32_t relog_add_record(struct etwas_relogger *relogger, struct etwas_relog_input *input,
                                 const struct etwas_record *record, const EVENT_RECORD *event)
{
    struct etwas_relog_entry entry = {
        .key = event->EventHeader.TimeStamp.QuadPart,
        .bytes = record->size,
        .processor = relog_processor_of(relogger, input, event),
        .logger_id = relogger->count == 1 ? event->BufferContext.LoggerId : 0,
    };
    const uint8_t *bytes = record->bytes;

    if (etwas_etl_round_up_8(record->size) > relogger->writer.buffer_bytes - HEADER_BYTES) {
        return ERROR_INVALID_PARAMETER;
    }
    if (relogger->converted) {
        etwas_clock_time time = {0, 0};

        (void)etwas_trace_convert_time(input->handle, entry.key, ETWAS_CLOCK_PROCESS_TRACE, &time);
        memcpy(relogger->record, bytes, record->size);
        etwas_relog_set_stamp(relogger->record, record, time.value);
        entry.key = time.value;
        bytes = relogger->record;
    }
    if (!relog_keep_order(input, &entry)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    relogger->last_key = entry.key;
    return etwas_relog_sort_add(&relogger->sort, &entry, bytes);
}

uint32_t etwas_relog_inject(etwas_relogger *relogger, etwas_trace_handle trace,
                            const EVENT_RECORD *record)
{
    struct etwas_relog_input *input;
    struct etwas_record raw;

    if (relogger == NULL || record == NULL || relogger->finished ||
        !relog_find_record(record, &raw)) {
        return ERROR_INVALID_PARAMETER;
    }
    input = relog_find_input(relogger, trace);
    if (input == NULL) {
        return ERROR_INVALID_HANDLE;
    }
    if (etwas_relog_first_buffer_skip_record(&input->first, &raw)) {
        return ERROR_SUCCESS;
    }
    return relog_add_record(relogger, input, &raw, record);
}

uint32_t etwas_relog_describe(etwas_relogger *relogger, uint8_t type, const void *payload,
                              uint32_t bytes)
{
    struct etwas_etl_full_header header;
    struct etwas_relog_entry entry;

    if (relogger == NULL || payload == NULL || relogger->finished ||
        (type != ETWAS_ETL_EVENT_INFO_TYPE && type != ETWAS_ETL_MAP_INFO_TYPE) ||
        bytes > relogger->writer.buffer_bytes - HEADER_BYTES - sizeof header ||
        bytes > ETWAS_ETL_LARGEST_RECORD_BYTES - sizeof header) {
        return ERROR_INVALID_PARAMETER;
    }
    header = etwas_etl_own_header(relogger->inputs[relogger->base].first.records,
                                  sizeof header + bytes, type, 0);
    header.guid = etwas_etl_metadata_class;
    header.time_stamp = relogger->first_raw;
    memcpy(relogger->record, &header, sizeof header);
    memcpy(relogger->record + sizeof header, payload, bytes);
    entry = (struct etwas_relog_entry){.key = relogger->first_raw, .bytes = header.size};
    return etwas_relog_sort_add(&relogger->sort, &entry, relogger->record);
}

uint32_t etwas_relog_gap(etwas_relogger *relogger)
{
    struct etwas_relog_entry entry;

    if (relogger == NULL || relogger->finished) {
        return ERROR_INVALID_PARAMETER;
    }
    entry = (struct etwas_relog_entry){.key = relogger->last_key};
    relogger->gaps++;
    return etwas_relog_sort_add(&relogger->sort, &entry, NULL);
}

uint32_t etwas_relog_finish(etwas_relogger *relogger, bool all)
{
    if (relogger == NULL || relogger->finished) {
        return ERROR_INVALID_PARAMETER;
    }
    relogger->finished = true;
    return etwas_relog_write_file(relogger, all);
}
