/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/session_file.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <time.h>

#include "flush/drain.h"
#include "platform/file.h"
#include "platform/rseq.h"
#include "platform/wait.h"

enum {
    BYTES_A_KB = 1024,
    /* Logging on the system's own file system leaves this much to it (R92). */
    SYSTEM_RESERVE_BYTES = 200 << 20,
    LOOK_AGAIN_NS = 500000,
};

uint32_t etwas_session_file_create(const struct etwas_session *session,
                                   const etwas_wchar *file_name, struct etwas_log_file **file)
{
    const struct etwas_configuration *configuration = &session->configuration;
    /* A flight recorder has its size from its buffers: what it holds is not cut. */
    bool cut = !etwas_configuration_is_circular(configuration);
    uint64_t wanted_bytes = cut ? etwas_configuration_file_bytes(configuration) : 0;
    char path[ETWAS_PATH_BYTES];
    struct etwas_log_file_options options = {
        .path = path,
        .session_name = configuration->name,
        .file_name = file_name,
        .buffer_bytes = configuration->buffer_size_kb * BYTES_A_KB,
        .processors = session->slot_count,
        .clock = configuration->clock,
        .log_file_mode = configuration->log_file_mode,
        .maximum_bytes = wanted_bytes,
        .maximum_file_size = cut ? configuration->maximum_file_size : 0,
        .logger_id = (uint16_t)(session->index + 1),
        .started = session->started,
    };
    uint32_t code = etwas_configuration_path(file_name, path);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!etwas_file_has_space(path, wanted_bytes, SYSTEM_RESERVE_BYTES)) {
        return ERROR_DISK_FULL;
    }
    return etwas_log_file_create(&options, file);
}

/* Waits for the writers still inside. False: some stay longer than the patience. */
static bool wait_for_writers(const struct etwas_session *session)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
    uint64_t end_ns = etwas_monotonic_ns() + etwas_drain_patience_ns;

    while (!etwas_session_has_no_visitors(session) || !etwas_pool_is_quiet(session->pool)) {
        if (etwas_monotonic_ns() > end_ns) {
            return false;
        }
        (void)nanosleep(&pause, NULL);
    }
    return true;
}

static void shut_slots(struct etwas_session *session)
{
    if (session->file != NULL) {
        (void)etwas_drain_completely(session, ETWAS_COLLECT_SHUT);
        return;
    }
    for (uint32_t slot = 0; slot < session->collector.slot_count; slot++) {
        etwas_collector_shut(&session->collector, slot);
    }
}

static void finish_file(struct etwas_session *session)
{
    struct etwas_log_file *file = session->file;
    struct etwas_log_file_totals totals;
    etwas_session_counts counts;

    if (file == NULL) {
        return;
    }
    etwas_session_count(session, &counts);
    totals = (struct etwas_log_file_totals){counts.lost, counts.buffers_lost};
    etwas_session_set_file(session, NULL);
    (void)etwas_log_file_finish(file, &totals);
}

void etwas_session_shut_down(struct etwas_session *session)
{
    struct etwas_pool *pool = session->pool;
    bool all_out;

    (void)pthread_mutex_lock(&session->role);
    /* STOP: the gates are closed; after the fence no sequence that saw them open can commit. */
    session->collector.fenced = pool->sequences == 0 || etwas_rseq_fence();
    shut_slots(session);
    all_out = wait_for_writers(session) && session->collector.fenced;
    etwas_collector_reclaim(&session->collector);
    finish_file(session);
    free(session->collector.lists);
    session->collector = (struct etwas_collector){0};

    (void)pthread_mutex_lock(&session->life);
    etwas_session_count(session, &session->last_counts);
    if (all_out) {
        session->pool = NULL;
    } else {
        etwas_pool_leak(pool);
    }
    (void)pthread_mutex_unlock(&session->life);
    (void)pthread_mutex_unlock(&session->role);
    if (all_out) {
        etwas_pool_destroy(pool);
    }
}
