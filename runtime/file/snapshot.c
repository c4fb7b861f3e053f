/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/snapshot.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/current.h"
#include "buffer/switch_rseq.h"
#include "clock/clock.h"
#include "file/log_file.h"
#include "file/log_knots.h"
#include "file/log_metadata.h"
#include "file/session_file.h"
#include "platform/testpoint.h"

/* A buffer as it was when the snapshot began. */
struct held {
    uint64_t owner;
    uint32_t buffer;
};

struct snapshot {
    struct etwas_session *session;
    uint8_t *copy; /* room for one buffer */
};

static int by_ticket(const void *left, const void *right)
{
    uint64_t one = ((const struct held *)left)->owner;
    uint64_t other = ((const struct held *)right)->owner;

    return one < other ? -1 : one > other;
}

/*
 * The buffers in use, by their tickets: in each slot that is the order of time. The buffer before
 * the current one of an rseq slot is closed first, if its writer has not come to it yet:
 * it can be pinned then.
 */
static struct held *list_held(struct etwas_pool *pool, uint32_t *count)
{
    uint32_t allocated = (uint32_t)ck_pr_load_64(&pool->allocated);
    struct held *list = malloc(allocated * sizeof *list);

    *count = 0;
    for (uint32_t slot = 0; slot < pool->rseq_slots; slot++) {
        etwas_rseq_close_previous(etwas_slot_of(pool->session, slot), pool);
    }
    for (uint32_t buffer = 0; list != NULL && buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

        if (etwas_owner_state(owner) == ETWAS_OWNER_HELD ||
            etwas_owner_state(owner) == ETWAS_OWNER_CLOSED) {
            list[(*count)++] = (struct held){owner, buffer};
        }
    }
    if (list != NULL) {
        qsort(list, *count, sizeof *list, by_ticket);
    }
    return list;
}

/* Writes records as a buffer of the file, numbered in the order of time. */
static uint32_t write_records(const struct snapshot *snapshot, const void *records,
                              const struct etwas_collected *collected, uint32_t sequence_number)
{
    int64_t now = etwas_clock_now(snapshot->session->configuration.clock);
    struct etwas_drained buffer = {
        .data = records,
        .data_bytes = (collected->end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES,
        .processor = collected->slot,
        .time_stamp = now > collected->newest ? now : collected->newest,
        .sequence_number = sequence_number,
    };

    if (collected->end_units == ETWAS_FIRST_UNIT) {
        return ERROR_SUCCESS;
    }
    return etwas_log_file_write(snapshot->session->file, &buffer, 1).code;
}

/* Writes a buffer while it is pinned. One that was overwritten meanwhile is passed over. */
static uint32_t write_pinned(const struct snapshot *snapshot, const struct held *held,
                             uint32_t sequence_number)
{
    struct etwas_pool *pool = snapshot->session->pool;
    struct etwas_collected collected = {
        .buffer = held->buffer,
        .slot = etwas_owner_slot(held->owner),
        .end_units = ETWAS_FIRST_UNIT,
    };
    uint32_t code;

    if (!etwas_pool_pin(pool, held->buffer, held->owner)) {
        return ERROR_SUCCESS;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_SNAPSHOT_PINNED);
    if (etwas_pool_is_rseq_slot(pool, collected.slot)) {
        collected.end_units = pool->buffers[held->buffer].end.units;
        collected.newest = pool->buffers[held->buffer].end.newest;
    } else {
        etwas_collect_prefix(pool, pool->buffer_bytes / ETWAS_UNIT_BYTES, &collected);
    }
    code = write_records(snapshot,
                         etwas_pool_buffer(pool, held->buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES,
                         &collected, sequence_number);
    etwas_pool_unpin(pool, held->buffer, held->owner);
    return code;
}

/*
 * Copies what is committed in a buffer that is current in an rseq slot. Its writers are
 * not held up: if the buffer is still of the same claim after the copy, the copy is true.
 */
static bool copy_current(const struct snapshot *snapshot, const struct held *held,
                         struct etwas_collected *collected)
{
    const struct etwas_pool *pool = snapshot->session->pool;
    const struct etwas_slot *slot = etwas_slot_of(pool->session, etwas_owner_slot(held->owner));
    struct etwas_current current = etwas_current_read(slot, pool);

    if (current.buffer != held->buffer || current.owner != held->owner) {
        return false;
    }
    *collected = (struct etwas_collected){
        .slot = etwas_owner_slot(held->owner),
        .end_units = etwas_word_units(current.word),
        .newest = (int64_t)ck_pr_load_64(&slot->newest),
    };
    ETWAS_TESTPOINT(ETWAS_POINT_SNAPSHOT_COPIES);
    memcpy(snapshot->copy, etwas_pool_buffer(pool, held->buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES,
           (size_t)(collected->end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES);
    return etwas_current_stands(&current, pool);
}

static uint32_t write_held(const struct snapshot *snapshot, const struct held *held,
                           uint32_t sequence_number)
{
    struct etwas_pool *pool = snapshot->session->pool;
    uint32_t index = etwas_owner_slot(held->owner);
    struct held full = *held;

    if (etwas_pool_is_rseq_slot(pool, index) &&
        etwas_owner_state(held->owner) == ETWAS_OWNER_HELD) {
        struct etwas_collected collected;

        if (copy_current(snapshot, held, &collected)) {
            return write_records(snapshot, snapshot->copy, &collected, sequence_number);
        }
        /* Another is current by now, and this one full; or it was claimed and never current yet. */
        etwas_rseq_close_previous(etwas_slot_of(pool->session, index), pool);
        full.owner = etwas_owner_as(held->owner, ETWAS_OWNER_CLOSED);
    }
    return write_pinned(snapshot, &full, sequence_number);
}

/*
 * What the session has read of the clocks, and what was described. Knots that do not fit in buffer 0
 * and event metadata come last in the file, and so first in the order of time: they are of processor
 * 0 and stamped with the session's start. *buffers: how many they are. No other buffer has their
 * numbers, from `sequence_number` on.
 */
static uint32_t write_besides(const struct snapshot *snapshot, uint32_t sequence_number,
                              uint32_t *buffers)
{
    const struct etwas_clock_history *history = &snapshot->session->clock_history;
    struct etwas_log_write write;
    uint32_t code = ERROR_SUCCESS;

    *buffers = 0;
    for (uint32_t index = 1; index < history->count; index++) {
        write = etwas_log_knots_take_reading(snapshot->session->file, &history->readings[index],
                                             false, sequence_number + *buffers);
        *buffers += write.written;
        code = write.code != ERROR_SUCCESS ? write.code : code;
    }
    write = etwas_log_metadata_write(snapshot->session->file, sequence_number + *buffers);
    *buffers += write.written;
    return write.code != ERROR_SUCCESS ? write.code : code;
}

/*
 * Newest buffers first: what happened just before the snapshot was asked for is what it is for, and
 * fast writers overwrite the oldest meanwhile. Passing over leaves gaps in the numbers, and what was
 * written besides belongs before the oldest; then they are given anew.
 */
static uint32_t write_all_held(const struct snapshot *snapshot)
{
    uint32_t count;
    uint32_t besides;
    uint32_t besides_code;
    uint32_t code = ERROR_SUCCESS;
    struct held *list = list_held(snapshot->session->pool, &count);

    if (list == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t left = count; left > 0 && code == ERROR_SUCCESS; left--) {
        code = write_held(snapshot, &list[left - 1], left);
    }
    free(list);
    besides_code = write_besides(snapshot, count + 1, &besides);
    code = code == ERROR_SUCCESS ? besides_code : code;
    if ((besides != 0 || etwas_log_file_buffers(snapshot->session->file) != count + 1) &&
        !etwas_log_file_number_backwards(snapshot->session->file) && code == ERROR_SUCCESS) {
        code = ERROR_WRITE_FAULT;
    }
    return code;
}

uint32_t etwas_snapshot_write(struct etwas_session *session, const etwas_wchar *file_name)
{
    struct etwas_log_file_totals totals = {0};
    struct snapshot snapshot = {.session = session};
    etwas_session_counts counts;
    bool finished;
    uint32_t code;

    snapshot.copy = malloc(session->pool->buffer_bytes);
    if (snapshot.copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_session_file_create(session, file_name);
    if (code != ERROR_SUCCESS) {
        free(snapshot.copy);
        return code;
    }
    code = write_all_held(&snapshot);
    free(snapshot.copy);
    etwas_session_count(session, &counts);
    totals.events_lost = counts.lost;
    ck_pr_store_64(&session->buffers_written,
                   session->buffers_written + etwas_log_file_buffers(session->file));
    finished = etwas_log_file_finish(session->file, &totals);
    finished = etwas_session_file_close(session) && finished;
    return code == ERROR_SUCCESS && !finished ? ERROR_WRITE_FAULT : code;
}
