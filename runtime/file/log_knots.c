/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_knots.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "file/log_inside.h"
#include "file/log_patch.h"
#include "platform/testpoint.h"

enum {
    KNOT_BYTES = sizeof(struct etwas_etl_knot_record)
};

static uint32_t offset_of(const struct etwas_log_knots *knots, uint32_t index)
{
    return knots->begin + index * KNOT_BYTES;
}

static uint32_t count_of(const struct etwas_log_file *file)
{
    const struct etwas_log_knots *knots = &file->knots;

    return knots->fixed + knots->running + (file->stage != ETWAS_LOG_FILE_WRITING ? 1 : 0);
}

/* From this knot on buffer 0 is another; it ends behind the losses, which are behind the last one. */
static void changed(struct etwas_log_file *file, uint32_t index)
{
    struct etwas_log_knots *knots = &file->knots;
    uint32_t offset = offset_of(knots, index);
    uint32_t end = offset_of(knots, count_of(file));
    uint32_t losses_bytes = etwas_log_losses_put(file, end);

    if (knots->stored > offset) {
        knots->stored = offset;
        knots->shrunk = knots->shrunk || losses_bytes != 0;
    }
    etwas_log_header_resize(&file->header, end + losses_bytes);
}

struct etwas_etl_knot_record etwas_log_knot(const struct etwas_log_header *header,
                                            const struct etwas_clock_reading *reading,
                                            uint32_t reason)
{
    return (struct etwas_etl_knot_record){
        .header =
            etwas_log_header_own(header, KNOT_BYTES, ETWAS_ETL_KNOT_TYPE, ETWAS_ETL_KNOT_VERSION),
        .knot =
            {
                .version = ETWAS_ETL_KNOT_VERSION,
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

static void put(const struct etwas_log_file *file, uint32_t index,
                const struct etwas_clock_reading *reading, uint32_t reason)
{
    const struct etwas_etl_knot_record record = etwas_log_knot(&file->header, reading, reason);

    memcpy(file->header.content + offset_of(&file->knots, index), &record, sizeof record);
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static void put_fixed(struct etwas_log_file *file, const struct etwas_clock_reading *reading,
                      uint32_t reason)
{
    put(file, file->knots.fixed, reading, reason);
    file->knots.fixed++;
}

/* What the session has read before this file: the newest ones, and the file's own. */
static void put_before(struct etwas_log_file *file, const struct etwas_log_file_options *options,
                       uint32_t room)
{
    const struct etwas_clock_history *history = options->history;
    uint32_t wanted = room / 4 < ETWAS_KNOTS_OF_BEFORE ? room / 4 : ETWAS_KNOTS_OF_BEFORE;
    uint32_t count = history != NULL ? history->count : 0;

    if (room == 0) {
        return;
    }
    for (uint32_t index = count > wanted + 1 ? count - wanted : 1; index < count; index++) {
        put_fixed(file, &history->readings[index], ETWAS_ETL_KNOT_RUNNING);
    }
    put_fixed(file, options->opened, ETWAS_ETL_KNOT_FILE_OPENED);
}

bool etwas_log_knots_begin(struct etwas_log_file *file,
                           const struct etwas_log_file_options *options)
{
    struct etwas_log_knots *knots = &file->knots;
    uint32_t room = (file->buffer_bytes - file->header.bytes) / KNOT_BYTES;

    *knots = (struct etwas_log_knots){
        .stride = 1,
        .newest = options->after != NULL
                      ? options->after->knots.newest
                      : etwas_clock_reading_stamp(&options->started, options->clock),
        .moved_at = file->cursor.written,
        .stored_at = file->cursor.written,
    };
    if (room < 2) {
        return true;
    }
    knots->begin = file->header.bytes;
    put_fixed(file, &options->started, ETWAS_ETL_KNOT_SESSION_STARTED);
    if (options->opened != NULL) {
        put_before(file, options, room - 2);
    }
    knots->capacity = room - 1 - knots->fixed;
    knots->quiet = calloc((size_t)knots->capacity + 1, sizeof *knots->quiet);
    changed(file, 0);
    return knots->quiet != NULL;
}

void etwas_log_knots_free(struct etwas_log_knots *knots)
{
    free(knots->quiet);
}

void etwas_log_knots_end(struct etwas_log_file *file, const struct etwas_clock_reading *reading)
{
    struct etwas_log_knots *knots = &file->knots;

    if (knots->begin != 0) {
        put(file, count_of(file) - 1, reading, ETWAS_ETL_KNOT_FILE_ENDED);
        changed(file, count_of(file) - 1);
    }
}

bool etwas_log_knots_are_valid(const struct etwas_log_file *file)
{
    const struct etwas_log_knots *knots = &file->knots;

    return knots->begin == 0 ||
           (knots->running <= knots->capacity && knots->stored <= file->header.bytes &&
            offset_of(knots, count_of(file)) + file->losses_bytes == file->header.bytes);
}

/* ---- in the file ----------------------------------------------------------------------------- */

/*
 * A buffer with a number of its own is not the newest of the file (a snapshot's): what comes behind
 * it there is older.
 */
void etwas_log_knots_note(struct etwas_log_file *file, const struct etwas_drained *buffer)
{
    if (buffer->sequence_number == 0 && buffer->processor == 0 &&
        buffer->newest > file->knots.newest) {
        file->knots.newest = buffer->newest;
    }
}

/*
 * What other knots lie in the file from `from` on than before: it ends in front of them until all
 * are there, and nothing is behind the last.
 */
static bool replace(struct etwas_log_file *file, uint32_t from)
{
    struct etwas_log_header *header = &file->header;
    uint32_t bytes = header->bytes;
    bool good;

    etwas_log_header_resize(header, from);
    good = etwas_log_patch(file->descriptor, header->content,
                           sizeof(struct etwas_etl_buffer_header), 0);
    etwas_log_header_resize(header, bytes);
    memcpy(file->spare + from, header->content + from, bytes - from);
    etwas_log_pad(file, file->spare, bytes);
    return good &&
           etwas_log_patch(file->descriptor, file->spare + from, file->buffer_bytes - from, from);
}

/*
 * The knots that are new first, then the header that counts them in: wherever a writer is killed
 * in between, buffer 0 ends with a whole record.
 */
bool etwas_log_knots_store(struct etwas_log_file *file)
{
    struct etwas_log_knots *knots = &file->knots;
    const struct etwas_log_header *header = &file->header;
    uint32_t begin = knots->begin != 0 ? knots->begin : header->bytes;
    uint32_t from = knots->stored > begin ? knots->stored : begin;
    bool good;

    if (knots->shrunk) {
        good = replace(file, from);
    } else {
        good = header->bytes <= from || etwas_log_patch(file->descriptor, header->content + from,
                                                        header->bytes - from, from);
    }
    good = good && etwas_log_patch(file->descriptor, header->content, begin, 0);
    if (good) {
        knots->stored = header->bytes;
        knots->stored_at = file->cursor.written;
        knots->shrunk = false;
    }
    return good;
}

/* ---- making room ----------------------------------------------------------------------------- */

static uint8_t *running_at(const struct etwas_log_file *file, uint32_t index)
{
    return file->header.content + offset_of(&file->knots, file->knots.fixed + index);
}

/* Which of the running knots stays. */
typedef bool keep(const struct etwas_log_knots *knots, uint32_t index);

/* Drops those that need not stay. An interval is quiet if all were that it is made of. */
static void drop(struct etwas_log_file *file, keep *stays)
{
    struct etwas_log_knots *knots = &file->knots;
    uint32_t count = knots->running;
    uint32_t kept = 0;
    bool quiet = true;

    /* `stays` looks at what is not moved yet: at this one and those behind it. */
    for (uint32_t index = 0; index < count; index++) {
        bool stay = stays(knots, index);

        quiet = quiet && knots->quiet[index];
        if (stay) {
            memmove(running_at(file, kept), running_at(file, index), KNOT_BYTES);
            knots->quiet[kept++] = quiet;
            quiet = true;
        }
    }
    if (kept < count) {
        knots->busy = knots->busy || !quiet;
        knots->shrunk = true;
        knots->running = kept;
        changed(file, knots->fixed);
    }
}

static bool is_beside_events(const struct etwas_log_knots *knots, uint32_t index)
{
    return index + 1 == knots->running || !knots->quiet[index] || !knots->quiet[index + 1];
}

static bool is_every_second(const struct etwas_log_knots *knots, uint32_t index)
{
    return (knots->running - 1 - index) % 2 == 0;
}

static bool is_new_or_every_second(const struct etwas_log_knots *knots, uint32_t index)
{
    uint32_t half = knots->running / 2;

    return index >= half || (half - 1 - index) % 2 == 0;
}

static bool is_not_the_last(const struct etwas_log_knots *knots, uint32_t index)
{
    return index + 1 < knots->running;
}

/* Whether the file can have knot buffers at all. */
static bool has_buffers(const struct etwas_log_file *file)
{
    uint32_t limit = file->cursor.limit;

    return !etwas_log_is_packed(file) && file->knots.capacity >= ETWAS_KNOTS_LEAST &&
           (limit == 0 || limit >= ETWAS_KNOTS_ENTRIES);
}

static bool may_move(const struct etwas_log_file *file)
{
    uint64_t since = file->cursor.written - file->knots.moved_at;

    return has_buffers(file) && !etwas_log_file_is_full(file) &&
           (file->cursor.limit == 0 || since >= ETWAS_KNOTS_ENTRIES - 1);
}

static void stamp_running(const struct etwas_log_file *file, uint32_t count, int64_t stamp)
{
    for (uint32_t index = 0; index < count; index++) {
        memcpy(running_at(file, index) + offsetof(struct etwas_etl_full_header, time_stamp), &stamp,
               sizeof stamp);
    }
}

/* All but the last, into the file's next entry. */
static struct etwas_log_write move(struct etwas_log_file *file, uint32_t sequence_number)
{
    struct etwas_log_knots *knots = &file->knots;
    uint32_t count = knots->running - 1;
    struct etwas_etl_full_header own = etwas_log_header_own(&file->header, KNOT_BYTES, 0, 0);
    const struct etwas_drained buffer = {
        .data = running_at(file, 0),
        .data_bytes = count * KNOT_BYTES,
        .time_stamp = knots->newest,
        .newest = knots->newest,
        .sequence_number = sequence_number,
    };
    struct etwas_log_write write;

    stamp_running(file, count, knots->newest);
    write = etwas_log_file_write(file, &buffer, 1);
    stamp_running(file, count, own.time_stamp);
    if (write.written != 0) {
        memmove(running_at(file, 0), running_at(file, count), KNOT_BYTES);
        knots->quiet[0] = knots->quiet[count];
        knots->running = 1;
        knots->moved_at = file->cursor.written;
        knots->shrunk = true;
        changed(file, knots->fixed);
    }
    return write;
}

static void thin(struct etwas_log_file *file)
{
    struct etwas_log_knots *knots = &file->knots;
    uint32_t before = knots->running;

    if (file->cursor.records != NULL || has_buffers(file)) {
        drop(file, is_new_or_every_second);
    } else {
        drop(file, is_every_second);
        knots->stride *= knots->running < before && knots->stride < UINT32_MAX / 2 ? 2 : 1;
    }
    if (knots->running == before) {
        drop(file, is_not_the_last);
    }
}

uint32_t etwas_log_knots_shared_bytes(const struct etwas_log_knots *knots)
{
    return knots->capacity / 2 * KNOT_BYTES;
}

void etwas_log_knots_share(struct etwas_log_file *file)
{
    struct etwas_log_knots *knots = &file->knots;

    if (!knots->is_shared) {
        knots->capacity -= knots->capacity / 2;
        while (knots->running > knots->capacity) {
            thin(file);
        }
        knots->is_shared = true;
    }
    changed(file, count_of(file));
}

static void make_room(struct etwas_log_file *file, uint32_t sequence_number,
                      struct etwas_log_write *write)
{
    const struct etwas_log_knots *knots = &file->knots;

    drop(file, is_beside_events);
    /* So that it is not looked for with each knot. */
    if (knots->running <= knots->capacity - knots->capacity / 4 - 1) {
        return;
    }
    if (may_move(file)) {
        *write = move(file, sequence_number);
    }
    if (write->written == 0) {
        thin(file);
    }
}

struct etwas_log_write etwas_log_knots_take_reading(struct etwas_log_file *file,
                                                    const struct etwas_clock_reading *reading,
                                                    bool quiet, uint32_t sequence_number)
{
    struct etwas_log_knots *knots = &file->knots;
    struct etwas_log_write write = {.code = ERROR_SUCCESS};

    if (knots->capacity == 0 || file->stage != ETWAS_LOG_FILE_WRITING) {
        return write;
    }
    etwas_log_losses_update(file);
    knots->busy = knots->busy || !quiet;
    if (++knots->passed < knots->stride) {
        return write;
    }
    knots->passed = 0;
    if (knots->running == knots->capacity) {
        make_room(file, sequence_number, &write);
    }
    put(file, knots->fixed + knots->running, reading, ETWAS_ETL_KNOT_RUNNING);
    knots->quiet[knots->running++] = !knots->busy;
    knots->busy = false;
    changed(file, knots->fixed + knots->running - 1);
    /* What is refused is tried again with the next. */
    if (knots->stored_at != file->cursor.written && !etwas_log_knots_store(file) &&
        write.code == ERROR_SUCCESS) {
        write.code = ERROR_WRITE_FAULT;
    }
    ETWAS_INVARIANT(etwas_log_file_is_valid(file));
    return write;
}
