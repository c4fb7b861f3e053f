/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The sections of a file: all of them together give what the whole file gives, each event and
 * damage once, in the order of time in each; whatever is wrong with the file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "builder.h"
#include "collect.h"
#include "hostile.h"

enum {
    EVENTS = 600
};

/* What came, of a run or of several together. */
struct seen {
    uint8_t times[EVENTS]; /* that the event of a number came */
    size_t events;
    etwas_trace_information sum;
    uint64_t damages_of[ETWAS_DAMAGE_READ + 1];
};

/* In damaged files stamps may go back. */
static bool in_order;

static void add_collected(struct seen *seen)
{
    int64_t before = INT64_MIN;

    for (size_t i = 0; i < collected.event_count; i++) {
        const struct collected_event *event = &collected.events[i];

        if (event->header.EventDescriptor.Opcode == 1 && event->number < EVENTS) {
            assert_true(event->header.TimeStamp.QuadPart >= before || !in_order);
            before = event->header.TimeStamp.QuadPart;
            seen->times[event->number]++;
        }
    }
    for (size_t i = 0; i < collected.damage_count; i++) {
        seen->damages_of[collected.damages[i].kind]++;
    }
    seen->events += collected.event_count;
    seen->sum.buffers += collected.information.buffers;
    seen->sum.buffers_damaged += collected.information.buffers_damaged;
    seen->sum.events += collected.information.events;
    seen->sum.bytes_skipped += collected.information.bytes_skipped;
    seen->sum.damages += collected.information.damages;
    seen->sum.overwritten_buffers += collected.information.overwritten_buffers;
}

/* One section of so many; 1: the whole file, asked for as one. */
static void run_section(const char *path, uint32_t section, uint32_t sections)
{
    etwas_trace_handle trace;

    forget_collected();
    trace = open_collecting(path, PROCESS_TRACE_MODE_EVENT_RECORD);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(etwas_trace_select_section(trace, section, sections), ERROR_SUCCESS);
    collected.code = ProcessTrace(&trace, 1, NULL, NULL);
    assert_int_equal(etwas_trace_query(trace, &collected.information), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static void compare_with_whole(const char *path)
{
    struct seen whole = {.events = 0};

    run_file(path);
    add_collected(&whole);
    for (uint32_t sections = 1; sections <= 7; sections++) {
        struct seen seen = {.events = 0};

        for (uint32_t section = 0; section < sections; section++) {
            run_section(path, section, sections);
            add_collected(&seen);
        }
        assert_memory_equal(&seen, &whole, sizeof seen);
    }
}

/* Buffers of three processors, of random lengths, whose times overlap. */
static void build(struct builder *builder)
{
    struct builder_options options = builder_defaults();
    uint32_t number = 0;

    builder_begin(builder, &options);
    while (number < EVENTS) {
        uint32_t length = 1 + next_random() % 30;

        builder_buffer(builder, (uint16_t)(next_random() % 3));
        for (uint32_t i = 0; i < length && number < EVENTS; i++, number++) {
            builder_number(builder, 2000 + 10 * (int64_t)number + next_random() % 3, number);
        }
    }
    builder_end(builder);
}

static void sections_together_give_each_event_once(void **state)
{
    (void)state;
    in_order = true;
    for (int round = 0; round < 20; round++) {
        struct builder builder;
        const char *path;

        build(&builder);
        path = put_file(0, builder.bytes, builder.size);
        builder_free(&builder);
        compare_with_whole(path);
        assert_int_equal(collected.code, ERROR_SUCCESS);
        run_file(path);
        assert_int_equal(collected.information.events, EVENTS);
    }
}

static void sections_of_damaged_files_tell_each_damage_once(void **state)
{
    (void)state;
    in_order = false;
    for (int round = 0; round < 200; round++) {
        struct builder builder;
        uint32_t first = builder_defaults().buffer_bytes;
        size_t size;

        build(&builder);
        size = next_random() % 2 == 0 ? builder.size : builder.size - next_random() % (3 * first);
        for (uint32_t i = 0; i < 1 + next_random() % 6; i++) {
            size_t at = first + next_random() % (builder.size - first - 8);
            uint64_t value = (uint64_t)next_random() << 32 | next_random();

            memcpy(builder.bytes + at, &value, 1 + next_random() % 8);
        }
        compare_with_whole(put_file(0, builder.bytes, size));
        builder_free(&builder);
    }
}

static void what_is_no_section_is_refused(void **state)
{
    etwas_trace_handle trace = open_collecting(put_sound_file(0, 20, false), 0);

    (void)state;
    assert_int_equal(etwas_trace_select_section(trace, 2, 2), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_select_section(trace, 0, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(etwas_trace_select_section(trace, 1, UINT32_MAX), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(etwas_trace_select_section(trace, 0, 1), ERROR_INVALID_HANDLE);
}

static int end(void **state)
{
    (void)state;
    remove_files();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_together_give_each_event_once),
        cmocka_unit_test(sections_of_damaged_files_tell_each_damage_once),
        cmocka_unit_test(what_is_no_section_is_refused),
    };

    return cmocka_run_group_tests_name("sections of a file", tests, NULL, end);
}
