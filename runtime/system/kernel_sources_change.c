/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Opens and closes groups and their sources as the settings change.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "platform/processor.h"
#include "system/inventory/inventory.h"
#include "system/kernel_sources.h"
#include "system/kernel_sources_events.h"
#include "system/keywords.h"
#include "system/stream/source_tags.h"
#include "system/stream/tracepoint.h"

enum {
    FILTER_ROOM = 2048,
    NS_PER_INTERVAL_UNIT = 100,
};

/* ---- sources --------------------------------------------------------------------------------- */

/* Makes the filter of a source. `text` has room for one that has to be built. */
static bool kernel_sources_make_filter(struct etwas_kernel_sources *kernel,
                                       const struct etwas_event_source *source, char *text,
                                       struct etwas_cpu_stream_request *request,
                                       struct etwas_unavailability *reason)
{
    request->filter = source->filter;
    if (!source->without_own) {
        return true;
    }
    if (kernel->own_number == 0 &&
        !etwas_thread_own_number(&kernel->host.numbers, &kernel->own_number, reason)) {
        return false;
    }
    if (source->filter == NULL) {
        (void)snprintf(text, FILTER_ROOM, "common_pid != %u", kernel->own_number);
    } else {
        (void)snprintf(text, FILTER_ROOM, "common_pid != %u && (%s)", kernel->own_number,
                       source->filter);
    }
    request->filter = text;
    return true;
}

static bool find_fields(const struct etwas_event_source *source,
                        struct etwas_tracepoint_field *fields,
                        struct etwas_tracepoint_field *thread,
                        struct etwas_cpu_stream_request *request,
                        struct etwas_unavailability *reason)
{
    struct etwas_tracepoint tracepoint;
    bool good;

    if (!etwas_tracepoint_read(&tracepoint, source->tracepoint, reason)) {
        return false;
    }
    request->type = PERF_TYPE_TRACEPOINT;
    request->config = tracepoint.id;
    request->sample_type |= PERF_SAMPLE_RAW;
    request->period = 1;
    good = etwas_tracepoint_find(&tracepoint, "common_pid", thread);
    for (uint32_t index = 0; source->fields != NULL && source->fields[index] != NULL; index++) {
        good = good && etwas_tracepoint_find(&tracepoint, source->fields[index], &fields[index]);
    }
    etwas_tracepoint_free(&tracepoint);
    if (!good) {
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_TRACEPOINT, ENOENT};
    }
    return good;
}

static uint64_t interval_ns(uint32_t interval)
{
    return (uint64_t)interval * NS_PER_INTERVAL_UNIT;
}

/* Whether one of the source's records has a stack. */
static bool needs_stack(const struct etwas_kernel_sources *kernel,
                        const struct etwas_event_source *source)
{
    bool requested = false;

    for (uint32_t index = 0; index < ETWAS_SOURCE_HOOKS; index++) {
        requested = requested || (source->hooks[index] != 0 &&
                                  etwas_stack_walker_needs(&kernel->walker, source->hooks[index]));
    }
    return requested;
}

static bool open_source(struct etwas_kernel_sources *kernel, uint32_t number, uint32_t index,
                        struct etwas_unavailability *reason)
{
    const struct etwas_event_source *source = &etwas_event_groups[number]->sources[index];
    struct etwas_open_group *opened = &kernel->opened[number];
    char filter[FILTER_ROOM];
    struct etwas_cpu_stream_request request = {
        .tag = etwas_tag_of(number, index),
        .type = source->type,
        .config = source->config,
        .sample_type = source->sample_type,
        .period = source->period != 0 ? source->period : interval_ns(kernel->host.profile_interval),
        .no_kernel_stack = kernel->settings.no_kernel_stacks};
    bool has_stack = needs_stack(kernel, source);
    bool good;

    request.sample_type |= has_stack ? PERF_SAMPLE_CALLCHAIN : 0;
    request.user_stack_bytes = has_stack ? kernel->settings.user_stack_bytes : 0;
    request.sample_type |= request.user_stack_bytes != 0 ? ETWAS_SAMPLE_USER : 0;
    good = source->tracepoint == NULL ||
           find_fields(source, opened->fields[index], &opened->thread[index], &request, reason);
    good = good && kernel_sources_make_filter(kernel, source, filter, &request, reason);
    if (good && etwas_kernel_sources_add_event(kernel, &request, reason)) {
        opened->sources |= 1U << index;
        opened->stacked = (opened->stacked & ~(1U << index)) | (uint32_t)has_stack << index;
        opened->user_stack_bytes[index] = request.user_stack_bytes;
        return true;
    }
    return source->is_extra ||
           (source->is_optional &&
            (reason->cause == ETWAS_UNAVAILABLE_TRACEPOINT || reason->error == ENOENT));
}

static bool source_is_requested(const struct etwas_kernel_sources *kernel,
                                const struct etwas_event_group *group, uint32_t index,
                                uint64_t flags)
{
    const struct etwas_event_source *source = &group->sources[index];
    enum etwas_event_source_scope scope =
        kernel->host.own_process != 0 ? ETWAS_OF_PROCESS : ETWAS_OF_SYSTEM;

    return (group->flags & flags) != 0 && (source->flags == 0 || (source->flags & flags) != 0) &&
           (source->scope == scope || source->scope == ETWAS_OF_BOTH);
}

/* Stacks cannot be switched on or off for an open event, so a change needs another event. */
static void close_other(struct etwas_kernel_sources *kernel, uint32_t number, uint32_t index)
{
    struct etwas_open_group *opened = &kernel->opened[number];
    bool has_stack = (opened->stacked & 1U << index) != 0;

    if ((opened->sources & 1U << index) != 0 &&
        (has_stack != needs_stack(kernel, &etwas_event_groups[number]->sources[index]) ||
         (has_stack && opened->user_stack_bytes[index] != kernel->settings.user_stack_bytes))) {
        etwas_kernel_sources_remove_event(kernel, etwas_tag_of(number, index));
        opened->sources &= ~(1U << index);
    }
}

static bool is_source_missing(const struct etwas_kernel_sources *kernel, uint32_t number,
                              uint32_t index)
{
    uint32_t before = kernel->opened[number].sources & ((1U << index) - 1);

    return !etwas_event_groups[number]->sources[index].is_substitute || before == 0;
}

static bool open_sources(struct etwas_kernel_sources *kernel, uint32_t number, uint64_t flags,
                         struct etwas_unavailability *reason)
{
    const struct etwas_event_group *group = etwas_event_groups[number];

    if (kernel->merge.count == 0) {
        return true;
    }
    for (uint32_t index = 0; index < group->source_count; index++) {
        close_other(kernel, number, index);
        if (source_is_requested(kernel, group, index, flags) &&
            (kernel->opened[number].sources & 1U << index) == 0 &&
            is_source_missing(kernel, number, index) &&
            !open_source(kernel, number, index, reason)) {
            return false;
        }
    }
    return true;
}

static void close_sources(struct etwas_kernel_sources *kernel, uint32_t number, uint64_t flags)
{
    const struct etwas_event_group *group = etwas_event_groups[number];
    struct etwas_open_group *opened = &kernel->opened[number];

    for (uint32_t index = 0; index < group->source_count; index++) {
        if (!source_is_requested(kernel, group, index, flags) &&
            (opened->sources & 1U << index) != 0) {
            etwas_kernel_sources_remove_event(kernel, etwas_tag_of(number, index));
            opened->sources &= ~(1U << index);
        }
    }
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool open_group(struct etwas_kernel_sources *kernel, uint32_t number,
                       struct etwas_unavailability *reason)
{
    const struct etwas_event_group *group = etwas_event_groups[number];
    struct etwas_open_group *opened = &kernel->opened[number];

    if (group->open != NULL) {
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_RING, ENOMEM};
        kernel->host.reason = reason;
        opened->state = group->open(&kernel->host);
        kernel->host.reason = NULL;
        if (opened->state == NULL) {
            return false;
        }
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_NOTHING, 0};
    }
    opened->is_open = true;
    return true;
}

static void close_group(struct etwas_kernel_sources *kernel, uint32_t number)
{
    void *state = kernel->opened[number].state;

    /* Cleared before it is freed, so that a fork's child does not find it. */
    kernel->opened[number] = (struct etwas_open_group){0};
    if (etwas_event_groups[number]->close != NULL) {
        etwas_event_groups[number]->close(state);
    }
}

/* ---- process records ------------------------------------------------------------------------- */

/* In the first namespace no SWITCH records are needed to find the next thread. */
static uint32_t process_records_for(const struct etwas_kernel_sources *kernel, uint64_t flags)
{
    uint32_t records = 0;

    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        records |= (etwas_event_groups[number]->flags & flags) != 0
                       ? etwas_kernel_sources_process_records(kernel, etwas_event_groups[number])
                       : 0;
    }
    records |= etwas_settings_list_processes(&kernel->settings) ? ETWAS_PROCESS_RECORD_TASKS : 0;
    return kernel->host.numbers.known == NULL && kernel->host.own_process == 0
               ? records & ~(uint32_t)ETWAS_PROCESS_RECORD_SWITCHES
               : records;
}

/* Opened before the sources, so that a probe at the same tracepoint runs before them. */
static void open_probes(struct etwas_kernel_sources *kernel, uint32_t requested)
{
    for (uint32_t kind = 1; kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        if ((requested & kind & ETWAS_PROCESS_RECORD_PROBES & ~kernel->host.process_records) != 0) {
            etwas_kernel_sources_open_probe(kernel, kind);
        }
    }
}

static bool open_process_records(struct etwas_kernel_sources *kernel, uint32_t requested,
                                 struct etwas_unavailability *reason)
{
    for (uint32_t kind = 1; kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        const struct etwas_cpu_stream_request request = {.tag = kind, .process_records = kind};

        if ((requested & kind & ~(uint32_t)ETWAS_PROCESS_RECORD_PROBES &
             ~kernel->host.process_records) != 0) {
            if (!etwas_kernel_sources_add_event(kernel, &request, reason)) {
                return false;
            }
            kernel->host.process_records |= kind;
        }
    }
    return true;
}

bool etwas_kernel_sources_reopen(struct etwas_kernel_sources *kernel)
{
    struct etwas_unavailability ignored;
    bool good = true;

    for (uint32_t kind = 1; good && kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        const struct etwas_cpu_stream_request request = {.tag = kind, .process_records = kind};

        if ((kernel->host.process_records & kind) != 0) {
            good = (kind & ETWAS_PROCESS_RECORD_PROBES) != 0
                       ? etwas_kernel_sources_connect_probe(kernel, kind)
                       : etwas_kernel_sources_add_event(kernel, &request, &ignored);
        }
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        for (uint32_t index = 0; good && index < etwas_event_groups[number]->source_count;
             index++) {
            good = (kernel->opened[number].sources & 1U << index) == 0 ||
                   open_source(kernel, number, index, &ignored);
        }
    }
    return good;
}

static void close_process_records(struct etwas_kernel_sources *kernel, uint32_t requested)
{
    for (uint32_t kind = 1; kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        if ((kernel->host.process_records & kind & ~requested) != 0) {
            if ((kind & ETWAS_PROCESS_RECORD_PROBES) != 0) {
                etwas_kernel_sources_close_probe(kernel, kind);
            }
            etwas_kernel_sources_remove_event(kernel, kind);
            kernel->host.process_records &= ~kind;
        }
    }
}

/* ---- the change ------------------------------------------------------------------------------ */

/* Opens the group and its sources, if it is requested. */
static bool open_group_and_sources(struct etwas_kernel_sources *kernel, uint32_t number,
                                   uint64_t flags, struct etwas_unavailability *reason)
{
    if ((etwas_event_groups[number]->flags & flags) == 0) {
        return true;
    }
    return (kernel->opened[number].is_open || open_group(kernel, number, reason)) &&
           open_sources(kernel, number, flags, reason);
}

static bool open_requested(struct etwas_kernel_sources *kernel, uint64_t flags,
                           struct etwas_unavailability *reason)
{
    uint32_t records = process_records_for(kernel, flags);

    open_probes(kernel, records);
    /*
     * Also before the sources, so that every switch is followed by the record that names the next
     * thread.
     */
    if (!open_process_records(kernel, records, reason)) {
        return false;
    }
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (!open_group_and_sources(kernel, number, flags, reason)) {
            return false;
        }
    }
    return true;
}

/* A group's state is freed after its last event was handled. */
static void close_unrequested(struct etwas_kernel_sources *kernel, uint64_t flags)
{
    close_process_records(kernel, process_records_for(kernel, flags));
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        close_sources(kernel, number, flags);
    }
    etwas_kernel_sources_drain_to_now(kernel);
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open && (etwas_event_groups[number]->flags & flags) == 0) {
            close_group(kernel, number);
        }
    }
}

/*
 * An event of the own process is opened again, since events that newer threads inherited have no
 * descriptor.
 */
static bool set_period(struct etwas_kernel_sources *kernel, uint32_t number, uint32_t index,
                       struct etwas_unavailability *reason)
{
    uint32_t tag = etwas_tag_of(number, index);

    if (kernel->host.own_process != 0) {
        etwas_kernel_sources_remove_event(kernel, tag);
        kernel->opened[number].sources &= ~(1U << index);
        return open_source(kernel, number, index, reason);
    }
    for (uint32_t stream = 0; stream < kernel->merge.count; stream++) {
        etwas_cpu_stream_set_period(kernel->merge.streams[stream].stream, tag,
                                    interval_ns(kernel->host.profile_interval));
    }
    return true;
}

/* Sets the interval of the group's open sources. */
static bool set_interval(struct etwas_kernel_sources *kernel, uint32_t number, uint32_t before,
                         struct etwas_unavailability *reason)
{
    const struct etwas_event_group *group = etwas_event_groups[number];

    for (uint32_t index = 0; index < group->source_count; index++) {
        if ((kernel->opened[number].sources & 1U << index) == 0 ||
            etwas_event_source_is_counted(&group->sources[index])) {
            continue;
        }
        if (!set_period(kernel, number, index, reason)) {
            return false;
        }
        group->change_interval(&kernel->host, before);
    }
    return true;
}

static bool change_interval(struct etwas_kernel_sources *kernel, uint32_t interval,
                            struct etwas_unavailability *reason)
{
    uint32_t before = kernel->host.profile_interval;

    kernel->host.profile_interval = interval;
    for (uint32_t number = 0; before != interval && number < etwas_event_group_count; number++) {
        if (!set_interval(kernel, number, before, reason)) {
            return false;
        }
    }
    return true;
}

/* One bit for each open group. */
static uint32_t open_group_mask(const struct etwas_kernel_sources *kernel)
{
    uint32_t open = 0;

    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        open |= (uint32_t)kernel->opened[number].is_open << number;
    }
    return open;
}

static void run_down(struct etwas_kernel_sources *kernel, uint32_t groups, uint64_t requested)
{
    uint32_t types = etwas_requested_inventory(requested);

    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if ((groups & 1U << number) != 0 && etwas_event_groups[number]->run_down != NULL) {
            etwas_kernel_sources_begin_filter(kernel, number);
            etwas_event_groups[number]->run_down(kernel->opened[number].state, &kernel->host,
                                                 false);
        }
    }
    if (types != 0) {
        kernel->walker.filtered_by = kernel->walker.filter.of_inventory;
        etwas_inventory_emit(ETWAS_INVENTORY_HERE, types, kernel->host.record, kernel->host.emitter,
                             kernel->host.quiesce);
    }
    etwas_kernel_sources_end_filter(kernel);
}

void etwas_kernel_sources_capture(struct etwas_kernel_sources *kernel, uint64_t requested)
{
    uint32_t groups = 0;

    etwas_kernel_sources_drain_to_now(kernel);
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (kernel->opened[number].is_open &&
            (etwas_event_groups[number]->flags & requested) != 0) {
            groups |= 1U << number;
        }
    }
    run_down(kernel, groups, requested);
}

static void apply_settings(struct etwas_kernel_sources *kernel,
                           const struct etwas_system_settings *settings)
{
    kernel->settings = *settings;
    kernel->requested = etwas_settings_requested(settings);
    kernel->host.flags = (uint32_t)kernel->requested;
    etwas_stack_walker_choose(&kernel->walker, settings);
}

/*
 * Restores the previous settings after a failure. A source that was closed to be opened differently
 * may be refused now; it is not in force any more then. (The previous process records are still
 * open.)
 */
static void roll_back(struct etwas_kernel_sources *kernel,
                      const struct etwas_system_settings *before)
{
    struct etwas_system_settings kept = *before;
    struct etwas_unavailability ignored;

    apply_settings(kernel, before);
    kernel->host.profile_interval = before->profile_interval;
    for (uint32_t number = 0; number < etwas_event_group_count; number++) {
        if (!open_group_and_sources(kernel, number, etwas_settings_requested(&kept), &ignored)) {
            etwas_settings_drop(&kept, etwas_event_groups[number]->flags);
        }
    }
    apply_settings(kernel, &kept);
    close_unrequested(kernel, kernel->requested);
}

bool etwas_kernel_sources_change(struct etwas_kernel_sources *kernel,
                                 const struct etwas_system_settings *settings,
                                 struct etwas_unavailability *reason)
{
    const struct etwas_system_settings before = kernel->settings;
    const uint64_t requested_before = kernel->requested;
    const uint32_t open_before = open_group_mask(kernel);

    if (!etwas_stack_walker_prepare(&kernel->walker, settings)) {
        *reason = (struct etwas_unavailability){ETWAS_UNAVAILABLE_RING, ENOMEM};
        return false;
    }
    if (before.profile_interval == 0) {
        kernel->host.profile_interval = settings->profile_interval;
    }
    etwas_kernel_sources_drain_to_now(kernel); /* handled with the previous settings */
    apply_settings(kernel, settings);
    if (!open_requested(kernel, kernel->requested, reason) ||
        !change_interval(kernel, settings->profile_interval, reason)) {
        roll_back(kernel, &before);
        return false;
    }
    etwas_record_filter_choose(&kernel->walker.filter, settings);
    /* Rundowns of groups that were not open before. */
    if (kernel->has_run_down) {
        run_down(kernel, open_group_mask(kernel) & ~open_before,
                 kernel->requested & ~requested_before);
    }
    close_unrequested(kernel, kernel->requested);
    return true;
}
