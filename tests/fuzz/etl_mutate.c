/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Damages trace files where it matters: the fields of buffers, records and the log file header get
 * the numbers around which checks go wrong; records grow and shrink with what counts them; buffers
 * are moved, torn, zeroed, cut, taken from another file. What a fuzzer does blindly it does to a
 * payload.
 *
 * libFuzzer calls it as it is; AFL++ through mutate_for_afl.c.
 */
#include <string.h>

#include "etl/layout.h"
#include "etl/own_record.h"
#include "etl_parts.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t room);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_bytes, const uint8_t *second,
                                 size_t second_bytes, uint8_t *out, size_t room, unsigned seed);

enum {
    HEADER_BYTES = ETWAS_ETL_BUFFER_HEADER_BYTES,
    LOG_AT = ETWAS_ETL_LOG_HEADER_FILE_OFFSET,
    PAGE_BYTES = 4096,
};

struct file {
    uint8_t *bytes;
    size_t size;
    size_t room;
    uint64_t random_state;
    struct etl_parts parts;
};

static uint32_t random_below(struct file *file, size_t limit)
{
    file->random_state ^= file->random_state << 13;
    file->random_state ^= file->random_state >> 7;
    file->random_state ^= file->random_state << 17;
    return limit == 0 ? 0 : (uint32_t)((file->random_state >> 16) % limit);
}

static void find_parts(struct file *file)
{
    etl_find_parts(file->bytes, file->size, &file->parts);
}

static const struct etl_part *any_buffer(struct file *file)
{
    return &file->parts.buffers[random_below(file, file->parts.buffer_count)];
}

/* ---- numbers --------------------------------------------------------------------------------- */

struct field {
    uint16_t at;
    uint16_t width;
};

#define BUFFER_FIELD(name)                                                                         \
    {                                                                                              \
        offsetof(struct etwas_etl_buffer_header, name),                                            \
            sizeof(((struct etwas_etl_buffer_header *)0)->name)                                    \
    }
#define LOG_FIELD(name)                                                                            \
    {                                                                                              \
        LOG_AT + offsetof(struct etwas_etl_log_header64, name),                                    \
            sizeof(((struct etwas_etl_log_header64 *)0)->name)                                     \
    }

static const struct field buffer_fields[] = {
    BUFFER_FIELD(buffer_bytes),   BUFFER_FIELD(saved_offset),
    BUFFER_FIELD(current_offset), BUFFER_FIELD(reference_count),
    BUFFER_FIELD(time_stamp),     BUFFER_FIELD(sequence_number),
    BUFFER_FIELD(clock),          BUFFER_FIELD(processor),
    BUFFER_FIELD(logger_id),      BUFFER_FIELD(state),
    BUFFER_FIELD(offset),         BUFFER_FIELD(flags),
    BUFFER_FIELD(type),           BUFFER_FIELD(reserved[0]),
};

static const struct field log_fields[] = {
    LOG_FIELD(start.buffer_bytes),
    LOG_FIELD(start.version),
    LOG_FIELD(start.number_of_processors),
    LOG_FIELD(start.end_filetime),
    LOG_FIELD(start.timer_resolution_100ns),
    LOG_FIELD(start.maximum_file_size),
    LOG_FIELD(start.log_file_mode),
    LOG_FIELD(start.buffers_written),
    LOG_FIELD(start.start_buffers),
    LOG_FIELD(start.pointer_bytes),
    LOG_FIELD(start.events_lost),
    LOG_FIELD(start.cpu_speed_mhz),
    LOG_FIELD(boot_filetime),
    LOG_FIELD(performance_frequency_hz),
    LOG_FIELD(start_filetime),
    LOG_FIELD(clock_type),
    LOG_FIELD(buffers_lost),
};

/* One near a size, a count or an end of its range. */
static uint64_t choose_number(struct file *file, uint64_t before)
{
    static const uint64_t values[] = {
        0,          1,          2,         7,          8,          71,         72,
        73,         80,         0x3FF,     0x400,      0x7FFF,     0x8000,     0xFFFF,
        0x10000,    0x1000000,  0x1000001, 0x7FFFFFFF, 0x80000000, 0xFFFFFFB8, 0xFFFFFFF8,
        0xFFFFFFFF, 1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX};
    uint64_t sizes[] = {before, file->size, any_buffer(file)->bytes, any_buffer(file)->at,
                        file->parts.buffer_count};

    switch (random_below(file, 4)) {
    case 0:
        return values[random_below(file, sizeof values / sizeof values[0])];
    case 1:
        return sizes[random_below(file, sizeof sizes / sizeof sizes[0])] + random_below(file, 17) -
               8;
    case 2:
        return before ^ 1ull << random_below(file, 64);
    default:
        return random_below(file, UINT32_MAX) >> random_below(file, 32);
    }
}

static void change(struct file *file, size_t at, size_t width)
{
    if (at + width <= file->size) {
        etl_put(file->bytes + at, width, choose_number(file, etl_number(file->bytes + at, width)));
    }
}

static void change_buffer_header(struct file *file)
{
    const struct field *field =
        &buffer_fields[random_below(file, sizeof buffer_fields / sizeof buffer_fields[0])];

    change(file, any_buffer(file)->at + field->at, field->width);
}

/* Where a buffer's records end is there twice, and both may lie alike. */
static void change_both_ends(struct file *file)
{
    size_t at = any_buffer(file)->at;
    size_t offset = at + offsetof(struct etwas_etl_buffer_header, offset);

    change(file, offset, sizeof(uint32_t));
    etl_put(file->bytes + at + offsetof(struct etwas_etl_buffer_header, saved_offset),
            sizeof(uint32_t), etl_number(file->bytes + offset, sizeof(uint32_t)));
}

static void change_log_header(struct file *file)
{
    const struct field *field =
        &log_fields[random_below(file, sizeof log_fields / sizeof log_fields[0])];

    change(file, field->at, field->width);
}

/* ---- records --------------------------------------------------------------------------------- */

static size_t header_bytes(uint32_t header_type)
{
    switch (header_type) {
    case 0:
        return sizeof(struct etwas_etl_message_header);
    case ETWAS_ETL_SYSTEM32:
    case ETWAS_ETL_SYSTEM64:
        return sizeof(struct etwas_etl_system_header);
    case ETWAS_ETL_COMPACT32:
    case ETWAS_ETL_COMPACT64:
        return sizeof(struct etwas_etl_compact_header);
    case ETWAS_ETL_PERFINFO32:
    case ETWAS_ETL_PERFINFO64:
        return sizeof(struct etwas_etl_perfinfo_header);
    case ETWAS_ETL_INSTANCE32:
    case ETWAS_ETL_INSTANCE64:
        return sizeof(struct etwas_etl_instance_header);
    case ETWAS_ETL_EVENT_HEADER32:
    case ETWAS_ETL_EVENT_HEADER64:
        return sizeof(struct etwas_etl_event_header);
    default:
        return sizeof(struct etwas_etl_full_header);
    }
}

static const struct etl_record *any_record(struct file *file)
{
    return &file->parts.records[random_below(file, file->parts.record_count)];
}

static void change_record_header(struct file *file)
{
    const struct etl_record *record = any_record(file);
    size_t width = (size_t)1 << random_below(file, 4);
    size_t at = random_below(file, header_bytes(record->header_type) + 16) & ~(width - 1);

    if (random_below(file, 3) == 0) {
        at = 0; /* where most have their size */
        width = 2;
    }
    change(file, record->at + at, width);
}

/* Another kind of record, or of one of the classes that the reader and the decoder look at. */
static void change_kind(struct file *file)
{
    static const uint8_t types[] = {1,    2,    3,    4,    0x0A, 0x0B, 0x0C, 0x0D,
                                    0x0E, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15};
    static const etwas_guid event_metadata = {
        0xbbccf6c1, 0x6cd1, 0x48c4, {0x80, 0xff, 0x83, 0x94, 0x82, 0xe3, 0x76, 0x71}};
    const struct etl_record *record = any_record(file);
    uint8_t *at = file->bytes + record->at;

    switch (random_below(file, 4)) {
    case 0:
        at[2] = types[random_below(file, sizeof types)];
        break;
    case 1:
        if (record->bytes >= sizeof(struct etwas_etl_full_header)) {
            memcpy(at + offsetof(struct etwas_etl_full_header, guid),
                   random_below(file, 2) == 0 ? &etwas_etl_own_class : &event_metadata,
                   sizeof(etwas_guid));
        }
        break;
    case 2:
        at[4] = (uint8_t)random_below(file, 40);
        break;
    default:
        at[3] =
            random_below(file, 2) == 0 ? ETWAS_ETL_MARKER_FLAGS : ETWAS_ETL_MESSAGE_MARKER_FLAGS;
    }
}

/* The items behind an EVENT_HEADER. */
static void change_item(struct file *file)
{
    const struct etl_record *record = any_record(file);
    size_t at = sizeof(struct etwas_etl_event_header);
    uint32_t items = random_below(file, 4);

    while (items-- > 0 && at + sizeof(struct etwas_etl_extended_item) <= record->bytes) {
        at += etl_number(file->bytes + record->at + at, 2);
    }
    if (at + sizeof(struct etwas_etl_extended_item) <= record->bytes) {
        change(file, record->at + at + 2 * (size_t)random_below(file, 4), 2);
    }
}

static void mutate_payload(struct file *file)
{
    const struct etl_record *record = any_record(file);
    size_t skip = header_bytes(record->header_type);

    if (record->bytes > skip) {
        (void)LLVMFuzzerMutate(file->bytes + record->at + skip, record->bytes - skip,
                               record->bytes - skip);
    }
}

/*
 * One 8 bytes or more longer or shorter, and its buffer with it; what counts them is right again.
 */
static void resize_record(struct file *file)
{
    const struct etl_record *record = any_record(file);
    const struct etl_part *buffer = &file->parts.buffers[record->buffer];
    size_t rounded = etwas_etl_round_up_8(record->bytes);
    size_t in_buffer = record->at - buffer->at;
    size_t end = etl_data_end(file->bytes, buffer);
    size_t more = 8 * (size_t)(1 + random_below(file, 16));
    uint8_t *behind = file->bytes + record->at + rounded;
    bool grows = random_below(file, 2) == 0;
    uint8_t *size = file->bytes + record->at;
    static const uint16_t ends[] = {offsetof(struct etwas_etl_buffer_header, saved_offset),
                                    offsetof(struct etwas_etl_buffer_header, current_offset),
                                    offsetof(struct etwas_etl_buffer_header, offset)};

    if (in_buffer + rounded > end ||
        (grows ? end + more > buffer->bytes || more + rounded > 65528 : more + 8 > rounded)) {
        return;
    }
    size += etl_number(size, 2) == record->bytes ? 0 : 4;
    if (grows) {
        memmove(behind + more, behind, end - in_buffer - rounded);
        memset(behind, 0, more);
        etl_put(size, 2, record->bytes + more);
        end += more;
    } else {
        memmove(behind - more, behind, end - in_buffer - rounded);
        etl_put(size, 2, record->bytes - more);
        end -= more;
    }
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        etl_put(file->bytes + buffer->at + ends[i], sizeof(uint32_t), end);
    }
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Copies a buffer over another one: all of it, or its beginning, which makes a torn buffer. */
static void copy_buffer(struct file *file)
{
    const struct etl_part *from = any_buffer(file);
    const struct etl_part *to = any_buffer(file);
    size_t bytes = from->bytes < to->bytes ? from->bytes : to->bytes;

    if (random_below(file, 3) == 0) {
        bytes = random_below(file, bytes + 1) & ~(size_t)511;
    }
    memmove(file->bytes + to->at, file->bytes + from->at, bytes);
}

static void swap_buffers(struct file *file)
{
    const struct etl_part *a = any_buffer(file);
    const struct etl_part *b = any_buffer(file);
    size_t bytes = a->bytes < b->bytes ? a->bytes : b->bytes;

    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = file->bytes[a->at + i];

        file->bytes[a->at + i] = file->bytes[b->at + i];
        file->bytes[b->at + i] = byte;
    }
}

static void remove_buffer(struct file *file)
{
    const struct etl_part *buffer = any_buffer(file);
    size_t behind = buffer->at + buffer->bytes;

    memmove(file->bytes + buffer->at, file->bytes + behind, file->size - behind);
    file->size -= buffer->bytes;
}

static void append_buffer(struct file *file)
{
    const struct etl_part *buffer = any_buffer(file);

    if (file->size + buffer->bytes <= file->room) {
        memcpy(file->bytes + file->size, file->bytes + buffer->at, buffer->bytes);
        file->size += buffer->bytes;
    }
}

static void zero_something(struct file *file)
{
    const struct etl_part *buffer = any_buffer(file);
    size_t at = random_below(file, 2) == 0 ? buffer->at : random_below(file, file->size) & ~511u;
    size_t bytes = random_below(file, 2) == 0 ? buffer->bytes : PAGE_BYTES;

    memset(file->bytes + at, 0, bytes < file->size - at ? bytes : file->size - at);
}

static void cut(struct file *file)
{
    const struct etl_part *buffer = any_buffer(file);
    size_t size = random_below(file, 2) == 0 ? random_below(file, file->size)
                                             : buffer->at + random_below(file, 144);

    file->size = size > 0 && size < file->size ? size : file->size;
}

/* ---- for the fuzzer -------------------------------------------------------------------------- */

static void damage_once(struct file *file)
{
    static void (*const of_records[])(struct file *) = {
        change_record_header, change_kind,    change_item,   mutate_payload,
        mutate_payload,       mutate_payload, resize_record, resize_record};
    static void (*const of_buffers[])(struct file *) = {change_buffer_header, change_buffer_header,
                                                        change_both_ends,     change_log_header,
                                                        copy_buffer,          swap_buffers,
                                                        remove_buffer,        append_buffer,
                                                        zero_something,       cut};

    find_parts(file);
    if (file->parts.record_count > 0 && random_below(file, 3) != 0) {
        of_records[random_below(file, sizeof of_records / sizeof of_records[0])](file);
    } else {
        of_buffers[random_below(file, sizeof of_buffers / sizeof of_buffers[0])](file);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    static struct file file;

    file.bytes = data;
    file.size = size;
    file.room = room;
    file.random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    if (size < HEADER_BYTES || random_below(&file, 64) == 0) {
        return LLVMFuzzerMutate(data, size, room);
    }
    for (uint32_t times = 1 + random_below(&file, 4); times > 0 && file.size >= HEADER_BYTES;
         times--) {
        damage_once(&file);
    }
    return file.size;
}

/* The first file with buffers of the second in it: instead of its own, or behind them. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *first, size_t first_bytes, const uint8_t *second,
                                 size_t second_bytes, uint8_t *out, size_t room, unsigned seed)
{
    static struct file file;
    static struct etl_parts foreign;
    size_t size = first_bytes < room ? first_bytes : room;

    memcpy(out, first, size);
    if (size < HEADER_BYTES || second_bytes < HEADER_BYTES) {
        return size;
    }
    file.bytes = out;
    file.size = size;
    file.room = room;
    file.random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    find_parts(&file);
    etl_find_parts(second, second_bytes, &foreign);
    for (uint32_t times = 1 + random_below(&file, 3); times > 0; times--) {
        const struct etl_part *from = &foreign.buffers[random_below(&file, foreign.buffer_count)];
        const struct etl_part *to = any_buffer(&file);
        bool appends = random_below(&file, 2) == 0 && file.size + from->bytes <= room;
        size_t bytes = appends || from->bytes < to->bytes ? from->bytes : to->bytes;

        memcpy(out + (appends ? file.size : to->at), second + from->at, bytes);
        file.size += appends ? bytes : 0;
    }
    return file.size;
}
