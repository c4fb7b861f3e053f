/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The times of a line are to the nanosecond those that the clock or the timeline says, wherever the
 * line holds, also at its two ends; and of clocks as they are, lines hold long.
 */
#include "reader/event_time.h"

#include "hostile.h"
#include "timeline_scene.h"

enum {
    ROUNDS = 3000,
    STAMPS = 40
};

static uint64_t next_wide(void)
{
    return (uint64_t)next_random() << 32 | next_random();
}

/* Returns a reading of any size. */
static int64_t random_reading(void)
{
    return (int64_t)next_wide() >> next_random() % 64;
}

/* A stamp where the line holds: its ends, or anywhere. */
static int64_t stamp_in(const struct etwas_time_segment *line, int number)
{
    uint64_t random = next_wide();
    uint64_t ahead = number == 0   ? 0
                     : number == 1 ? line->ticks - 1
                     : number % 2  ? random % line->ticks
                                   : random % (line->ticks < 100000 ? line->ticks : 100000);

    return (int64_t)((uint64_t)line->from_raw + ahead);
}

static struct etwas_etl_clock random_clock(uint32_t *type)
{
    static const int64_t frequencies[] = {1,          3,          10000000, 24000000,
                                          1000000000, 2994370000, 1ll << 62};
    struct etwas_etl_clock clock;
    struct etwas_etl_calibration calibration = {
        .version = ETWAS_ETL_CALIBRATION_VERSION,
        .clock_type = ETWAS_ETL_CLOCK_CYCLES,
        .ticks = 1 + next_random() % (UINT64_C(1) << (8 + next_random() % 24)),
        .nanoseconds = 1 + next_random() % (UINT64_C(1) << (8 + next_random() % 24)),
    };

    *type = 1 + next_random() % 3;
    (void)etwas_etl_clock_from_header(&clock, *type, frequencies[next_random() % 7],
                                      next_random() % 5000, random_reading(),
                                      next_random() % 4 == 0 ? random_reading() : START);
    if (next_random() % 2 == 0) {
        (void)etwas_etl_clock_use_calibration(&clock, *type, &calibration);
    }
    return clock;
}

static void a_line_says_what_its_clock_says(void **state)
{
    uint32_t found = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t type;
        struct etwas_etl_clock clock = random_clock(&type);
        struct etwas_time_segment line;
        int64_t raw = next_random() % 2 == 0
                          ? random_reading()
                          : (int64_t)((uint64_t)clock.anchor_raw + next_random());

        if (!etwas_time_segment_find(&line, NULL, &clock, raw)) {
            assert_false(etwas_time_segment_contains(&line, raw));
            continue;
        }
        found++;
        assert_true(etwas_time_segment_contains(&line, raw));
        for (int i = 0; i < STAMPS; i++) {
            int64_t stamp = stamp_in(&line, i);

            assert_true(etwas_time_segment_contains(&line, stamp));
            assert_int_equal(etwas_time_segment_unix_ns(&line, stamp),
                             etwas_etl_saturate(etwas_etl_clock_ns(&clock, stamp)));
            assert_int_equal(etwas_time_segment_filetime(&line, stamp),
                             etwas_etl_clock_to_filetime(&clock, stamp));
        }
    }
    assert_true(found > ROUNDS / 10);
}

static void a_line_says_what_its_timeline_says(void **state)
{
    uint32_t found = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t tick = 1 + next_random() % 5;
        int64_t raw = next_random() % 8 == 0 ? random_reading() / 4 : (int64_t)next_random();
        int64_t qpc_ns = next_random();
        struct etwas_time_segment line;

        (void)forget(NULL);
        for (uint32_t i = 0; i < 4; i++) {
            put(raw, qpc_ns, START + qpc_ns / 100);
            raw += (int64_t)next_random() * tick << next_random() % 12;
            qpc_ns += next_random() % 4 == 0 ? (int64_t)next_random() % 1000 : SECOND;
        }
        build(ETWAS_ETL_CLOCK_CYCLES);
        raw = timeline->snapshots[next_random() % timeline->count].raw + next_random() % 1000;
        if (!etwas_time_segment_find(&line, timeline, NULL, raw)) {
            continue;
        }
        found++;
        for (int i = 0; i < STAMPS; i++) {
            int64_t stamp = stamp_in(&line, i);

            assert_int_equal(etwas_time_segment_unix_ns(&line, stamp),
                             etwas_etl_saturate(etwas_timeline_ns(timeline, stamp)));
            assert_int_equal(etwas_time_segment_filetime(&line, stamp),
                             etwas_etl_filetime_of_ns(etwas_timeline_ns(timeline, stamp)));
        }
        assert_true(line.ticks > 0 && !etwas_time_segment_contains(&line, raw - 1));
    }
    assert_true(found > ROUNDS / 4);
}

/* Else each event would look for a line again. */
static void a_line_of_a_real_clock_holds_for_a_second_at_least(void **state)
{
    struct etwas_etl_clock clock;
    struct etwas_time_segment line;

    (void)state;
    assert_true(
        etwas_etl_clock_from_header(&clock, ETWAS_ETL_CLOCK_PERFORMANCE, SECOND, 0, 77, START));
    assert_true(etwas_time_segment_find(&line, NULL, &clock, 1234567890123));
    assert_true(line.ticks > (uint64_t)SECOND);
    (void)forget(NULL);
    put(0, 0, START);
    put(3 * SECOND, SECOND, START + 10000000);
    build(ETWAS_ETL_CLOCK_CYCLES);
    assert_true(etwas_time_segment_find(&line, timeline, NULL, 0));
    assert_int_equal(line.ticks, 3 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMELINE_TEST(a_line_says_what_its_clock_says),
        TIMELINE_TEST(a_line_says_what_its_timeline_says),
        TIMELINE_TEST(a_line_of_a_real_clock_holds_for_a_second_at_least),
    };

    return cmocka_run_group_tests_name("a line says what the clock or the timeline says", tests,
                                       NULL, NULL);
}
