/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Sound files as Windows writes them, where they differ from ours. */
#include <etwas/evntrace.h>
#include <string.h>

#include "builder.h"
#include "collect.h"

/* cmocka's headers in the order they ask for. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    PROCESSORS = 4,
    IN_BUFFER = 4,
    B = 4096,
};

#define HOUR INT64_C(36000000000)

static uint64_t random_state = 77;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32);
}

static struct builder_options system_time(void)
{
    struct builder_options options = builder_defaults();

    options.clock_type = ETWAS_ETL_CLOCK_SYSTEM;
    options.first_raw = options.start_filetime;
    return options;
}

static void read_built(struct builder *builder)
{
    run_file(put_file(0, builder->bytes, builder->size));
}

/* The events of the data buffers are 1, 2, 3 … up to `last`, in this order, and all is well. */
static void assert_sound(uint32_t last)
{
    assert_int_equal(collected.damage_count, 0);
    assert_int_equal(collected.code, ERROR_SUCCESS);
    assert_int_equal(collected.event_count, last + 1);
    for (uint32_t i = 1; i <= last; i++) {
        assert_int_equal(collected.events[i].number, i);
    }
}

/* ---- appended files -------------------------------------------------------------------------- */

/* A processor's buffer, from when it is taken, and numbered, until it is written. */
struct open_buffer {
    int64_t number;
    uint32_t events;
    int64_t stamps[IN_BUFFER];
    uint32_t values[IN_BUFFER];
};

static void write_buffer(struct builder *builder, struct open_buffer *buffer, uint16_t processor,
                         int64_t now)
{
    builder->sequence = buffer->number - 1;
    builder_buffer(builder, processor);
    /* A compressed buffer begins anywhere. */
    memcpy(builder->bytes + builder->buffer_at +
               offsetof(struct etwas_etl_buffer_header, time_stamp),
           &now, sizeof now);
    for (uint32_t i = 0; i < buffer->events; i++) {
        builder_number(builder, buffer->stamps[i], buffer->values[i]);
    }
    *buffer = (struct open_buffer){0};
}

/* A session of so many events from `now` on, in the file's next buffers. Returns its end. */
static int64_t append_session(struct builder *builder, int64_t now, uint32_t events,
                              uint32_t *value)
{
    struct open_buffer buffers[PROCESSORS] = {0};
    int64_t taken = 0;

    for (uint32_t i = 0; i < events; i++) {
        uint16_t processor = next_random() % PROCESSORS;
        struct open_buffer *buffer = &buffers[processor];

        buffer->number = buffer->events == 0 ? ++taken : buffer->number;
        now += 1 + next_random() % 3;
        buffer->stamps[buffer->events] = now;
        buffer->values[buffer->events++] = ++*value;
        if (buffer->events == IN_BUFFER) {
            write_buffer(builder, buffer, processor, now);
        }
    }
    for (uint16_t processor = 0; processor < PROCESSORS; processor++) {
        if (buffers[processor].events > 0) {
            write_buffer(builder, &buffers[processor], processor, now);
        }
    }
    return now;
}

/*
 * Each session numbers its buffers from 1 again. They come session by session, by time inside one,
 * also where the wall clock was set back seven hours between two, and in compressed files.
 */
static void the_sessions_of_an_appended_file_come_one_after_the_other(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 200; round++) {
        struct builder_options options = system_time();
        struct builder builder;
        uint32_t sessions = 1 + next_random() % 5;
        int64_t now = options.start_filetime;
        uint32_t value = 0;

        options.mode = EVENT_TRACE_FILE_MODE_APPEND;
        options.compressed = round % 2 != 0;
        builder_begin(&builder, &options);
        for (uint32_t session = 0; session < sessions; session++) {
            now = append_session(&builder, now, next_random() % 60, &value);
            now += next_random() % 3 == 0 ? -7 * HOUR : 1 + next_random() % 20000 * HOUR;
        }
        builder_end(&builder);
        read_built(&builder);
        assert_sound(value);
        builder_free(&builder);
    }
}

/* A buffer of one session that is there twice is damage in an appended file too. */
static void a_number_that_is_there_twice_in_a_session_is_damage(void **state)
{
    struct builder_options options = system_time();
    struct builder builder;
    uint32_t value = 0;

    (void)state;
    builder_begin(&builder, &options);
    (void)append_session(&builder, options.start_filetime, 100, &value);
    (void)append_session(&builder, options.start_filetime + HOUR, 100, &value);
    builder_end(&builder);
    read_built(&builder);
    assert_sound(value);
    for (uint32_t i = builder.buffers - 1; i > 1; i--) {
        if (builder_header(&builder, i)->sequence_number == 9) {
            builder_header(&builder, i)->sequence_number = 8;
            break;
        }
    }
    read_built(&builder);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.damages[0].kind, ETWAS_DAMAGE_SEQUENCE);
    assert_int_equal(collected.event_count, value + 1);
    builder_free(&builder);
}

/* ---- numbers that are left out --------------------------------------------------------------- */

static void build_with_gap(struct builder *builder, bool own)
{
    struct builder_options options = builder_defaults();

    builder_begin(builder, &options);
    if (own) {
        builder_calibration(builder);
    }
    for (uint32_t i = 1; i <= 6; i++) {
        builder->sequence += i == 4 ? 2 : 0;
        builder_buffer(builder, i % 2);
        builder_number(builder, 2000 + i, i);
    }
    builder_end(builder);
}

/* Windows 7 leaves numbers out. That is damage only where something else says so, or in ours. */
static void a_gap_in_the_numbers_alone_is_no_damage(void **state)
{
    struct builder builder;
    uint32_t lost = 5;

    (void)state;
    build_with_gap(&builder, false);
    read_built(&builder);
    assert_sound(6);
    builder_log_header(&builder)->buffers_written += 1;
    read_built(&builder);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.damages[0].file_offset, 4 * B);
    builder_log_header(&builder)->buffers_written -= 1;
    memcpy(builder.bytes + ETWAS_ETL_LOG_HEADER_FILE_OFFSET +
               offsetof(struct etwas_etl_log_header64, buffers_lost),
           &lost, sizeof lost);
    read_built(&builder);
    assert_int_equal(collected.damage_count, 1);
    builder_free(&builder);

    build_with_gap(&builder, true);
    read_built(&builder);
    assert_int_equal(collected.damage_count, 1);
    assert_int_equal(collected.damages[0].file_offset, 4 * B);
    builder_free(&builder);
}

/* ---- a wall clock that is set back ----------------------------------------------------------- */

static void build_stepping_back(struct builder *builder, const struct builder_options *options,
                                int64_t step)
{
    builder_begin(builder, options);
    for (uint32_t i = 1; i <= 9; i++) {
        int64_t stamp = options->first_raw + i * 10 - (i > 5 ? step : 0);

        if (i % 3 == 1) {
            builder_buffer(builder, 0);
        }
        builder_number(builder, stamp, i);
        ((struct etwas_etl_buffer_header *)(void *)(builder->bytes + builder->buffer_at))
            ->time_stamp = stamp;
    }
    builder_end(builder);
}

/* A file with system time; an unfinished circular one is not torn there either. */
static void a_wall_clock_that_steps_back_inside_a_buffer_is_no_damage(void **state)
{
    static const int64_t steps[] = {15, 7 * HOUR};
    struct builder_options options = system_time();
    struct builder builder;

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        build_stepping_back(&builder, &options, steps[i]);
        read_built(&builder);
        assert_sound(9);
        builder_wrap(&builder, 3, false);
        read_built(&builder);
        assert_sound(9);
        builder_free(&builder);
    }
    options = builder_defaults();
    options.first_raw = 10 * HOUR;
    build_stepping_back(&builder, &options, 15);
    read_built(&builder);
    assert_int_equal(damages_of(ETWAS_DAMAGE_TIME_ORDER), 1);
    assert_int_equal(collected.event_count, 10);
    builder_free(&builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sessions_of_an_appended_file_come_one_after_the_other),
        cmocka_unit_test(a_number_that_is_there_twice_in_a_session_is_damage),
        cmocka_unit_test(a_gap_in_the_numbers_alone_is_no_damage),
        cmocka_unit_test(a_wall_clock_that_steps_back_inside_a_buffer_is_no_damage),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    remove_files();
    return failed;
}
