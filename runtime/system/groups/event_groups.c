/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/event_groups.h"

/* Rundowns are emitted and events handled in this order; ends are handled in the reverse order. */
/* clang-format off */
const struct etwas_event_group *const etwas_event_groups[] = {
    &etwas_event_group_profile,
    &etwas_event_group_processes,
    &etwas_event_group_counters,
    &etwas_event_group_images,
    &etwas_event_group_threads,
    &etwas_event_group_switches,
    &etwas_event_group_network,
    &etwas_event_group_ready_threads,
    &etwas_event_group_system_calls,
    &etwas_event_group_interrupts,
    &etwas_event_group_deferred_calls,
    &etwas_event_group_work_queues,
    &etwas_event_group_page_faults,
    &etwas_event_group_disk_io,
    &etwas_event_group_virtual_memory,
    &etwas_event_group_file_io,
    &etwas_event_group_hard_faults,
    &etwas_event_group_disk_file_io,
    &etwas_event_group_file_maps,
    &etwas_event_group_debug_prints,
    &etwas_event_group_jobs,
    &etwas_event_group_alpc,
    &etwas_event_group_registry,
    &etwas_event_group_drivers,
};
/* clang-format on */

const uint32_t etwas_event_group_count = sizeof etwas_event_groups / sizeof *etwas_event_groups;

uint64_t etwas_event_group_flags(void)
{
    uint64_t flags = 0;

    for (uint32_t index = 0; index < etwas_event_group_count; index++) {
        flags |= etwas_event_groups[index]->flags;
    }
    return flags;
}

static uint64_t own_flags_of(const struct etwas_event_group *group)
{
    bool has_nothing = group->source_count == 0 && group->process_records == 0; /* event_groups.h */
    uint64_t flags = group->own_process_records != 0 || has_nothing ? group->flags : 0;

    for (uint32_t index = 0; index < group->source_count; index++) {
        const struct etwas_event_source *source = &group->sources[index];

        if (source->scope != ETWAS_OF_SYSTEM) {
            flags |= source->flags != 0 ? source->flags : group->flags;
        }
    }
    return flags;
}

uint64_t etwas_event_group_own_flags(void)
{
    uint64_t flags = 0;

    for (uint32_t index = 0; index < etwas_event_group_count; index++) {
        flags |= own_flags_of(etwas_event_groups[index]);
    }
    return flags;
}

uint32_t etwas_source_event_thread(const struct etwas_source_event *event)
{
    int64_t number = 0;

    (void)etwas_tracepoint_format_number(event->thread, event->sample->raw,
                                         event->sample->raw_bytes, &number);
    return (uint32_t)number;
}
