/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/snapshot.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/pool_read.h"
#include "buffer/switch_rseq.h"
#include "clock/clock.h"
#include "etl/record.h"
#include "file/coverage.h"
#include "file/log_clock_snapshots.h"
#include "file/log_file.h"
#include "file/log_losses.h"
#include "file/log_metadata.h"
#include "file/log_window.h"
#include "file/session_file.h"
#include "platform/testpoint.h"
#include "session/losses.h"

struct snapshot {
    struct etwas_session *session;
    struct etwas_snapshot_window *window; /* NULL: none */
    struct etwas_pool_view view;
    struct etwas_held_buffer *list;
    uint32_t count;
    uint8_t *records;                     /* room for one buffer's */
    struct etwas_covered_buffer *covered; /* of a window; room for the list */
    uint32_t covered_count;
    int64_t until;  /* what was committed by then is in the list, unless it is overwritten */
    int64_t oldest; /* no record that was written is older; INT64_MAX: none was */
};

/*
 * Lists the buffers in use. The buffer before the current one of an rseq slot is closed first, if
 * its writer has not come to it yet: it can be pinned then. False: no memory.
 */
static bool snapshot_list_held(struct snapshot *snapshot)
{
    struct etwas_pool *pool = snapshot->session->buffers.pool;
    size_t most;

    snapshot->view = etwas_pool_view_of(pool);
    most = (size_t)snapshot->view.buffer_count + 1;
    snapshot->list = malloc(most * sizeof *snapshot->list);
    snapshot->covered = snapshot->window != NULL ? malloc(most * sizeof *snapshot->covered) : NULL;
    if (snapshot->list == NULL || (snapshot->window != NULL && snapshot->covered == NULL)) {
        return false;
    }
    snapshot->until = etwas_clock_now(snapshot->session->configuration.clock);
    ck_pr_fence_memory();
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        etwas_rseq_close_previous(etwas_pool_slot(pool, slot), pool);
    }
    snapshot->count = etwas_pool_read_list(&snapshot->view, snapshot->list);
    return true;
}

/*
 * Keeps writers from claiming a buffer while it is read, unless it is pinned for the recorder. One
 * that is current in an rseq slot cannot be pinned: it is full by now, or is read as it is. Returns
 * the owner word that etwas_pool_unpin needs; 0: it is not pinned here.
 */
static uint64_t snapshot_pin(struct etwas_pool *pool, const struct etwas_held_buffer *held)
{
    uint32_t slot = etwas_owner_slot(held->owner);
    enum etwas_owner_state state = etwas_owner_state(held->owner);
    uint64_t owner = held->owner;

    if (slot < pool->rseq_slots && state == ETWAS_OWNER_HELD) {
        etwas_rseq_close_previous(etwas_pool_slot(pool, slot), pool);
        owner = etwas_owner_as(owner, ETWAS_OWNER_CLOSED);
    }
    return state != ETWAS_OWNER_PINNED && etwas_pool_pin(pool, held->buffer, owner) ? owner : 0;
}

/* How a buffer follows the one before it: true while the claim stands. */
static struct etwas_covered_buffer snapshot_cover(const struct etwas_pool *pool,
                                                  const struct etwas_found_buffer *found)
{
    const struct etwas_buffer_control *control = &pool->buffers[found->buffer];
    const uint64_t *newest = found->is_current ? &etwas_pool_slot(pool, found->slot)->newest
                                               : (const uint64_t *)&control->end.newest;

    return (struct etwas_covered_buffer){
        .slot = found->slot,
        .buffer = found->buffer,
        .owner = found->owner,
        .newest = found->slot < pool->rseq_slots ? (int64_t)ck_pr_load_64(newest) : INT64_MIN,
        .previous = ck_pr_load_32(&control->link.previous),
        .previous_newest = (int64_t)ck_pr_load_64((const uint64_t *)&control->link.previous_newest),
    };
}

/*
 * Reads a buffer while it is pinned, or without holding up its writers. False: nothing of this
 * snapshot is in it. One that was overwritten meanwhile is not kept.
 */
static bool snapshot_read_held(struct snapshot *snapshot, const struct etwas_held_buffer *held,
                               struct etwas_found_buffer *found,
                               struct etwas_covered_buffer *covered)
{
    struct etwas_pool *pool = snapshot->session->buffers.pool;
    uint64_t pinned = snapshot_pin(pool, held);
    enum etwas_pool_found what = etwas_pool_read_inspect(&snapshot->view, held, found);

    *covered = snapshot_cover(pool, found);
    if (what == ETWAS_POOL_FOUND_RECORDS) {
        ETWAS_TESTPOINT(pinned != 0 ? ETWAS_POINT_SNAPSHOT_PINNED : ETWAS_POINT_SNAPSHOT_COPIES);
        what = etwas_pool_read_records(&snapshot->view, found, snapshot->records);
    } else if (!etwas_pool_read_is_unchanged(&snapshot->view, found)) {
        what = ETWAS_POOL_FOUND_CHANGED;
    }
    covered->kept = what != ETWAS_POOL_FOUND_CHANGED;
    covered->newest = covered->newest > found->newest ? covered->newest : found->newest;
    if (pinned != 0) {
        etwas_pool_unpin(pool, held->buffer, pinned);
    }
    /* A claim that is not through has nothing yet. The links tell what it replaced. */
    return covered->kept ? what != ETWAS_POOL_FOUND_NOTHING || pinned != 0 || found->is_current
                         : etwas_owner_state(held->owner) != ETWAS_OWNER_PINNED;
}

/* Updates the oldest stamp. The records of a buffer are in the order of time. */
static void snapshot_update_oldest(struct snapshot *snapshot)
{
    struct etwas_record record;

    if (etwas_record_measure(snapshot->records, &record) == ETWAS_RECORD_MEASURED &&
        etwas_record_parse(snapshot->records, &record) && record.has_stamp &&
        record.stamp < snapshot->oldest) {
        snapshot->oldest = record.stamp;
    }
}

/*
 * Writes a buffer's records as a buffer of the file, numbered in the order of time, unless they are
 * too old.
 */
static uint32_t snapshot_write_held(struct snapshot *snapshot, const struct etwas_held_buffer *held,
                                    uint32_t sequence_number)
{
    int64_t now = etwas_clock_now(snapshot->session->configuration.clock);
    struct etwas_covered_buffer covered;
    struct etwas_found_buffer found;
    uint32_t code = ERROR_SUCCESS;

    if (etwas_owner_slot(held->owner) >= etwas_pool_used_slots(snapshot->session->buffers.pool) ||
        !snapshot_read_held(snapshot, held, &found, &covered)) {
        return ERROR_SUCCESS;
    }
    if (covered.kept && found.records != 0 &&
        (snapshot->window == NULL || covered.newest >= snapshot->window->begin)) {
        const struct etwas_drained buffer = {
            .data = snapshot->records,
            .data_bytes = (found.end_units - found.begin_units) * ETWAS_UNIT_BYTES,
            .processor = found.slot,
            .time_stamp = now > covered.newest ? now : covered.newest,
            .sequence_number = sequence_number,
        };

        code = etwas_log_file_write(snapshot->session->drain.file, &buffer, 1).code;
        covered.kept = code == ERROR_SUCCESS;
        if (covered.kept) {
            snapshot_update_oldest(snapshot);
        }
    }
    if (snapshot->covered != NULL) {
        snapshot->covered[snapshot->covered_count++] = covered;
    }
    return code;
}

/* ---- what the file says of a window ---------------------------------------------------------- */

static int covered_by_slot(const void *left, const void *right)
{
    const struct etwas_covered_buffer *one = left;
    const struct etwas_covered_buffer *other = right;

    if (one->slot != other->slot) {
        return one->slot < other->slot ? -1 : 1;
    }
    return one->owner < other->owner ? -1 : one->owner > other->owner;
}

/* The window as it has become. */
static struct etwas_log_write snapshot_write_coverage(const struct snapshot *snapshot,
                                                      struct etwas_coverage *coverage,
                                                      uint32_t sequence_number)
{
    const struct etwas_snapshot_window *window = snapshot->window;
    struct etwas_etl_window said = {
        .version = ETWAS_ETL_WINDOW_VERSION,
        .number = window->number,
        .triggers = window->triggers,
        .trigger_raw = window->trigger,
        .from_raw = coverage->begin,
        .until_raw = coverage->until,
    };
    etwas_session_counts counts;

    qsort(snapshot->covered, snapshot->covered_count, sizeof *snapshot->covered, covered_by_slot);
    etwas_coverage_find(coverage, snapshot->covered, snapshot->covered_count);
    etwas_session_count(snapshot->session, &counts);
    said.covered_from_raw = coverage->from;
    said.covered_to_raw = coverage->to;
    said.missing = coverage->gap_count;
    said.lost = counts.lost - window->lost_before;
    return etwas_log_window_write(
        snapshot->session->drain.file, &said, coverage->gaps,
        coverage->begin < snapshot->oldest ? coverage->begin : snapshot->oldest, sequence_number);
}

/* `buffers` as in write_besides. */
static uint32_t snapshot_write_window(const struct snapshot *snapshot, uint32_t sequence_number,
                                      uint32_t *buffers)
{
    const struct etwas_session *session = snapshot->session;
    const int64_t started =
        etwas_clock_reading_stamp(&session->started, session->configuration.clock);
    struct etwas_log_write write = {.code = ERROR_NOT_ENOUGH_MEMORY};
    struct etwas_coverage coverage = {
        .begin = snapshot->window->begin > started ? snapshot->window->begin : started,
        .moment = snapshot->window->trigger,
        .until = snapshot->until,
    };

    coverage.gaps = malloc(2 * ((size_t)snapshot->covered_count + 1) * sizeof *coverage.gaps);
    if (coverage.gaps != NULL) {
        write = snapshot_write_coverage(snapshot, &coverage, sequence_number);
    }
    free(coverage.gaps);
    *buffers = write.written;
    return write.code;
}

/*
 * What the session has read of the clocks, and what was described. Clock snapshots that do not fit
 * in buffer 0 and event metadata come last in the file, and so first in the order of time: they are
 * of processor 0 and stamped with the session's start. *buffers: how many they are. No other buffer
 * has their numbers, from `sequence_number` on.
 */
static uint32_t snapshot_write_besides(const struct snapshot *snapshot, uint32_t sequence_number,
                                       uint32_t *buffers)
{
    const struct etwas_clock_history *history = &snapshot->session->drain.clock_history;
    struct etwas_log_write write;
    uint32_t code = ERROR_SUCCESS;

    *buffers = 0;
    for (uint32_t index = 1; index < history->count; index++) {
        write =
            etwas_log_clock_snapshots_add(snapshot->session->drain.file, &history->readings[index],
                                          false, sequence_number + *buffers);
        *buffers += write.written;
        code = write.code != ERROR_SUCCESS ? write.code : code;
    }
    write = etwas_log_metadata_write(snapshot->session->drain.file, sequence_number + *buffers);
    *buffers += write.written;
    code = write.code != ERROR_SUCCESS ? write.code : code;
    if (snapshot->window != NULL) {
        uint32_t written;
        uint32_t window_code =
            snapshot_write_window(snapshot, sequence_number + *buffers, &written);

        *buffers += written;
        code = window_code != ERROR_SUCCESS ? window_code : code;
    }
    return code;
}

/*
 * Newest buffers first: what happened just before the snapshot was asked for is what it is for, and
 * fast writers overwrite the oldest meanwhile. Passing over leaves gaps in the numbers, and what
 * was written besides belongs before the oldest; then they are given anew.
 */
static uint32_t snapshot_write_all_held(struct snapshot *snapshot)
{
    uint32_t count;
    uint32_t besides;
    uint32_t besides_code;
    uint32_t code = ERROR_SUCCESS;

    if (!snapshot_list_held(snapshot)) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    count = snapshot->count;
    for (uint32_t left = count; left > 0 && code == ERROR_SUCCESS; left--) {
        code = snapshot_write_held(snapshot, &snapshot->list[left - 1], left);
    }
    besides_code = snapshot_write_besides(snapshot, count + 1, &besides);
    code = code == ERROR_SUCCESS ? besides_code : code;
    if ((besides != 0 || etwas_log_file_buffers(snapshot->session->drain.file) != count + 1) &&
        !etwas_log_file_number_backwards(snapshot->session->drain.file) && code == ERROR_SUCCESS) {
        code = ERROR_WRITE_FAULT;
    }
    return code;
}

/* How many events the recorder has lost until now; the file says when. */
static uint64_t snapshot_record_losses(struct etwas_session *session)
{
    etwas_session_counts counts;

    etwas_losses_check_and_count(session, &counts);
    if (session->drain.losses != NULL) {
        etwas_log_losses_attach(session->drain.file, &session->drain.losses->table);
    }
    return counts.lost;
}

uint32_t etwas_snapshot_write_window(struct etwas_session *session, const etwas_wchar *file_name,
                                     struct etwas_snapshot_window *window)
{
    struct etwas_log_file_totals totals = {0};
    struct snapshot snapshot = {.session = session, .window = window, .oldest = INT64_MAX};
    bool finished;
    uint32_t code;

    snapshot.records = malloc(session->buffers.pool->buffer_bytes);
    if (snapshot.records == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_session_file_create(session, file_name);
    if (code != ERROR_SUCCESS) {
        free(snapshot.records);
        return code;
    }
    (void)snapshot_record_losses(
        session); /* before the clock snapshots, which make room for them */
    code = snapshot_write_all_held(&snapshot);
    free(snapshot.records);
    free(snapshot.list);
    free(snapshot.covered);
    totals.events_lost = snapshot_record_losses(session);
    totals.unattached_total = ck_pr_load_32(&session->totals.unattached_total);
    totals.unattached_code = ck_pr_load_32(&session->totals.unattached_code);
    ck_pr_store_64(&session->totals.buffers_written,
                   session->totals.buffers_written + etwas_log_file_buffers(session->drain.file));
    if (window != NULL) {
        window->bytes = etwas_log_file_bytes(session->drain.file);
    }
    finished = etwas_log_file_finish(session->drain.file, &totals);
    finished = finished && (code != ERROR_SUCCESS || etwas_log_file_replace(session->drain.file));
    finished = etwas_session_file_close(session) && finished;
    return code == ERROR_SUCCESS && !finished ? ERROR_WRITE_FAULT : code;
}

uint32_t etwas_snapshot_write(struct etwas_session *session, const etwas_wchar *file_name)
{
    return etwas_snapshot_write_window(session, file_name, NULL);
}
