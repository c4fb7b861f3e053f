/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A session's counts, from its pool and its totals. */
#include <ck_pr.h>
#include <etwas/shared.h>
#include <etwas/winerror.h>

#include "buffer/pool_count.h"
#include "platform/cancel.h"
#include "session/session.h"

void etwas_session_add_losses(etwas_session_counts *counts)
{
    counts->lost = counts->lost_no_buffer + counts->lost_write_error + counts->lost_file_full +
                   counts->lost_abandoned + counts->lost_backlog_full + counts->lost_undelivered +
                   counts->lost_in_kernel + counts->lost_unattached + counts->lost_too_large +
                   counts->lost_withheld;
}

static uint32_t counts_unshared_reason(const struct etwas_configuration *configuration)
{
    uint32_t reason = ck_pr_load_32(&configuration->unshared);

    ck_pr_fence_acquire(); /* what is read after it is as new; pairs with host_restore_one */
    if (reason != 0) {
        return reason;
    }
    return etwas_configuration_is_shared(configuration) ? ETWAS_UNSHARED_NOT : ETWAS_UNSHARED_ASKED;
}

void etwas_session_count(const struct etwas_session *session, etwas_session_counts *counts)
{
    struct etwas_pool_counts pool;

    etwas_pool_count(session->buffers.pool, &pool);
    *counts = (etwas_session_counts){
        .recorded = pool.recorded,
        .overwritten = pool.overwritten,
        .lost_no_buffer = pool.lost[ETWAS_SLOT_NO_BUFFER],
        .lost_write_error = pool.accounted[ETWAS_DISPOSITION_WRITE_ERROR],
        .lost_file_full = pool.accounted[ETWAS_DISPOSITION_FILE_FULL],
        .lost_abandoned = pool.accounted[ETWAS_DISPOSITION_ABANDONED],
        .lost_backlog_full = pool.lost[ETWAS_SLOT_BACKLOG_FULL],
        .lost_undelivered = pool.accounted[ETWAS_DISPOSITION_UNDELIVERED],
        .buffers_written = ck_pr_load_64(&session->totals.buffers_written),
        .buffers_lost = ck_pr_load_64(&session->totals.buffers_lost),
        .realtime_buffers_lost = ck_pr_load_64(&session->totals.realtime_buffers_lost),
        .sync_errors = ck_pr_load_64(&session->totals.sync_errors),
        .buffers_allocated = pool.allocated,
        .buffers_free = pool.free,
        .committed_rseq = pool.committed_rseq,
        .committed_shared = pool.committed_shared,
        .restarts = pool.restarts,
        .lost_in_kernel = ck_pr_load_64(&session->totals.lost_in_kernel),
        .lost_unattached = ck_pr_load_64(&session->totals.lost_unattached),
        .quarantined_slots = pool.slots_quarantined,
        .damaged_buffers = pool.buffers_damaged,
        .lost_too_large = pool.lost[ETWAS_SLOT_TOO_LARGE],
        .lost_withheld = pool.lost[ETWAS_SLOT_WITHHELD],
        .unattached_processes = ck_pr_load_32(&session->totals.unattached_processes),
        .protocol = session->configuration.protocol,
        .sequences = session->configuration.sequences,
        .unattached_code = ck_pr_load_32(&session->totals.unattached_code),
        .unattached_total = ck_pr_load_32(&session->totals.unattached_total),
        .was_joined = ck_pr_load_32(&session->guests) != ETWAS_GUESTS_NEVER_CAME,
        .unshared = counts_unshared_reason(&session->configuration),
    };
    etwas_session_add_losses(counts);
}

void etwas_session_count_class_row(const struct etwas_session *session, uint32_t row,
                                   struct etwas_session_class_row *counts)
{
    struct etwas_pool_counts pool;

    etwas_pool_count_class_row(session->buffers.pool, row, &pool);
    *counts = (struct etwas_session_class_row){
        .recorded = pool.recorded,
        .overwritten = pool.overwritten,
        .lost = pool.lost[ETWAS_SLOT_NO_BUFFER] + pool.lost[ETWAS_SLOT_BACKLOG_FULL] +
                pool.lost[ETWAS_SLOT_TOO_LARGE] + pool.lost[ETWAS_SLOT_WITHHELD] +
                pool.accounted[ETWAS_DISPOSITION_WRITE_ERROR] +
                pool.accounted[ETWAS_DISPOSITION_FILE_FULL] +
                pool.accounted[ETWAS_DISPOSITION_ABANDONED] +
                pool.accounted[ETWAS_DISPOSITION_UNDELIVERED],
        .buffers = pool.allocated - pool.free,
        .quota = ck_pr_load_32(&session->buffers.pool->words->rows[row].quota),
    };
}

uint32_t etwas_session_hold(uint64_t handle, struct etwas_held_session *held)
{
    struct etwas_session_key key;
    bool is_there;

    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    held->session = &etwas_sessions[key.index];
    held->cancelling = etwas_cancel_forbid(); /* a count may sleep */
    (void)pthread_mutex_lock(&held->session->buffers.pool_lock);
    etwas_control_lock();
    is_there =
        etwas_session_is_remembered(key) && held->session->entry.state != ETWAS_SESSION_STARTING;
    etwas_control_unlock();
    if (!is_there) {
        etwas_session_release(held);
        return ERROR_INVALID_HANDLE;
    }
    return ERROR_SUCCESS;
}

void etwas_session_release(const struct etwas_held_session *held)
{
    (void)pthread_mutex_unlock(&held->session->buffers.pool_lock);
    etwas_cancel_allow(held->cancelling);
}

uint32_t etwas_session_counts_of(struct etwas_session_key key, etwas_session_counts *counts)
{
    struct etwas_held_session held;
    uint32_t code = etwas_session_hold(etwas_session_handle(key), &held);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (held.session->buffers.pool != NULL) {
        etwas_session_count(held.session, counts);
    } else {
        *counts = held.session->buffers.last_counts;
    }
    etwas_session_release(&held);
    return ERROR_SUCCESS;
}
