/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROCESS and EVENT_TRACE_FLAG_IMAGE_LOAD: each with a table of processes of its own, so
 * that one costs nothing of what only the other needs.
 */
#include <etwas/evntrace.h>
#include <stdlib.h>
#include <unistd.h>

#include "system/feed.h"
#include "system/processes.h"
#include "system/topics.h"

struct process_topic {
    struct etwas_processes processes;
    bool is_run_down;
};

static void *open_topic(const struct etwas_topic_host *host, uint32_t tells)
{
    struct process_topic *topic = calloc(1, sizeof *topic);

    if (topic != NULL && !etwas_processes_init(&topic->processes, etwas_process_source_here(),
                                               host->emitter, host->record, tells)) {
        free(topic);
        topic = NULL;
    }
    return topic;
}

/* Who may not be told how processes end records them all the same. */
static void *open_processes(const struct etwas_topic_host *host)
{
    struct process_topic *topic = open_topic(host, ETWAS_TELL_PROCESSES);

    if (topic != NULL) {
        topic->processes.exits = etwas_exits_open();
    }
    return topic;
}

static void *open_images(const struct etwas_topic_host *host)
{
    return open_topic(host, ETWAS_TELL_IMAGES);
}

static void close_topic(void *state)
{
    struct process_topic *topic = state;

    etwas_exits_close(topic->processes.exits);
    etwas_processes_free(&topic->processes);
    free(topic);
}

static void forget_processes(void *state)
{
    const struct process_topic *topic = state;

    if (topic->processes.exits != NULL) {
        (void)close(topic->processes.exits->socket);
    }
}

/* Once, when the session begins, or when the flag has come later and something happens, or at the end. */
static void look(struct process_topic *topic)
{
    if (!topic->is_run_down) {
        etwas_processes_run_down(&topic->processes);
        topic->is_run_down = true;
    }
}

static void run_down(void *state, const struct etwas_topic_host *host, bool is_end)
{
    struct process_topic *topic = state;

    (void)host;
    look(topic);
    if (is_end) {
        etwas_processes_finish(&topic->processes);
    }
}

static void take_sideband(void *state, const struct etwas_topic_host *host, uint32_t slot,
                          const struct etwas_sideband *sideband)
{
    struct process_topic *topic = state;

    (void)host;
    (void)slot;
    look(topic);
    etwas_processes_take(&topic->processes, sideband);
}

static bool find_lost(void *state, int64_t until_ns)
{
    struct process_topic *topic = state;

    return etwas_processes_find_lost(&topic->processes, until_ns);
}

const struct etwas_topic etwas_topic_processes = {
    .flags = EVENT_TRACE_FLAG_PROCESS,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES,
    .open = open_processes,
    .close = close_topic,
    .forget = forget_processes,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .find_lost = find_lost,
};

const struct etwas_topic etwas_topic_images = {
    .flags = EVENT_TRACE_FLAG_IMAGE_LOAD,
    .sideband = ETWAS_SIDEBAND_TASKS | ETWAS_SIDEBAND_NAMES | ETWAS_SIDEBAND_IMAGES,
    .open = open_images,
    .close = close_topic,
    .run_down = run_down,
    .take_sideband = take_sideband,
    .find_lost = find_lost,
};
