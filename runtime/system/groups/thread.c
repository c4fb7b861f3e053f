/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_THREAD: threads that begin and end, and those that exist.
 *
 * A thread that runs another program (exec) gets the number of its process's first thread. All
 * other threads, including that one, have ended by then. If the thread had another number, it is
 * recorded as ended, and the first thread as begun once more.
 *
 * After a loss /proc is scanned. Unknown threads are emitted as at the start of the session.
 * Threads that have gone are emitted as ended, once all events from before the scan are handled.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "system/groups/event_groups.h"
#include "system/names/id_map.h"
#include "system/names/proc_list.h"
#include "system/stream/cpu_stream.h"
#include "system/stream/kernel_record.h"

#define END_NOT_SEEN 1 /* a flag of End: the thread ended earlier */

ETWAS_KERNEL_RECORD(thread_record, etwas_etl_system_header, THREAD);

struct thread {
    struct etwas_id_node node; /* by thread id */
    uint32_t process_id;
    bool is_missing; /* the last scan did not find it */
};

struct thread_group {
    const struct etwas_event_group_host *host;
    struct etwas_id_map threads; /* that are emitted and have not ended */
    int64_t scanned_ns;          /* when the scan after a loss was; 0: none is in progress */
    bool has_run_down;
};

/* ---- records --------------------------------------------------------------------------------- */

/*
 * Linux reports no addresses of stacks: they are 0. `by`: the thread of the record's header, which
 * is the thread that started the new one, or the thread that ends.
 */
static struct thread_record thread_record_make(uint8_t type, uint32_t process_id,
                                               uint32_t thread_id, uint32_t by_process_id,
                                               uint32_t by_thread_id)
{
    return (struct thread_record){
        .header = {ETWAS_HEADER_OF(THREAD, type, struct thread_record), .thread_id = by_thread_id,
                   .process_id = by_process_id},
        .ProcessId = process_id,
        .TThreadId = thread_id,
    };
}

/* ---- threads that exist ---------------------------------------------------------------------- */

static void thread_remove(struct thread_group *group, uint32_t thread_id)
{
    struct etwas_id_node *node = etwas_id_map_find(&group->threads, thread_id);

    if (node != NULL) {
        etwas_id_map_remove(&group->threads, node);
        free(node);
    }
}

/* Without memory the thread is not added, so its end is not noticed by a scan. */
static void thread_add(struct thread_group *group, uint32_t process_id, uint32_t thread_id)
{
    struct thread *thread = malloc(sizeof *thread);

    thread_remove(group, thread_id);
    if (thread != NULL) {
        *thread = (struct thread){.node.id = thread_id, .process_id = process_id};
        etwas_id_map_add(&group->threads, &thread->node);
    }
}

static void thread_emit_listed_now(const struct thread_group *group, uint8_t type,
                                   uint32_t process_id, uint32_t thread_id)
{
    struct thread_record record =
        thread_record_make(type, process_id, thread_id, process_id, thread_id);

    record.ThreadFlags = type == ETWAS_THREAD_END ? END_NOT_SEEN : 0;
    etwas_emit_now(group->host->emitter, &record);
}

static void thread_handle_process_record(void *state, const struct etwas_event_group_host *host,
                                         uint32_t slot,
                                         const struct etwas_process_record *process_record)
{
    bool is_fork = process_record->type == PERF_RECORD_FORK;
    const struct thread_record record =
        thread_record_make(is_fork ? ETWAS_THREAD_START : ETWAS_THREAD_END,
                           process_record->process_id, process_record->thread_id,
                           process_record->origin.process_id, process_record->origin.thread_id);

    if (is_fork) {
        thread_add(state, process_record->process_id, process_record->thread_id);
    } else {
        thread_remove(state, process_record->thread_id);
    }
    etwas_emit(host->emitter, slot, &record, process_record->origin.time_ns);
}

/* ---- exec ------------------------------------------------------------------------------------ */

static const char *const exec_names[] = {"pid", "old_pid", NULL};
enum {
    EXEC_NUMBER,
    EXEC_NUMBER_BEFORE,
    EXEC_FIELDS,
};

static void thread_emit_own(const struct etwas_source_event *event, uint8_t type,
                            uint32_t thread_id)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    const struct thread_record record = thread_record_make(type, origin->process_id, thread_id,
                                                           origin->process_id, origin->thread_id);

    etwas_emit(event->host->emitter, event->slot, &record, origin->time_ns);
}

static bool thread_handle_exec(const struct etwas_source_event *event)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    int64_t values[EXEC_FIELDS];
    uint32_t before;

    if (!etwas_source_event_numbers(event, values, EXEC_FIELDS)) {
        return false;
    }
    if (values[EXEC_NUMBER] == values[EXEC_NUMBER_BEFORE] || origin->thread_id == 0) {
        return true;
    }
    before = etwas_thread_number(&event->host->numbers, (uint32_t)values[EXEC_NUMBER_BEFORE]);
    if (before != 0) {
        thread_emit_own(event, ETWAS_THREAD_END, before);
        thread_remove(event->state, before);
    }
    thread_add(event->state, origin->process_id, origin->thread_id);
    thread_emit_own(event, ETWAS_THREAD_START, origin->thread_id);
    return true;
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "sched/sched_process_exec",
     .fields = exec_names,
     .is_extra = true,
     .handle = thread_handle_exec},
};

/* ---- what exists ----------------------------------------------------------------------------- */

/* An exiting thread that is not known may have been emitted as ended already. */
static bool thread_is_new(const struct thread_group *group, uint32_t thread_id, bool is_leaving)
{
    return !is_leaving && etwas_id_map_find(&group->threads, thread_id) == NULL;
}

static void thread_find(void *context, uint32_t process_id, uint32_t thread_id, bool is_leaving)
{
    struct thread_group *group = context;
    bool is_found = thread_is_new(group, thread_id, is_leaving);

    if (is_found) {
        thread_add(group, process_id, thread_id);
    }
    if (is_found || (group->has_run_down && !is_leaving)) {
        thread_emit_listed_now(group, ETWAS_THREAD_RUNDOWN_START, process_id, thread_id);
    }
    etwas_quiesce(group->host->quiesce);
}

static void thread_leave(void *context, uint32_t process_id, uint32_t thread_id, bool is_leaving)
{
    const struct thread_group *group = context;

    if (!is_leaving) {
        thread_emit_listed_now(group, ETWAS_THREAD_RUNDOWN_END, process_id, thread_id);
    }
    etwas_quiesce(group->host->quiesce);
}

/* ---- after a loss ---------------------------------------------------------------------------- */

static void thread_see(void *context, uint32_t process_id, uint32_t thread_id, bool is_leaving)
{
    struct thread_group *group = context;
    struct etwas_id_node *node = etwas_id_map_find(&group->threads, thread_id);

    if (node != NULL) {
        ((struct thread *)node)->is_missing = false;
    } else if (!is_leaving) {
        thread_add(group, process_id, thread_id);
        thread_emit_listed_now(group, ETWAS_THREAD_RUNDOWN_START, process_id, thread_id);
    }
    etwas_quiesce(group->host->quiesce);
}

static void thread_set_missing(const struct thread_group *group, bool is_missing)
{
    struct etwas_id_node *node = NULL;

    while ((node = etwas_id_map_after(&group->threads, node)) != NULL) {
        ((struct thread *)node)->is_missing = is_missing;
    }
}

static void thread_end_missing(struct thread_group *group)
{
    struct etwas_id_node *node = etwas_id_map_after(&group->threads, NULL);

    while (node != NULL) {
        struct etwas_id_node *next = etwas_id_map_after(&group->threads, node);
        const struct thread *thread = (struct thread *)node;

        if (thread->is_missing) {
            thread_emit_listed_now(group, ETWAS_THREAD_END, thread->process_id, node->id);
            thread_remove(group, node->id);
        }
        node = next;
    }
    group->scanned_ns = 0;
}

static bool thread_find_lost(void *state, int64_t until_ns)
{
    struct thread_group *group = state;

    if (group->scanned_ns == 0) {
        thread_set_missing(group, true);
        if (!etwas_proc_list_all_threads(group->host->own_process, thread_see, group)) {
            thread_set_missing(group, false);
        }
        group->scanned_ns = etwas_clock_qpc();
        return false;
    }
    if (until_ns < group->scanned_ns) {
        return false;
    }
    thread_end_missing(group);
    return true;
}

/* ---- the group ------------------------------------------------------------------------------- */

static void thread_run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    struct thread_group *group = state;

    if (is_end && group->scanned_ns != 0) {
        thread_end_missing(group);
    }
    (void)etwas_proc_list_all_threads(host->own_process, is_end ? thread_leave : thread_find,
                                      group);
    group->has_run_down = true;
}

static void *thread_open(const struct etwas_event_group_host *host)
{
    struct thread_group *group = calloc(1, sizeof *group);

    if (group != NULL && !etwas_id_map_init(&group->threads)) {
        free(group);
        return NULL;
    }
    if (group != NULL) {
        group->host = host;
    }
    return group;
}

static void thread_close(void *state)
{
    struct thread_group *group = state;
    struct etwas_id_node *node;

    while ((node = etwas_id_map_after(&group->threads, NULL)) != NULL) {
        thread_remove(group, node->id);
    }
    etwas_id_map_free(&group->threads);
    free(group);
}

const struct etwas_event_group etwas_event_group_threads = {
    .flags = EVENT_TRACE_FLAG_THREAD,
    .process_records = ETWAS_PROCESS_RECORD_TASKS,
    .own_process_records = ETWAS_PROCESS_RECORD_TASKS,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
    .open = thread_open,
    .close = thread_close,
    .run_down = thread_run_down,
    .handle_process_record = thread_handle_process_record,
    .find_lost = thread_find_lost,
};
