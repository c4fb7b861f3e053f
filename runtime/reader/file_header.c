/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Buffer 0: the log file header, the names, the clock and the shape of the file. */
#include "reader/file_header.h"

#include <stdlib.h>
#include <string.h>

#include "etl/own_record.h"
#include "etl/utf16.h"
#include "reader/damage.h"
#include "reader/stream.h"
#include "reader/trace.h"

#define HEADER_BYTES ETWAS_ETL_BUFFER_HEADER_BYTES

/* The beginning of buffer 0: its header, and room for the longest possible record. */
struct beginning {
    uint8_t bytes[HEADER_BYTES + ETWAS_ETL_LARGEST_RECORD_BYTES + 1];
    size_t got;
    struct etwas_etl_buffer_header buffer;
    struct etwas_etl_system_header record;
    size_t form_bytes;
};

static bool header_is_log_header_record(const struct beginning *beginning)
{
    const struct etwas_etl_system_header *record = &beginning->record;

    return record->marker_flags == ETWAS_ETL_MARKER_FLAGS &&
           (record->header_type == ETWAS_ETL_SYSTEM32 ||
            record->header_type == ETWAS_ETL_SYSTEM64) &&
           record->type == 0 && record->group == ETWAS_ETL_GROUP_HEADER &&
           record->size >= sizeof *record + beginning->form_bytes &&
           beginning->got >= HEADER_BYTES + (size_t)record->size;
}

static bool header_read_beginning(struct etwas_trace *trace, struct beginning *beginning)
{
    beginning->got = etwas_trace_file_read(trace, 0, beginning->bytes, sizeof beginning->bytes);
    if (beginning->got < HEADER_BYTES + sizeof beginning->record) {
        return false;
    }
    memcpy(&beginning->buffer, beginning->bytes, sizeof beginning->buffer);
    memcpy(&beginning->record, beginning->bytes + HEADER_BYTES, sizeof beginning->record);
    beginning->form_bytes = beginning->record.header_type == ETWAS_ETL_SYSTEM32
                                ? ETWAS_ETL_LOG_HEADER32_BYTES
                                : sizeof(struct etwas_etl_log_header64);
    return header_is_log_header_record(beginning);
}

static void header_read_fields(struct etwas_file_header *log, const struct beginning *beginning)
{
    const uint8_t *payload = beginning->bytes + ETWAS_ETL_LOG_HEADER_FILE_OFFSET;

    if (beginning->record.header_type == ETWAS_ETL_SYSTEM64) {
        memcpy(&log->fields, payload, sizeof log->fields);
        return;
    }
    memcpy(&log->fields.start, payload, sizeof log->fields.start);
    memcpy(&log->fields.time_zone, payload + ETWAS_ETL_LOG_HEADER32_TIME_ZONE,
           ETWAS_ETL_LOG_HEADER32_BYTES - ETWAS_ETL_LOG_HEADER32_TIME_ZONE);
}

/* Two strings follow the fields. One that is not terminated inside the record ends with it. */
static bool header_copy_names(struct etwas_file_header *log, const struct beginning *beginning)
{
    size_t fixed = sizeof beginning->record + beginning->form_bytes;
    size_t units = (beginning->record.size - fixed) / sizeof(etwas_wchar);

    log->names = calloc(units + 2, sizeof *log->names);
    if (log->names == NULL) {
        return false;
    }
    if (units > 0) {
        memcpy(log->names, beginning->bytes + HEADER_BYTES + fixed, units * sizeof *log->names);
    }
    log->log_file_name = log->names + etwas_utf16_length(log->names, units) + 1;
    return true;
}

static bool header_is_buffer_size(uint32_t bytes)
{
    return bytes >= HEADER_BYTES + sizeof(struct etwas_etl_system_header) +
                        ETWAS_ETL_LOG_HEADER32_BYTES &&
           bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES;
}

/*
 * Reads the header of the buffer behind a buffer 0 of this size. Returns whether it looks like one.
 */
static bool header_read_second_buffer(struct etwas_trace *trace, uint32_t first_bytes,
                                      struct etwas_etl_buffer_header *header)
{
    return header_is_buffer_size(first_bytes) &&
           etwas_trace_file_read(trace, first_bytes, header, sizeof *header) == sizeof *header &&
           header->buffer_bytes >= HEADER_BYTES &&
           header->buffer_bytes <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           header->state == ETWAS_ETL_BUFFER_STATE_FLUSH && header->offset >= HEADER_BYTES &&
           header->offset <= ETWAS_ETL_LARGEST_BUFFER_BYTES &&
           header->type <= ETWAS_ETL_BUFFER_DEBUG_INFORMATION;
}

/*
 * Decides how long buffer 0 is and whether all other buffers are as long. The header of buffer 0
 * says so, and so does the log file header in files that are not compressed; where they differ, the
 * second buffer decides. Returns false if no size is possible.
 */
static bool header_decide_shape(struct etwas_trace *trace, const struct beginning *beginning)
{
    struct etwas_file_header *log = &trace->log;
    struct etwas_etl_buffer_header second = {0};
    uint32_t own = beginning->buffer.buffer_bytes;
    uint32_t session = log->fields.start.buffer_bytes;
    uint32_t chosen = own;
    bool found = header_read_second_buffer(trace, own, &second);
    bool compressed;

    if (!found && own != session && header_read_second_buffer(trace, session, &second)) {
        chosen = session;
        found = true;
    } else if (!header_is_buffer_size(own)) {
        chosen = session;
    }
    if (!header_is_buffer_size(chosen)) {
        return false;
    }

    compressed = (log->fields.start.log_file_mode & EVENT_TRACE_COMPRESSED_MODE) != 0 ||
                 (found && (second.flags & ETWAS_ETL_BUFFER_COMPRESSED) != 0);
    log->uniform = !compressed && (own == session || !found || second.buffer_bytes == chosen);
    log->session_buffer_bytes = header_is_buffer_size(session) ? session : chosen;
    if (log->session_buffer_bytes < chosen) {
        log->session_buffer_bytes = chosen;
    }
    trace->information.compressed = compressed;
    if (chosen != own || (!compressed && log->uniform && own != session)) {
        etwas_trace_report(trace, ETWAS_DAMAGE_BUFFER_HEADER, 0, 0);
    }
    log->buffer.buffer_bytes = chosen;
    return true;
}

/*
 * Decides where the records of buffer 0 end: where its header says if that is possible, else after
 * the first record, which may claim to be longer than the buffer.
 */
static void header_decide_buffer(struct etwas_trace *trace, const struct beginning *beginning)
{
    struct etwas_index_entry *entry = &trace->log.buffer;
    uint32_t record_end = HEADER_BYTES + (uint32_t)beginning->record.size;

    entry->file_bytes =
        trace->file_bytes < entry->buffer_bytes ? (uint32_t)trace->file_bytes : entry->buffer_bytes;
    entry->data_end = beginning->buffer.offset;
    entry->logger_id = beginning->buffer.logger_id;
    if (beginning->buffer.type != ETWAS_ETL_BUFFER_HEADER || entry->data_end < record_end ||
        entry->data_end > entry->buffer_bytes) {
        etwas_trace_report(trace, ETWAS_DAMAGE_BUFFER_HEADER, 0, 0);
        if (entry->data_end < record_end || entry->data_end > entry->buffer_bytes) {
            entry->data_end = record_end < entry->buffer_bytes ? record_end : entry->buffer_bytes;
        }
    }
}

/* Stores a calibration, if the clock counts cycles; the header is exact about the other clocks. */
static void header_store_calibration(struct etwas_file_header *log,
                                     const struct etwas_record *record)
{
    struct etwas_etl_calibration calibration;

    memcpy(&calibration, record->bytes + record->payload_at, sizeof calibration);
    if (!log->calibrated && log->fields.clock_type == ETWAS_ETL_CLOCK_CYCLES &&
        etwas_etl_clock_use_calibration(&log->clock, log->fields.clock_type, &calibration)) {
        log->calibrated = true;
        log->base.rate.ticks = calibration.ticks;
        log->base.rate.nanoseconds = calibration.nanoseconds;
        log->base.anchor_raw = calibration.raw_stamp;
        log->base.anchor_qpc_ns = calibration.qpc_ns;
        log->clock_frequency_hz = (uint64_t)((etwas_etl_wide)calibration.ticks * 1000000000 /
                                             (etwas_etl_wide)calibration.nanoseconds);
    }
}

static void header_store_totals(struct etwas_file_header *log, const struct etwas_record *record)
{
    struct etwas_etl_totals totals = {0};
    size_t payload_bytes = record->size - record->payload_at;

    memcpy(&totals, record->bytes + record->payload_at,
           payload_bytes < sizeof totals ? payload_bytes : sizeof totals);
    if (totals.version == ETWAS_ETL_TOTALS_VERSION) {
        log->totals = totals;
    }
}

static void header_store_trust(struct etwas_file_header *log, const struct etwas_record *record)
{
    struct etwas_etl_clock_trust trust;

    memcpy(&trust, record->bytes + record->payload_at, sizeof trust);
    if (trust.version != ETWAS_ETL_CLOCK_RECORD_VERSION) {
        return;
    }
    trust.clocksource[sizeof trust.clocksource - 1] = 0;
    trust.hypervisor[sizeof trust.hypervisor - 1] = 0;
    log->trust = trust;
}

/*
 * Stores a record that etwas wrote for itself, at `offset`. Unknown types and versions are ignored.
 * Returns false without memory.
 */
static bool header_store_own_record(struct etwas_file_header *log,
                                    const struct etwas_record *record, uint32_t offset)
{
    struct etwas_etl_full_header header;
    size_t payload_bytes = record->size - record->payload_at;

    log->own = true;
    memcpy(&header, record->bytes, sizeof header);
    if (header.type == ETWAS_ETL_CALIBRATION_TYPE &&
        payload_bytes >= sizeof(struct etwas_etl_calibration)) {
        header_store_calibration(log, record);
    } else if (header.type == ETWAS_ETL_TOTALS_TYPE &&
               payload_bytes >= ETWAS_ETL_TOTALS_LEAST_BYTES) {
        header_store_totals(log, record);
    } else if (header.type == ETWAS_ETL_CLOCK_RECORD_TYPE &&
               payload_bytes >= sizeof(struct etwas_etl_clock_trust)) {
        header_store_trust(log, record);
    } else if (header.type == ETWAS_ETL_CLOCK_SNAPSHOT_TYPE && log->clock_snapshots_at == 0) {
        log->clock_snapshots_at = offset;
    } else if (header.type == ETWAS_ETL_LOSS_TYPE) {
        return etwas_loss_list_add(&log->losses, record);
    }
    return true;
}

/* Sets the conversion that holds where no clock snapshots reach. */
static void header_decide_base(struct etwas_file_header *log)
{
    const struct etwas_etl_log_header64 *fields = &log->fields;
    struct etwas_timeline_base *base = &log->base;

    base->clock_type = fields->clock_type;
    base->first_raw = log->first_raw;
    base->start_filetime = fields->start_filetime;
    base->rate.error_ppb = UINT64_MAX;
    if (log->calibrated) {
        if (log->trust.frequency_hz != 0) {
            base->rate.error_ppb = log->trust.frequency_error_ppb;
        }
        return;
    }
    base->rate.ticks = log->clock_frequency_hz;
    base->rate.nanoseconds = 1000000000;
    base->anchor_raw = log->first_raw;
}

/*
 * Reads the other records of buffer 0: those of etwas, and those that only kernel sessions write.
 * Returns false without memory.
 */
static bool header_scan_records(struct etwas_trace *trace)
{
    struct etwas_file_header *log = &trace->log;
    struct etwas_stream stream;
    struct etwas_etl_system_header header;
    bool kept = true;

    if (!etwas_stream_open(&stream, trace, &log->buffer, 1)) {
        return false;
    }
    stream.quiet = true;
    for (enum etwas_stream_state state = etwas_stream_next_buffer(&stream);
         kept && state == ETWAS_STREAM_RECORD; state = etwas_stream_next_record(&stream)) {
        const struct etwas_record *record = &stream.record;

        if (record->kind == ETWAS_RECORD_SYSTEM) {
            memcpy(&header, record->bytes, sizeof header);
            log->kernel |= header.group == ETWAS_ETL_GROUP_HEADER &&
                           header.type == (ETWAS_ETL_HOOK_HEADER_EXTENSION & 0xFF);
        } else if (record->own) {
            kept = header_store_own_record(log, record, stream.record_at);
        }
    }
    etwas_stream_close(&stream);
    return kept;
}

static void header_decide_clock(struct etwas_trace *trace, int64_t first_raw)
{
    struct etwas_file_header *log = &trace->log;
    const struct etwas_etl_log_header64 *fields = &log->fields;
    bool usable = etwas_etl_clock_from_header(
        &log->clock, fields->clock_type, fields->performance_frequency_hz,
        fields->start.cpu_speed_mhz, first_raw, fields->start_filetime);

    if (!usable) {
        etwas_trace_report(trace, ETWAS_DAMAGE_BUFFER_HEADER, ETWAS_ETL_LOG_HEADER_FILE_OFFSET, 0);
    }
    log->first_raw = first_raw;
    log->clock_frequency_hz = (uint64_t)ETWAS_ETL_FILETIME_PER_SECOND;
    if (usable && fields->clock_type == ETWAS_ETL_CLOCK_PERFORMANCE) {
        log->clock_frequency_hz = (uint64_t)fields->performance_frequency_hz;
    } else if (usable && fields->clock_type == ETWAS_ETL_CLOCK_CYCLES) {
        log->clock_frequency_hz = fields->start.cpu_speed_mhz * UINT64_C(1000000);
    }
}

/*
 * Sets the totals. The header counts losses in 32 bits and only at the end; etwas' record of totals
 * does so in 64.
 */
static void header_decide_totals(struct etwas_trace *trace)
{
    const struct etwas_file_header *log = &trace->log;
    uint64_t events = log->fields.start.events_lost;
    uint64_t buffers = log->fields.buffers_lost;

    trace->information.lost_events =
        log->totals.lost_events > events ? log->totals.lost_events : events;
    trace->information.lost_buffers =
        log->totals.lost_buffers > buffers ? log->totals.lost_buffers : buffers;
    trace->information.overwritten_events = log->totals.overwritten_events;
    trace->information.overwritten_buffers = log->totals.overwritten_buffers;
    trace->information.attempted_events = log->totals.attempted_events;
    trace->information.unattached_processes = log->totals.unattached_processes;
    trace->information.unattached_code = log->totals.unattached_code;
    trace->information.part = log->totals.part;
    trace->information.ends =
        log->totals.ends & (ETWAS_TRACE_ENDS_SESSION | ETWAS_TRACE_IS_RECOVERED);
    trace->information.processors = log->fields.start.number_of_processors;
    trace->information.protocol = log->trust.protocol;
    trace->information.sequences = log->trust.sequences;
    if (log->trust.processors != 0 && log->trust.processors < trace->information.processors) {
        trace->information.processors = log->trust.processors;
    }
}

static uint32_t header_read(struct etwas_trace *trace, struct beginning *beginning)
{
    struct etwas_file_header *log = &trace->log;
    uint32_t pointer_bytes;

    if (!header_read_beginning(trace, beginning)) {
        return ERROR_FILE_CORRUPT;
    }
    header_read_fields(log, beginning);
    if (!header_decide_shape(trace, beginning)) {
        return ERROR_FILE_CORRUPT;
    }
    header_decide_buffer(trace, beginning);
    pointer_bytes = beginning->record.header_type == ETWAS_ETL_SYSTEM32 ? 4 : 8;
    if (log->fields.start.pointer_bytes != pointer_bytes) {
        etwas_trace_report(trace, ETWAS_DAMAGE_BUFFER_HEADER, ETWAS_ETL_LOG_HEADER_FILE_OFFSET, 0);
    }
    header_decide_clock(trace, beginning->record.time_stamp);
    if (!header_copy_names(log, beginning) || !header_scan_records(trace)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    log->replaces = trace->head == NULL &&
                    (log->fields.start.log_file_mode & EVENT_TRACE_FILE_MODE_CIRCULAR) != 0 &&
                    log->fields.start.end_filetime == 0;
    log->without_times =
        log->own && log->fields.start.timer_resolution_100ns != ETWAS_ETL_TIMES_TICK_100NS;
    /* When the clock steps back, etwas begins a new buffer. */
    log->may_step_back = !log->own && log->fields.clock_type == ETWAS_ETL_CLOCK_SYSTEM;
    header_decide_base(log);
    header_decide_totals(trace);
    trace->information.file_bytes = trace->file_bytes;
    trace->information.unfinished = log->fields.start.end_filetime == 0;
    trace->information.calibrated = log->calibrated;
    trace->information.clock = log->fields.clock_type;
    trace->information.clock_frequency = log->clock_frequency_hz;
    return ERROR_SUCCESS;
}

uint32_t etwas_file_header_read(struct etwas_trace *trace)
{
    struct beginning *beginning = malloc(sizeof *beginning);
    uint32_t code;

    if (beginning == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = header_read(trace, beginning);
    free(beginning);
    return code;
}

/* The trace owns the names until CloseTrace. */
void etwas_file_header_fill(const struct etwas_file_header *log, TRACE_LOGFILE_HEADER *header)
{
    const struct etwas_etl_log_header64 *fields = &log->fields;

    _Static_assert(sizeof header->TimeZone == sizeof fields->time_zone, "the same time zone");
    *header = (TRACE_LOGFILE_HEADER){
        .BufferSize = fields->start.buffer_bytes,
        .VersionDetail = {fields->start.version[0], fields->start.version[1],
                          fields->start.version[2], fields->start.version[3]},
        .ProviderVersion = fields->start.provider_version,
        .NumberOfProcessors = fields->start.number_of_processors,
        .EndTime = {.QuadPart = fields->start.end_filetime},
        .TimerResolution = fields->start.timer_resolution_100ns,
        .MaximumFileSize = fields->start.maximum_file_size,
        .LogFileMode = fields->start.log_file_mode,
        .BuffersWritten = fields->start.buffers_written,
        .StartBuffers = fields->start.start_buffers,
        .PointerSize = fields->start.pointer_bytes,
        .EventsLost = fields->start.events_lost,
        .CpuSpeedInMHz = fields->start.cpu_speed_mhz,
        .LoggerName = log->names,
        .LogFileName = log->log_file_name,
        .BootTime = {.QuadPart = fields->boot_filetime},
        .PerfFreq = {.QuadPart = fields->performance_frequency_hz},
        .StartTime = {.QuadPart = fields->start_filetime},
        .ReservedFlags = fields->clock_type,
        .BuffersLost = fields->buffers_lost,
    };
    memcpy(&header->TimeZone, &fields->time_zone, sizeof header->TimeZone);
}
