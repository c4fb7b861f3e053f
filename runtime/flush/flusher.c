/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "flush/flusher.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <semaphore.h>
#include <sys/resource.h>

#include "buffer/pool_claim.h"
#include "buffer/pool_free.h"
#include "buffer/pool_join.h"
#include "flush/drain.h"
#include "flush/sink.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "provider/image_records.h"
#include "provider/metadata.h"
#include "session/losses.h"
#include "shared/mapping.h"

enum {
    SHORTEST_INTERVAL_NS = 1000000,
    LONGEST_INTERVAL_NS = 1000000000,
    BUFFERS_GROWN_A_PASS = 16,
};

struct start {
    struct etwas_session *session;
    etwas_flusher_full full;
    uint32_t code;
    sem_t done;
};

/* Adds buffers before the writers need them, so that their pages are first touched here. */
static void flusher_keep_buffers_free(struct etwas_pool *pool)
{
    for (int grown = 0; grown < BUFFERS_GROWN_A_PASS; grown++) {
        if (etwas_pool_free_about(pool) > (int32_t)pool->reserve || !etwas_pool_grow(pool)) {
            return;
        }
    }
}

/*
 * The next pause: half of the last one when a pass found a quarter of the pool full, twice when it
 * found nothing. Writers wake this thread when half of the buffers are used, so it may sleep long
 * in idle sessions. But a writer that commits late does not, and full buffers may wait behind it.
 * So until the timeout ends the pause is short.
 */
static uint64_t flusher_next_interval(const struct etwas_pool *pool, uint64_t interval_ns,
                                      const struct etwas_drain_result *result)
{
    uint32_t found = result->buffers;

    if (result->waits) {
        return SHORTEST_INTERVAL_NS;
    }
    if (found != 0 && found >= etwas_pool_allocated(pool) / 4) {
        interval_ns /= 2;
    } else if (found == 0) {
        interval_ns *= 2;
    }
    if (interval_ns < SHORTEST_INTERVAL_NS) {
        return SHORTEST_INTERVAL_NS;
    }
    return interval_ns > LONGEST_INTERVAL_NS ? LONGEST_INTERVAL_NS : interval_ns;
}

/*
 * The timed flushes, whose period UPDATE may change at any time, the readings of the clocks, and
 * the windows of a recorder.
 */
struct timer {
    uint64_t flushed_ns;          /* when the last period began */
    uint64_t left_to_reading_ns;  /* at the last pass */
    uint64_t left_to_recorder_ns; /* also at the last pass: until the recorder's next pass is due */
};

/* Returns how long until the next timed flush; UINT64_MAX: there is none. */
static uint64_t flusher_left_until_flush_ns(const struct timer *timer,
                                            const struct etwas_session *session)
{
    uint64_t period_ns = etwas_configuration_flush_ns(&session->configuration);
    uint64_t passed_ns = etwas_monotonic_ns() - timer->flushed_ns;

    if (period_ns == 0) {
        return UINT64_MAX;
    }
    return passed_ns < period_ns ? period_ns - passed_ns : 0;
}

static struct etwas_drain_result flusher_pass(struct etwas_session *session, struct timer *timer)
{
    struct etwas_drain_result result = {.code = ERROR_SUCCESS};

    if (etwas_session_takes_stacks(session)) {
        etwas_image_records_update();
    }
    (void)pthread_mutex_lock(&session->drain.role);
    if (etwas_session_has_sink(session)) {
        if (flusher_left_until_flush_ns(timer, session) == 0) {
            result = etwas_drain(session, ETWAS_COLLECT_USED);
            (void)etwas_sinks_sync(session); /* a refusal is counted */
            timer->flushed_ns = etwas_monotonic_ns();
        } else {
            result =
                etwas_drain(session, etwas_sinks_want_flush(session, session->drain.taken_bytes)
                                         ? ETWAS_COLLECT_USED
                                         : ETWAS_COLLECT_FULL);
        }
        etwas_pool_repair_free_set(session->buffers.pool);
        flusher_keep_buffers_free(session->buffers.pool);
    } else if (etwas_configuration_is_shared(&session->configuration)) {
        etwas_collector_reap(&session->drain.collector);
        etwas_pool_repair_free_set(
            session->buffers.pool); /* a guest may have died during a claim */
    }
    etwas_pool_return_oldest(session->buffers.pool);
    etwas_pool_reserve_for_guests(session->buffers.pool);
    if (session->mapping != NULL) {
        etwas_shared_touch(session->mapping, session->buffers.pool);
        etwas_crash_safe_write_late_descriptions(session);
    }
    etwas_losses_check(session);
    etwas_session_clock_read_if_due(session);
    timer->left_to_reading_ns = etwas_session_clock_left_ns(session);
    timer->left_to_recorder_ns = session->drain.recorder != NULL
                                     ? session->drain.recorder->pass(session, false)
                                     : UINT64_MAX;
    (void)pthread_mutex_unlock(&session->drain.role);
    return result;
}

static uint64_t flusher_left_ns(const struct timer *timer, const struct etwas_session *session)
{
    uint64_t left = flusher_left_until_flush_ns(timer, session);

    left = left < timer->left_to_reading_ns ? left : timer->left_to_reading_ns;
    return left < timer->left_to_recorder_ns ? left : timer->left_to_recorder_ns;
}

/* Writes what triggers have requested before the session ends. */
static void flusher_end_recorder(struct etwas_session *session)
{
    (void)pthread_mutex_lock(&session->drain.role);
    if (session->drain.recorder != NULL) {
        (void)session->drain.recorder->pass(session, true);
    }
    (void)pthread_mutex_unlock(&session->drain.role);
}

static void flusher_run(struct etwas_session *session, etwas_flusher_full full)
{
    struct timer timer = {.flushed_ns = etwas_monotonic_ns()};
    uint64_t interval_ns = SHORTEST_INTERVAL_NS;
    struct etwas_pool *pool = session->buffers.pool;

    while (ck_pr_load_32(&session->flusher.quit) == 0) {
        uint32_t seen = etwas_pool_begin_pass(pool);
        struct etwas_drain_result result = flusher_pass(session, &timer);
        uint64_t left;

        if (result.is_full && full(etwas_session_key(session))) {
            return;
        }
        interval_ns = flusher_next_interval(pool, interval_ns, &result);
        left = flusher_left_ns(&timer, session);
        if (ck_pr_load_32(&session->flusher.quit) == 0) {
            etwas_wait(&pool->words->wake, seen, left < interval_ns ? left : interval_ns);
        }
    }
    flusher_end_recorder(session);
}

static void *flusher_main(void *argument)
{
    struct start *start = argument;
    struct etwas_session *session = start->session;
    const struct etwas_flusher_configuration *configuration = &session->configuration.flusher;
    etwas_flusher_full full = start->full;
    uint32_t code = ERROR_SUCCESS;

    (void)pthread_setname_np(pthread_self(), configuration->name);
    if (configuration->nice_value != 0 &&
        setpriority(PRIO_PROCESS, (id_t)etwas_thread_ids().thread_id, configuration->nice_value) !=
            0) {
        code = ERROR_ACCESS_DENIED;
    }
    ck_pr_store_32(&session->flusher.thread_id, etwas_thread_ids().thread_id);
    start->code = code;
    (void)sem_post(&start->done);
    if (code == ERROR_SUCCESS) {
        flusher_run(session, full);
    }
    return NULL;
}

static int flusher_set_attributes(pthread_attr_t *attributes,
                                  const struct etwas_flusher_configuration *configuration)
{
    struct sched_param priority = {.sched_priority = configuration->realtime_priority};
    int error = 0;

    if (configuration->cpus != NULL) {
        error =
            pthread_attr_setaffinity_np(attributes, configuration->cpus_bytes, configuration->cpus);
    }
    if (error == 0 && configuration->realtime_priority != 0) {
        error = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
        error = error != 0 ? error : pthread_attr_setschedpolicy(attributes, SCHED_FIFO);
        error = error != 0 ? error : pthread_attr_setschedparam(attributes, &priority);
    }
    return error;
}

uint32_t etwas_flusher_start(struct etwas_session *session, etwas_flusher_full full)
{
    struct start start = {.session = session, .full = full};
    pthread_attr_t attributes;
    int error;

    if (session->configuration.flusher.no_thread) {
        return ERROR_SUCCESS;
    }
    if (pthread_attr_init(&attributes) != 0) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    (void)sem_init(&start.done, 0, 0);
    error = flusher_set_attributes(&attributes, &session->configuration.flusher);
    if (error == 0) {
        error = etwas_thread_create(&session->flusher.thread, &attributes, flusher_main, &start);
    }
    (void)pthread_attr_destroy(&attributes);
    if (error == 0) {
        while (sem_wait(&start.done) != 0 && errno == EINTR) {
        }
        if (start.code != ERROR_SUCCESS) {
            (void)pthread_join(session->flusher.thread, NULL);
            ck_pr_store_32(&session->flusher.thread_id, 0);
        }
    }
    (void)sem_destroy(&start.done);
    if (error != 0) {
        return error == EPERM || error == EINVAL ? ERROR_ACCESS_DENIED : ERROR_NO_SYSTEM_RESOURCES;
    }
    return start.code;
}

void etwas_flusher_end(struct etwas_session *session)
{
    if (ck_pr_load_32(&session->flusher.thread_id) == 0) {
        return;
    }
    ck_pr_store_32(&session->flusher.quit, 1);
    if (pthread_equal(session->flusher.thread, pthread_self()) != 0) {
        (void)pthread_detach(session->flusher.thread);
        return;
    }
    ck_ec32_inc(&session->buffers.pool->words->wake, &etwas_wait_mode);
    (void)pthread_join(session->flusher.thread, NULL);
}
