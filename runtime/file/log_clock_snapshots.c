/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_clock_snapshots.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "file/log_file_internal.h"
#include "platform/testpoint.h"

enum {
    CLOCK_SNAPSHOT_BYTES = sizeof(struct etwas_etl_clock_snapshot_record)
};

static uint32_t clock_snapshots_offset_of(const struct etwas_log_clock_snapshots *clock_snapshots,
                                          uint32_t index)
{
    return clock_snapshots->begin + index * CLOCK_SNAPSHOT_BYTES;
}

static uint32_t clock_snapshots_count_of(const struct etwas_log_file *file)
{
    const struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;

    return clock_snapshots->fixed + clock_snapshots->running +
           (file->stage != ETWAS_LOG_FILE_WRITING ? 1 : 0);
}

/*
 * Notes that buffer 0 changed from this clock snapshot on. It ends after the losses, which follow
 * the last one.
 */
static void clock_snapshots_changed(struct etwas_log_file *file, uint32_t index)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    uint32_t offset = clock_snapshots_offset_of(clock_snapshots, index);
    uint32_t end = clock_snapshots_offset_of(clock_snapshots, clock_snapshots_count_of(file));
    uint32_t losses_bytes = etwas_log_losses_write(file, end);

    if (clock_snapshots->stored > offset) {
        clock_snapshots->stored = offset;
        clock_snapshots->shrunk = clock_snapshots->shrunk || losses_bytes != 0;
    }
    etwas_log_header_resize(&file->header, end + losses_bytes);
}

struct etwas_etl_clock_snapshot_record etwas_log_clock_snapshot(
    const struct etwas_log_header *header, const struct etwas_clock_reading *reading,
    uint32_t reason)
{
    return (struct etwas_etl_clock_snapshot_record){
        .header = etwas_log_header_own(header, CLOCK_SNAPSHOT_BYTES, ETWAS_ETL_CLOCK_SNAPSHOT_TYPE,
                                       ETWAS_ETL_CLOCK_SNAPSHOT_VERSION),
        .clock_snapshot =
            {
                .version = ETWAS_ETL_CLOCK_SNAPSHOT_VERSION,
                .reason = reason,
                .raw_stamp = etwas_clock_reading_stamp(reading, header->clock),
                .qpc_ns = reading->qpc_ns,
                .filetime = etwas_clock_reading_filetime(reading, header->clock),
                .suspended_ns = reading->suspended_ns,
                .qpc_error_ns = etwas_clock_reading_qpc_error_ns(reading, header->clock),
                .filetime_error_ns = etwas_clock_reading_filetime_error_ns(reading, header->clock),
            },
    };
}

static void clock_snapshots_put(const struct etwas_log_file *file, uint32_t index,
                                const struct etwas_clock_reading *reading, uint32_t reason)
{
    const struct etwas_etl_clock_snapshot_record record =
        etwas_log_clock_snapshot(&file->header, reading, reason);

    memcpy(file->header.content + clock_snapshots_offset_of(&file->clock_snapshots, index), &record,
           sizeof record);
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static void clock_snapshots_put_fixed(struct etwas_log_file *file,
                                      const struct etwas_clock_reading *reading, uint32_t reason)
{
    clock_snapshots_put(file, file->clock_snapshots.fixed, reading, reason);
    file->clock_snapshots.fixed++;
}

/* Stores the newest of the session's readings before this file, and the file's own. */
static void clock_snapshots_put_before(struct etwas_log_file *file,
                                       const struct etwas_log_file_options *options, uint32_t room)
{
    const struct etwas_clock_history *history = options->history;
    uint32_t wanted =
        room / 4 < ETWAS_CLOCK_SNAPSHOTS_INHERITED ? room / 4 : ETWAS_CLOCK_SNAPSHOTS_INHERITED;
    uint32_t count = history != NULL ? history->count : 0;

    if (room == 0) {
        return;
    }
    for (uint32_t index = count > wanted + 1 ? count - wanted : 1; index < count; index++) {
        clock_snapshots_put_fixed(file, &history->readings[index],
                                  ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);
    }
    clock_snapshots_put_fixed(file, options->opened, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_OPENED);
}

bool etwas_log_clock_snapshots_begin(struct etwas_log_file *file,
                                     const struct etwas_log_file_options *options)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    uint32_t room = (file->buffer_bytes - file->header.bytes) / CLOCK_SNAPSHOT_BYTES;

    *clock_snapshots = (struct etwas_log_clock_snapshots){
        .stride = 1,
        .newest = options->after != NULL
                      ? options->after->clock_snapshots.newest
                      : etwas_clock_reading_stamp(&options->started, options->clock),
        .moved_at = file->cursor.written,
        .stored_at = file->cursor.written,
    };
    if (room < 2) {
        return true;
    }
    clock_snapshots->begin = file->header.bytes;
    clock_snapshots_put_fixed(file, &options->started, ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED);
    if (options->opened != NULL) {
        clock_snapshots_put_before(file, options, room - 2);
    }
    clock_snapshots->capacity = room - 1 - clock_snapshots->fixed;
    clock_snapshots->quiet =
        calloc((size_t)clock_snapshots->capacity + 1, sizeof *clock_snapshots->quiet);
    clock_snapshots_changed(file, 0);
    return clock_snapshots->quiet != NULL;
}

void etwas_log_clock_snapshots_free(struct etwas_log_clock_snapshots *clock_snapshots)
{
    free(clock_snapshots->quiet);
}

void etwas_log_clock_snapshots_end(struct etwas_log_file *file,
                                   const struct etwas_clock_reading *reading)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;

    if (clock_snapshots->begin != 0) {
        clock_snapshots_put(file, clock_snapshots_count_of(file) - 1, reading,
                            ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED);
        clock_snapshots_changed(file, clock_snapshots_count_of(file) - 1);
    }
}

bool etwas_log_clock_snapshots_are_valid(const struct etwas_log_file *file)
{
    const struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;

    return clock_snapshots->begin == 0 ||
           (clock_snapshots->running <= clock_snapshots->capacity &&
            clock_snapshots->stored <= file->header.bytes &&
            clock_snapshots_offset_of(clock_snapshots, clock_snapshots_count_of(file)) +
                    file->losses_bytes ==
                file->header.bytes);
}

/* ---- in the file ----------------------------------------------------------------------------- */

/*
 * A buffer with a sequence number of its own (a snapshot's) is not the newest of the file: those
 * after it are older.
 */
void etwas_log_clock_snapshots_count_buffer(struct etwas_log_file *file,
                                            const struct etwas_drained *buffer)
{
    if (buffer->sequence_number == 0 && buffer->processor == 0 &&
        buffer->newest > file->clock_snapshots.newest) {
        file->clock_snapshots.newest = buffer->newest;
    }
}

/*
 * Replaces the clock snapshots in the file from `from` on. Until all are written, the header in the
 * file ends before them. Nothing remains after the last.
 */
static bool clock_snapshots_replace(struct etwas_log_file *file, uint32_t from)
{
    struct etwas_log_header *header = &file->header;
    uint32_t bytes = header->bytes;
    bool good;

    etwas_log_header_resize(header, from);
    good = etwas_log_patch(file->descriptor, header->content,
                           sizeof(struct etwas_etl_buffer_header), 0);
    etwas_log_header_resize(header, bytes);
    memcpy(file->scratch + from, header->content + from, bytes - from);
    etwas_log_pad(file, file->scratch, bytes);
    return good &&
           etwas_log_patch(file->descriptor, file->scratch + from, file->buffer_bytes - from, from);
}

/*
 * Writes the new clock snapshots first, then the header that includes them: if a writer is killed
 * in between, buffer 0 ends with a whole record.
 */
bool etwas_log_first_buffer_store(struct etwas_log_file *file)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    const struct etwas_log_header *header = &file->header;
    uint32_t begin = clock_snapshots->begin != 0 ? clock_snapshots->begin : header->bytes;
    uint32_t from = clock_snapshots->stored > begin ? clock_snapshots->stored : begin;
    bool good;

    if (clock_snapshots->shrunk) {
        good = clock_snapshots_replace(file, from);
    } else {
        good = header->bytes <= from || etwas_log_patch(file->descriptor, header->content + from,
                                                        header->bytes - from, from);
    }
    good = good && etwas_log_patch(file->descriptor, header->content, begin, 0);
    if (good) {
        clock_snapshots->stored = header->bytes;
        clock_snapshots->stored_at = file->cursor.written;
        clock_snapshots->shrunk = false;
    }
    return good;
}

/* ---- making room ----------------------------------------------------------------------------- */

static uint8_t *clock_snapshots_running_at(const struct etwas_log_file *file, uint32_t index)
{
    return file->header.content +
           clock_snapshots_offset_of(&file->clock_snapshots, file->clock_snapshots.fixed + index);
}

/* Decides whether a running clock snapshot stays. */
typedef bool keep(const struct etwas_log_clock_snapshots *clock_snapshots, uint32_t index);

/* Drops those that need not stay. A merged interval is quiet if all its intervals were. */
static void clock_snapshots_drop(struct etwas_log_file *file, keep *stays)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    uint32_t count = clock_snapshots->running;
    uint32_t kept = 0;
    bool quiet = true;

    /* `stays` reads only what was not moved yet: this one and later ones. */
    for (uint32_t index = 0; index < count; index++) {
        bool stay = stays(clock_snapshots, index);

        quiet = quiet && clock_snapshots->quiet[index];
        if (stay) {
            memmove(clock_snapshots_running_at(file, kept), clock_snapshots_running_at(file, index),
                    CLOCK_SNAPSHOT_BYTES);
            clock_snapshots->quiet[kept++] = quiet;
            quiet = true;
        }
    }
    if (kept < count) {
        clock_snapshots->busy = clock_snapshots->busy || !quiet;
        clock_snapshots->shrunk = true;
        clock_snapshots->running = kept;
        clock_snapshots_changed(file, clock_snapshots->fixed);
    }
}

static bool clock_snapshots_is_beside_events(
    const struct etwas_log_clock_snapshots *clock_snapshots, uint32_t index)
{
    return index + 1 == clock_snapshots->running || !clock_snapshots->quiet[index] ||
           !clock_snapshots->quiet[index + 1];
}

static bool clock_snapshots_is_every_second(const struct etwas_log_clock_snapshots *clock_snapshots,
                                            uint32_t index)
{
    return (clock_snapshots->running - 1 - index) % 2 == 0;
}

static bool clock_snapshots_is_new_or_every_second(
    const struct etwas_log_clock_snapshots *clock_snapshots, uint32_t index)
{
    uint32_t half = clock_snapshots->running / 2;

    return index >= half || (half - 1 - index) % 2 == 0;
}

static bool clock_snapshots_is_not_the_last(const struct etwas_log_clock_snapshots *clock_snapshots,
                                            uint32_t index)
{
    return index + 1 < clock_snapshots->running;
}

/* Returns whether the file can have buffers of clock snapshots at all. */
static bool clock_snapshots_has_buffers(const struct etwas_log_file *file)
{
    uint32_t limit = file->cursor.limit;

    return !etwas_log_is_packed(file) &&
           file->clock_snapshots.capacity >= ETWAS_CLOCK_SNAPSHOTS_LEAST &&
           (limit == 0 || limit >= ETWAS_CLOCK_SNAPSHOTS_ENTRIES);
}

static bool clock_snapshots_may_move(const struct etwas_log_file *file)
{
    uint64_t since = file->cursor.written - file->clock_snapshots.moved_at;

    return clock_snapshots_has_buffers(file) && !etwas_log_file_is_full(file) &&
           (file->cursor.limit == 0 || since >= ETWAS_CLOCK_SNAPSHOTS_ENTRIES - 1);
}

static void clock_snapshots_stamp_running(const struct etwas_log_file *file, uint32_t count,
                                          int64_t stamp)
{
    for (uint32_t index = 0; index < count; index++) {
        memcpy(clock_snapshots_running_at(file, index) +
                   offsetof(struct etwas_etl_full_header, time_stamp),
               &stamp, sizeof stamp);
    }
}

/* Moves all but the last into the file's next entry. */
static struct etwas_log_write clock_snapshots_move(struct etwas_log_file *file,
                                                   uint32_t sequence_number)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    uint32_t count = clock_snapshots->running - 1;
    struct etwas_etl_full_header own =
        etwas_log_header_own(&file->header, CLOCK_SNAPSHOT_BYTES, 0, 0);
    const struct etwas_drained buffer = {
        .data = clock_snapshots_running_at(file, 0),
        .data_bytes = count * CLOCK_SNAPSHOT_BYTES,
        .time_stamp = clock_snapshots->newest,
        .newest = clock_snapshots->newest,
        .sequence_number = sequence_number,
    };
    struct etwas_log_write write;

    clock_snapshots_stamp_running(file, count, clock_snapshots->newest);
    write = etwas_log_file_write(file, &buffer, 1);
    clock_snapshots_stamp_running(file, count, own.time_stamp);
    if (write.written != 0) {
        memmove(clock_snapshots_running_at(file, 0), clock_snapshots_running_at(file, count),
                CLOCK_SNAPSHOT_BYTES);
        clock_snapshots->quiet[0] = clock_snapshots->quiet[count];
        clock_snapshots->running = 1;
        clock_snapshots->moved_at = file->cursor.written;
        clock_snapshots->shrunk = true;
        clock_snapshots_changed(file, clock_snapshots->fixed);
    }
    return write;
}

static void clock_snapshots_thin(struct etwas_log_file *file)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    uint32_t before = clock_snapshots->running;

    if (file->cursor.records != NULL || clock_snapshots_has_buffers(file)) {
        clock_snapshots_drop(file, clock_snapshots_is_new_or_every_second);
    } else {
        clock_snapshots_drop(file, clock_snapshots_is_every_second);
        clock_snapshots->stride *=
            clock_snapshots->running < before && clock_snapshots->stride < UINT32_MAX / 2 ? 2 : 1;
    }
    if (clock_snapshots->running == before) {
        clock_snapshots_drop(file, clock_snapshots_is_not_the_last);
    }
}

uint32_t etwas_log_clock_snapshots_loss_bytes(
    const struct etwas_log_clock_snapshots *clock_snapshots)
{
    return clock_snapshots->capacity / 2 * CLOCK_SNAPSHOT_BYTES;
}

void etwas_log_clock_snapshots_make_room_for_losses(struct etwas_log_file *file)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;

    if (!clock_snapshots->is_shared) {
        clock_snapshots->capacity -= clock_snapshots->capacity / 2;
        while (clock_snapshots->running > clock_snapshots->capacity) {
            clock_snapshots_thin(file);
        }
        clock_snapshots->is_shared = true;
    }
    clock_snapshots_changed(file, clock_snapshots_count_of(file));
}

static void clock_snapshots_make_room(struct etwas_log_file *file, uint32_t sequence_number,
                                      struct etwas_log_write *write)
{
    const struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;

    clock_snapshots_drop(file, clock_snapshots_is_beside_events);
    /* A quarter must be free, so that this is not done for each clock snapshot. */
    if (clock_snapshots->running <= clock_snapshots->capacity - clock_snapshots->capacity / 4 - 1) {
        return;
    }
    if (clock_snapshots_may_move(file)) {
        *write = clock_snapshots_move(file, sequence_number);
    }
    if (write->written == 0) {
        clock_snapshots_thin(file);
    }
}

struct etwas_log_write etwas_log_clock_snapshots_add(struct etwas_log_file *file,
                                                     const struct etwas_clock_reading *reading,
                                                     bool quiet, uint32_t sequence_number)
{
    struct etwas_log_clock_snapshots *clock_snapshots = &file->clock_snapshots;
    struct etwas_log_write write = {.code = ERROR_SUCCESS};

    if (clock_snapshots->capacity == 0 || file->stage != ETWAS_LOG_FILE_WRITING) {
        return write;
    }
    etwas_log_losses_update(file);
    clock_snapshots->busy = clock_snapshots->busy || !quiet;
    if (++clock_snapshots->passed < clock_snapshots->stride) {
        return write;
    }
    clock_snapshots->passed = 0;
    if (clock_snapshots->running == clock_snapshots->capacity) {
        clock_snapshots_make_room(file, sequence_number, &write);
    }
    clock_snapshots_put(file, clock_snapshots->fixed + clock_snapshots->running, reading,
                        ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);
    clock_snapshots->quiet[clock_snapshots->running++] = !clock_snapshots->busy;
    clock_snapshots->busy = false;
    clock_snapshots_changed(file, clock_snapshots->fixed + clock_snapshots->running - 1);
    /* A failed update is retried with the next one. */
    if (clock_snapshots->stored_at != file->cursor.written && !etwas_log_first_buffer_store(file) &&
        write.code == ERROR_SUCCESS) {
        write.code = ERROR_WRITE_FAULT;
    }
    ETWAS_INVARIANT(etwas_log_file_is_valid(file));
    return write;
}
