/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/session_realtime.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "clock/clock.h"
#include "file/log_header.h"
#include "file/session_file.h"
#include "flush/taken_back.h"

enum {
    BYTES_A_KB = 1024,
    BOUND_BYTES = 8 << 20, /* consumers keep no more than a few of these back */
};

/* ---- life ------------------------------------------------------------------------------------ */

static void set(struct etwas_session *session, struct etwas_realtime *realtime)
{
    etwas_control_lock();
    session->realtime = realtime;
    etwas_control_unlock();
}

uint32_t etwas_session_realtime_begin(struct etwas_session *session)
{
    static const etwas_wchar no_file[] = {0};
    const struct etwas_configuration *configuration = &session->configuration;
    struct etwas_log_file_options log = etwas_session_log_options(session);
    struct etwas_realtime_options options = {
        .queue_bytes = (uint64_t)configuration->consumer_queue_kb * BYTES_A_KB,
        .backlog_bytes = (uint64_t)configuration->backlog_kb * BYTES_A_KB,
        .backlog_folder =
            configuration->backlog_folder[0] != 0 ? configuration->backlog_folder : NULL,
    };
    struct etwas_realtime *realtime;
    struct etwas_log_header header;
    etwas_session_counts counts;
    uint32_t code;

    if (!etwas_configuration_is_realtime(configuration)) {
        return ERROR_SUCCESS;
    }
    log.file_name = no_file;
    code = etwas_log_header_build(&header, &log);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    options.head = header.content;
    options.head_bytes = header.bytes;
    code = etwas_realtime_open(&options, &realtime);
    etwas_log_header_free(&header);
    if (code == ERROR_SUCCESS) {
        session->realtime_lost_before = session->realtime_buffers_lost;
        session->delivered_bytes = 0;
        session->delivered_newest = INT64_MIN;
        session->bound_is_due = false;
        /* Events lost before are not theirs. */
        etwas_session_count(session, &counts);
        session->noted_lost_events = counts.lost;
        etwas_realtime_set_clocks(realtime, &session->timeline);
        set(session, realtime);
    }
    return code;
}

static void settle_undelivered(struct etwas_session *session, uint64_t records)
{
    etwas_settle_taken_back(session->pool, ETWAS_OUTCOME_UNDELIVERED, records);
}

static void keep_buffers_lost(struct etwas_session *session, uint64_t buffers)
{
    ck_pr_store_64(&session->realtime_buffers_lost, session->realtime_lost_before + buffers);
}

void etwas_session_realtime_end(struct etwas_session *session)
{
    struct etwas_realtime *realtime = session->realtime;
    struct etwas_clock_reading last;
    uint64_t buffers_lost;

    if (realtime == NULL) {
        return;
    }
    last = etwas_clock_read_together();
    etwas_clock_timeline_add(&session->timeline, &last);
    etwas_realtime_set_clocks(realtime, &session->timeline);
    etwas_session_realtime_settle(session);
    set(session, NULL);
    settle_undelivered(session, etwas_realtime_end(realtime, &buffers_lost));
    keep_buffers_lost(session, buffers_lost);
    ck_pr_store_32(&session->pool->backlog_full, 0);
}

/* ---- the drain's ----------------------------------------------------------------------------- */

bool etwas_session_realtime_has_room(const struct etwas_session *session, uint32_t buffers)
{
    return session->realtime == NULL ||
           etwas_realtime_has_room(session->realtime, buffers, session->pool->buffer_bytes);
}

bool etwas_session_realtime_deliver(struct etwas_session *session,
                                    const struct etwas_log_buffer *buffer, uint32_t records)
{
    uint32_t end = ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes;
    bool one_stream = etwas_configuration_has_one_slot(&session->configuration);
    struct etwas_etl_buffer_header header = {
        .time_stamp = buffer->time_stamp,
        .processor =
            one_stream ? ETWAS_ETL_LEGACY_CONTEXT_ALIGNMENT << 8 : (uint16_t)buffer->processor,
        .logger_id = (uint16_t)(session->index + 1),
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .flags = one_stream ? 0 : ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
        .type = ETWAS_ETL_BUFFER_GENERIC,
    };
    bool taken;

    etwas_realtime_set_end(&header, end);
    taken = etwas_realtime_deliver(session->realtime, &header, buffer->data, records);
    session->delivered_bytes += end;
    if (buffer->newest > session->delivered_newest) {
        session->delivered_newest = buffer->newest;
    }
    keep_buffers_lost(session, etwas_realtime_buffers_lost(session->realtime));
    return taken;
}

void etwas_session_realtime_tell_clocks(struct etwas_session *session)
{
    if (session->realtime != NULL) {
        etwas_realtime_set_clocks(session->realtime, &session->timeline);
    }
}

bool etwas_session_realtime_wants_bound(const struct etwas_session *session)
{
    return session->realtime != NULL && session->delivered_bytes >= BOUND_BYTES;
}

/*
 * Records are handed over that are later than now when system time was set back. What was handed
 * over before is no later than what this pass finds, whatever its stamps say.
 */
void etwas_session_realtime_begin_bound(struct etwas_session *session)
{
    int64_t now = etwas_clock_now(session->configuration.clock);

    session->bound = now > session->delivered_newest ? now : session->delivered_newest;
    session->bound_is_due = session->realtime != NULL;
}

void etwas_session_realtime_tell_bound(struct etwas_session *session)
{
    if (session->bound_is_due && session->realtime != NULL) {
        session->bound_is_due = false;
        session->delivered_bytes = 0;
        etwas_realtime_set_bound(session->realtime, session->bound);
    }
}

void etwas_session_realtime_tell_room(struct etwas_session *session)
{
    ck_pr_store_32(&session->pool->backlog_full, !etwas_session_realtime_has_room(session, 1));
}

void etwas_session_realtime_settle(struct etwas_session *session)
{
    etwas_session_counts counts;

    if (session->realtime == NULL) {
        return;
    }
    keep_buffers_lost(session, etwas_realtime_buffers_lost(session->realtime));
    settle_undelivered(session, etwas_realtime_take_lost_records(session->realtime));
    etwas_session_count(session, &counts);
    if (counts.lost != session->noted_lost_events) {
        session->noted_lost_events = counts.lost;
        etwas_realtime_note_lost_events(session->realtime);
    }
}

/* ---- consumers ------------------------------------------------------------------------------- */

/* Buffers that waited for a consumer can go now. */
static void wake_flusher(struct etwas_session *session)
{
    (void)pthread_mutex_lock(&session->life);
    if (session->pool != NULL) {
        etwas_pool_wake_flusher(session->pool);
    }
    (void)pthread_mutex_unlock(&session->life);
}

uint32_t etwas_session_realtime_connect(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    struct etwas_realtime *realtime = NULL;
    struct etwas_session *session;
    uint32_t code;

    etwas_control_lock();
    session = etwas_session_find_name(name);
    if (session != NULL && session->realtime != NULL) {
        realtime = session->realtime;
        etwas_realtime_hold(realtime);
    }
    etwas_control_unlock();
    if (realtime == NULL) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    code = etwas_realtime_connect(realtime, consumer);
    etwas_realtime_let_go(realtime);
    if (code == ERROR_SUCCESS) {
        wake_flusher(session);
    }
    return code;
}
