/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "realtime/realtime.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "buffer/pool_count.h"
#include "clock/clock.h"
#include "file/log_header.h"
#include "file/session_file.h"
#include "flush/sink.h"
#include "platform/library_copy.h"

enum {
    BYTES_A_KB = 1024,
    FLUSH_BYTES = 8 << 20, /* flush this often: consumers hold back a few times this at most */
};

/* ---- beginning and ending -------------------------------------------------------------------- */

static const struct etwas_sink realtime_sink;

static void session_realtime_set(struct etwas_session *session, struct etwas_realtime *realtime)
{
    etwas_control_lock();
    session->drain.realtime = realtime;
    etwas_control_unlock();
    session->drain.sinks[ETWAS_SINK_REALTIME] = realtime != NULL ? &realtime_sink : NULL;
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
        session->drain.realtime_lost_before = session->totals.realtime_buffers_lost;
        /* Events that were lost before are not reported to consumers. */
        etwas_session_count(session, &counts);
        session->drain.reported_lost_events = counts.lost;
        etwas_realtime_set_clocks(realtime, &session->drain.clock_history);
        session_realtime_set(session, realtime);
    }
    return code;
}

/*
 * Moves records that consumers, or the backlog, failed to get to the account of undelivered events.
 */
static void session_realtime_account_lost(struct etwas_session *session)
{
    uint64_t buffers;
    uint64_t records = etwas_realtime_collect_lost(session->drain.realtime, &buffers);

    etwas_pool_reclassify_written(session->buffers.pool, ETWAS_DISPOSITION_UNDELIVERED, records);
    ck_pr_store_64(&session->totals.realtime_buffers_lost,
                   session->drain.realtime_lost_before + buffers);
}

/*
 * Accounts lost records. Consumers also get notices of events that were lost before they got here.
 */
static void session_realtime_account(struct etwas_session *session)
{
    etwas_session_counts counts;

    session_realtime_account_lost(session);
    etwas_session_count(session, &counts);
    if (counts.lost != session->drain.reported_lost_events) {
        session->drain.reported_lost_events = counts.lost;
        etwas_realtime_notify_lost_events(session->drain.realtime);
    }
}

void etwas_session_realtime_end(struct etwas_session *session)
{
    struct etwas_realtime *realtime = session->drain.realtime;
    const struct etwas_clock_reading last = etwas_clock_read_together();

    etwas_clock_history_add(&session->drain.clock_history, &last);
    etwas_realtime_set_clocks(realtime, &session->drain.clock_history);
    session_realtime_account(session);
    etwas_realtime_end(realtime);
    session_realtime_account_lost(session);
    session_realtime_set(session, NULL);
    etwas_realtime_unreference(realtime);
    ck_pr_store_32(&session->buffers.pool->words->backlog_full, 0);
}

/* ---- as a sink ------------------------------------------------------------------------------- */

/*
 * While there is no consumer and the backlog is full, everything stays in the pool until the
 * session ends.
 */
static uint32_t session_realtime_free_buffers(struct etwas_session *session, uint32_t most,
                                              bool last)
{
    uint32_t buffers;

    if (last) {
        return most;
    }
    buffers = etwas_realtime_free_buffers(session->drain.realtime, most,
                                          session->buffers.pool->buffer_bytes);
    /* Writers that find no buffer then report that a consumer is missing. */
    ck_pr_store_32(&session->buffers.pool->words->backlog_full, buffers == 0);
    return buffers;
}

/* Delivers a buffer; see etwas_realtime_deliver. */
static bool session_realtime_deliver(struct etwas_session *session,
                                     const struct etwas_drained *buffer, uint32_t records)
{
    struct etwas_etl_buffer_header header = {
        .time_stamp = buffer->time_stamp,
        .processor = (uint16_t)buffer->processor,
        .logger_id = (uint16_t)(session->index + 1),
        .state = ETWAS_ETL_BUFFER_STATE_FLUSH,
        .flags = ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
        .type = ETWAS_ETL_BUFFER_GENERIC,
    };

    etwas_realtime_set_end(&header, ETWAS_ETL_BUFFER_HEADER_BYTES + buffer->data_bytes);
    return etwas_realtime_deliver(session->drain.realtime, &header, buffer->data, records);
}

static void session_realtime_accept_batch(struct etwas_session *session, struct etwas_batch *batch)
{
    if (etwas_session_takes_stacks(session)) {
        etwas_realtime_enable_stacks(session->drain.realtime);
    }
    for (uint32_t index = 0; index < batch->count; index++) {
        struct etwas_drained *buffer = &batch->buffers[index];

        buffer->kept =
            session_realtime_deliver(session, buffer, buffer->kept ? 0 : buffer->records) ||
            buffer->kept;
    }
    session_realtime_account_lost(session);
}

static void session_realtime_flushed(struct etwas_session *session, int64_t bound)
{
    etwas_realtime_set_bound(session->drain.realtime, bound);
}

/* Consumers get the whole history, which has the reading already. */
static void session_realtime_read_clocks(struct etwas_session *session,
                                         const struct etwas_clock_reading *reading, bool quiet)
{
    (void)reading;
    (void)quiet;
    etwas_realtime_set_clocks(session->drain.realtime, &session->drain.clock_history);
}

static const struct etwas_sink realtime_sink = {
    .flush_bytes = FLUSH_BYTES,
    .account = session_realtime_account,
    .room = session_realtime_free_buffers,
    .accept = session_realtime_accept_batch,
    .flushed = session_realtime_flushed,
    .read_clocks = session_realtime_read_clocks,
    .end = etwas_session_realtime_end,
};

/* ---- consumers ------------------------------------------------------------------------------- */

/* Wakes the flusher, because buffers that waited for a consumer can be delivered now. */
static void session_realtime_wake_flusher(struct etwas_session *session)
{
    (void)pthread_mutex_lock(&session->buffers.pool_lock);
    if (session->buffers.pool != NULL) {
        etwas_pool_wake_flusher(session->buffers.pool);
    }
    (void)pthread_mutex_unlock(&session->buffers.pool_lock);
}

/*
 * Takes a reference to the session's delivery. The control lock is held. NULL: the session has
 * none.
 */
static struct etwas_realtime *session_realtime_reference(const struct etwas_session *session)
{
    struct etwas_realtime *realtime = session != NULL ? session->drain.realtime : NULL;

    if (realtime != NULL) {
        etwas_realtime_reference(realtime);
    }
    return realtime;
}

/* Connects a consumer, and drops the reference that the caller took. */
static uint32_t session_realtime_connect(struct etwas_session *session,
                                         struct etwas_realtime *realtime,
                                         struct etwas_consumer **consumer)
{
    uint32_t code;

    if (realtime == NULL) {
        return etwas_library_copy_is_second() ? ERROR_ALREADY_INITIALIZED
                                              : ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    code = etwas_realtime_connect(realtime, consumer);
    etwas_realtime_unreference(realtime);
    if (code == ERROR_SUCCESS) {
        session_realtime_wake_flusher(session);
    }
    return code;
}

uint32_t etwas_session_realtime_connect(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    struct etwas_realtime *realtime;
    struct etwas_session *session;

    etwas_control_lock();
    session = etwas_session_find_name(name);
    realtime = session_realtime_reference(session);
    etwas_control_unlock();
    return session_realtime_connect(session, realtime, consumer);
}

uint32_t etwas_session_realtime_connect_key(struct etwas_session_key key,
                                            struct etwas_consumer **consumer)
{
    struct etwas_realtime *realtime;
    struct etwas_session *session;

    etwas_control_lock();
    session = etwas_session_find(key);
    realtime = session_realtime_reference(session);
    etwas_control_unlock();
    return session_realtime_connect(session, realtime, consumer);
}
