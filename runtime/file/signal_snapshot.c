/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Everything here runs in signal handlers: no lock, no allocation, little of the stack.
 */
#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <string.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "file/log_clock_snapshots.h"
#include "file/prepared_snapshot.h"
#include "flush/sink.h"
#include "platform/file.h"

enum {
    CLOCK_SNAPSHOT_BYTES = sizeof(struct etwas_etl_clock_snapshot_record),
    /* Limits what was described later: in a broken heap the list may be circular. */
    LATER_METADATA_BUFFERS = 256,
};

/* ---- the file -------------------------------------------------------------------------------- */

/* A later write may succeed after a refusal; prepared->code keeps the first refusal. */
static bool signal_write_at(struct etwas_prepared_snapshot *prepared, const void *bytes,
                            size_t length, uint32_t entry, size_t offset)
{
    uint64_t position = (uint64_t)entry * prepared->view.buffer_bytes + offset;
    int error;

    if (etwas_file_write_in_handler(prepared->descriptor, bytes, length, position, &error)) {
        return true;
    }
    if (prepared->code == ERROR_SUCCESS) {
        prepared->code = etwas_file_write_error(error);
    }
    return false;
}

static bool signal_is_refused(const struct etwas_prepared_snapshot *prepared)
{
    return prepared->code != ERROR_SUCCESS;
}

static void signal_truncate(struct etwas_prepared_snapshot *prepared)
{
    uint64_t bytes = (uint64_t)prepared->entries * prepared->view.buffer_bytes;
    int error;

    if (!etwas_file_truncate_in_handler(prepared->descriptor, bytes, &error) &&
        prepared->code == ERROR_SUCCESS) {
        prepared->code = etwas_file_write_error(error);
    }
}

/* Writes the scratch buffer, which has the records in place, as the file's next entry. */
static void signal_write_scratch(struct etwas_prepared_snapshot *prepared,
                                 const struct etwas_drained *buffer, int64_t number)
{
    uint32_t buffer_bytes = prepared->view.buffer_bytes;
    const struct etwas_etl_buffer_header header =
        etwas_log_buffer_header(buffer_bytes, prepared->logger_id, buffer, number);

    memcpy(prepared->scratch, &header, sizeof header);
    memset(prepared->scratch + header.offset, ETWAS_ETL_PADDING_BYTE, buffer_bytes - header.offset);
    prepared->entries +=
        signal_write_at(prepared, prepared->scratch, buffer_bytes, prepared->entries, 0);
}

/* Does the same for records that precede all others, with the stamp of the session's start. */
static void signal_write_beside(struct etwas_prepared_snapshot *prepared, uint32_t data_bytes)
{
    const struct etwas_drained buffer = {
        .data_bytes = data_bytes,
        .time_stamp = etwas_clock_reading_stamp(&prepared->header.started, prepared->clock),
    };

    /* A unique number; all are renumbered at the end. */
    signal_write_scratch(prepared, &buffer,
                         (int64_t)prepared->view.buffer_count + 1 + prepared->entries);
}

/* ---- buffer 0 -------------------------------------------------------------------------------- */

/* Returns how many clock snapshots fit in a buffer of their own. */
static uint32_t signal_snapshot_clock_snapshots_a_buffer(
    const struct etwas_prepared_snapshot *prepared)
{
    return (prepared->view.buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES) / CLOCK_SNAPSHOT_BYTES;
}

/*
 * Returns how many of the newest clock snapshots go to buffer 0, besides those of start and end. It
 * may be a few fewer than fit, so that a buffer of their own has as many as it must.
 */
static uint32_t signal_snapshot_clock_snapshots_within(
    const struct etwas_prepared_snapshot *prepared)
{
    const uint32_t least = ETWAS_CLOCK_SNAPSHOTS_LEAST - 1;
    uint32_t room = (prepared->view.buffer_bytes - prepared->built_bytes) / CLOCK_SNAPSHOT_BYTES;
    uint32_t running = prepared->history.count != 0 ? prepared->history.count - 1 : 0;
    uint32_t within = room > 2 ? room - 2 : 0;
    uint32_t tail;

    if (running <= within) {
        return running;
    }
    tail = (running - within) % signal_snapshot_clock_snapshots_a_buffer(prepared);
    return tail != 0 && tail < least && within > least - tail ? within - (least - tail) : within;
}

static void signal_snapshot_add_clock_snapshot(struct etwas_prepared_snapshot *prepared,
                                               const struct etwas_clock_reading *reading,
                                               uint32_t reason)
{
    struct etwas_log_header *header = &prepared->header;
    const struct etwas_etl_clock_snapshot_record record =
        etwas_log_clock_snapshot(header, reading, reason);

    memcpy(header->content + header->bytes, &record, sizeof record);
    etwas_log_header_resize(header, header->bytes + CLOCK_SNAPSHOT_BYTES);
}

static uint64_t signal_lost_in_slots(const struct etwas_prepared_snapshot *prepared)
{
    const struct etwas_pool *pool = prepared->pool;
    uint64_t lost = 0;

    for (uint32_t slot = 0; slot < prepared->view.slot_count; slot++) {
        const struct etwas_slot_counters *counters = &etwas_pool_slot(pool, slot)->counters;

        for (uint32_t cause = 0; cause < ETWAS_SLOT_LOSSES; cause++) {
            lost += ck_pr_load_64(&counters->lost[cause]);
        }
    }
    return lost;
}

/* Returns what the session has lost, and what was left out. */
static struct etwas_etl_totals signal_totals(const struct etwas_prepared_snapshot *prepared)
{
    const struct etwas_session *session = prepared->session;
    const uint64_t *accounted = prepared->pool->accounted;

    return (struct etwas_etl_totals){
        .lost_events = signal_lost_in_slots(prepared) +
                       ck_pr_load_64(&accounted[ETWAS_DISPOSITION_WRITE_ERROR]) +
                       ck_pr_load_64(&accounted[ETWAS_DISPOSITION_FILE_FULL]) +
                       ck_pr_load_64(&accounted[ETWAS_DISPOSITION_ABANDONED]) +
                       ck_pr_load_64(&accounted[ETWAS_DISPOSITION_UNDELIVERED]) +
                       ck_pr_load_64(&session->totals.lost_in_kernel) +
                       ck_pr_load_64(&session->totals.lost_unattached) + prepared->events_left_out,
        .lost_buffers = ck_pr_load_64(&session->totals.buffers_lost) + prepared->buffers_left_out,
        .unattached_code = (uint16_t)ck_pr_load_32(&session->totals.unattached_code),
        .unattached_processes =
            etwas_etl_saturate16(ck_pr_load_32(&session->totals.unattached_total)),
    };
}

/* Begins buffer 0 as it was built, with the clock snapshot of the session's start. */
static void signal_begin_header(struct etwas_prepared_snapshot *prepared)
{
    memcpy(prepared->header.content, prepared->built, prepared->built_bytes);
    etwas_log_header_resize(&prepared->header, prepared->built_bytes);
    signal_snapshot_add_clock_snapshot(prepared, &prepared->header.started,
                                       ETWAS_ETL_CLOCK_SNAPSHOT_SESSION_STARTED);
}

static void signal_write_header(struct etwas_prepared_snapshot *prepared)
{
    uint32_t bytes = prepared->header.bytes;

    memset(prepared->header.content + bytes, ETWAS_ETL_PADDING_BYTE,
           prepared->view.buffer_bytes - bytes);
    (void)signal_write_at(prepared, prepared->header.content, prepared->view.buffer_bytes, 0, 0);
}

/* Builds and writes buffer 0 with what is known at the end. */
static void signal_write_whole_header(struct etwas_prepared_snapshot *prepared)
{
    const struct etwas_clock_history *history = &prepared->history;
    const struct etwas_etl_totals totals = signal_totals(prepared);

    signal_begin_header(prepared);
    for (uint32_t index = history->count - signal_snapshot_clock_snapshots_within(prepared);
         index < history->count; index++) {
        signal_snapshot_add_clock_snapshot(prepared, &history->readings[index],
                                           ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);
    }
    signal_snapshot_add_clock_snapshot(prepared, &prepared->ended,
                                       ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED);
    etwas_log_header_count(&prepared->header, prepared->entries, &totals);
    etwas_log_header_end(&prepared->header, &prepared->ended, 0);
    signal_write_header(prepared);
}

/* ---- the pool's buffers ---------------------------------------------------------------------- */

static const struct etwas_buffer_control *signal_control_of(
    const struct etwas_prepared_snapshot *prepared, uint32_t buffer)
{
    return &prepared->pool->buffers[buffer];
}

static void signal_leave_out(struct etwas_prepared_snapshot *prepared,
                             const struct etwas_found_buffer *found, enum etwas_pool_found result)
{
    uint64_t had = (uint64_t)found->before + found->records;

    /*
     * In a session with a file, what has left the pool is in the file, or counted by the session.
     */
    if (result == ETWAS_POOL_FOUND_CHANGED && !prepared->buffering) {
        return;
    }
    if (found->committed > had &&
        found->committed <= prepared->view.buffer_bytes / ETWAS_UNIT_BYTES) {
        prepared->events_left_out += found->committed - had;
    }
    if (result == ETWAS_POOL_FOUND_CHANGED || result == ETWAS_POOL_FOUND_DAMAGED) {
        prepared->buffers_left_out++;
    }
}

/*
 * Whether the flusher gave up on the buffer's writers. If so, what was complete before the first of
 * them is written already. The other events are lost but not counted yet, so they are counted here.
 */
static bool signal_is_given_up(struct etwas_prepared_snapshot *prepared,
                               const struct etwas_found_buffer *found)
{
    const struct etwas_buffer_control *control = signal_control_of(prepared, found->buffer);
    uint32_t set_aside = ck_pr_load_32(&control->set_aside);

    if (!found->is_abandoned || set_aside == 0 || ck_pr_load_32(&control->kept) != 0) {
        return false;
    }
    if (found->committed > set_aside - 1) {
        prepared->events_left_out += found->committed - (set_aside - 1);
    }
    return true;
}

/* Writes what was found from begin_units on. Returns false if the system refuses. */
static bool signal_write_found(struct etwas_prepared_snapshot *prepared,
                               const struct etwas_found_buffer *found, int64_t number)
{
    uint8_t *data = prepared->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES;
    int64_t now = etwas_clock_now(prepared->clock);
    const struct etwas_drained buffer = {
        .data_bytes = (found->end_units - found->begin_units) * ETWAS_UNIT_BYTES,
        .processor = found->slot,
        .time_stamp = now > found->newest ? now : found->newest,
    };

    if (signal_is_refused(prepared)) {
        return false;
    }
    memmove(data, data + (size_t)(found->begin_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES,
            buffer.data_bytes);
    signal_write_scratch(prepared, &buffer, number);
    return !signal_is_refused(prepared);
}

static void signal_write_held(struct etwas_prepared_snapshot *prepared,
                              const struct etwas_held_buffer *held, int64_t number)
{
    const struct etwas_pool_view *view = &prepared->view;
    /* Read before anything else under this claim: at least this much is written then. */
    uint32_t written = etwas_control_written(signal_control_of(prepared, held->buffer),
                                             etwas_owner_ticket(held->owner));
    struct etwas_found_buffer found;
    enum etwas_pool_found result = etwas_pool_read_inspect(view, held, &found);

    if (result == ETWAS_POOL_FOUND_NOTHING || signal_is_given_up(prepared, &found)) {
        return;
    }
    if (found.slot < view->rseq_slots && written > ETWAS_FIRST_UNIT) {
        found.begin_units = written;
        if (result == ETWAS_POOL_FOUND_RECORDS && written >= found.limit_units) {
            return;
        }
    }
    if (result == ETWAS_POOL_FOUND_RECORDS) {
        result = etwas_pool_read_records(view, &found,
                                         prepared->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES);
    }
    if (result != ETWAS_POOL_FOUND_CHANGED && found.records != 0 &&
        !signal_write_found(prepared, &found, number)) {
        found.records = 0;
    }
    signal_leave_out(prepared, &found, result);
}

/*
 * Writes the newest first, as other snapshots do, because fast writers overwrite the oldest
 * meanwhile. Once a write was refused, the rest is only counted.
 */
static void signal_write_pool(struct etwas_prepared_snapshot *prepared)
{
    uint64_t allocated = etwas_pool_allocated(prepared->pool);

    prepared->view.buffer_count =
        allocated < prepared->view.capacity ? (uint32_t)allocated : prepared->view.capacity;
    for (uint32_t left = etwas_pool_read_list(&prepared->view, prepared->list); left > 0; left--) {
        signal_write_held(prepared, &prepared->list[left - 1], left);
    }
}

/* ---- what is not events ---------------------------------------------------------------------- */

static void signal_snapshot_put_clock_snapshots(struct etwas_prepared_snapshot *prepared)
{
    uint32_t end = prepared->history.count - signal_snapshot_clock_snapshots_within(prepared);
    uint32_t room = signal_snapshot_clock_snapshots_a_buffer(prepared) * CLOCK_SNAPSHOT_BYTES;
    uint32_t used = 0;

    for (uint32_t index = 1; index < end && !signal_is_refused(prepared); index++) {
        const struct etwas_etl_clock_snapshot_record record =
            etwas_log_clock_snapshot(&prepared->header, &prepared->history.readings[index],
                                     ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING);

        memcpy(prepared->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES + used, &record, sizeof record);
        used += CLOCK_SNAPSHOT_BYTES;
        if (used == room || index + 1 == end) {
            signal_write_beside(prepared, used);
            used = 0;
        }
    }
}

static void signal_write_metadata(struct etwas_prepared_snapshot *prepared)
{
    struct etwas_metadata_cursor cursor = prepared->described;
    uint32_t buffer_bytes = prepared->view.buffer_bytes;
    int64_t started = etwas_clock_reading_stamp(&prepared->header.started, prepared->clock);
    uint32_t bytes;

    for (uint32_t index = 0; index < prepared->metadata_buffers && !signal_is_refused(prepared);
         index++) {
        memcpy(prepared->scratch, prepared->metadata + (size_t)index * buffer_bytes, buffer_bytes);
        memcpy(&bytes, prepared->scratch, sizeof bytes);
        signal_write_beside(prepared, bytes);
    }
    if (etwas_descriptions_count() == prepared->descriptions) {
        return;
    }
    for (uint32_t more = 0; more < LATER_METADATA_BUFFERS && !signal_is_refused(prepared) &&
                            etwas_descriptions_have_more(&cursor.descriptions);
         more++) {
        bytes = etwas_descriptions_read(&cursor.descriptions,
                                        prepared->scratch + ETWAS_ETL_BUFFER_HEADER_BYTES,
                                        buffer_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES, started);
        if (bytes == 0) {
            break;
        }
        signal_write_beside(prepared, bytes);
    }
}

static void signal_number_backwards(struct etwas_prepared_snapshot *prepared)
{
    for (uint32_t entry = 1; entry < prepared->entries; entry++) {
        const int64_t number = (int64_t)prepared->entries - entry;

        if (!signal_write_at(prepared, &number, sizeof number, entry,
                             offsetof(struct etwas_etl_buffer_header, sequence_number))) {
            return;
        }
    }
}

static void signal_mark_last(struct etwas_prepared_snapshot *prepared)
{
    const uint16_t flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX | ETWAS_ETL_BUFFER_FLUSH_MARKER;

    if (prepared->entries > 1) {
        (void)signal_write_at(prepared, &flags, sizeof flags, prepared->entries - 1,
                              offsetof(struct etwas_etl_buffer_header, flags));
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void signal_write_file(struct etwas_prepared_snapshot *prepared)
{
    prepared->code = ERROR_SUCCESS;
    prepared->entries = 0;
    prepared->events_left_out = 0;
    prepared->buffers_left_out = 0;
    signal_truncate(prepared);
    signal_begin_header(prepared);
    signal_write_header(prepared);
    if (signal_is_refused(prepared)) {
        return;
    }
    prepared->entries = 1;
    signal_write_pool(prepared);
    etwas_clock_history_copy(&prepared->history, &prepared->session->drain.clock_history);
    prepared->ended = etwas_clock_read_together();
    signal_write_whole_header(prepared);
    signal_snapshot_put_clock_snapshots(prepared);
    signal_write_metadata(prepared);
    signal_truncate(prepared); /* a refused write may have left a part */
    signal_number_backwards(prepared);
    signal_mark_last(prepared);
    signal_write_whole_header(prepared);
}

/* Whether its session runs; then the pool stays while handlers_inside counts the caller. */
static bool signal_has_session(const struct etwas_prepared_snapshot *prepared)
{
    const struct etwas_session *session = prepared->session;

    return ck_pr_load_ptr(&session->buffers.pool) == prepared->pool &&
           ck_pr_load_32(&session->entry.generation) == prepared->key.generation;
}

uint32_t etwas_prepared_snapshot_write(struct etwas_prepared_snapshot *prepared)
{
    struct etwas_session *session = prepared->session;
    uint32_t code = ERROR_INVALID_HANDLE;
    int error = errno;

    if (session == NULL) {
        return code; /* a fork's child */
    }
    if (!ck_pr_cas_32(&prepared->is_busy, 0, 1)) {
        return ERROR_BUSY;
    }
    ck_pr_inc_32(&session->handlers_inside);
    ck_pr_fence_memory(); /* pairs with the end of the pool: flush/shut_down.c */
    if (signal_has_session(prepared)) {
        signal_write_file(prepared);
        code = prepared->code;
    }
    ck_pr_fence_release();
    ck_pr_dec_32(&session->handlers_inside);
    ck_pr_store_32(&prepared->is_busy, 0);
    errno = error;
    return code;
}
