/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_JOB: control groups as ETW's Job: one is made or removed, or a process is moved
 * into it. The record's thread is the one that does so.
 *
 *     JobGuid     the number of the group, 64 bits, and that of its hierarchy
 *     JobId       the lower half of the group's number
 *     Path        below the root of the hierarchy; it follows ETW's fields
 */
#include <etwas/evntrace.h>
#include <string.h>

#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

enum {
    LONGEST_PATH = 4096, /* with its 0 */
};

/* The path follows these numbers. */
enum {
    HIERARCHY,
    CONTROL_GROUP,
    PROCESS,
    LIFE_FIELDS = PROCESS,
    ASSIGN_FIELDS = PROCESS + 1,
};

static const char *const life_names[] = {"root", "id", "path", NULL};
static const char *const assign_names[] = {"dst_root", "dst_id", "pid", "dst_path", NULL};

/* The first `numbers` fields are numbers, and the path follows them. */
static bool job_emit(const struct etwas_source_event *event, uint8_t type, uint32_t numbers)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct etwas_record_builder *record = event->host->record;
    int64_t values[ASSIGN_FIELDS] = {0};
    char path[LONGEST_PATH];
    const uint8_t *bytes;
    etwas_guid guid;
    size_t count;

    if (!etwas_source_event_numbers(event, values, numbers) ||
        !etwas_tracepoint_format_bytes(&event->fields[numbers], event->sample->raw,
                                       event->sample->raw_bytes, &bytes, &count)) {
        return false;
    }
    count = count < sizeof path ? count : sizeof path - 1;
    memcpy(path, bytes, count);
    path[count] = 0;
    memcpy(&guid, (const int64_t[]){values[CONTROL_GROUP], values[HIERARCHY]}, sizeof guid);
    if (type == ETWAS_JOB_ASSIGN_PROCESS) {
        ETWAS_RECORD_MAKE(
            record, JOB_PROCESS, type, .JobGuid = guid, .JobId = (uint32_t)values[CONTROL_GROUP],
            .ProcessId = etwas_thread_number(&event->host->numbers, (uint32_t)values[PROCESS]),
            .Path = path);
    } else {
        ETWAS_RECORD_MAKE(record, JOB, type, .JobGuid = guid,
                          .JobId = (uint32_t)values[CONTROL_GROUP], .Path = path);
    }
    etwas_record_builder_set_thread(record, origin->process_id, origin->thread_id);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               origin->time_ns);
    return true;
}

static bool job_handle_create(const struct etwas_source_event *event)
{
    return job_emit(event, ETWAS_JOB_CREATE, LIFE_FIELDS);
}

static bool job_handle_terminate(const struct etwas_source_event *event)
{
    return job_emit(event, ETWAS_JOB_TERMINATE, LIFE_FIELDS);
}

static bool job_handle_assign(const struct etwas_source_event *event)
{
    return job_emit(event, ETWAS_JOB_ASSIGN_PROCESS, ASSIGN_FIELDS);
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "cgroup/cgroup_mkdir",
     .fields = life_names,
     .hooks = {ETWAS_KERNEL_HOOK(JOB, ETWAS_JOB_CREATE)},
     .handle = job_handle_create},
    {.tracepoint = "cgroup/cgroup_rmdir",
     .fields = life_names,
     .hooks = {ETWAS_KERNEL_HOOK(JOB, ETWAS_JOB_TERMINATE)},
     .handle = job_handle_terminate},
    {.tracepoint = "cgroup/cgroup_attach_task",
     .fields = assign_names,
     .hooks = {ETWAS_KERNEL_HOOK(JOB_PROCESS, ETWAS_JOB_ASSIGN_PROCESS)},
     .handle = job_handle_assign},
};

const struct etwas_event_group etwas_event_group_jobs = {
    .flags = EVENT_TRACE_FLAG_JOB,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
