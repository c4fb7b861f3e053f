/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_header.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "clock/trust.h"
#include "etl/layout.h"
#include "etl/own_record.h"
#include "etl/utf16.h"
#include "file/log_file.h"
#include "platform/machine.h"
#include "platform/processor.h"
#include "platform/thread.h"

enum {
    PROVIDER_VERSION = 19045,
    TIMER_RESOLUTION_100NS = 156250,
    NAME_LIMIT_UNITS = 4096,
    /* A rate measured over less than this is no better than the calibration made at the start. */
    RATE_NS = 1000000000,
};

static const uint8_t layout_version[4] = {10, 0, 1, 5};
static const uint8_t compressed_layout_version[4] = {10, 0, 2, 0};

static struct etwas_etl_buffer_header header_buffer_header(
    const struct etwas_log_file_options *options, uint32_t bytes)
{
    return (struct etwas_etl_buffer_header){
        .buffer_bytes = options->buffer_bytes,
        .saved_offset = bytes,
        .current_offset = bytes,
        .logger_id = options->logger_id,
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .offset = bytes,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_FLUSH_MARKER,
        .type = ETWAS_ETL_BUFFER_HEADER,
    };
}

static uint32_t header_cpu_speed_mhz(const struct etwas_log_file_options *options)
{
    enum {
        HZ_A_MHZ = 1000000
    };

    if (options->clock == ETWAS_CLOCK_KIND_TSC) {
        return (uint32_t)((etwas_clock_tsc_frequency_hz() + HZ_A_MHZ / 2) / HZ_A_MHZ);
    }
    return etwas_system_cpu_speed_mhz();
}

uint32_t etwas_log_header_timer_resolution(const struct etwas_log_file_options *options)
{
    return options->process_times ? ETWAS_ETL_TIMES_TICK_100NS : TIMER_RESOLUTION_100NS;
}

/*
 * Returns when the machine was booted, relative to the wall clock at the session's start, because
 * the wall clock may have been set since.
 */
static int64_t header_boot_filetime(const struct etwas_log_file_options *options)
{
    const struct etwas_clock_reading *started = &options->started;
    int64_t slewed_ns = etwas_clock_ns(CLOCK_MONOTONIC) - etwas_clock_qpc();

    return etwas_clock_reading_filetime(started, options->clock) -
           (started->qpc_ns + slewed_ns + started->suspended_ns) / 100;
}

/* Stores the version for the mode: a file with compressed buffers has another layout. */
static void header_store_version(struct etwas_etl_log_header64 *log)
{
    bool compressed = (log->start.log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0;

    memcpy(log->start.version, compressed ? compressed_layout_version : layout_version,
           sizeof layout_version);
}

static void header_fill(struct etwas_etl_log_header64 *log,
                        const struct etwas_log_file_options *options)
{
    *log = (struct etwas_etl_log_header64){
        .start =
            {
                .buffer_bytes = options->buffer_bytes,
                .provider_version = PROVIDER_VERSION,
                .number_of_processors = options->processors,
                .timer_resolution_100ns = etwas_log_header_timer_resolution(options),
                .maximum_file_size = options->maximum_file_size,
                .log_file_mode = options->log_file_mode,
                .buffers_written = 1,
                .start_buffers = 1,
                .pointer_bytes = sizeof(void *),
                .cpu_speed_mhz = header_cpu_speed_mhz(options),
            },
        .boot_filetime = header_boot_filetime(options),
        .performance_frequency_hz = ETWAS_CLOCK_NS_PER_SECOND,
        .start_filetime = etwas_clock_reading_filetime(&options->started, options->clock),
        .clock_type = options->clock,
    };
    header_store_version(log);
    etwas_system_time_zone(&log->time_zone);
}

/* The ratio of the clock's ticks to nanoseconds, between two readings or as calibrated. */
static void header_set_rate(struct etwas_etl_calibration *calibration, uint32_t clock,
                            const struct etwas_clock_reading *first,
                            const struct etwas_clock_reading *last)
{
    calibration->ticks = etwas_clock_frequency(clock);
    calibration->nanoseconds = (uint64_t)ETWAS_CLOCK_NS_PER_SECOND;
    if (clock == ETWAS_CLOCK_KIND_TSC && last->qpc_ns - first->qpc_ns >= RATE_NS &&
        last->tsc > first->tsc &&
        (uint64_t)(last->tsc - first->tsc) <= ETWAS_ETL_CALIBRATION_LARGEST) {
        calibration->ticks = (uint64_t)(last->tsc - first->tsc);
        calibration->nanoseconds = (uint64_t)(last->qpc_ns - first->qpc_ns);
    }
}

struct etwas_etl_full_header etwas_log_header_own(const struct etwas_log_header *header,
                                                  size_t size, uint8_t type, uint16_t version)
{
    return etwas_etl_own_header(header->content + ETWAS_ETL_BUFFER_HEADER_BYTES, size, type,
                                version);
}

static void header_write_calibration(const struct etwas_log_header *header)
{
    struct etwas_etl_calibration_record record = {
        .header = etwas_log_header_own(header, sizeof record, ETWAS_ETL_CALIBRATION_TYPE,
                                       ETWAS_ETL_CALIBRATION_VERSION),
        .calibration =
            {
                .version = ETWAS_ETL_CALIBRATION_VERSION,
                .clock_type = header->clock,
                .raw_stamp = etwas_clock_reading_stamp(&header->started, header->clock),
                .qpc_ns = header->started.qpc_ns,
                .filetime = etwas_clock_reading_filetime(&header->started, header->clock),
            },
    };

    header_set_rate(&record.calibration, header->clock, &header->started, &header->started);
    memcpy(header->content + header->calibration_offset, &record, sizeof record);
}

static void header_write_totals(const struct etwas_log_header *header)
{
    struct etwas_etl_totals_record record = {
        .header = etwas_log_header_own(header, sizeof record, ETWAS_ETL_TOTALS_TYPE,
                                       ETWAS_ETL_TOTALS_VERSION),
        .totals = header->earlier,
    };

    memcpy(header->content + header->totals_offset, &record, sizeof record);
}

/* Writes the clock record. Only a session that requested the TSC waits until it is measured. */
static void header_write_clock(const struct etwas_log_header *header,
                               const struct etwas_log_file_options *options)
{
    uint32_t requested = options->requested_clock != 0 ? options->requested_clock : options->clock;
    const etwas_clock_trust *trust =
        requested == ETWAS_CLOCK_KIND_TSC ? etwas_clock_trust_here() : etwas_clock_trust_known();
    struct etwas_etl_clock_trust_record record = {
        .header = etwas_log_header_own(header, sizeof record, ETWAS_ETL_CLOCK_RECORD_TYPE,
                                       ETWAS_ETL_CLOCK_RECORD_VERSION),
        .clock =
            {
                .version = ETWAS_ETL_CLOCK_RECORD_VERSION,
                .requested_clock = requested,
                .clock_type = header->clock,
                .verdict = trust->verdict,
                .reasons = trust->reasons,
                .stated_by = trust->stated_by,
                .frequency_hz = trust->frequency_hz,
                .stated_hz = trust->stated_hz,
                .frequency_error_ppb = trust->frequency_error_ppb,
                .processors = (uint16_t)etwas_processor_count(),
                .rows = (uint8_t)options->rows,
                .one_stream = options->one_stream,
                .protocol = (uint8_t)options->protocol,
                .sequences = (uint8_t)options->sequences,
            },
    };

    memcpy(record.clock.clocksource, trust->clocksource, sizeof record.clock.clocksource - 1);
    memcpy(record.clock.hypervisor, trust->hypervisor, sizeof record.clock.hypervisor);
    memcpy(header->content + header->totals_offset + sizeof(struct etwas_etl_totals_record),
           &record, sizeof record);
}

/*
 * Copies the header that was built when the session began, which describes the machine at that
 * time.
 */
static void header_copy_first(struct etwas_log_header *header,
                              const struct etwas_log_file_options *options)
{
    struct etwas_etl_log_header64 log;

    header->bytes = options->first_bytes;
    memcpy(header->content, options->first, options->first_bytes);
    memcpy(&log, header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, sizeof log);
    log.start.log_file_mode = options->log_file_mode;
    header_store_version(&log);
    memcpy(header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, &log, sizeof log);
}

uint32_t etwas_log_header_build(struct etwas_log_header *header,
                                const struct etwas_log_file_options *options)
{
    size_t session_units = etwas_utf16_length(options->session_name, NAME_LIMIT_UNITS);
    size_t file_units = etwas_utf16_length(options->file_name, NAME_LIMIT_UNITS);
    struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_etl_system_header system = {
        .version = ETWAS_ETL_LOG_HEADER_CLASS_VERSION,
        .header_type = ETWAS_ETL_SYSTEM64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = (uint16_t)etwas_etl_log_header_record_bytes(session_units, file_units),
        .thread_id = ids.thread_id,
        .process_id = ids.process_id,
        .time_stamp = etwas_clock_reading_stamp(&options->started, options->clock),
    };
    struct etwas_etl_buffer_header buffer;
    struct etwas_etl_log_header64 log;
    uint8_t *names;

    *header = (struct etwas_log_header){
        .bytes = etwas_etl_first_clock_snapshot_offset(session_units, file_units),
        .clock = options->clock,
        .started = options->started,
        .earlier = {.version = ETWAS_ETL_TOTALS_VERSION, .part = options->part},
    };
    if (options->first == NULL &&
        etwas_etl_header_buffer_bytes(session_units, file_units) > options->buffer_bytes) {
        return ERROR_BAD_PATHNAME;
    }
    /* Zeroes that were never touched cost address space only. */
    header->content = calloc(1, options->buffer_bytes);
    if (header->content == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (options->first != NULL) {
        header_copy_first(header, options);
    }
    header->totals_offset = header->bytes - (uint32_t)(sizeof(struct etwas_etl_totals_record) +
                                                       sizeof(struct etwas_etl_clock_trust_record));
    header->totals_bytes = sizeof(struct etwas_etl_totals);
    header->calibration_offset =
        header->totals_offset - (uint32_t)sizeof(struct etwas_etl_calibration_record);
    if (options->first != NULL) {
        return ERROR_SUCCESS;
    }
    buffer = header_buffer_header(options, header->bytes);
    header_fill(&log, options);
    memcpy(header->content, &buffer, sizeof buffer);
    memcpy(header->content + ETWAS_ETL_BUFFER_HEADER_BYTES, &system, sizeof system);
    memcpy(header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET, &log, sizeof log);
    names = header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET + sizeof log;
    memcpy(names, options->session_name, session_units * sizeof(etwas_wchar));
    memcpy(names + (session_units + 1) * sizeof(etwas_wchar), options->file_name,
           file_units * sizeof(etwas_wchar));
    header_write_calibration(header);
    header_write_totals(header);
    header_write_clock(header, options);
    return ERROR_SUCCESS;
}

void etwas_log_header_resize(struct etwas_log_header *header, uint32_t bytes)
{
    struct etwas_etl_buffer_header buffer;

    header->bytes = bytes;
    memcpy(&buffer, header->content, sizeof buffer);
    buffer.offset = bytes;
    buffer.saved_offset = bytes;
    buffer.current_offset = bytes;
    memcpy(header->content, &buffer, sizeof buffer);
}

static uint8_t *header_totals_at(const struct etwas_log_header *header)
{
    return header->content + header->totals_offset +
           offsetof(struct etwas_etl_totals_record, totals);
}

static void header_add_totals(struct etwas_log_header *header, uint32_t buffer_bytes)
{
    if (buffer_bytes - header->bytes < sizeof(struct etwas_etl_totals_record)) {
        return;
    }
    header->totals_offset = header->bytes;
    header->totals_bytes = sizeof(struct etwas_etl_totals);
    header_write_totals(header);
    etwas_log_header_resize(header,
                            header->bytes + (uint32_t)sizeof(struct etwas_etl_totals_record));
}

void etwas_log_header_continue(struct etwas_log_header *header,
                               const struct etwas_log_file_options *options)
{
    uint8_t *log_at = header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET;
    struct etwas_etl_log_header64 log;

    memcpy(&log, log_at, sizeof log);
    header->earlier = (struct etwas_etl_totals){
        .version = ETWAS_ETL_TOTALS_VERSION,
        .lost_events = log.start.events_lost,
        .lost_buffers = log.buffers_lost,
    };
    if (header->totals_offset != 0) {
        memcpy(&header->earlier, header_totals_at(header), header->totals_bytes);
        header->earlier.ends = 0;
        memcpy(header_totals_at(header), &header->earlier, header->totals_bytes);
    }
    if (header->totals_bytes < sizeof header->earlier) {
        header_add_totals(header, options->buffer_bytes);
    }
    log.start.end_filetime = 0;
    log.start.log_file_mode = options->log_file_mode;
    log.start.maximum_file_size = options->maximum_file_size;
    if (log.start.number_of_processors < options->processors) {
        log.start.number_of_processors = options->processors;
    }
    memcpy(log_at, &log, sizeof log);
}

static uint32_t header_saturate(uint64_t count)
{
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

void etwas_log_header_count(struct etwas_log_header *header, uint32_t buffers,
                            const struct etwas_etl_totals *counts)
{
    uint8_t *log_at = header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET;
    struct etwas_etl_totals totals = header->earlier;
    struct etwas_etl_log_header64 log;

    totals.overwritten_events += counts->overwritten_events;
    totals.overwritten_buffers += counts->overwritten_buffers;
    totals.lost_events += counts->lost_events;
    totals.lost_buffers += counts->lost_buffers;
    totals.attempted_events += counts->attempted_events;
    totals.ends = counts->ends;
    totals.unattached_processes =
        etwas_etl_saturate16((uint32_t)totals.unattached_processes + counts->unattached_processes);
    if (counts->unattached_code != 0) {
        totals.unattached_code = counts->unattached_code;
    }
    memcpy(&log, log_at, sizeof log);
    log.start.buffers_written = buffers;
    log.start.events_lost = header_saturate(totals.lost_events);
    log.buffers_lost = header_saturate(totals.lost_buffers);
    memcpy(log_at, &log, sizeof log);
    if (header->totals_offset != 0) {
        memcpy(header_totals_at(header), &totals, header->totals_bytes);
    }
}

void etwas_log_header_end(struct etwas_log_header *header, const struct etwas_clock_reading *now,
                          uint32_t processors)
{
    uint8_t *log_at = header->content + ETWAS_ETL_LOG_HEADER_FILE_OFFSET;
    uint8_t *calibration_at = header->content + header->calibration_offset;
    struct etwas_etl_log_header64 log;
    struct etwas_etl_calibration_record calibration;
    int64_t filetime = etwas_clock_reading_filetime(now, header->clock);

    memcpy(&log, log_at, sizeof log);
    log.start.end_filetime = filetime > log.start_filetime ? filetime : log.start_filetime;
    if (processors != 0) {
        log.start.number_of_processors = processors;
    }
    memcpy(log_at, &log, sizeof log);
    if (header->calibration_offset != 0) {
        memcpy(&calibration, calibration_at, sizeof calibration);
        header_set_rate(&calibration.calibration, header->clock, &header->started, now);
        memcpy(calibration_at, &calibration, sizeof calibration);
    }
}

struct etwas_etl_buffer_header etwas_log_buffer_header(uint32_t buffer_bytes, uint16_t logger_id,
                                                       const struct etwas_drained *buffer,
                                                       int64_t sequence_number)
{
    uint32_t end = ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes;

    return (struct etwas_etl_buffer_header){
        .buffer_bytes = buffer_bytes,
        .saved_offset = end,
        .current_offset = end,
        .time_stamp = buffer->time_stamp,
        .sequence_number = sequence_number,
        .processor = (uint16_t)buffer->processor,
        .logger_id = logger_id,
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .offset = end,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
        .type = ETWAS_ETL_BUFFER_GENERIC,
    };
}

void etwas_log_header_free(struct etwas_log_header *header)
{
    free(header->content);
}
