/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A snapshot lists the session's buffers as they are when it begins, and then copies and writes one
 * after the other, the newest first. Writers are not held up: a buffer that they overwrite before
 * its turn comes is left out.
 */
#include "file/snapshot.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/current.h"
#include "buffer/switch.h"
#include "clock/clock.h"
#include "etl/record.h"
#include "file/log_clock_snapshots.h"
#include "file/log_file.h"
#include "file/log_losses.h"
#include "file/log_metadata.h"
#include "file/log_window.h"
#include "file/session_file.h"
#include "platform/testpoint.h"
#include "session/losses.h"

/* A buffer as it was when the snapshot began. */
struct held {
    uint64_t owner; /* without the recorder's pin */
    uint32_t buffer;
    bool is_pinned; /* by the recorder */
    bool is_empty;  /* it was found to contain nothing for this snapshot */
    struct etwas_covered_buffer covered;
};

struct snapshot {
    struct etwas_session *session;
    struct etwas_snapshot_window *window;
    uint8_t *copy;     /* room for one buffer */
    struct held *list; /* by tickets, which in each slot is the order of time */
    uint32_t count;
    int64_t until;  /* what was committed by then is in the list, unless overwritten */
    int64_t oldest; /* no written record is older; INT64_MAX: none was written */
};

static int held_by_ticket(const void *left, const void *right)
{
    uint64_t one = ((const struct held *)left)->owner;
    uint64_t other = ((const struct held *)right)->owner;

    return one < other ? -1 : one > other;
}

/*
 * Whether the buffer was claimed for an rseq slot but was never current yet: its ticket is later
 * than the current one's.
 */
static bool owner_is_next_buffer(const struct etwas_pool *pool, uint64_t owner)
{
    uint32_t slot = etwas_owner_slot(owner);
    struct etwas_current current;

    if (!etwas_pool_is_rseq_slot(pool, slot) || etwas_owner_state(owner) != ETWAS_OWNER_HELD) {
        return false;
    }
    current = etwas_current_read(etwas_pool_slot(pool, slot), pool);
    return etwas_owner_ticket(owner) > etwas_owner_ticket(current.owner);
}

static void snapshot_list(struct snapshot *snapshot, uint64_t owner, uint32_t buffer,
                          bool is_pinned)
{
    snapshot->list[snapshot->count++] = (struct held){
        .owner = owner,
        .buffer = buffer,
        .is_pinned = is_pinned,
        .covered = {.slot = etwas_owner_slot(owner), .buffer = buffer},
    };
}

/*
 * Lists the buffers in use. The buffer before the current one of an rseq slot is closed first, if
 * its writer has not done so yet, so that it can be pinned. Returns false if there is no memory.
 */
static bool snapshot_list_held(struct snapshot *snapshot)
{
    struct etwas_pool *pool = snapshot->session->buffers.pool;
    const struct etwas_recorder *recorder = snapshot->session->drain.recorder;
    uint32_t allocated = etwas_pool_allocated(pool);
    uint32_t pins = recorder != NULL ? recorder->pin_count : 0;

    /* A pinned buffer is listed twice if another process has overwritten its owner word. */
    snapshot->list = malloc(((size_t)allocated + pins) * sizeof *snapshot->list);
    if (snapshot->list == NULL) {
        return false;
    }
    snapshot->until = etwas_clock_now(snapshot->session->configuration.clock);
    ck_pr_fence_memory();
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        etwas_rseq_close_previous(etwas_pool_slot(pool, slot), pool);
    }
    for (uint32_t buffer = 0; buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

        if (etwas_owner_slot(owner) < etwas_pool_used_slots(pool) &&
            (etwas_owner_state(owner) == ETWAS_OWNER_HELD ||
             etwas_owner_state(owner) == ETWAS_OWNER_CLOSED) &&
            !owner_is_next_buffer(pool, owner)) {
            snapshot_list(snapshot, owner, buffer, false);
        }
    }
    for (uint32_t pin = 0; pin < pins; pin++) {
        snapshot_list(snapshot, recorder->pins[pin].owner, recorder->pins[pin].buffer, true);
    }
    qsort(snapshot->list, snapshot->count, sizeof *snapshot->list, held_by_ticket);
    return true;
}

/* Stores how a kept buffer follows the previous one: its link, read while the claim is valid. */
static void held_store_link(const struct etwas_pool *pool, struct held *held)
{
    const struct etwas_buffer_link *link = &pool->buffers[held->buffer].link;

    held->covered.previous = ck_pr_load_32(&link->previous);
    held->covered.previous_newest =
        (int64_t)ck_pr_load_64((const uint64_t *)&link->previous_newest);
}

/*
 * Updates the oldest stamp. The records of a buffer are in the order of time, so the first is the
 * oldest. Records are copied first, because a guest may change them while they are read.
 */
static void snapshot_update_oldest(struct snapshot *snapshot, const void *records, uint32_t bytes)
{
    struct etwas_record record;

    if (records != snapshot->copy) {
        memcpy(snapshot->copy, records, bytes);
    }
    if (etwas_record_measure(snapshot->copy, &record) == ETWAS_RECORD_MEASURED &&
        record.size <= bytes && etwas_record_parse(snapshot->copy, &record) && record.has_stamp &&
        record.stamp < snapshot->oldest) {
        snapshot->oldest = record.stamp;
    }
}

/*
 * Writes records as a buffer of the file, numbered in the order of time, unless they are too old.
 */
static uint32_t snapshot_write_records(struct snapshot *snapshot, struct held *held,
                                       const void *records, const struct etwas_collected *collected,
                                       uint32_t sequence_number)
{
    int64_t now = etwas_clock_now(snapshot->session->configuration.clock);
    struct etwas_drained buffer = {
        .data = records,
        .data_bytes = (collected->end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES,
        .processor = collected->slot,
        .time_stamp = now > collected->newest ? now : collected->newest,
        .sequence_number = sequence_number,
    };
    uint32_t code;

    held->covered.kept = true;
    held->covered.newest = collected->newest;
    if (collected->end_units == ETWAS_FIRST_UNIT || collected->newest < snapshot->window->begin) {
        return ERROR_SUCCESS;
    }
    code = etwas_log_file_write(snapshot->session->drain.file, &buffer, 1).code;
    held->covered.kept = code == ERROR_SUCCESS;
    if (held->covered.kept) {
        snapshot_update_oldest(snapshot, records, buffer.data_bytes);
    }
    return code;
}

/*
 * Whether a shared slot's buffer is empty: a writer has claimed it, or nothing is committed in it
 * yet.
 */
static bool held_is_empty(const struct etwas_pool *pool, const struct held *held)
{
    return !etwas_pool_is_rseq_slot(pool, etwas_owner_slot(held->owner)) &&
           ck_pr_load_64(&pool->buffers[held->buffer].commit) == 0 &&
           ck_pr_load_64(&pool->owners[held->buffer]) == held->owner;
}

/* Writes a buffer while it is pinned. A buffer that was overwritten meanwhile is skipped. */
static uint32_t snapshot_write_pinned(struct snapshot *snapshot, struct held *held, uint64_t owner,
                                      uint32_t sequence_number)
{
    struct etwas_pool *pool = snapshot->session->buffers.pool;
    struct etwas_collected collected = {
        .buffer = held->buffer,
        .slot = etwas_owner_slot(owner),
        .end_units = ETWAS_FIRST_UNIT,
    };
    uint32_t code;

    if (!held->is_pinned && !etwas_pool_pin(pool, held->buffer, owner)) {
        held->is_empty = held_is_empty(pool, held);
        return ERROR_SUCCESS;
    }
    held_store_link(pool, held);
    ETWAS_TESTPOINT(ETWAS_POINT_SNAPSHOT_PINNED);
    if (etwas_pool_is_rseq_slot(pool, collected.slot)) {
        collected.end_units = ck_pr_load_32(&pool->buffers[held->buffer].end.units);
        collected.newest = pool->buffers[held->buffer].end.newest;
        /* another process has overwritten it */
        if (!etwas_pool_is_end(pool, collected.end_units)) {
            collected.end_units = ETWAS_FIRST_UNIT;
        }
    } else {
        etwas_collect_prefix(pool, pool->buffer_bytes / ETWAS_UNIT_BYTES, &collected);
    }
    code = snapshot_write_records(
        snapshot, held, etwas_pool_buffer(pool, held->buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES,
        &collected, sequence_number);
    if (!held->is_pinned) {
        etwas_pool_unpin(pool, held->buffer, owner);
    }
    return code;
}

/*
 * Copies what is committed in the current buffer of an rseq slot, whose writers do not wait. The
 * copy is valid if the buffer still belongs to the same claim afterwards.
 */
static bool snapshot_copy_current(const struct snapshot *snapshot, struct held *held,
                                  struct etwas_collected *collected)
{
    const struct etwas_pool *pool = snapshot->session->buffers.pool;
    const struct etwas_slot *slot = etwas_pool_slot(pool, etwas_owner_slot(held->owner));
    struct etwas_current current = etwas_current_read(slot, pool);

    if (current.buffer != held->buffer || current.owner != held->owner ||
        !etwas_pool_is_end(pool, etwas_word_units(current.word))) {
        return false;
    }
    *collected = (struct etwas_collected){
        .slot = etwas_owner_slot(held->owner),
        .end_units = etwas_word_units(current.word),
        .newest = (int64_t)ck_pr_load_64(&slot->newest),
    };
    held_store_link(pool, held);
    ETWAS_TESTPOINT(ETWAS_POINT_SNAPSHOT_COPIES);
    memcpy(snapshot->copy, etwas_pool_buffer(pool, held->buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES,
           (size_t)(collected->end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES);
    return etwas_current_is_unchanged(&current, pool);
}

static uint32_t snapshot_write_held(struct snapshot *snapshot, struct held *held,
                                    uint32_t sequence_number)
{
    struct etwas_pool *pool = snapshot->session->buffers.pool;
    uint32_t index = etwas_owner_slot(held->owner);
    uint64_t owner = held->owner;

    if (etwas_pool_is_rseq_slot(pool, index) && etwas_owner_state(owner) == ETWAS_OWNER_HELD) {
        struct etwas_collected collected;

        if (snapshot_copy_current(snapshot, held, &collected)) {
            return snapshot_write_records(snapshot, held, snapshot->copy, &collected,
                                          sequence_number);
        }
        /* Another buffer is current by now, and this one is full. */
        etwas_rseq_close_previous(etwas_pool_slot(pool, index), pool);
        owner = etwas_owner_as(owner, ETWAS_OWNER_CLOSED);
    }
    return snapshot_write_pinned(snapshot, held, owner, sequence_number);
}

/* ---- what the file records about a window ---------------------------------------------------- */

static int held_by_slot(const void *left, const void *right)
{
    const struct held *one = left;
    const struct held *other = right;

    return one->covered.slot != other->covered.slot
               ? (one->covered.slot < other->covered.slot ? -1 : 1)
               : held_by_ticket(left, right);
}

/* Writes the window with its coverage. The list is in another order afterwards. */
static struct etwas_log_write snapshot_write_coverage(const struct snapshot *snapshot,
                                                      struct etwas_coverage *coverage,
                                                      struct etwas_covered_buffer *buffers,
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
    uint32_t count = 0;

    qsort(snapshot->list, snapshot->count, sizeof *snapshot->list, held_by_slot);
    for (uint32_t index = 0; index < snapshot->count; index++) {
        if (!snapshot->list[index].is_empty) {
            buffers[count++] = snapshot->list[index].covered;
        }
    }
    etwas_coverage_find(coverage, buffers, count);
    etwas_session_count(snapshot->session, &counts);
    said.covered_from_raw = coverage->from;
    said.covered_to_raw = coverage->to;
    said.missing = coverage->gap_count;
    said.lost = counts.lost - window->lost_before;
    return etwas_log_window_write(
        snapshot->session->drain.file, &said, coverage->gaps,
        coverage->begin < snapshot->oldest ? coverage->begin : snapshot->oldest, sequence_number);
}

/* *buffers is as in snapshot_write_besides. */
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
    struct etwas_covered_buffer *covered = malloc((snapshot->count + 1) * sizeof *covered);

    coverage.gaps = malloc(2 * (snapshot->count + 1) * sizeof *coverage.gaps);
    if (covered != NULL && coverage.gaps != NULL) {
        write = snapshot_write_coverage(snapshot, &coverage, covered, sequence_number);
    }
    free(coverage.gaps);
    free(covered);
    *buffers = write.written;
    return write.code;
}

/*
 * Writes the session's clock readings, descriptions and window. Clock snapshots that do not fit in
 * buffer 0, and event metadata, come last in the file, and so first in the order of time: they
 * belong to processor 0 and have the stamp of the session's start. *buffers receives how many
 * buffers these are. No other buffer has their numbers, from `sequence_number` on.
 */
static uint32_t snapshot_write_besides(const struct snapshot *snapshot, uint32_t sequence_number,
                                       uint32_t *buffers)
{
    const struct etwas_clock_history *history = &snapshot->session->drain.clock_history;
    struct etwas_log_write write;
    uint32_t code = ERROR_SUCCESS;
    uint32_t window_code;
    uint32_t written;

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
    window_code = snapshot_write_window(snapshot, sequence_number + *buffers, &written);
    *buffers += written;
    return window_code != ERROR_SUCCESS ? window_code : code;
}

/*
 * Writes the newest buffers first, because a snapshot is about what happened just before it was
 * requested, and fast writers overwrite the oldest meanwhile. Skipped buffers leave gaps in the
 * numbers, and metadata belongs before the oldest buffer. In both cases all buffers are renumbered.
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
    free(snapshot->list);
    code = code == ERROR_SUCCESS ? besides_code : code;
    if ((besides != 0 || etwas_log_file_buffers(snapshot->session->drain.file) != count + 1) &&
        !etwas_log_file_number_backwards(snapshot->session->drain.file) && code == ERROR_SUCCESS) {
        code = ERROR_WRITE_FAULT;
    }
    return code;
}

/*
 * Returns what the recorder has lost and overwritten until now; the file records when it was lost.
 */
static struct etwas_log_file_totals snapshot_count(struct etwas_session *session)
{
    etwas_session_counts counts;

    etwas_losses_check_and_count(session, &counts);
    if (session->drain.losses != NULL) {
        etwas_log_losses_attach(session->drain.file, &session->drain.losses->table);
    }
    return (struct etwas_log_file_totals){
        .events_lost = counts.lost,
        .events_overwritten = counts.overwritten,
        .unattached_total = counts.unattached_total,
        .unattached_code = counts.unattached_code,
    };
}

uint32_t etwas_snapshot_write_window(struct etwas_session *session, const etwas_wchar *file_name,
                                     struct etwas_snapshot_window *window)
{
    struct etwas_log_file_totals totals;
    struct snapshot snapshot = {.session = session, .window = window, .oldest = INT64_MAX};
    bool finished;
    uint32_t code;

    snapshot.copy = malloc(session->buffers.pool->buffer_bytes);
    if (snapshot.copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_session_file_create(session, file_name);
    if (code != ERROR_SUCCESS) {
        free(snapshot.copy);
        return code;
    }
    (void)snapshot_count(session); /* before clock snapshots are added */
    code = snapshot_write_all_held(&snapshot);
    free(snapshot.copy);
    totals = snapshot_count(session);
    ck_pr_store_64(&session->totals.buffers_written,
                   session->totals.buffers_written + etwas_log_file_buffers(session->drain.file));
    window->bytes = etwas_log_file_bytes(session->drain.file);
    finished = etwas_log_file_finish(session->drain.file, &totals);
    finished = finished && (code != ERROR_SUCCESS || etwas_log_file_replace(session->drain.file));
    finished = etwas_session_file_close(session) && finished;
    return code == ERROR_SUCCESS && !finished ? ERROR_WRITE_FAULT : code;
}

uint32_t etwas_snapshot_write(struct etwas_session *session, const etwas_wchar *file_name)
{
    struct etwas_snapshot_window all = {
        .begin = INT64_MIN,
        .trigger = etwas_clock_now(session->configuration.clock),
        .triggers = 1,
    };
    etwas_session_counts counts;

    etwas_session_count(session, &counts);
    all.lost_before = counts.lost;
    return etwas_snapshot_write_window(session, file_name, &all);
}
