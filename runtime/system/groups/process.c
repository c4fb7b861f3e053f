/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROCESS, _IMAGE_LOAD and _PROCESS_COUNTERS: each with a table of processes of its own, so
 * that one costs nothing of what only the other needs.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/groups/event_groups.h"
#include "system/names/processes.h"
#include "system/stream/cpu_stream.h"

static struct etwas_processes *open_topic(const struct etwas_topic_host *host, uint32_t tells)
{
    struct etwas_processes *processes = malloc(sizeof *processes);

    const struct etwas_process_source *source =
        host->own_process != 0 ? etwas_process_source_own() : etwas_process_source_here();

    tells |= host->rundown_only ? ETWAS_TELL_RUNDOWN_ALONE : 0;
    if (processes != NULL &&
        !etwas_processes_init(processes, source, host->emitter, host->record, tells)) {
        free(processes);
        processes = NULL;
    }
    if (processes != NULL) {
        processes->pause = host->pause;
    }
    return processes;
}

/* Who may not be told how processes end records them all the same. */
static void *open_processes(const struct etwas_topic_host *host)
{
    struct etwas_processes *processes = open_topic(host, ETWAS_TELL_PROCESSES);
    struct etwas_fault ignored;

    if (processes != NULL && host->own_process == 0) {
        processes->exits = etwas_exits_open(&ignored);
    }
    return processes;
}

/* Who may not be told has no counters. */
static void *open_counters(const struct etwas_topic_host *host)
{
    struct etwas_processes *processes = open_topic(host, ETWAS_TELL_COUNTERS);

    if (processes != NULL) {
        processes->exits = etwas_exits_open(host->fault);
        if (processes->exits == NULL) {
            etwas_processes_free(processes);
            free(processes);
            processes = NULL;
        }
    }
    return processes;
}

static void *open_images(const struct etwas_topic_host *host)
{
    return open_topic(host, ETWAS_TELL_IMAGES);
}

static void close_topic(void *state)
{
    struct etwas_processes *processes = state;

    etwas_exits_close(processes->exits);
    etwas_processes_free(processes);
    free(processes);
}

static void forget_processes(void *state)
{
    const struct etwas_processes *processes = state;

    if (processes->exits != NULL) {
        (void)close(processes->exits->socket);
    }
}

static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    (void)host;
    if (is_end) {
        etwas_processes_finish(state);
    } else {
        etwas_processes_run_down(state);
    }
}

static void take_sideband(void *state, const struct etwas_topic_host *host, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    struct etwas_processes *processes = state;

    (void)slot;
    processes->has_arguments = (host->sideband & ETWAS_SIDEBAND_ARGUMENTS) != 0;
    etwas_processes_take(processes, sideband);
}

static bool find_lost(void *state, int64_t until_ns)
{
    return etwas_processes_find_lost(state, until_ns);
}

const struct etwas_topic etwas_topic_processes = {
    .flags = EVENT_TRACE_FLAG_PROCESS,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES | ETWAS_SIDEBAND_ARGUMENTS,
    .own_sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES,
    .open = open_processes,
    .close = close_topic,
    .forget = forget_processes,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .find_lost = find_lost,
};

const struct etwas_topic etwas_topic_counters = {
    .flags = EVENT_TRACE_FLAG_PROCESS_COUNTERS,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES,
    .open = open_counters,
    .close = close_topic,
    .forget = forget_processes,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .find_lost = find_lost,
};

const struct etwas_topic etwas_topic_images = {
    .flags = EVENT_TRACE_FLAG_IMAGE_LOAD,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES | ETWAS_SIDEBAND_IMAGES,
    .own_sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES | ETWAS_SIDEBAND_IMAGES,
    .open = open_images,
    .close = close_topic,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .find_lost = find_lost,
};
