/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What stamps mean between knots, where the clocks behind them are random functions of the counter: the true
 * time is within the error that is stated.
 */
#include "hostile.h"
#include "timeline_scene.h"

__extension__ typedef __int128 wide;

/* A clock as a function of the counter's ticks, in femtoseconds: the rate changes, or it jumps. */
struct truth {
    int64_t raw;
    wide fs;
    int64_t fs_a_tick;
};

enum {
    CHANGES = 40
};

static struct truth truths[2][CHANGES]; /* QPC, system time */
static int changes;

static wide true_fs(int clock, int64_t raw)
{
    int i = 0;

    while (i + 1 < changes && truths[clock][i + 1].raw <= raw) {
        i++;
    }
    return truths[clock][i].fs + (wide)(raw - truths[clock][i].raw) * truths[clock][i].fs_a_tick;
}

static int64_t random_between(int64_t least, int64_t most)
{
    return least + (int64_t)(((uint64_t)next_random() << 32 | next_random()) %
                             (uint64_t)(most - least + 1));
}

static int64_t jump_of(int clock)
{
    /* Below and above what counts as a step. The performance counter only goes forward. */
    static const int64_t sizes_ns[] = {0, 0, 0, 0, 50000, 900000, 3000000, SECOND, 3600 * SECOND};
    int64_t size = sizes_ns[next_random() % (clock == 0 ? 5 : 9)];

    return clock == 0 || next_random() % 2 == 0 ? size : -size;
}

/*
 * Every six seconds or more one thing happens to each clock; three thousand million ticks a second.
 */
static void make_truths(void)
{
    changes = CHANGES;
    for (int clock = 0; clock < 2; clock++) {
        int64_t raw = 1000;
        int64_t rate = 0;
        wide fs = clock == 0 ? (wide)random_between(0, 1000) * SECOND * 1000000
                             : (wide)100000000 * SECOND * 1000000;

        for (int i = 0; i < CHANGES; i++) {
            int64_t length = random_between(18, 24) * SECOND;
            bool jumps = next_random() % 2 == 0;

            if (i == 0 || !jumps) {
                rate = 333333 + random_between(-60, 60); /* 180 ppm */
            } else {
                fs += (wide)jump_of(clock) * 1000000;
            }
            truths[clock][i] = (struct truth){raw, fs, rate};
            raw += length;
            fs += (wide)length * rate;
        }
    }
}

static int64_t floor_ns(wide fs)
{
    return (int64_t)(fs / 1000000 - (fs % 1000000 < 0));
}

/* Knots 0.5 to 1 s apart, each wrong within its errors. */
static int64_t put_random_knots(int64_t most)
{
    int64_t raw = 1000;

    for (int64_t i = 0; i < most; i++) {
        int64_t qpc_error = random_between(0, 100);
        int64_t system_error = random_between(0, 200);
        int64_t qpc_ns = floor_ns(true_fs(0, raw)) + random_between(-qpc_error, qpc_error);
        int64_t system_ns = floor_ns(true_fs(1, raw)) + random_between(-system_error, system_error);
        const struct etwas_timeline_knot knot = {
            raw, qpc_ns, system_ns / 100, 0, (uint32_t)qpc_error + 1, (uint32_t)system_error + 101};

        assert_true(etwas_knot_list_add(&knot_list, &knot));
        raw += random_between(3 * SECOND / 2, 3 * SECOND);
    }
    return knot_list.knots[knot_list.count - 1].raw;
}

static void expect_within(wide value_fs, wide truth_fs, uint64_t error_ns)
{
    wide apart = value_fs > truth_fs ? value_fs - truth_fs : truth_fs - value_fs;

    if (apart > (wide)error_ns * 1000000) {
        fail_msg("%lld ns from the truth, and the error is %llu", (long long)(apart / 1000000),
                 (unsigned long long)error_ns);
    }
}

static void the_true_time_is_within_the_error(void **state)
{
    (void)state;
    for (int round = 0; round < 400; round++) {
        int64_t last;

        (void)forget(NULL);
        make_truths();
        last = put_random_knots(random_between(4, 300));
        build(ETWAS_ETL_CLOCK_CYCLES);
        timeline->base.rate = (struct etwas_timeline_rate){3, 1, 1000};
        assert_int_equal(timeline->unusable, 0);
        for (int i = 0; i < 2000; i++) {
            int64_t raw = random_between(1000, last);
            etwas_clock_time qpc = qpc_at(raw);
            etwas_clock_time system = system_at(raw);

            expect_within((wide)qpc.value * 1000000, true_fs(0, raw), qpc.error_ns);
            expect_within((wide)system.value * 100000000, true_fs(1, raw), system.error_ns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TIMELINE_TEST(the_true_time_is_within_the_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
