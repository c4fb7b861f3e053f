/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include <ck_pr.h>
#include <errno.h>
#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "buffer/pool.h"
#include "clock/clock.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/testpoint.h"
#include "platform/thread.h"
#include "system/keywords.h"
#include "system/logger_internal.h"
#include "system/names/offload.h"

enum {
    RING_BYTES = 4 << 20,
    LONGEST_WAIT_MS = 100, /* the longest that a record waits in a ring, without a backlog */
    START_WAIT_MS = 1,
    FIRST_OF_ALL = -20,    /* a nice value, if real-time priority is refused */
    QUIESCE_NS = 20000000, /* the least time between two drains during a scan */
};

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_system_logger_ring_bytes = RING_BYTES;
int64_t etwas_system_logger_quiesce_ns = QUIESCE_NS;
#else
#define etwas_system_logger_ring_bytes RING_BYTES
#define etwas_system_logger_quiesce_ns QUIESCE_NS
#endif

/* ---- records --------------------------------------------------------------------------------- */

static bool has_buffer(const struct etwas_pool *pool)
{
    return pool->buffering || (int32_t)ck_pr_load_32(&pool->words->free_count) > 0 ||
           etwas_pool_allocated(pool) < etwas_pool_maximum(pool);
}

/*
 * The file cannot be verified without the accounts, so this gives the flusher time to empty a
 * buffer.
 */
static void await_buffer(struct etwas_system_logger *logger)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    while (logger->timeout_ms > 0 && !has_buffer(logger->session->buffers.pool)) {
        (void)nanosleep(&pause, NULL);
        logger->timeout_ms--;
    }
}

/* A loss is counted where it happens. */
static void publish_record(struct etwas_emitter *emitter, uint32_t slot,
                           const struct etwas_stamped_record *record)
{
    struct etwas_system_logger *logger = (void *)emitter;
    const struct etwas_session *session = logger->session;
    uint32_t code;

    if (logger->kernel.accounts.is_emitted) {
        await_buffer(logger);
    }
    code = etwas_publish_stamped(etwas_attachment_of(session->index), slot,
                                 etwas_session_gate(session), record);
    /* The session has ended if this code comes, and the record is not counted. */
    if (code != ERROR_INVALID_HANDLE) {
        etwas_accounts_add_record(&logger->kernel.accounts, slot, record->bytes,
                                  code != ERROR_SUCCESS);
    }
}

static int64_t logger_stamp_of(const struct etwas_emitter *emitter, int64_t time_ns)
{
    return etwas_session_time_of(&((const struct etwas_system_logger *)(const void *)emitter)->time,
                                 time_ns);
}

const struct etwas_emitter etwas_system_logger_emitter = {publish_record, logger_stamp_of};

/* ---- the thread ------------------------------------------------------------------------------ */

/* Until the session's slots are open, records would be refused. */
static bool waits_for_start(const struct etwas_system_logger *logger)
{
    const struct etwas_session *session = logger->session;

    return ck_pr_load_32(&etwas_slot_of(session->index, etwas_slot_count)->gate) !=
           etwas_session_gate(session);
}

/* Waits until a ring is a quarter full, some time has passed, or there is a request. */
static void wait_for_events(const struct etwas_system_logger *logger, struct pollfd *polled,
                            int longest_ms)
{
    const struct etwas_merge *merge = &logger->kernel.merge;

    polled[0] = (struct pollfd){.fd = logger->wake, .events = POLLIN};
    for (uint32_t index = 0; index < merge->count; index++) {
        polled[1 + index] = (struct pollfd){
            .fd = etwas_cpu_stream_descriptor(merge->streams[index].stream), .events = POLLIN};
    }
    (void)poll(polled, 1 + merge->count, longest_ms);
}

/* Returns the request, or REQUEST_NONE. */
static enum request asked(struct etwas_system_logger *logger)
{
    enum request request;

    (void)pthread_mutex_lock(&logger->lock);
    request = logger->request;
    (void)pthread_mutex_unlock(&logger->lock);
    return request;
}

static void complete_request(struct etwas_system_logger *logger, bool done)
{
    uint64_t count;

    (void)pthread_mutex_lock(&logger->lock);
    (void)!read(logger->wake, &count, sizeof count);
    logger->done = done;
    logger->request = REQUEST_NONE;
    (void)pthread_cond_signal(&logger->answered);
    (void)pthread_mutex_unlock(&logger->lock);
}

static void drain_and_find_lost(struct etwas_kernel_sources *kernel)
{
    int64_t until_ns = etwas_clock_qpc() - ETWAS_KERNEL_SOURCES_SETTLE_NS;

    etwas_kernel_sources_drain(kernel, until_ns);
    etwas_kernel_sources_find_lost(kernel, until_ns);
}

/*
 * Called at quiescent points. Also takes a new reading of the clocks, since times that are
 * converted are recent.
 */
void etwas_system_logger_quiesce(struct etwas_quiesce *quiesce)
{
    struct etwas_system_logger *logger =
        (void *)((char *)quiesce - offsetof(struct etwas_system_logger, quiesce));

    if (etwas_clock_qpc() - logger->quiesced_ns < etwas_system_logger_quiesce_ns) {
        return;
    }
    ETWAS_TESTPOINT(ETWAS_POINT_SYSTEM_QUIESCES);
    etwas_session_time_renew(&logger->time);
    if (!logger->has_stopped) {
        etwas_kernel_sources_drain(&logger->kernel,
                                   etwas_clock_qpc() - ETWAS_KERNEL_SOURCES_SETTLE_NS);
    }
    logger->quiesced_ns = etwas_clock_qpc();
}

static void emit_rung(struct etwas_system_logger *logger)
{
    const struct etwas_etl_kernel_rung rung = {
        .version = ETWAS_ETL_KERNEL_RUNG_VERSION,
        .rung = logger->state.rung,
        .process_id = logger->kernel.host.own_process,
        .error =
            logger->state.rung == ETWAS_KERNEL_RUNG_FOUND ? (uint32_t)logger->reason.error : 0};

    etwas_record_builder_begin_class(&logger->record, &etwas_etl_own_class,
                                     ETWAS_ETL_KERNEL_RUNG_TYPE, ETWAS_ETL_KERNEL_RUNG_VERSION);
    etwas_record_builder_put(&logger->record, &rung, sizeof rung);
    etwas_emit_now(logger->kernel.host.emitter, etwas_record_builder_end(&logger->record));
}

static void run_logger(struct etwas_system_logger *logger, struct pollfd *polled)
{
    struct etwas_kernel_sources *kernel = &logger->kernel;
    enum request request = REQUEST_NONE;

    while (request != REQUEST_END && waits_for_start(logger)) {
        wait_for_events(logger, polled, START_WAIT_MS);
        request = asked(logger);
    }
    if (!waits_for_start(logger)) { /* also if the end was requested right after the start */
        etwas_session_time_renew(&logger->time);
        if (kernel->host.own_process != 0) {
            emit_rung(logger);
        }
        etwas_kernel_sources_run_down(kernel, false);
    }
    etwas_system_logger_end_run_down(logger);
    while (request != REQUEST_END) {
        wait_for_events(logger, polled, LONGEST_WAIT_MS);
        ETWAS_TESTPOINT(ETWAS_POINT_SYSTEM_DRAINS);
        request = asked(logger);
        etwas_session_time_renew(&logger->time);
        if (request == REQUEST_CHANGE) {
            complete_request(logger,
                             etwas_kernel_sources_change(kernel, &logger->asked, &logger->reason));
        } else if (request == REQUEST_CAPTURE) {
            etwas_kernel_sources_capture(kernel, logger->captured);
            complete_request(logger, true);
        } else if (request == REQUEST_SYMBOLS) {
            drain_and_find_lost(kernel);
            etwas_kernel_sources_emit_symbols(kernel);
            complete_request(logger, true);
        } else if (request == REQUEST_NONE) {
            drain_and_find_lost(kernel);
            etwas_kernel_sources_check_processors(kernel);
            ck_pr_store_64(&logger->session->totals.lost_in_kernel,
                           etwas_kernel_sources_lost(kernel));
        }
    }
    ck_pr_store_64(&logger->session->totals.lost_in_kernel, etwas_kernel_sources_stop(kernel));
    logger->has_stopped = true;
    if (logger->session->configuration.system_logger != ETWAS_SYSTEM_LOGGER_RUNDOWN) {
        etwas_kernel_sources_run_down(kernel, true);
        etwas_kernel_sources_emit_symbols(kernel);
    }
    etwas_kernel_sources_emit_accounts(kernel);
}

static size_t ring_bytes(const struct etwas_session *session)
{
    return session->configuration.system_logger == ETWAS_SYSTEM_LOGGER_RUNDOWN
               ? 0
               : etwas_system_logger_ring_bytes;
}

/*
 * A thread that runs too late loses events. A nice value counts only within a login session or a
 * control group, so real-time priority is tried first.
 */
static void raise_priority(void)
{
    const struct sched_param least = {.sched_priority = 1};

    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &least) != 0) {
        (void)setpriority(PRIO_PROCESS, etwas_thread_ids().thread_id, FIRST_OF_ALL);
    }
}

static bool open_kernel_sources(struct etwas_system_logger *logger, size_t bytes)
{
    bool is_own = logger->session->configuration.own_process;
    const struct etwas_kernel_sources_options options = {.emitter = &logger->emitter,
                                                         .record = &logger->record,
                                                         .quiesce = &logger->quiesce,
                                                         .ring_bytes = bytes,
                                                         .own_process =
                                                             is_own ? (uint32_t)getpid() : 0};

    return etwas_kernel_sources_open(&logger->kernel, &options, &logger->reason) &&
           etwas_kernel_sources_change(&logger->kernel, &logger->asked, &logger->reason);
}

static bool is_own_refused(const struct etwas_unavailability *reason)
{
    return reason->cause == ETWAS_UNAVAILABLE_OWN_EVENT &&
           (etwas_unavailability_code(reason) == ERROR_ACCESS_DENIED || reason->error == ENOSYS);
}

bool etwas_system_logger_is_denied(const struct etwas_system_logger *logger,
                                   const struct etwas_system_settings *settings,
                                   struct etwas_unavailability *reason)
{
    uint64_t others = etwas_settings_requested(settings) & etwas_event_group_flags() &
                      ~etwas_event_group_own_flags();

    if (!logger->session->configuration.own_process || others == 0) {
        return false;
    }
    *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_OWN, __builtin_ctzll(others)};
    return true;
}

/* Opens the kernel sources. If events of the own process are refused, only rundowns are emitted. */
static bool open_rung(struct etwas_system_logger *logger)
{
    bool own = logger->session->configuration.own_process;
    struct etwas_unavailability refused;

    logger->state.rung = own ? ETWAS_KERNEL_RUNG_PROCESS : ETWAS_KERNEL_RUNG_SYSTEM;
    if (etwas_system_logger_is_denied(logger, &logger->asked, &logger->reason)) {
        return false;
    }
    if (open_kernel_sources(logger, ring_bytes(logger->session))) {
        return true;
    }
    if (!is_own_refused(&logger->reason)) {
        return false;
    }
    refused = logger->reason;
    etwas_kernel_sources_close(&logger->kernel);
    etwas_kernel_sources_free(&logger->kernel);
    logger->state.rung = ETWAS_KERNEL_RUNG_FOUND;
    if (!open_kernel_sources(logger, 0)) {
        return false;
    }
    logger->reason = refused;
    return true;
}

void *etwas_system_logger_main(void *argument)
{
    struct etwas_system_logger *logger = argument;
    struct pollfd polled[1 + ETWAS_MOST_PROCESSORS];
    struct etwas_kernel_sources *kernel = &logger->kernel;
    bool good;

    (void)pthread_setname_np(pthread_self(), "etwas-system");
    raise_priority();
    if (!logger->session->configuration.own_process) {
        etwas_offload_begin();
    }
    good = open_rung(logger);
    complete_request(logger, good);
    if (good) {
        run_logger(logger, polled);
    }
    etwas_offload_end();
    etwas_kernel_sources_close(kernel);
    return NULL;
}
