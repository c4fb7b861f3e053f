/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_file.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "file/log_file_internal.h"
#include "platform/file.h"
#include "platform/testpoint.h"

enum {
    DROP_CHUNK_BYTES = 8 << 20,
};

uint32_t etwas_log_file_buffers(const struct etwas_log_file *file)
{
    return etwas_log_cursor_used(&file->cursor);
}

uint64_t etwas_log_file_bytes(const struct etwas_log_file *file)
{
    return etwas_log_end(file);
}

bool etwas_log_file_is_full(const struct etwas_log_file *file)
{
    return etwas_log_cursor_room(&file->cursor, 1) == 0;
}

uint32_t etwas_log_file_part(const struct etwas_log_file *file)
{
    return file->part;
}

bool etwas_log_file_is_valid(const struct etwas_log_file *file)
{
    const struct etwas_log_cursor *cursor = &file->cursor;

    return file->descriptor >= 0 && file->header.bytes <= file->buffer_bytes &&
           (cursor->records != NULL || cursor->limit == 0 || cursor->written <= cursor->limit) &&
           file->synced <= cursor->written && file->audit.durable <= file->audit.tracked &&
           file->counted.events_lost >= file->before.events_lost &&
           file->counted.buffers_lost >= file->before.buffers_lost &&
           file->pack.last <= file->pack.end && etwas_log_clock_snapshots_are_valid(file);
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * Removes written pages from the page cache. The kernel is requested to start writing a chunk when
 * it is full, and to drop it one chunk later, when it has probably reached the disk. Both calls
 * block when the device is overloaded. So neither is made while the cache is in use to avoid such
 * waits.
 */
static void log_file_drop_written_pages(struct etwas_log_file *file)
{
    uint64_t end = etwas_log_next(file);

    if (end < file->dropped_bytes) {
        file->dropped_bytes = 0; /* a circular file began a new round */
    }
    if (etwas_direct_write_is_cached(&file->direct, end)) {
        return;
    }
    while (end - file->dropped_bytes >= 2 * (uint64_t)DROP_CHUNK_BYTES) {
        etwas_file_start_writing(file->descriptor, file->dropped_bytes + DROP_CHUNK_BYTES,
                                 DROP_CHUNK_BYTES);
        etwas_file_drop_cached(file->descriptor, file->dropped_bytes, DROP_CHUNK_BYTES);
        file->dropped_bytes += DROP_CHUNK_BYTES;
    }
}

static bool buffer_is_whole(const struct etwas_drained *buffer)
{
    return buffer->whole != NULL;
}

/* Converts a buffer to its form in the file, in place or in the scratch buffer. */
static void log_file_complete_buffer(struct etwas_log_file *file,
                                     const struct etwas_drained *buffer, uint64_t next_sequence,
                                     struct iovec *piece)
{
    const struct etwas_etl_buffer_header header = etwas_log_buffer_header(
        file->buffer_bytes, file->logger_id, buffer,
        buffer->sequence_number != 0 ? buffer->sequence_number : (int64_t)next_sequence);
    uint8_t *start = buffer_is_whole(buffer) ? buffer->whole : file->scratch;

    memcpy(start, &header, sizeof header);
    if (!buffer_is_whole(buffer)) {
        memcpy(start + sizeof header, buffer->data, buffer->data_bytes);
    }
    etwas_log_pad(file, start, header.offset);
    *piece = (struct iovec){start, file->buffer_bytes};
}

/* Buffers that are written together. */
struct run {
    uint32_t buffers; /* how many they are */
    uint64_t bytes;   /* how much of them is in the file */
    int error;        /* why not all of it */
    bool directly;    /* all went past the page cache, and are on the device */
};

/* Writes the leading whole buffers together, or one buffer that has to be copied. */
static struct run log_file_write_run(struct etwas_log_file *file,
                                     const struct etwas_drained *buffers, uint32_t count)
{
    struct iovec pieces[ETWAS_BATCH_BUFFERS];
    uint64_t position = etwas_log_position(file, etwas_log_cursor_next(&file->cursor));
    uint64_t number = file->cursor.written - file->numbered_before;
    bool whole = buffer_is_whole(&buffers[0]);
    /* Depends on where the run begins: all of it is written one way, and judged afterwards. */
    bool directly = whole && !etwas_direct_write_is_cached(&file->direct, position);
    struct run run = {0};

    do {
        log_file_complete_buffer(file, &buffers[run.buffers], ++number, &pieces[run.buffers]);
        run.buffers++;
    } while (whole && run.buffers < count && buffer_is_whole(&buffers[run.buffers]));
    if (whole) {
        run.bytes = etwas_direct_write_write(&file->direct, file->descriptor, pieces, run.buffers,
                                             position, &run.error);
    } else {
        run.bytes = etwas_file_write(file->descriptor, pieces, 1, position, NULL, &run.error);
    }
    run.directly = directly && file->direct.possible; /* the file may have refused it */
    for (uint32_t index = 0; whole && index < run.buffers; index++) {
        uint32_t used = ETWAS_ETL_BUFFER_HEADER_BYTES + buffers[index].data_bytes;

        etwas_log_unpad(file, buffers[index].whole, used);
    }
    return run;
}

static void log_file_count_replaced(struct etwas_log_file *file, uint32_t records,
                                    struct etwas_log_write *result)
{
    file->overwritten_events += records;
    result->replaced += records;
}

/* Notes that this buffer is in the file. */
static void log_file_count_written(struct etwas_log_file *file, const struct etwas_drained *buffer,
                                   bool directly, struct etwas_log_write *result)
{
    etwas_log_clock_snapshots_count_buffer(file, buffer);
    if (!directly) {
        etwas_log_audit_track(file, buffer, buffer->data, buffer->data_bytes);
    }
    file->overwritten_buffers += etwas_log_cursor_replaces(&file->cursor);
    log_file_count_replaced(file, etwas_log_cursor_advance(&file->cursor, buffer->records), result);
    if (etwas_log_cursor_replaces(&file->cursor) && etwas_log_cursor_next(&file->cursor) == 1) {
        etwas_direct_write_wrap(&file->direct, etwas_log_position(file, file->cursor.limit));
    }
    result->written++;
}

void etwas_log_make_empty(struct etwas_log_file *file, uint32_t bytes, uint64_t number,
                          int64_t time_stamp, uint32_t processor)
{
    const struct etwas_drained nothing = {.time_stamp = time_stamp, .processor = processor};
    const struct etwas_etl_buffer_header header =
        etwas_log_buffer_header(bytes, file->logger_id, &nothing, (int64_t)number);

    memcpy(file->scratch, &header, sizeof header);
    memset(file->scratch + sizeof header, ETWAS_ETL_PADDING_BYTE, bytes - sizeof header);
}

/* Writes a buffer without records as the next entry or, in space not used yet, zeroes. */
static bool log_file_clear_next(struct etwas_log_file *file)
{
    if (etwas_log_cursor_replaces(&file->cursor)) {
        etwas_log_make_empty(file, file->buffer_bytes, file->cursor.written + 1, 0, 0);
    } else {
        memset(file->scratch, 0, file->buffer_bytes);
    }
    return etwas_log_patch(file->descriptor, file->scratch, file->buffer_bytes,
                           etwas_log_position(file, etwas_log_cursor_next(&file->cursor)));
}

/*
 * Erases the part of the next buffer that was written, `torn` bytes, so that it does not look like
 * a buffer.
 */
static void log_file_repair(struct etwas_log_file *file, uint64_t torn,
                            struct etwas_log_write *result)
{
    uint64_t end = etwas_log_position(file, etwas_log_cursor_next(&file->cursor));
    bool has_behind = file->has_space || etwas_log_cursor_replaces(&file->cursor);

    if (has_behind && torn == 0) {
        return;
    }
    if (etwas_log_cursor_replaces(&file->cursor)) {
        log_file_count_replaced(
            file, etwas_log_cursor_clear(&file->cursor, etwas_log_cursor_next(&file->cursor)),
            result);
    }
    if ((has_behind && log_file_clear_next(file)) || etwas_log_cursor_replaces(&file->cursor)) {
        return;
    }
    (void)etwas_file_truncate(file->descriptor, end);
    etwas_direct_write_truncated(&file->direct, end);
}

void etwas_log_write_buffers(struct etwas_log_file *file, const struct etwas_drained *buffers,
                             uint32_t count, struct etwas_log_write *result)
{
    uint32_t room;

    if (etwas_log_is_packed(file)) {
        etwas_log_pack_write(file, buffers, count, result);
        return;
    }
    while (count != 0 && result->code == ERROR_SUCCESS &&
           (room = etwas_log_cursor_room(&file->cursor, count)) != 0) {
        struct run run = log_file_write_run(file, buffers, room);
        uint32_t whole = (uint32_t)(run.bytes / file->buffer_bytes);

        for (uint32_t index = 0; index < whole; index++) {
            log_file_count_written(file, &buffers[index], run.directly, result);
        }
        if (run.bytes < etwas_log_position(file, run.buffers)) {
            result->code = etwas_file_write_error(run.error);
            log_file_repair(file, run.bytes % file->buffer_bytes, result);
        }
        buffers += whole;
        count -= whole;
    }
    ETWAS_INVARIANT(file->stage == ETWAS_LOG_FILE_WRITING && etwas_log_file_is_valid(file));
}

/* Counts the streams that have buffers, for the header at the file's end. */
static void log_file_count_processors(struct etwas_log_file *file,
                                      const struct etwas_drained *buffers, uint32_t count)
{
    for (uint32_t index = 0; file->processors != 0 && index < count; index++) {
        if (buffers[index].processor >= file->processors) {
            file->processors = buffers[index].processor + 1;
        }
    }
}

struct etwas_log_write etwas_log_file_write(struct etwas_log_file *file,
                                            const struct etwas_drained *buffers, uint32_t count)
{
    struct etwas_log_write result = {.code = ERROR_SUCCESS};
    uint32_t before;

    log_file_count_processors(file, buffers, count);
    do {
        before = result.written;
        etwas_log_metadata_renew(file, &result);
        etwas_log_write_buffers(file, buffers + before,
                                etwas_log_metadata_room(file, count - before), &result);
    } while (result.written < count && result.written > before && result.code == ERROR_SUCCESS);
    log_file_drop_written_pages(file);
    return result;
}

bool etwas_log_file_number_backwards(struct etwas_log_file *file)
{
    if (etwas_log_is_packed(file)) {
        return etwas_log_pack_number_backwards(file);
    }
    return etwas_log_patch_number_backwards(file->descriptor, file->buffer_bytes,
                                            etwas_log_file_buffers(file) - 1);
}

/* ---- syncing and ending ---------------------------------------------------------------------- */

static void log_file_count(struct etwas_log_file *file, const struct etwas_log_file_totals *totals)
{
    const struct etwas_etl_totals counts = {
        .lost_events = totals->events_lost - file->before.events_lost,
        .lost_buffers = totals->buffers_lost - file->before.buffers_lost,
        .overwritten_events = file->overwritten_events + totals->events_overwritten,
        .overwritten_buffers = file->overwritten_buffers,
        .attempted_events = totals->events_attempted - file->before.events_attempted,
        .ends = totals->ends,
        .unattached_code = (uint16_t)totals->unattached_code,
        .unattached_processes = etwas_etl_saturate16(totals->unattached_total),
    };

    etwas_log_header_count(&file->header, etwas_log_file_buffers(file), &counts);
}

uint32_t etwas_log_file_store(struct etwas_log_file *file, struct etwas_log_lost *lost)
{
    uint32_t code;

    *lost = (struct etwas_log_lost){0};
    if (etwas_file_sync(file->descriptor)) {
        etwas_log_audit_mark_durable(file);
        return ERROR_SUCCESS;
    }
    code = etwas_file_write_error(errno);
    *lost = etwas_log_audit(file);
    ETWAS_INVARIANT(etwas_log_file_is_valid(file));
    return code;
}

uint32_t etwas_log_file_sync(struct etwas_log_file *file,
                             const struct etwas_log_file_totals *totals,
                             struct etwas_log_lost *lost)
{
    uint64_t written = file->cursor.written;
    uint32_t code;
    bool counted;

    *lost = (struct etwas_log_lost){0};
    if (written == file->synced && totals->events_lost == file->counted.events_lost &&
        totals->buffers_lost == file->counted.buffers_lost) {
        return ERROR_SUCCESS;
    }
    log_file_count(file, totals);
    counted = etwas_log_first_buffer_store(file);
    code = etwas_log_file_store(file, lost);
    if (code != ERROR_SUCCESS || !counted) {
        return code != ERROR_SUCCESS ? code : ERROR_WRITE_FAULT;
    }
    file->synced = written;
    file->counted = *totals;
    return ERROR_SUCCESS;
}

/* Marks the last buffer of the file as what the session's last flush wrote. */
static bool log_file_mark_last_buffer(struct etwas_log_file *file)
{
    uint32_t buffers = etwas_log_file_buffers(file);
    uint16_t flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_FLUSH_MARKER;

    if (etwas_log_is_packed(file)) {
        return etwas_log_pack_mark_last(file, flags);
    }
    return buffers == 1 ||
           etwas_log_patch_flags(file->descriptor, etwas_log_position(file, buffers - 1), flags);
}

bool etwas_log_file_end(struct etwas_log_file *file, const struct etwas_log_file_totals *totals)
{
    uint32_t buffers = etwas_log_file_buffers(file);
    bool good = etwas_file_truncate(file->descriptor, etwas_log_end(file));
    struct etwas_clock_reading now =
        file->ended != NULL ? *file->ended : etwas_clock_read_together();

    file->stage = ETWAS_LOG_FILE_ENDING;
    /*
     * The numbers continued after the first round. Readers work best with each number from 1 once.
     */
    if (etwas_log_cursor_replaces(&file->cursor)) {
        good = etwas_log_patch_number_round(file->descriptor, file->buffer_bytes, buffers - 1,
                                            etwas_log_cursor_next(&file->cursor)) &&
               good;
    }
    good = log_file_mark_last_buffer(file) && good;
    log_file_count(file, totals);
    file->counted = *totals;
    etwas_log_header_end(&file->header, &now, file->processors);
    etwas_log_clock_snapshots_end(file, &now);
    if (etwas_log_first_buffer_store(file) && good) {
        file->stage = ETWAS_LOG_FILE_ENDED;
    }
    ETWAS_INVARIANT(etwas_log_file_is_valid(file));
    return file->stage == ETWAS_LOG_FILE_ENDED;
}

bool etwas_log_file_is_ended(const struct etwas_log_file *file)
{
    return file->stage == ETWAS_LOG_FILE_ENDED;
}

struct etwas_log_file_totals etwas_log_file_last_totals(const struct etwas_log_file *file)
{
    return file->counted;
}

bool etwas_log_file_replace(struct etwas_log_file *file)
{
    bool good =
        file->temporary_path == NULL || etwas_file_replace(file->temporary_path, file->final_path);

    if (good) {
        free(file->temporary_path);
        file->temporary_path = NULL;
    }
    return good;
}

bool etwas_log_file_close(struct etwas_log_file *file)
{
    bool good;

    if (file->temporary_path != NULL) {
        etwas_file_remove(file->temporary_path, file->descriptor);
    }
    good = etwas_file_close(file->descriptor);
    etwas_log_free(file);
    return good;
}

bool etwas_log_file_finish(struct etwas_log_file *file, const struct etwas_log_file_totals *totals)
{
    struct etwas_log_lost lost;
    bool good = etwas_log_file_end(file, totals);

    return etwas_log_file_store(file, &lost) == ERROR_SUCCESS && good;
}

/* ---- earlier parts --------------------------------------------------------------------------- */

struct etwas_log_file *etwas_log_file_oldest_earlier(const struct etwas_log_file *file,
                                                     uint32_t keep)
{
    struct etwas_log_file *oldest = NULL;
    uint32_t count = 0;

    for (struct etwas_log_file *next = file->earlier; next != NULL; next = next->earlier) {
        oldest = next;
        count++;
    }
    return count > keep ? oldest : NULL;
}

void etwas_log_file_drop_oldest_earlier(struct etwas_log_file *file)
{
    while (file->earlier->earlier != NULL) {
        file = file->earlier;
    }
    file->earlier = NULL;
}

void etwas_log_file_forget(struct etwas_log_file *file)
{
    for (; file != NULL; file = file->earlier) {
        etwas_file_forget(file->descriptor);
    }
}
