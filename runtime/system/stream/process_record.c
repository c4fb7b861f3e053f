/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records that are no samples.
 */
#include "system/stream/perf_cursor.h"
#include "system/stream/sample.h"

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
    cursor.left -= ETWAS_SAMPLE_ORIGIN_BYTES;
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
    case PERF_RECORD_SWITCH:
        sideband->process_id = sideband->origin.process_id;
        sideband->thread_id = sideband->origin.thread_id;
        sideband->turn.is_out = (record->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
        sideband->turn.is_preempted = (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        break;
    default:
        return false;
    }
    return !cursor.is_short;
}
