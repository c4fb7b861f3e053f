/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "relog/relogger.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "etl/utf16.h"
#include "reader/stream.h"

/* ---- reading --------------------------------------------------------------------------------- */

static void first_buffer_store_own_record(struct etwas_relog_first_buffer *first,
                                          const struct etwas_record *record)
{
    const uint8_t *payload = record->bytes + record->payload_at;
    size_t bytes = record->size - record->payload_at;
    struct etwas_etl_full_header header;

    memcpy(&header, record->bytes, sizeof header);
    if (header.type == ETWAS_ETL_CALIBRATION_TYPE && bytes >= sizeof first->calibration) {
        first->calibrated = true;
        memcpy(&first->calibration, payload, sizeof first->calibration);
    } else if (header.type == ETWAS_ETL_CLOCK_RECORD_TYPE && bytes >= sizeof first->trust) {
        first->has_trust = true;
        memcpy(&first->trust, payload, sizeof first->trust);
    }
}

static void first_buffer_store_record(struct etwas_relog_first_buffer *first,
                                      const struct etwas_record *record)
{
    uint32_t rounded = (uint32_t)etwas_etl_round_up_8(record->size);

    if (record->own) {
        first_buffer_store_own_record(first, record);
    } else if (ETWAS_RELOG_FIRST_BUFFER_BYTES - first->bytes >= rounded) {
        memcpy(first->records + first->bytes, record->bytes, record->size);
        first->bytes += rounded;
    }
}

static size_t first_buffer_write_name(uint8_t *at, const etwas_wchar *name)
{
    enum {
        LIMIT_UNITS = 1024
    };
    size_t bytes = etwas_utf16_length(name, LIMIT_UNITS) * sizeof *name;

    memcpy(at, name, bytes); /* the bytes behind it are 0 */
    return bytes + sizeof *name;
}

/*
 * Makes the log file header as the reader has it, if its record claims to be longer than possible.
 */
static void first_buffer_make_header(struct etwas_relog_first_buffer *first,
                                     const struct etwas_file_header *log)
{
    struct etwas_etl_system_header system = {
        .version = ETWAS_ETL_LOG_HEADER_CLASS_VERSION,
        .header_type = ETWAS_ETL_SYSTEM64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .time_stamp = log->first_raw,
    };
    size_t end = sizeof system + sizeof log->fields;

    memset(first->records, 0, ETWAS_RELOG_FIRST_BUFFER_BYTES);
    memcpy(first->records + sizeof system, &log->fields, sizeof log->fields);
    end += first_buffer_write_name(first->records + end, log->names);
    end += first_buffer_write_name(first->records + end, log->log_file_name);
    system.size = (uint16_t)end;
    memcpy(first->records, &system, sizeof system);
    first->bytes = (uint32_t)etwas_etl_round_up_8(end);
}

static bool first_buffer_has_header(const struct etwas_relog_first_buffer *first)
{
    struct etwas_etl_system_header system;
    bool wide;

    memcpy(&system, first->records, sizeof system);
    wide = system.header_type == ETWAS_ETL_SYSTEM64;
    return first->bytes > 0 && (wide || system.header_type == ETWAS_ETL_SYSTEM32) &&
           system.group == ETWAS_ETL_GROUP_HEADER && system.type == 0 &&
           system.size >= sizeof system + (wide ? sizeof(struct etwas_etl_log_header64)
                                                : ETWAS_ETL_LOG_HEADER32_BYTES);
}

uint32_t etwas_relog_first_buffer_read(struct etwas_relog_first_buffer *first,
                                       struct etwas_trace *trace)
{
    struct etwas_stream stream;

    *first =
        (struct etwas_relog_first_buffer){.records = calloc(1, ETWAS_RELOG_FIRST_BUFFER_BYTES)};
    if (first->records == NULL || !etwas_stream_open(&stream, trace, &trace->log.buffer, 1)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    stream.quiet = true;
    for (enum etwas_stream_state state = etwas_stream_next_buffer(&stream);
         state == ETWAS_STREAM_RECORD; state = etwas_stream_next_record(&stream)) {
        first_buffer_store_record(first, &stream.record);
    }
    etwas_stream_close(&stream);
    if (!first_buffer_has_header(first)) {
        first_buffer_make_header(first, &trace->log);
    }
    return ERROR_SUCCESS;
}

/* Reads the record at *at and moves *at to the next. Returns false if there is none. */
static bool first_buffer_next_record(const struct etwas_relog_first_buffer *first, uint32_t *at,
                                     struct etwas_record *record)
{
    const uint8_t *bytes = first->records + *at;

    if (*at >= first->bytes || etwas_record_measure(bytes, record) != ETWAS_RECORD_MEASURED ||
        !etwas_record_parse(bytes, record)) {
        return false;
    }
    *at += (uint32_t)etwas_etl_round_up_8(record->size);
    return true;
}

bool etwas_relog_first_buffer_skip_record(struct etwas_relog_first_buffer *first,
                                          const struct etwas_record *record)
{
    uint32_t at = first->passed;
    struct etwas_record one;

    if (!first_buffer_next_record(first, &at, &one) || one.size != record->size ||
        memcmp(one.bytes, record->bytes, one.size) != 0) {
        return false;
    }
    first->passed = at;
    return true;
}

bool etwas_relog_first_buffer_is_wide(const struct etwas_relog_first_buffer *first)
{
    struct etwas_etl_system_header header;

    memcpy(&header, first->records, sizeof header);
    return header.header_type == ETWAS_ETL_SYSTEM64;
}

void etwas_relog_set_stamp(uint8_t *bytes, const struct etwas_record *record, int64_t stamp)
{
    size_t at = offsetof(struct etwas_etl_full_header, time_stamp);

    if (record->kind == ETWAS_RECORD_PERFINFO) {
        at = offsetof(struct etwas_etl_perfinfo_header, time_stamp);
    } else if (record->kind == ETWAS_RECORD_MESSAGE) {
        struct etwas_etl_message_header header;

        memcpy(&header, bytes, sizeof header);
        at = etwas_etl_message_stamp_at(header.option_flags);
    }
    if (record->has_stamp) {
        memcpy(bytes + at, &stamp, sizeof stamp);
    }
}

/* ---- what is different now ------------------------------------------------------------------- */

/*
 * Writes the header's fields. Both forms have the same beginning, and the same fields behind the
 * names.
 */
static void first_buffer_write_fields(uint8_t *payload, bool wide,
                                      const struct etwas_etl_log_header64 *fields)
{
    size_t zone = wide ? offsetof(struct etwas_etl_log_header64, time_zone)
                       : ETWAS_ETL_LOG_HEADER32_TIME_ZONE;

    memcpy(payload, &fields->start, sizeof fields->start);
    memcpy(payload + zone, &fields->time_zone,
           sizeof *fields - offsetof(struct etwas_etl_log_header64, time_zone));
}

static uint8_t *first_buffer_write_own_record(const struct etwas_relog_first_buffer *first,
                                              const struct etwas_relog_header_facts *facts,
                                              uint8_t *at, uint8_t type, const void *payload,
                                              size_t bytes)
{
    struct etwas_etl_full_header header =
        etwas_etl_own_header(first->records, sizeof header + bytes, type, 1);

    header.time_stamp = facts->first_raw;
    memcpy(at, &header, sizeof header);
    memcpy(at + sizeof header, payload, bytes);
    return at + sizeof header + bytes;
}

/*
 * Writes etwas' own records in the order of each file that etwas writes. Inputs of several machines
 * have no clock to describe.
 */
static uint8_t *first_buffer_write_own_records(const struct etwas_relog_first_buffer *first,
                                               const struct etwas_relog_header_facts *facts,
                                               uint8_t *at)
{
    struct etwas_etl_calibration calibration = first->calibration;
    struct etwas_etl_clock_trust trust = first->trust;

    if (facts->converted) {
        calibration = (struct etwas_etl_calibration){
            .version = ETWAS_ETL_CALIBRATION_VERSION,
            .clock_type = ETWAS_ETL_CLOCK_PERFORMANCE,
            .ticks = 1000000000,
            .nanoseconds = 1000000000,
            .raw_stamp = facts->first_raw,
            .qpc_ns = facts->first_raw,
            .filetime = facts->fields.start_filetime,
        };
    }
    if (first->calibrated) {
        at = first_buffer_write_own_record(first, facts, at, ETWAS_ETL_CALIBRATION_TYPE,
                                           &calibration, sizeof calibration);
    }
    at = first_buffer_write_own_record(first, facts, at, ETWAS_ETL_TOTALS_TYPE, &facts->totals,
                                       sizeof facts->totals);
    if (first->has_trust && !facts->converted) {
        /* In the output each processor has one stream. */
        trust.rows = 0;
        trust.one_stream = 0;
        at = first_buffer_write_own_record(first, facts, at, ETWAS_ETL_CLOCK_RECORD_TYPE, &trust,
                                           sizeof trust);
    }
    return at;
}

uint32_t etwas_relog_first_buffer_write(const struct etwas_relog_first_buffer *first,
                                        const struct etwas_relog_header_facts *facts,
                                        uint8_t *content)
{
    struct etwas_record record;
    uint8_t *end = content + first->bytes;
    uint32_t begin = 0;

    memcpy(content, first->records, first->bytes);
    for (uint32_t at = 0; first_buffer_next_record(first, &at, &record); begin = at) {
        if (begin == 0) {
            first_buffer_write_fields(content + record.header_bytes,
                                      etwas_relog_first_buffer_is_wide(first), &facts->fields);
        }
        etwas_relog_set_stamp(content + begin, &record, facts->first_raw);
    }
    if (facts->own) {
        end = first_buffer_write_own_records(first, facts, end);
    }
    return (uint32_t)(end - content);
}

struct etwas_etl_clock_snapshot_record etwas_relog_clock_snapshot(
    const struct etwas_relog_first_buffer *first, const struct etwas_clock_snapshot *snapshot,
    bool is_first, bool is_last)
{
    return (struct etwas_etl_clock_snapshot_record){
        .header =
            etwas_etl_own_header(first->records, sizeof(struct etwas_etl_clock_snapshot_record),
                                 ETWAS_ETL_CLOCK_SNAPSHOT_TYPE, ETWAS_ETL_CLOCK_SNAPSHOT_VERSION),
        .clock_snapshot =
            {
                .version = ETWAS_ETL_CLOCK_SNAPSHOT_VERSION,
                .reason = is_first  ? ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED
                          : is_last ? ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED
                                    : ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING,
                .raw_stamp = snapshot->raw,
                .qpc_ns = snapshot->qpc_ns,
                .filetime = snapshot->filetime,
                .suspended_ns = snapshot->suspended_ns,
                .qpc_error_ns = snapshot->qpc_error_ns,
                .filetime_error_ns = snapshot->filetime_error_ns,
            },
    };
}
