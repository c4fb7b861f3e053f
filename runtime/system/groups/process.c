/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROCESS, _IMAGE_LOAD and _PROCESS_COUNTERS. Each has a table of processes of its
 * own, so that one does not pay for what only another needs.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/groups/event_groups.h"
#include "system/names/processes.h"
#include "system/stream/cpu_stream.h"

static struct etwas_processes *process_make(const struct etwas_event_group_host *host,
                                            uint32_t emits)
{
    struct etwas_processes *processes = malloc(sizeof *processes);

    const struct etwas_process_source *source =
        host->own_process != 0 ? etwas_process_source_own() : etwas_process_source_here();

    emits |= host->rundown_only ? ETWAS_EMIT_RUNDOWN_ALONE : 0;
    if (processes != NULL &&
        !etwas_processes_init(processes, source, host->emitter, host->record, emits)) {
        free(processes);
        processes = NULL;
    }
    if (processes != NULL) {
        processes->quiesce = host->quiesce;
    }
    return processes;
}

/* Without permission to read how processes end, they are still recorded. */
static void *process_open(const struct etwas_event_group_host *host)
{
    struct etwas_processes *processes = process_make(host, ETWAS_EMIT_PROCESSES);
    struct etwas_unavailability ignored;

    if (processes != NULL && host->own_process == 0) {
        processes->exits = etwas_exits_open(&ignored);
    }
    return processes;
}

/* Without that permission there are no counters. */
static void *process_open_counters(const struct etwas_event_group_host *host)
{
    struct etwas_processes *processes = process_make(host, ETWAS_EMIT_COUNTERS);

    if (processes != NULL) {
        processes->exits = etwas_exits_open(host->reason);
        if (processes->exits == NULL) {
            etwas_processes_free(processes);
            free(processes);
            processes = NULL;
        }
    }
    return processes;
}

static void *process_open_images(const struct etwas_event_group_host *host)
{
    return process_make(host, ETWAS_EMIT_IMAGES);
}

static void process_close(void *state)
{
    struct etwas_processes *processes = state;

    etwas_exits_close(processes->exits);
    etwas_processes_free(processes);
    free(processes);
}

static void process_forget(void *state)
{
    const struct etwas_processes *processes = state;

    if (processes->exits != NULL) {
        (void)close(processes->exits->socket);
    }
}

static void process_run_down(void *state, const struct etwas_event_group_host *host, bool is_end)
{
    (void)host;
    if (is_end) {
        etwas_processes_finish(state);
    } else {
        etwas_processes_run_down(state);
    }
}

static void process_handle_process_record(void *state, const struct etwas_event_group_host *host,
                                          uint32_t slot,
                                          const struct etwas_process_record *process_record)
{
    struct etwas_processes *processes = state;

    (void)slot;
    processes->has_arguments = (host->process_records & ETWAS_PROCESS_RECORD_ARGUMENTS) != 0;
    etwas_processes_handle(processes, process_record);
}

static bool process_find_lost(void *state, int64_t until_ns)
{
    return etwas_processes_find_lost(state, until_ns);
}

const struct etwas_event_group etwas_event_group_processes = {
    .flags = EVENT_TRACE_FLAG_PROCESS,
    .process_records =
        ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES | ETWAS_PROCESS_RECORD_ARGUMENTS,
    .own_process_records = ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES,
    .open = process_open,
    .close = process_close,
    .forget = process_forget,
    .run_down = process_run_down,
    .handle_process_record = process_handle_process_record,
    .find_lost = process_find_lost,
};

const struct etwas_event_group etwas_event_group_counters = {
    .flags = EVENT_TRACE_FLAG_PROCESS_COUNTERS,
    .process_records = ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES,
    .open = process_open_counters,
    .close = process_close,
    .forget = process_forget,
    .run_down = process_run_down,
    .handle_process_record = process_handle_process_record,
    .find_lost = process_find_lost,
};

const struct etwas_event_group etwas_event_group_images = {
    .flags = EVENT_TRACE_FLAG_IMAGE_LOAD,
    .process_records =
        ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES | ETWAS_PROCESS_RECORD_IMAGES,
    .own_process_records =
        ETWAS_PROCESS_RECORD_TASKS | ETWAS_PROCESS_RECORD_NAMES | ETWAS_PROCESS_RECORD_IMAGES,
    .open = process_open_images,
    .close = process_close,
    .run_down = process_run_down,
    .handle_process_record = process_handle_process_record,
    .find_lost = process_find_lost,
};
