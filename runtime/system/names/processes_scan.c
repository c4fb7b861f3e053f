/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/processes_internal.h"

#include <stddef.h>

/* ---- processes that exist -------------------------------------------------------------------- */

/*
 * A thread that is exiting is not added: its EXIT may have been handled already, and there is no
 * second one.
 */
static void handle_listed_thread(void *context, uint32_t thread_id, bool is_leaving)
{
    const struct etwas_process_mapped *found = context;

    if (!is_leaving) {
        etwas_process_adopt_thread(found->processes, found->process, thread_id, &found->origin);
    }
}

void etwas_process_apply_facts(struct etwas_process *process,
                               const struct etwas_process_facts *facts)
{
    process->key = etwas_process_key(process->node.id, facts->start_tick);
    process->parent_id = facts->parent_id;
    process->session_id = facts->session_id;
    process->user_id = facts->user_id;
    etwas_process_set_name(process, facts->name);
    etwas_process_apply_command_line(process, facts);
}

void etwas_process_apply_command_line(struct etwas_process *process,
                                      const struct etwas_process_facts *facts)
{
    if (facts->has_no_answer) {
        etwas_process_forget_command_line(process);
        return;
    }
    etwas_process_set_command_line(process, facts->command_line,
                                   ETWAS_PROCESS_COMMAND_LINE_READ |
                                       (facts->is_cut ? ETWAS_PROCESS_COMMAND_LINE_CUT : 0));
}

bool etwas_process_read_facts(struct etwas_processes *processes, uint32_t process_id)
{
    return processes->source->facts(process_id, &processes->facts) &&
           processes->source->command_line(process_id, &processes->facts);
}

bool etwas_process_started_at(const struct etwas_process *process, uint64_t start_tick)
{
    uint64_t tick = etwas_process_start_tick(process);

    return start_tick <= tick + 1 && tick <= start_tick + 1;
}

struct etwas_process *etwas_process_scan(struct etwas_processes *processes, uint32_t process_id)
{
    int64_t now_ns = processes->source->now_ns();
    struct etwas_process *process;
    struct etwas_process_mapped found = {.processes = processes,
                                         .loaded = ETWAS_IMAGE_RUNDOWN_START};

    if (!etwas_process_read_facts(processes, process_id)) {
        return NULL;
    }
    process = etwas_process_add(&processes->table, process_id, now_ns);
    if (process == NULL) {
        return NULL;
    }
    process->is_found = true;
    found.process = process;
    found.origin = etwas_record_origin_found(process_id, now_ns);
    etwas_process_apply_facts(process, &processes->facts);
    processes->source->threads(process_id, handle_listed_thread, &found);
    if (process->threads == NULL) { /* they have just ended */
        etwas_process_remove(&processes->table, process);
        return NULL;
    }
    etwas_process_emit_rundown(processes, process, &found.origin, ETWAS_PROCESS_RUNDOWN_START);
    if ((processes->emits & ETWAS_EMIT_IMAGES) != 0) {
        processes->source->mappings(process_id, etwas_process_handle_mapping, &found);
    }
    return process;
}

/* Emits a known process once more. */
static void emit_known(struct etwas_processes *processes, struct etwas_process *process,
                       bool is_end)
{
    const struct etwas_record_origin origin =
        etwas_record_origin_found(process->node.id, processes->source->now_ns());
    bool is_kernel = process->node.id == ETWAS_PROCESS_KERNEL;

    if (!is_kernel && !is_end) {
        etwas_process_emit_rundown(processes, process, &origin, ETWAS_PROCESS_RUNDOWN_START);
    }
    etwas_process_emit_images(processes, process, &origin,
                              is_end ? ETWAS_IMAGE_RUNDOWN_END : ETWAS_IMAGE_RUNDOWN_START);
    if (!is_kernel && is_end) {
        etwas_process_emit_rundown(processes, process, &origin, ETWAS_PROCESS_RUNDOWN_END);
    }
}

static void scan_listed(void *context, uint32_t process_id)
{
    struct etwas_processes *processes = context;
    struct etwas_process *process = etwas_process_find(&processes->table, process_id);

    if (process == NULL) {
        (void)etwas_process_scan(processes, process_id);
    } else if (processes->has_run_down && process->since_ns <= processes->rundown_ns) {
        emit_known(processes, process, false);
    }
    etwas_quiesce(processes->quiesce);
}

static void scan_kernel(struct etwas_processes *processes)
{
    int64_t now_ns = processes->source->now_ns();
    struct etwas_process *known = etwas_process_find(&processes->table, ETWAS_PROCESS_KERNEL);
    struct etwas_process_mapped found = {
        .processes = processes,
        .origin = etwas_record_origin_found(ETWAS_PROCESS_KERNEL, now_ns),
        .loaded = ETWAS_IMAGE_RUNDOWN_START};

    if (known != NULL) {
        emit_known(processes, known, false);
        return;
    }
    found.process = etwas_process_add(&processes->table, ETWAS_PROCESS_KERNEL, now_ns);
    if (found.process != NULL) {
        processes->source->kernel(etwas_process_handle_mapping, &found);
    }
}

void etwas_processes_run_down(struct etwas_processes *processes)
{
    processes->rundown_ns = processes->source->now_ns();
    if ((processes->emits & ETWAS_EMIT_IMAGES) != 0) {
        scan_kernel(processes);
    }
    (void)processes->source->list(scan_listed, processes);
    processes->has_run_down = true;
}

/* ---- after a loss, and at the end ------------------------------------------------------------ */

/* Marks a thread as present, or adds it to the process. */
static void mark_thread(void *context, uint32_t thread_id, bool is_leaving)
{
    const struct etwas_process_mapped *found = context;
    struct etwas_process_thread *thread =
        etwas_process_find_thread(&found->processes->table, thread_id);

    if (thread != NULL && thread->process == found->process) {
        thread->is_missing = false;
    } else {
        handle_listed_thread(context, thread_id, is_leaving);
    }
}

/* If a process has the number of one that has ended, it is another one. */
static void check_process(void *context, uint32_t process_id)
{
    struct etwas_processes *processes = context;
    struct etwas_process_mapped found = {
        .processes = processes,
        .process = etwas_process_find(&processes->table, process_id),
        .origin = etwas_record_origin_found(process_id, processes->source->now_ns())};

    if (found.process != NULL && processes->source->facts(process_id, &processes->facts) &&
        !etwas_process_started_at(found.process, processes->facts.start_tick)) {
        etwas_process_end_unseen(processes, found.process, &found.origin);
        found.process = NULL;
    }
    if (found.process != NULL) {
        processes->source->threads(process_id, mark_thread, &found);
    } else {
        (void)etwas_process_scan(processes, process_id);
    }
    etwas_quiesce(processes->quiesce);
}

/* Removes threads whose EXIT is not in the rings. Returns false if no thread is left. */
static bool drop_missing_threads(struct etwas_processes *processes, struct etwas_process *process)
{
    struct etwas_process_thread *thread = process->threads;

    while (thread != NULL) {
        struct etwas_process_thread *next = thread->next;

        if (thread->is_missing) {
            etwas_process_handle_exit(processes, process, thread->node.id);
            etwas_process_remove_thread(&processes->table, thread->node.id);
        }
        thread = next;
    }
    return process->threads != NULL || process->node.id == ETWAS_PROCESS_KERNEL;
}

/* Ends processes that have gone, and finishes execs that no record will complete any more. */
static void finish_scan(struct etwas_processes *processes)
{
    struct etwas_process *process = etwas_process_after(&processes->table, NULL);

    while (process != NULL) {
        struct etwas_process *next = etwas_process_after(&processes->table, process);

        const struct etwas_record_origin origin =
            etwas_record_origin_found(process->node.id, processes->source->now_ns());

        if (!drop_missing_threads(processes, process)) {
            etwas_process_end_unseen(processes, process, &origin);
        } else if (process->starting_ns < processes->scanned_ns) {
            etwas_process_finish_exec(processes, process, &origin);
        }
        process = next;
    }
}

static void set_missing(struct etwas_processes *processes, bool is_missing)
{
    struct etwas_id_node *node = NULL;

    while ((node = etwas_id_map_after(&processes->table.threads, node)) != NULL) {
        ((struct etwas_process_thread *)node)->is_missing = is_missing;
    }
}

bool etwas_processes_find_lost(struct etwas_processes *processes, int64_t until_ns)
{
    if (processes->scanned_ns == 0) {
        set_missing(processes, true);
        if (!processes->source->list(check_process, processes)) {
            set_missing(processes, false);
        }
        processes->scanned_ns = processes->source->now_ns();
        return false;
    }
    if (until_ns < processes->scanned_ns) {
        return false;
    }
    finish_scan(processes);
    processes->scanned_ns = 0;
    return true;
}

void etwas_processes_finish(struct etwas_processes *processes)
{
    struct etwas_process *process = NULL;

    processes->scanned_ns = INT64_MAX;
    finish_scan(processes);
    while ((process = etwas_process_after(&processes->table, process)) != NULL) {
        emit_known(processes, process, true);
        etwas_quiesce(processes->quiesce);
    }
}

bool etwas_processes_init(struct etwas_processes *processes,
                          const struct etwas_process_source *source, struct etwas_emitter *emitter,
                          struct etwas_record_builder *record, uint32_t emits)
{
    processes->source = source;
    processes->emitter = emitter;
    processes->record = record;
    processes->exits = NULL;
    processes->quiesce = NULL;
    processes->has_run_down = false;
    processes->rundown_ns = 0;
    processes->has_arguments = false;
    processes->emits = emits;
    processes->scanned_ns = 0;
    return etwas_process_table_init(&processes->table);
}

void etwas_processes_free(struct etwas_processes *processes)
{
    etwas_process_table_free(&processes->table);
}
