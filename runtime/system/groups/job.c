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

#include "etl/layout.h"
#include "system/groups/event_groups.h"

enum {
    GROUP_JOB = 0x07,
    TYPE_CREATE = 0x20,
    TYPE_TERMINATE = 0x21,
    TYPE_ASSIGN_PROCESS = 0x23,
    CLASS_VERSION = 2,
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
static bool emit_job(const struct etwas_source_event *event, uint8_t type, uint32_t numbers)
{
    const struct etwas_sample_origin *origin = &event->sample->origin;
    struct etwas_record_builder *record = event->host->record;
    int64_t values[ASSIGN_FIELDS] = {0};
    char path[LONGEST_PATH];
    const uint8_t *bytes;
    size_t count;

    if (!etwas_source_event_numbers(event, values, numbers) ||
        !etwas_tracepoint_format_bytes(&event->fields[numbers], event->sample->raw,
                                       event->sample->raw_bytes, &bytes, &count)) {
        return false;
    }
    count = count < sizeof path ? count : sizeof path - 1;
    memcpy(path, bytes, count);
    path[count] = 0;
    etwas_record_builder_begin(record, ETWAS_ETL_SYSTEM64, GROUP_JOB, type, CLASS_VERSION);
    etwas_record_builder_set_thread(record, origin->process_id, origin->thread_id);
    etwas_record_builder_put_u64(record, (uint64_t)values[CONTROL_GROUP]);
    etwas_record_builder_put_u64(record, (uint64_t)values[HIERARCHY]);
    etwas_record_builder_put_u32(record, (uint32_t)values[CONTROL_GROUP]);
    etwas_record_builder_put_u32(
        record, /* Flags, in other types 0 */
        etwas_thread_number(&event->host->numbers, (uint32_t)values[PROCESS]));
    etwas_record_builder_put_u32(record, 0); /* Status */
    etwas_record_builder_put_utf16(record, path);
    etwas_emit(event->host->emitter, event->slot, etwas_record_builder_end(record),
               origin->time_ns);
    return true;
}

static bool handle_create(const struct etwas_source_event *event)
{
    return emit_job(event, TYPE_CREATE, LIFE_FIELDS);
}

static bool handle_terminate(const struct etwas_source_event *event)
{
    return emit_job(event, TYPE_TERMINATE, LIFE_FIELDS);
}

static bool handle_assign(const struct etwas_source_event *event)
{
    return emit_job(event, TYPE_ASSIGN_PROCESS, ASSIGN_FIELDS);
}

static const struct etwas_event_source sources[] = {
    {.tracepoint = "cgroup/cgroup_mkdir",
     .fields = life_names,
     .hooks = {GROUP_JOB << 8 | TYPE_CREATE},
     .handle = handle_create},
    {.tracepoint = "cgroup/cgroup_rmdir",
     .fields = life_names,
     .hooks = {GROUP_JOB << 8 | TYPE_TERMINATE},
     .handle = handle_terminate},
    {.tracepoint = "cgroup/cgroup_attach_task",
     .fields = assign_names,
     .hooks = {GROUP_JOB << 8 | TYPE_ASSIGN_PROCESS},
     .handle = handle_assign},
};

const struct etwas_event_group etwas_event_group_jobs = {
    .flags = EVENT_TRACE_FLAG_JOB,
    .sources = sources,
    .source_count = sizeof sources / sizeof *sources,
};
