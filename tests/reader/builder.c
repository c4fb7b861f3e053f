/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "builder.h"

#include <etwas/evntrace.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compress.h"
#include "etl/own_record.h"

const etwas_guid builder_class = {0x11223344, 0x5566, 0x7788, {1, 2, 3, 4, 5, 6, 7, 8}};

enum {
    FILE_SLOTS = 70
};
static char paths[FILE_SLOTS][64];
static char folder[] = "/tmp/etwas-reader-XXXXXX";
static bool has_folder;

/* Compressed buffers begin at any byte. */
typedef struct etwas_etl_buffer_header loose_header __attribute__((aligned(1)));

static void must(bool kept, const char *what)
{
    if (!kept) {
        perror(what);
        abort();
    }
}

struct builder_options builder_defaults(void)
{
    return (struct builder_options){
        .buffer_bytes = 4096,
        .processors = 4,
        .clock_type = ETWAS_ETL_CLOCK_PERFORMANCE,
        .frequency_hz = 10000000,
        .mhz = 3000,
        .first_raw = 1000,
        .start_filetime = BUILDER_START,
        .end_filetime = BUILDER_START + 600000000,
        .timer_resolution_100ns = 156250,
        .session_name = u"a session",
        .file_name = u"C:\\trace.etl",
    };
}

static size_t units_of(const uint16_t *text)
{
    size_t units = 0;

    while (text[units] != 0) {
        units++;
    }
    return units + 1;
}

/* A reader's pointer into the file changes when the file grows, as any realloc's. */
static void reserve(struct builder *builder, size_t size)
{
    if (size <= builder->capacity) {
        return;
    }
    builder->capacity = size * 2;
    builder->bytes = realloc(builder->bytes, builder->capacity);
    must(builder->bytes != NULL, "memory");
}

static void open_buffer(struct builder *builder)
{
    builder->buffer_at = builder->size;
    reserve(builder, builder->size + builder->options.buffer_bytes);
    memset(builder->bytes + builder->size, ETWAS_ETL_PADDING_BYTE, builder->options.buffer_bytes);
    builder->size += builder->options.buffer_bytes;
    builder->filled = ETWAS_ETL_BUFFER_HEADER_BYTES;
    memset(builder->bytes + builder->buffer_at, 0, builder->filled);
}

static loose_header *open_header(struct builder *builder)
{
    return (loose_header *)(void *)(builder->bytes + builder->buffer_at);
}

/* Squeezes the open buffer's records; a header buffer is cut to what it needs. */
static void squeeze(struct builder *builder)
{
    size_t made;
    uint8_t *squeezed;

    loose_header *header = open_header(builder);
    uint8_t *records = builder->bytes + builder->buffer_at + sizeof *header;
    uint32_t bytes = builder->filled - (uint32_t)sizeof *header;

    if (header->type == ETWAS_ETL_BUFFER_HEADER) {
        header->buffer_bytes = 0x400;
        builder->size = builder->buffer_at + header->buffer_bytes;
        return;
    }
    squeezed = malloc(bytes * 2u + 64);
    must(squeezed != NULL, "memory");
    made = compress(records, bytes, squeezed);
    reserve(builder, builder->buffer_at + sizeof *header + made);
    header = open_header(builder);
    memcpy(builder->bytes + builder->buffer_at + sizeof *header, squeezed, made);
    free(squeezed);
    header->buffer_bytes = (uint32_t)(sizeof *header + made);
    header->flags |= ETWAS_ETL_BUFFER_COMPRESSED;
    builder->size = builder->buffer_at + header->buffer_bytes;
}

static void close_buffer(struct builder *builder)
{
    loose_header *header = open_header(builder);

    header->buffer_bytes = builder->options.buffer_bytes;
    header->saved_offset = builder->filled;
    header->current_offset = builder->filled;
    header->offset = builder->filled;
    header->state = ETWAS_ETL_BUFFER_STATE_FLUSH;
    header->logger_id = 7;
    builder->last_buffer_at = builder->buffer_at;
    builder->buffers++;
    if (builder->options.compressed) {
        squeeze(builder);
    }
}

static void fill_log_header(const struct builder_options *options,
                            struct etwas_etl_log_header64 *fields)
{
    *fields = (struct etwas_etl_log_header64){
        .start =
            {
                .buffer_bytes = options->buffer_bytes,
                .version = {10, 0, 1, 5},
                .provider_version = 19045,
                .number_of_processors = options->processors,
                .end_filetime = options->end_filetime,
                .timer_resolution_100ns = options->timer_resolution_100ns,
                .maximum_file_size = options->maximum_file_size,
                .log_file_mode = options->mode,
                .start_buffers = 1,
                .pointer_bytes = options->narrow ? 4 : 8,
                .cpu_speed_mhz = options->mhz,
            },
        .boot_filetime = options->start_filetime - 1000,
        .performance_frequency_hz = options->frequency_hz,
        .start_filetime = options->start_filetime,
        .clock_type = options->clock_type,
    };
    if (options->compressed) {
        fields->start.log_file_mode |= 0x04000000;
    }
}

static size_t put_fields(const struct builder_options *options, uint8_t *out)
{
    struct etwas_etl_log_header64 wide;
    TRACE_LOGFILE_HEADER32 narrow = {0};

    fill_log_header(options, &wide);
    if (!options->narrow) {
        memcpy(out, &wide, sizeof wide);
        return sizeof wide;
    }
    memcpy(&narrow, &wide.start, sizeof wide.start);
    narrow.BootTime.QuadPart = wide.boot_filetime;
    narrow.PerfFreq.QuadPart = wide.performance_frequency_hz;
    narrow.StartTime.QuadPart = wide.start_filetime;
    narrow.ReservedFlags = wide.clock_type;
    memcpy(out, &narrow, sizeof narrow);
    return sizeof narrow;
}

void builder_begin(struct builder *builder, const struct builder_options *options)
{
    uint8_t payload[2048];
    size_t bytes = put_fields(options, payload);
    size_t session = units_of(options->session_name) * 2;
    size_t file = units_of(options->file_name) * 2;
    struct etwas_etl_system_header header;

    *builder = (struct builder){.options = *options};
    open_buffer(builder);
    open_header(builder)->flags =
        ETWAS_ETL_BUFFER_FLUSH_MARKER | (options->legacy ? 0 : ETWAS_ETL_BUFFER_PROCESSOR_INDEX);
    open_header(builder)->type = ETWAS_ETL_BUFFER_HEADER;
    memcpy(payload + bytes, options->session_name, session);
    memcpy(payload + bytes + session, options->file_name, file);
    bytes += session + file;
    header = (struct etwas_etl_system_header){
        .version = 2,
        .header_type = options->narrow ? ETWAS_ETL_SYSTEM32 : ETWAS_ETL_SYSTEM64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .size = (uint16_t)(sizeof header + bytes),
        .thread_id = 11,
        .process_id = 12,
        .time_stamp = options->first_raw,
    };
    builder_record(builder, &header, sizeof header, payload, bytes);
}

void builder_buffer(struct builder *builder, uint16_t processor)
{
    close_buffer(builder);
    open_buffer(builder);
    open_header(builder)->sequence_number = ++builder->sequence;
    open_header(builder)->processor =
        builder->options.legacy ? (uint16_t)(processor | 8 << 8) : processor;
    open_header(builder)->flags = builder->options.legacy ? 0 : ETWAS_ETL_BUFFER_PROCESSOR_INDEX;
}

void builder_raw(struct builder *builder, const void *bytes, size_t size)
{
    size_t rounded = etwas_etl_round_up_8(size);
    uint8_t *at = builder->bytes + builder->buffer_at + builder->filled;

    must(builder->filled + rounded <= builder->options.buffer_bytes, "room in the buffer");
    memcpy(at, bytes, size);
    memset(at + size, 0, rounded - size);
    builder->record_at = builder->buffer_at + builder->filled;
    builder->filled += (uint32_t)rounded;
}

void builder_record(struct builder *builder, const void *header, size_t header_bytes,
                    const void *payload, size_t payload_bytes)
{
    uint8_t *record = malloc(header_bytes + payload_bytes);

    must(record != NULL, "memory");
    memcpy(record, header, header_bytes);
    if (payload_bytes > 0) {
        memcpy(record + header_bytes, payload, payload_bytes);
    }
    builder_raw(builder, record, header_bytes + payload_bytes);
    free(record);
}

void builder_classic(struct builder *builder, int64_t stamp, uint8_t type, const void *payload,
                     size_t payload_bytes)
{
    const struct etwas_etl_full_header header = {
        .size = (uint16_t)(sizeof header + payload_bytes),
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .type = type,
        .level = 4,
        .version = 3,
        .thread_id = 21,
        .process_id = 22,
        .time_stamp = stamp,
        .guid = builder_class,
        .kernel_time = 31,
        .user_time = 32,
    };

    builder_record(builder, &header, sizeof header, payload, payload_bytes);
}

void builder_number(struct builder *builder, int64_t stamp, uint32_t number)
{
    builder_classic(builder, stamp, 1, &number, sizeof number);
}

/* Every record of buffer 0 repeats what the first one says. */
void builder_own(struct builder *builder, uint8_t type, const void *payload, size_t bytes)
{
    const struct etwas_etl_full_header header = {
        .size = (uint16_t)(sizeof header + bytes),
        .header_type = ETWAS_ETL_FULL_HEADER64,
        .marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .type = type,
        .version = 1,
        .thread_id = 11,
        .process_id = 12,
        .time_stamp = builder->options.first_raw,
        .guid = etwas_etl_own_class,
    };

    builder_record(builder, &header, sizeof header, payload, bytes);
}

void builder_clock_snapshot(struct builder *builder,
                            const struct etwas_etl_clock_snapshot *snapshot)
{
    builder_own(builder, ETWAS_ETL_CLOCK_SNAPSHOT_TYPE, snapshot, sizeof *snapshot);
}

void builder_calibration(struct builder *builder)
{
    const struct builder_options *options = &builder->options;
    const struct etwas_etl_calibration calibration = {
        .version = ETWAS_ETL_CALIBRATION_VERSION,
        .clock_type = options->clock_type,
        .ticks = (uint64_t)options->frequency_hz,
        .nanoseconds = 1000000000,
        .raw_stamp = options->first_raw,
        .filetime = options->start_filetime,
    };

    builder_own(builder, ETWAS_ETL_CALIBRATION_TYPE, &calibration, sizeof calibration);
}

void builder_totals(struct builder *builder, const struct etwas_etl_totals *totals)
{
    builder_own(builder, ETWAS_ETL_TOTALS_TYPE, totals, sizeof *totals);
}

void builder_wrap(struct builder *builder, uint32_t places, bool finished)
{
    size_t step = builder->options.buffer_bytes;
    uint32_t written = builder->buffers - 1;
    uint32_t left = written < places ? written : places;
    uint8_t *ring = malloc((places + 1) * step);

    must(ring != NULL, "memory");
    memcpy(ring, builder->bytes, step);
    for (uint32_t k = 0; k < written; k++) {
        memcpy(ring + (1 + k % places) * step, builder->bytes + (k + 1) * step, step);
    }
    free(builder->bytes);
    builder->bytes = ring;
    builder->size = (left + 1) * step;
    builder->capacity = (places + 1) * step;
    builder->buffers = left + 1;
    builder_log_header(builder)->log_file_mode |= EVENT_TRACE_FILE_MODE_CIRCULAR;
    builder_log_header(builder)->buffers_written = left + 1;
    if (!finished) {
        builder_log_header(builder)->end_filetime = 0;
    }
    for (uint32_t place = 1; place <= left && finished; place++) {
        builder_header(builder, place)->sequence_number -= written - left;
    }
}

void builder_end(struct builder *builder)
{
    loose_header *last;

    close_buffer(builder);
    last = (loose_header *)(void *)(builder->bytes + builder->last_buffer_at);
    last->flags |= ETWAS_ETL_BUFFER_FLUSH_MARKER;
    builder_log_header(builder)->buffers_written = builder->buffers;
}

struct etwas_etl_buffer_header *builder_header(struct builder *builder, uint32_t number)
{
    return (struct etwas_etl_buffer_header *)(void *)(builder->bytes +
                                                      (size_t)number *
                                                          builder->options.buffer_bytes);
}

struct etwas_etl_log_header_start *builder_log_header(struct builder *builder)
{
    return (struct etwas_etl_log_header_start *)(void *)(builder->bytes +
                                                         ETWAS_ETL_LOG_HEADER_FILE_OFFSET);
}

void builder_free(struct builder *builder)
{
    free(builder->bytes);
    builder->bytes = NULL;
}

const char *put_file(unsigned slot, const void *bytes, size_t size)
{
    int descriptor;

    if (!has_folder) {
        must(mkdtemp(folder) != NULL, "a temporary folder");
        has_folder = true;
    }
    must(slot < FILE_SLOTS, "slot");
    snprintf(paths[slot], sizeof paths[slot], "%s/%u.etl", folder, slot);
    descriptor = open(paths[slot], O_WRONLY | O_CREAT, 0600);
    must(descriptor >= 0, paths[slot]);
    must(write(descriptor, bytes, size) == (ssize_t)size, "write");
    /*
     * The file is opened without O_TRUNC: some file systems go to the disk when a file is replaced
     * that way.
     */
    must(ftruncate(descriptor, (off_t)size) == 0, "ftruncate");
    must(close(descriptor) == 0, "close");
    return paths[slot];
}

void remove_files(void)
{
    for (unsigned i = 0; i < FILE_SLOTS; i++) {
        if (paths[i][0] != 0) {
            unlink(paths[i]);
        }
    }
    if (has_folder) {
        rmdir(folder);
    }
}

const char *put_sound_file(unsigned slot, uint32_t events, bool with_clock_snapshot)
{
    struct builder_options options = builder_defaults();
    const struct etwas_etl_clock_snapshot snapshot = {.version = ETWAS_ETL_CLOCK_SNAPSHOT_VERSION,
                                                      .raw_stamp = options.first_raw,
                                                      .qpc_ns = options.first_raw,
                                                      .filetime = options.start_filetime};
    struct builder builder;
    const char *path;

    builder_begin(&builder, &options);
    if (with_clock_snapshot) {
        builder_clock_snapshot(&builder, &snapshot);
    }
    for (uint32_t i = 0; i < events; i++) {
        if (i % 10 == 0) {
            builder_buffer(&builder, (uint16_t)(i / 10 % 2));
        }
        builder_number(&builder, 2000 + i, i + 1);
    }
    builder_end(&builder);
    path = put_file(slot, builder.bytes, builder.size);
    builder_free(&builder);
    return path;
}
