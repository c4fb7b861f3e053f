/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's functions in the stacks of a session: emitted at its end, and in snapshots.
 */
#include <string.h>

#include "etl/own_record.h"
#include "system/kernel_fixture.h"

enum {
    STACK = 32,
    FRAMES_AT = 16,
    LEAST_KERNEL_BITS = 63,
};

static etwas_trace_handle start(uint32_t more_modes, bool has_file)
{
    const STACK_TRACING_EVENT_ID id = {.EventGuid = thread_class, .Type = SWITCH};
    etwas_trace_handle session;
    struct block block;

    prepare_kernel_block(&block, FLAGS);
    if (has_file) {
        (void)wide_of(folder_path("k.etl"), (etwas_wchar *)(void *)block.file_name,
                      sizeof block.file_name / sizeof(etwas_wchar));
    } else {
        block.properties.LogFileNameOffset = 0;
    }
    block.properties.LogFileMode |= more_modes;
    assert_int_equal(StartKernelTrace(&session, &block.properties, &id, 1), ERROR_SUCCESS);
    return session;
}

static bool is_symbol(const struct event *event)
{
    return is_kernel_event(event, &etwas_etl_own_class, ETWAS_ETL_KERNEL_SYMBOL_TYPE);
}

static const char *name_of(const struct event *event)
{
    return (const char *)event->payload + sizeof(struct etwas_etl_kernel_symbol);
}

static const char *find(const struct events *events, uint64_t address)
{
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];

        if (is_symbol(event) && address - u64_at(event, 8) < u64_at(event, 16)) {
            return name_of(event);
        }
    }
    return NULL;
}

/*
 * How many of the kernel's frames have a name, of so many; and whether the scheduler is among them.
 */
static void look(const struct events *events, uint32_t *named, uint32_t *frames, bool *scheduler)
{
    *named = 0;
    *frames = 0;
    *scheduler = false;
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        bool is_stack = is_kernel_event(event, &StackWalkGuid, STACK);

        for (size_t at = FRAMES_AT; is_stack && at < event->record.UserDataLength; at += 8) {
            const char *name = find(events, u64_at(event, at) - (at != FRAMES_AT));

            if (u64_at(event, FRAMES_AT) >> LEAST_KERNEL_BITS != 0) {
                ++*frames;
                *named += name != NULL;
                *scheduler |= name != NULL && strcmp(name, "schedule") == 0;
            }
        }
    }
}

/* But for what the kernel made and freed meanwhile. */
static void expect_names(const struct events *events)
{
    uint32_t named;
    uint32_t frames;
    bool scheduler;

    look(events, &named, &frames, &scheduler);
    assert_in_range(frames, HANDOVERS, UINT32_MAX);
    assert_in_range(named, frames - frames / 100, frames);
    assert_true(scheduler);
}

static void all_frames_of_the_kernel_have_names_when_it_ends(void **state)
{
    etwas_trace_handle session = start(0, true);
    struct events events;

    (void)state;
    (void)hand_over();
    read_and_account(session, &events);
    expect_names(&events);
    free_events(&events);
}

static void a_snapshot_has_the_names_of_what_is_in_it(void **state)
{
    etwas_trace_handle session = start(EVENT_TRACE_BUFFERING_MODE, false);
    struct events events;

    (void)state;
    for (uint32_t count = 0; count < 2; count++) {
        (void)hand_over();
        assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
        read_events(folder_path("s.etl"), PROCESS_TRACE_MODE_RAW_TIMESTAMP, &events);
        expect_names(&events);
        free_events(&events);
    }
    stop_session(session, NULL);
}

/* Nothing that names an address of the kernel: no names. */
static void without_addresses_there_are_no_names(void **state)
{
    etwas_trace_handle session = start_kernel(FLAGS);
    struct events events;

    (void)state;
    (void)hand_over();
    read_and_account(session, &events);
    for (size_t index = 0; index < events.count; index++) {
        assert_false(is_symbol(&events.items[index]));
    }
    free_events(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(all_frames_of_the_kernel_have_names_when_it_ends),
        FOLDER_TEST(a_snapshot_has_the_names_of_what_is_in_it),
        FOLDER_TEST(without_addresses_there_are_no_names),
    };

    return RUN_KERNEL_TESTS("system kernel symbols here", tests);
}
