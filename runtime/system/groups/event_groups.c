/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/event_groups.h"

/* In the order in which they run down, and in which they are told what has happened; of ends in the other. */
/* clang-format off */
const struct etwas_topic *const etwas_topics[] = {
    &etwas_topic_profile,
    &etwas_topic_processes,
    &etwas_topic_counters,
    &etwas_topic_images,
    &etwas_topic_threads,
    &etwas_topic_switches,
    &etwas_topic_network,
    &etwas_topic_ready_threads,
    &etwas_topic_system_calls,
    &etwas_topic_interrupts,
    &etwas_topic_deferred,
    &etwas_topic_work,
    &etwas_topic_page_faults,
    &etwas_topic_disks,
    &etwas_topic_virtual_memory,
    &etwas_topic_file_io,
    &etwas_topic_hard_faults,
    &etwas_topic_disk_files,
    &etwas_topic_file_maps,
    &etwas_topic_debug_prints,
    &etwas_topic_jobs,
    &etwas_topic_alpc,
    &etwas_topic_registry,
    &etwas_topic_drivers,
};
/* clang-format on */

const uint32_t etwas_topic_count = sizeof etwas_topics / sizeof *etwas_topics;

uint64_t etwas_topic_flags(void)
{
    uint64_t flags = 0;

    for (uint32_t index = 0; index < etwas_topic_count; index++) {
        flags |= etwas_topics[index]->flags;
    }
    return flags;
}

static uint64_t own_flags_of(const struct etwas_topic *topic)
{
    bool has_nothing = topic->source_count == 0 && topic->sideband == 0; /* empty_groups.h */
    uint64_t flags = topic->own_sideband != 0 || has_nothing ? topic->flags : 0;

    for (uint32_t index = 0; index < topic->source_count; index++) {
        const struct etwas_source *source = &topic->sources[index];

        if (source->scope != ETWAS_OF_SYSTEM) {
            flags |= source->flags != 0 ? source->flags : topic->flags;
        }
    }
    return flags;
}

uint64_t etwas_topic_own_flags(void)
{
    uint64_t flags = 0;

    for (uint32_t index = 0; index < etwas_topic_count; index++) {
        flags |= own_flags_of(etwas_topics[index]);
    }
    return flags;
}

uint32_t etwas_taken_thread(const struct etwas_taken *taken)
{
    int64_t number = 0;

    (void)etwas_format_number(taken->thread, taken->sample->raw, taken->sample->raw_bytes, &number);
    return (uint32_t)number;
}
