/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Decodes the records of a ring that are no samples.
 */
#include "system/stream/perf_cursor.h"
#include "system/stream/sample.h"

/* Reads a text that ends with a 0 within the record. */
static const char *process_record_read_text(struct etwas_perf_cursor *cursor)
{
    size_t bytes = cursor->is_short ? 0 : cursor->left;
    const char *text = (const char *)etwas_perf_cursor_skip(cursor, bytes);

    if (bytes == 0 || memchr(text, 0, bytes) == NULL) {
        cursor->is_short = true;
    }
    return text;
}

static void read_task(struct etwas_perf_cursor *cursor, struct etwas_process_record *process_record)
{
    process_record->process_id = etwas_perf_cursor_u32(cursor);
    process_record->task.parent_process_id = etwas_perf_cursor_u32(cursor);
    process_record->thread_id = etwas_perf_cursor_u32(cursor);
    process_record->task.parent_thread_id = etwas_perf_cursor_u32(cursor);
    (void)etwas_perf_cursor_u64(cursor); /* the time, which the origin has */
}

static void read_comm(struct etwas_perf_cursor *cursor, uint16_t misc,
                      struct etwas_process_record *process_record)
{
    process_record->process_id = etwas_perf_cursor_u32(cursor);
    process_record->thread_id = etwas_perf_cursor_u32(cursor);
    process_record->comm.is_exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
    process_record->comm.name = process_record_read_text(cursor);
}

static void read_inode(const uint8_t *file, struct etwas_process_record *process_record)
{
    enum {
        MINOR_BITS = 20
    };
    uint32_t device[2];

    memcpy(device, file, sizeof device);
    memcpy(&process_record->image.inode, file + sizeof device, sizeof process_record->image.inode);
    process_record->image.device = device[0] << MINOR_BITS | device[1];
}

/* Reads a build id and its length, or the numbers of the file, which are at the same place. */
static void process_record_read_file(struct etwas_perf_cursor *cursor, uint16_t misc,
                                     struct etwas_process_record *process_record)
{
    enum {
        BUILD_ID_ROOM = 20,
        FILE_BYTES = 24
    };
    const uint8_t *file = etwas_perf_cursor_skip(cursor, FILE_BYTES);

    if (file == NULL) {
        return;
    }
    if ((misc & PERF_RECORD_MISC_MMAP_BUILD_ID) == 0) {
        read_inode(file, process_record);
        return;
    }
    process_record->image.build_id_bytes = file[0];
    process_record->image.build_id = file + FILE_BYTES - BUILD_ID_ROOM;
    if (process_record->image.build_id_bytes > BUILD_ID_ROOM) {
        cursor->is_short = true;
    }
}

static void read_image(struct etwas_perf_cursor *cursor, uint16_t misc,
                       struct etwas_process_record *process_record)
{
    process_record->process_id = etwas_perf_cursor_u32(cursor);
    process_record->thread_id = etwas_perf_cursor_u32(cursor);
    process_record->image.address = etwas_perf_cursor_u64(cursor);
    process_record->image.bytes = etwas_perf_cursor_u64(cursor);
    process_record->image.file_offset = etwas_perf_cursor_u64(cursor);
    process_record_read_file(cursor, misc, process_record);
    process_record->image.protection = etwas_perf_cursor_u32(cursor);
    (void)etwas_perf_cursor_u32(cursor); /* MAP_* */
    process_record->image.path = process_record_read_text(cursor);
}

bool etwas_process_record_decode(const struct perf_event_header *record,
                                 struct etwas_process_record *process_record)
{
    struct etwas_perf_cursor cursor = etwas_perf_cursor_of(record);

    *process_record = (struct etwas_process_record){.type = record->type};
    if (record->type == PERF_RECORD_SAMPLE ||
        !etwas_sample_origin(record, &process_record->origin)) {
        return false;
    }
    cursor.left -= ETWAS_SAMPLE_ORIGIN_BYTES;
    switch (record->type) {
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        read_task(&cursor, process_record);
        break;
    case PERF_RECORD_COMM:
        read_comm(&cursor, record->misc, process_record);
        break;
    case PERF_RECORD_MMAP2:
        read_image(&cursor, record->misc, process_record);
        break;
    case PERF_RECORD_SWITCH:
        process_record->process_id = process_record->origin.process_id;
        process_record->thread_id = process_record->origin.thread_id;
        process_record->turn.is_out = (record->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
        process_record->turn.is_preempted =
            (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        break;
    default:
        return false;
    }
    return !cursor.is_short;
}
