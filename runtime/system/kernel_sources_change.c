/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which events a board has open, and how that changes while it runs.
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
#include "system/requested_events.h"
#include "system/stream/source_tags.h"
#include "system/stream/tracepoint.h"

enum {
    FILTER_ROOM = 2048,
    NS_PER_INTERVAL_UNIT = 100,
};

/* ---- sources --------------------------------------------------------------------------------- */

/* Text: room for one that has to be made. */
static bool find_filter(struct etwas_board *board, const struct etwas_source *source, char *text,
                        struct etwas_feed_wish *wish, struct etwas_fault *fault)
{
    wish->filter = source->filter;
    if (!source->without_own) {
        return true;
    }
    if (board->own_number == 0 &&
        !etwas_thread_own_number(&board->host.numbers, &board->own_number, fault)) {
        return false;
    }
    if (source->filter == NULL) {
        (void)snprintf(text, FILTER_ROOM, "common_pid != %u", board->own_number);
    } else {
        (void)snprintf(text, FILTER_ROOM, "common_pid != %u && (%s)", board->own_number,
                       source->filter);
    }
    wish->filter = text;
    return true;
}

static bool find_fields(const struct etwas_source *source, struct etwas_format_field *fields,
                        struct etwas_format_field *thread, struct etwas_feed_wish *wish,
                        struct etwas_fault *fault)
{
    struct etwas_tracepoint tracepoint;
    bool good;

    if (!etwas_tracepoint_read(&tracepoint, source->tracepoint, fault)) {
        return false;
    }
    wish->type = PERF_TYPE_TRACEPOINT;
    wish->config = tracepoint.id;
    wish->sample_type |= PERF_SAMPLE_RAW;
    wish->period = 1;
    good = etwas_tracepoint_find(&tracepoint, "common_pid", thread);
    for (uint32_t index = 0; source->fields != NULL && source->fields[index] != NULL; index++) {
        good = good && etwas_tracepoint_find(&tracepoint, source->fields[index], &fields[index]);
    }
    etwas_tracepoint_free(&tracepoint);
    if (!good) {
        *fault = (struct etwas_fault){ETWAS_FAULT_TRACEPOINT, ENOENT};
    }
    return good;
}

static uint64_t interval_ns(uint32_t interval)
{
    return (uint64_t)interval * NS_PER_INTERVAL_UNIT;
}

/* Whether one of its records shall have a stack. */
static bool wants_stack(const struct etwas_board *board, const struct etwas_source *source)
{
    bool wants = false;

    for (uint32_t index = 0; index < ETWAS_SOURCE_HOOKS; index++) {
        wants = wants || (source->hooks[index] != 0 &&
                          etwas_stack_walker_wants(&board->walker, source->hooks[index]));
    }
    return wants;
}

static bool open_source(struct etwas_board *board, uint32_t number, uint32_t index,
                        struct etwas_fault *fault)
{
    const struct etwas_source *source = &etwas_topics[number]->sources[index];
    struct etwas_topic_use *use = &board->uses[number];
    char filter[FILTER_ROOM];
    struct etwas_feed_wish wish = {
        .tag = etwas_tag_of(number, index),
        .type = source->type,
        .config = source->config,
        .sample_type = source->sample_type,
        .period = source->period != 0 ? source->period : interval_ns(board->host.profile_interval),
        .no_kernel_stack = board->settings.no_kernel_stacks};
    bool has_stack = wants_stack(board, source);
    bool good;

    wish.sample_type |= has_stack ? PERF_SAMPLE_CALLCHAIN : 0;
    wish.user_stack_bytes = has_stack ? board->settings.user_stack_bytes : 0;
    wish.sample_type |= wish.user_stack_bytes != 0 ? ETWAS_SAMPLE_USER : 0;
    good = source->tracepoint == NULL ||
           find_fields(source, use->fields[index], &use->thread[index], &wish, fault);
    good = good && find_filter(board, source, filter, &wish, fault);
    if (good && etwas_board_add(board, &wish, fault)) {
        use->sources |= 1U << index;
        use->stacked = (use->stacked & ~(1U << index)) | (uint32_t)has_stack << index;
        use->user_stack_bytes[index] = wish.user_stack_bytes;
        return true;
    }
    return source->is_extra || (source->is_optional &&
                                (fault->place == ETWAS_FAULT_TRACEPOINT || fault->error == ENOENT));
}

static bool wants(const struct etwas_board *board, const struct etwas_topic *topic, uint32_t index,
                  uint64_t flags)
{
    const struct etwas_source *source = &topic->sources[index];
    enum etwas_source_scope scope =
        board->host.own_process != 0 ? ETWAS_OF_PROCESS : ETWAS_OF_SYSTEM;

    return (topic->flags & flags) != 0 && (source->flags == 0 || (source->flags & flags) != 0) &&
           (source->scope == scope || source->scope == ETWAS_OF_BOTH);
}

/* An event has stacks from its beginning, or never: where that changes it is another event. */
static void close_other(struct etwas_board *board, uint32_t number, uint32_t index)
{
    struct etwas_topic_use *use = &board->uses[number];
    bool has_stack = (use->stacked & 1U << index) != 0;

    if ((use->sources & 1U << index) != 0 &&
        (has_stack != wants_stack(board, &etwas_topics[number]->sources[index]) ||
         (has_stack && use->user_stack_bytes[index] != board->settings.user_stack_bytes))) {
        etwas_board_remove(board, etwas_tag_of(number, index));
        use->sources &= ~(1U << index);
    }
}

static bool is_missed(const struct etwas_board *board, uint32_t number, uint32_t index)
{
    uint32_t before = board->uses[number].sources & ((1U << index) - 1);

    return !etwas_topics[number]->sources[index].is_substitute || before == 0;
}

static bool open_sources(struct etwas_board *board, uint32_t number, uint64_t flags,
                         struct etwas_fault *fault)
{
    const struct etwas_topic *topic = etwas_topics[number];

    if (board->merge.count == 0) {
        return true;
    }
    for (uint32_t index = 0; index < topic->source_count; index++) {
        close_other(board, number, index);
        if (wants(board, topic, index, flags) && (board->uses[number].sources & 1U << index) == 0 &&
            is_missed(board, number, index) && !open_source(board, number, index, fault)) {
            return false;
        }
    }
    return true;
}

static void close_sources(struct etwas_board *board, uint32_t number, uint64_t flags)
{
    const struct etwas_topic *topic = etwas_topics[number];
    struct etwas_topic_use *use = &board->uses[number];

    for (uint32_t index = 0; index < topic->source_count; index++) {
        if (!wants(board, topic, index, flags) && (use->sources & 1U << index) != 0) {
            etwas_board_remove(board, etwas_tag_of(number, index));
            use->sources &= ~(1U << index);
        }
    }
}

/* ---- topics ---------------------------------------------------------------------------------- */

static bool open_topic(struct etwas_board *board, uint32_t number, struct etwas_fault *fault)
{
    const struct etwas_topic *topic = etwas_topics[number];
    struct etwas_topic_use *use = &board->uses[number];

    if (topic->open != NULL) {
        *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
        board->host.fault = fault;
        use->state = topic->open(&board->host);
        board->host.fault = NULL;
        if (use->state == NULL) {
            return false;
        }
        *fault = (struct etwas_fault){ETWAS_FAULT_NOWHERE, 0};
    }
    use->is_open = true;
    return true;
}

static void close_topic(struct etwas_board *board, uint32_t number)
{
    void *state = board->uses[number].state;

    /* Before it is freed: a fork's child shall not find it. */
    board->uses[number] = (struct etwas_topic_use){0};
    if (etwas_topics[number]->close != NULL) {
        etwas_topics[number]->close(state);
    }
}

/* ---- sideband -------------------------------------------------------------------------------- */

/* In the first namespace a switch says all by itself. */
static uint32_t sideband_for(const struct etwas_board *board, uint64_t flags)
{
    uint32_t sideband = 0;

    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        sideband |= (etwas_topics[number]->flags & flags) != 0
                        ? etwas_board_sideband(board, etwas_topics[number])
                        : 0;
    }
    sideband |= etwas_settings_list_processes(&board->settings) ? ETWAS_SIDEBAND_TASKS : 0;
    return board->host.numbers.known == NULL && board->host.own_process == 0
               ? sideband & ~(uint32_t)ETWAS_SIDEBAND_SWITCHES
               : sideband;
}

/* Before the sources: a probe at the same place speaks before them then. */
static void open_probes(struct etwas_board *board, uint32_t wanted)
{
    for (uint32_t kind = 1; kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        if ((wanted & kind & ETWAS_SIDEBAND_PROBES & ~board->host.sideband) != 0) {
            etwas_board_open_probe(board, kind);
        }
    }
}

static bool open_sideband(struct etwas_board *board, uint32_t wanted, struct etwas_fault *fault)
{
    for (uint32_t kind = 1; kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        const struct etwas_feed_wish wish = {.tag = kind, .sideband = kind};

        if ((wanted & kind & ~(uint32_t)ETWAS_SIDEBAND_PROBES & ~board->host.sideband) != 0) {
            if (!etwas_board_add(board, &wish, fault)) {
                return false;
            }
            board->host.sideband |= kind;
        }
    }
    return true;
}

bool etwas_board_open_again(struct etwas_board *board)
{
    struct etwas_fault ignored;
    bool good = true;

    for (uint32_t kind = 1; good && kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        const struct etwas_feed_wish wish = {.tag = kind, .sideband = kind};

        if ((board->host.sideband & kind) != 0) {
            good = (kind & ETWAS_SIDEBAND_PROBES) != 0 ? etwas_board_receive_probe(board, kind)
                                                       : etwas_board_add(board, &wish, &ignored);
        }
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        for (uint32_t index = 0; good && index < etwas_topics[number]->source_count; index++) {
            good = (board->uses[number].sources & 1U << index) == 0 ||
                   open_source(board, number, index, &ignored);
        }
    }
    return good;
}

static void close_sideband(struct etwas_board *board, uint32_t wanted)
{
    for (uint32_t kind = 1; kind < ETWAS_FIRST_SOURCE_TAG; kind <<= 1) {
        if ((board->host.sideband & kind & ~wanted) != 0) {
            if ((kind & ETWAS_SIDEBAND_PROBES) != 0) {
                etwas_board_close_probe(board, kind);
            }
            etwas_board_remove(board, kind);
            board->host.sideband &= ~kind;
        }
    }
}

/* ---- the change ------------------------------------------------------------------------------ */

/* If it is wanted. */
static bool open_whole(struct etwas_board *board, uint32_t number, uint64_t flags,
                       struct etwas_fault *fault)
{
    if ((etwas_topics[number]->flags & flags) == 0) {
        return true;
    }
    return (board->uses[number].is_open || open_topic(board, number, fault)) &&
           open_sources(board, number, flags, fault);
}

static bool open_wanted(struct etwas_board *board, uint64_t flags, struct etwas_fault *fault)
{
    uint32_t sideband = sideband_for(board, flags);

    open_probes(board, sideband);
    /* Likewise no switch is without the record behind it that says to whom it gives way. */
    if (!open_sideband(board, sideband, fault)) {
        return false;
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (!open_whole(board, number, flags, fault)) {
            return false;
        }
    }
    return true;
}

/* A topic's state goes when its last event has been taken. */
static void close_unwanted(struct etwas_board *board, uint64_t flags)
{
    close_sideband(board, sideband_for(board, flags));
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        close_sources(board, number, flags);
    }
    etwas_board_drain_to_now(board);
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && (etwas_topics[number]->flags & flags) == 0) {
            close_topic(board, number);
        }
    }
}

/* Threads that were begun meanwhile have no descriptor to say it to: events of the own process are made anew. */
static bool set_period(struct etwas_board *board, uint32_t number, uint32_t index,
                       struct etwas_fault *fault)
{
    uint32_t tag = etwas_tag_of(number, index);

    if (board->host.own_process != 0) {
        etwas_board_remove(board, tag);
        board->uses[number].sources &= ~(1U << index);
        return open_source(board, number, index, fault);
    }
    for (uint32_t feed = 0; feed < board->merge.count; feed++) {
        etwas_feed_set_period(board->merge.feeds[feed].feed, tag,
                              interval_ns(board->host.profile_interval));
    }
    return true;
}

/* Of what is open. */
static bool set_interval(struct etwas_board *board, uint32_t number, uint32_t before,
                         struct etwas_fault *fault)
{
    const struct etwas_topic *topic = etwas_topics[number];

    for (uint32_t index = 0; index < topic->source_count; index++) {
        if ((board->uses[number].sources & 1U << index) == 0 ||
            etwas_source_is_counted(&topic->sources[index])) {
            continue;
        }
        if (!set_period(board, number, index, fault)) {
            return false;
        }
        topic->change_interval(&board->host, before);
    }
    return true;
}

static bool change_interval(struct etwas_board *board, uint32_t interval, struct etwas_fault *fault)
{
    uint32_t before = board->host.profile_interval;

    board->host.profile_interval = interval;
    for (uint32_t number = 0; before != interval && number < etwas_topic_count; number++) {
        if (!set_interval(board, number, before, fault)) {
            return false;
        }
    }
    return true;
}

/* Bit by bit. */
static uint32_t open_topics(const struct etwas_board *board)
{
    uint32_t open = 0;

    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        open |= (uint32_t)board->uses[number].is_open << number;
    }
    return open;
}

static void run_down(struct etwas_board *board, uint32_t topics, uint64_t wants)
{
    uint32_t types = etwas_wants_inventory(wants);

    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if ((topics & 1U << number) != 0 && etwas_topics[number]->run_down != NULL) {
            etwas_board_speak_for(board, number);
            etwas_topics[number]->run_down(board->uses[number].state, &board->host, false);
        }
    }
    if (types != 0) {
        board->walker.filtered_by = board->walker.filter.of_inventory;
        etwas_inventory_tell(ETWAS_INVENTORY_HERE, types, board->host.record, board->host.emitter,
                             board->host.pause);
    }
    etwas_board_speak_freely(board);
}

void etwas_board_capture(struct etwas_board *board, uint64_t wants)
{
    uint32_t topics = 0;

    etwas_board_drain_to_now(board);
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && (etwas_topics[number]->flags & wants) != 0) {
            topics |= 1U << number;
        }
    }
    run_down(board, topics, wants);
}

static void put_in_force(struct etwas_board *board, const struct etwas_system_settings *settings)
{
    board->settings = *settings;
    board->wants = etwas_settings_want(settings);
    board->host.flags = (uint32_t)board->wants;
    etwas_stack_walker_choose(&board->walker, settings);
}

/*
 * After a refusal. What was closed to be opened otherwise may not be to be had any more: then it is not in
 * force either. (The sideband of before is open still.)
 */
static void go_back(struct etwas_board *board, const struct etwas_system_settings *before)
{
    struct etwas_system_settings kept = *before;
    struct etwas_fault ignored;

    put_in_force(board, before);
    board->host.profile_interval = before->profile_interval;
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (!open_whole(board, number, etwas_settings_want(&kept), &ignored)) {
            etwas_settings_drop(&kept, etwas_topics[number]->flags);
        }
    }
    put_in_force(board, &kept);
    close_unwanted(board, board->wants);
}

bool etwas_board_change(struct etwas_board *board, const struct etwas_system_settings *settings,
                        struct etwas_fault *fault)
{
    const struct etwas_system_settings before = board->settings;
    const uint64_t wanted_before = board->wants;
    const uint32_t open_before = open_topics(board);

    if (!etwas_stack_walker_prepare(&board->walker, settings)) {
        *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
        return false;
    }
    if (before.profile_interval == 0) {
        board->host.profile_interval = settings->profile_interval;
    }
    etwas_board_drain_to_now(board); /* what was is recorded by what was asked for then */
    put_in_force(board, settings);
    if (!open_wanted(board, board->wants, fault) ||
        !change_interval(board, settings->profile_interval, fault)) {
        go_back(board, &before);
        return false;
    }
    etwas_record_filter_choose(&board->walker.filter, settings);
    /* What began before a topic was there to tell of it. */
    if (board->has_run_down) {
        run_down(board, open_topics(board) & ~open_before, board->wants & ~wanted_before);
    }
    close_unwanted(board, board->wants);
    return true;
}
