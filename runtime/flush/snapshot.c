/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/snapshot.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "flush/log_file.h"
#include "flush/session_file.h"
#include "platform/testpoint.h"

/* A buffer as it was when the snapshot began. */
struct held {
    uint64_t ticket;
    uint32_t buffer;
};

static int by_ticket(const void *left, const void *right)
{
    uint64_t one = ((const struct held *)left)->ticket;
    uint64_t other = ((const struct held *)right)->ticket;

    return one < other ? -1 : one > other;
}

/* The buffers in use, in the order they were installed: in each slot that is the order of time. */
static struct held *list_held(const struct etwas_pool *pool, uint32_t *count)
{
    uint32_t allocated = ck_pr_load_32(&pool->allocated);
    struct held *list = malloc(allocated * sizeof *list);

    *count = 0;
    for (uint32_t buffer = 0; list != NULL && buffer < allocated; buffer++) {
        uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);

        if (etwas_owner_state(owner) == ETWAS_OWNER_USED) {
            list[(*count)++] = (struct held){etwas_owner_ticket(owner), buffer};
        }
    }
    if (list != NULL) {
        qsort(list, *count, sizeof *list, by_ticket);
    }
    return list;
}

/*
 * Writes one buffer while it is pinned, as number `sequence` in the order of time. One that was
 * overwritten since the list was made is history that newer events replaced: it is passed over.
 */
static uint32_t write_held(struct etwas_session *session, struct etwas_log_file *file,
                           const struct held *held, uint32_t sequence)
{
    struct etwas_pool *pool = session->pool;
    struct etwas_collected collected = {.buffer = held->buffer};
    enum etwas_log_file_state state;
    uint32_t code = ERROR_SUCCESS;

    if (!etwas_pool_pin(pool, held->buffer, held->ticket)) {
        return ERROR_SUCCESS;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_SNAPSHOT_PINNED);
    etwas_collect_prefix(pool, pool->buffer_bytes / ETWAS_UNIT_BYTES, &collected);
    if (collected.records != 0) {
        int64_t now = etwas_clock_now(session->configuration.clock);
        struct etwas_log_buffer buffer = {
            .data = etwas_pool_buffer(pool, held->buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES,
            .data_bytes = (collected.end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES,
            .processor = pool->buffers[held->buffer].slot,
            .time_stamp = now > collected.newest ? now : collected.newest,
            .sequence = sequence,
        };

        (void)etwas_log_file_write(file, &buffer, 1, &state, &code);
    }
    etwas_pool_unpin(pool, held->buffer, held->ticket);
    return code;
}

/*
 * Newest buffers first: what happened just before the snapshot was asked for is what it is for, and
 * fast writers overwrite the oldest meanwhile. Passing over leaves gaps in the numbers; then they
 * are given anew.
 */
static uint32_t write_all_held(struct etwas_session *session, struct etwas_log_file *file)
{
    uint32_t count;
    uint32_t code = ERROR_SUCCESS;
    struct held *list = list_held(session->pool, &count);

    if (list == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t left = count; left > 0 && code == ERROR_SUCCESS; left--) {
        code = write_held(session, file, &list[left - 1], left);
    }
    free(list);
    if (etwas_log_file_buffers(file) != count + 1 && !etwas_log_file_number_backwards(file) &&
        code == ERROR_SUCCESS) {
        code = ERROR_WRITE_FAULT;
    }
    return code;
}

uint32_t etwas_snapshot_write(struct etwas_session *session, const etwas_wchar *file_name)
{
    struct etwas_log_file_totals totals = {0};
    etwas_session_counts counts;
    struct etwas_log_file *file;
    uint32_t code = etwas_session_file_create(session, file_name, &file);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = write_all_held(session, file);
    etwas_session_count(session, &counts);
    totals.events_lost = counts.lost;
    ck_pr_store_32(&session->buffers_written,
                   session->buffers_written + etwas_log_file_buffers(file));
    if (!etwas_log_file_finish(file, &totals) && code == ERROR_SUCCESS) {
        code = ERROR_WRITE_FAULT;
    }
    return code;
}
