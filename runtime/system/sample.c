/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/sample.h"

#include "system/cursor.h"

enum {
    ORIGIN_BYTES = 32, /* behind a record that is no sample: thread, time, processor, event */
    FRAME_BYTES = 8,
};

/* Thread, time and processor, which follow each other in every record. */
static void take_origin(struct etwas_cursor *cursor, struct etwas_sample_origin *origin)
{
    struct {
        uint32_t process_id;
        uint32_t thread_id;
        int64_t time_ns;
        uint32_t processor;
        uint32_t reserved;
    } taken;

    etwas_cursor_copy(cursor, &taken, sizeof taken);
    origin->process_id = taken.process_id;
    origin->thread_id = taken.thread_id;
    origin->time_ns = taken.time_ns;
    origin->processor = taken.processor;
}

/* The same with PERF_SAMPLE_ADDR, which lies in between. Returns that. */
static uint64_t take_origin_and_address(struct etwas_cursor *cursor,
                                        struct etwas_sample_origin *origin)
{
    uint64_t address;

    origin->process_id = etwas_cursor_u32(cursor);
    origin->thread_id = etwas_cursor_u32(cursor);
    origin->time_ns = (int64_t)etwas_cursor_u64(cursor);
    address = etwas_cursor_u64(cursor);
    origin->processor = etwas_cursor_u32(cursor);
    (void)etwas_cursor_u32(cursor);
    return address;
}

bool etwas_sample_origin(const struct perf_event_header *record, struct etwas_sample_origin *origin)
{
    struct etwas_cursor cursor = etwas_cursor_of(record);

    *origin = (struct etwas_sample_origin){0};
    if (record->type == PERF_RECORD_SAMPLE) {
        /* What lies between them only the event's sample type says. */
        origin->event = etwas_cursor_u64(&cursor);
        return !cursor.is_short;
    }
    if (cursor.left < ORIGIN_BYTES) {
        return false;
    }
    (void)etwas_cursor_skip(&cursor, cursor.left - ORIGIN_BYTES);
    take_origin(&cursor, origin);
    origin->event = etwas_cursor_u64(&cursor);
    return !cursor.is_short;
}

bool etwas_sample_decode(const struct perf_event_header *record, uint64_t sample_type,
                         struct etwas_sample *sample)
{
    struct etwas_cursor cursor = etwas_cursor_of(record);

    *sample = (struct etwas_sample){0};
    if (record->type != PERF_RECORD_SAMPLE ||
        (sample_type & ETWAS_SAMPLE_ALWAYS) != ETWAS_SAMPLE_ALWAYS ||
        (sample_type & ~ETWAS_SAMPLE_KNOWN) != 0) {
        return false;
    }
    sample->origin.event = etwas_cursor_u64(&cursor);
    if ((sample_type & PERF_SAMPLE_IP) != 0) {
        sample->address = etwas_cursor_u64(&cursor);
    }
    if ((sample_type & PERF_SAMPLE_ADDR) != 0) {
        sample->data_address = take_origin_and_address(&cursor, &sample->origin);
    } else {
        take_origin(&cursor, &sample->origin);
    }
    if ((sample_type & PERF_SAMPLE_CALLCHAIN) != 0) {
        sample->frame_count = etwas_cursor_u64(&cursor);
        if (sample->frame_count > cursor.left / FRAME_BYTES) {
            return false;
        }
        sample->frames = etwas_cursor_skip(&cursor, sample->frame_count * FRAME_BYTES);
    }
    if ((sample_type & PERF_SAMPLE_RAW) != 0) {
        sample->raw_bytes = etwas_cursor_u32(&cursor);
        sample->raw = etwas_cursor_skip(&cursor, sample->raw_bytes);
    }
    return !cursor.is_short;
}

/* ---- what is no sample ----------------------------------------------------------------------- */

/* A text that ends before the record does. */
static const char *take_text(struct etwas_cursor *cursor)
{
    size_t bytes = cursor->is_short ? 0 : cursor->left;
    const char *text = (const char *)etwas_cursor_skip(cursor, bytes);

    if (bytes == 0 || memchr(text, 0, bytes) == NULL) {
        cursor->is_short = true;
    }
    return text;
}

static void take_task(struct etwas_cursor *cursor, struct etwas_sideband *sideband)
{
    sideband->process_id = etwas_cursor_u32(cursor);
    sideband->task.parent_process_id = etwas_cursor_u32(cursor);
    sideband->thread_id = etwas_cursor_u32(cursor);
    sideband->task.parent_thread_id = etwas_cursor_u32(cursor);
    (void)etwas_cursor_u64(cursor); /* the time once more */
}

static void take_comm(struct etwas_cursor *cursor, uint16_t misc, struct etwas_sideband *sideband)
{
    sideband->process_id = etwas_cursor_u32(cursor);
    sideband->thread_id = etwas_cursor_u32(cursor);
    sideband->comm.is_exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    sideband->comm.name = take_text(cursor);
}

static void take_inode(const uint8_t *file, struct etwas_sideband *sideband)
{
    enum {
        MINOR_BITS = 20
    };
    uint32_t device[2];

    memcpy(device, file, sizeof device);
    memcpy(&sideband->image.inode, file + sizeof device, sizeof sideband->image.inode);
    sideband->image.device = device[0] << MINOR_BITS | device[1];
}

/* A build id and how long it is, or numbers that name the file, in the same room. */
static void take_file(struct etwas_cursor *cursor, uint16_t misc, struct etwas_sideband *sideband)
{
    enum {
        BUILD_ID_ROOM = 20,
        FILE_BYTES = 24
    };
    const uint8_t *file = etwas_cursor_skip(cursor, FILE_BYTES);

    if (file == NULL) {
        return;
    }
    if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) == 0) {
        take_inode(file, sideband);
        return;
    }
    sideband->image.build_id_bytes = file[0];
    sideband->image.build_id = file + FILE_BYTES - BUILD_ID_ROOM;
    if (sideband->image.build_id_bytes > BUILD_ID_ROOM) {
        cursor->is_short = true;
    }
}

static void take_image(struct etwas_cursor *cursor, uint16_t misc, struct etwas_sideband *sideband)
{
    sideband->process_id = etwas_cursor_u32(cursor);
    sideband->thread_id = etwas_cursor_u32(cursor);
    sideband->image.address = etwas_cursor_u64(cursor);
    sideband->image.bytes = etwas_cursor_u64(cursor);
    sideband->image.file_offset = etwas_cursor_u64(cursor);
    take_file(cursor, misc, sideband);
    sideband->image.protection = etwas_cursor_u32(cursor);
    (void)etwas_cursor_u32(cursor); /* MAP_* */
    sideband->image.path = take_text(cursor);
}

bool etwas_sideband_decode(const struct perf_event_header *record, struct etwas_sideband *sideband)
{
    struct etwas_cursor cursor = etwas_cursor_of(record);

    *sideband = (struct etwas_sideband){.type = record->type};
    if (record->type == PERF_RECORD_SAMPLE || !etwas_sample_origin(record, &sideband->origin)) {
        return false;
    }
    cursor.left -= ORIGIN_BYTES;
    switch (record->type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        take_task(&cursor, sideband);
        break;
    case PERF_RECORD_COMM:
        take_comm(&cursor, record->misc, sideband);
        break;
    case PERF_RECORD_MMAP2:
        take_image(&cursor, record->misc, sideband);
        break;
    default:
        return false;
    }
    return !cursor.is_short;
}
