/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session's accounts: what the pool counted, and what the file took.
 */
#include <ck_pr.h>
#include <etwas/winerror.h>

#include "buffer/pool_count.h"
#include "platform/cancel.h"
#include "session/session.h"

void etwas_session_count(const struct etwas_session *session, etwas_session_counts *counts)
{
    struct etwas_pool_counts pool;

    etwas_pool_count(session->pool, &pool);
    *counts = (etwas_session_counts){
        .recorded = pool.recorded,
        .overwritten = pool.overwritten,
        .lost_no_buffer = pool.lost_no_buffer,
        .lost_write_error = pool.settled[ETWAS_OUTCOME_WRITE_ERROR],
        .lost_file_full = pool.settled[ETWAS_OUTCOME_FILE_FULL],
        .lost_abandoned = pool.settled[ETWAS_OUTCOME_ABANDONED],
        .lost_backlog_full = pool.lost_backlog_full,
        .lost_undelivered = pool.settled[ETWAS_OUTCOME_UNDELIVERED],
        .buffers_written = ck_pr_load_64(&session->buffers_written),
        .buffers_lost = ck_pr_load_64(&session->buffers_lost),
        .realtime_buffers_lost = ck_pr_load_64(&session->realtime_buffers_lost),
        .sync_errors = ck_pr_load_64(&session->sync_errors),
        .buffers_allocated = pool.allocated,
        .buffers_free = pool.free,
        .committed_rseq = pool.committed_rseq,
        .committed_shared = pool.committed_shared,
        .restarts = pool.restarts,
        .lost_in_kernel = ck_pr_load_64(&session->lost_in_kernel),
    };
    counts->lost = counts->lost_no_buffer + counts->lost_write_error + counts->lost_file_full +
                   counts->lost_abandoned + counts->lost_backlog_full + counts->lost_undelivered +
                   counts->lost_in_kernel;
}

uint32_t etwas_session_counts_of(struct etwas_session_key key, etwas_session_counts *counts)
{
    struct etwas_session *session = &etwas_sessions[key.index];
    uint32_t code = ERROR_INVALID_HANDLE;
    int cancelling = etwas_cancel_forbid(); /* a count may sleep */

    (void)pthread_mutex_lock(&session->pool_lock);
    etwas_control_lock();
    if (etwas_session_is_remembered(key) && session->state != ETWAS_SESSION_STARTING) {
        code = ERROR_SUCCESS;
    }
    etwas_control_unlock();
    if (code == ERROR_SUCCESS && session->pool != NULL) {
        etwas_session_count(session, counts);
    } else if (code == ERROR_SUCCESS) {
        *counts = session->last_counts;
    }
    (void)pthread_mutex_unlock(&session->pool_lock);
    etwas_cancel_allow(cancelling);
    return code;
}
