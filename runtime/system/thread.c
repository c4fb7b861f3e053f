/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_THREAD: threads that come and go, and those that are there.
 */
#include <etwas/evntrace.h>

#include "system/feed.h"
#include "system/thread_record.h"
#include "system/topics.h"

static void take_sideband(void *state, const struct etwas_topic_host *host, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    const struct etwas_thread_record record = etwas_thread_record_make(
        sideband->type == PERF_RECORD_FORK ? ETWAS_THREAD_START : ETWAS_THREAD_END,
        sideband->process_id, sideband->thread_id, sideband->origin.process_id,
        sideband->origin.thread_id);

    (void)state;
    etwas_emit(host->emitter, slot, &record, sideband->origin.time_ns);
}

struct rundown {
    struct etwas_emitter *emitter;
    enum etwas_thread_record_type type;
};

static void tell(void *context, uint32_t process_id, uint32_t thread_id)
{
    const struct rundown *rundown = context;
    const struct etwas_thread_record record =
        etwas_thread_record_make(rundown->type, process_id, thread_id, process_id, thread_id);

    etwas_emit_now(rundown->emitter, &record);
}

static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    struct rundown rundown = {host->emitter,
                              is_end ? ETWAS_THREAD_RUNDOWN_END : ETWAS_THREAD_RUNDOWN_START};

    (void)state;
    etwas_threads_list(host->own_process, tell, &rundown);
}

const struct etwas_topic etwas_topic_threads = {
    .flags = EVENT_TRACE_FLAG_THREAD,
    .sideband = ETWAS_SIDEBAND_TASKS,
    .own_sideband = ETWAS_SIDEBAND_TASKS,
    .run_down = run_down,
    .take_sideband = take_sideband,
};
