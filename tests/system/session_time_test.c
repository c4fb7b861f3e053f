/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's stamps are converted to what the session's clock showed at that moment: clocks read
 * between two readings of the kernel's clock lie between the converted values, within the bounds of
 * the readings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock/clock.h"
#include "system/stream/session_time.h"

enum {
    ROUNDS = 50,
    SAMPLES = 100,
    PAUSE_US = 1000,
    SLACK_NS = 2000,
};

struct moment {
    int64_t before_ns;
    int64_t stamp;
    int64_t after_ns;
};

static void follows_the_clock(uint32_t kind, int64_t stamps_per_us)
{
    struct etwas_session_time time;
    int64_t slack;

    etwas_session_time_begin(&time, kind);
    for (int round = 0; round < ROUNDS; round++) {
        struct moment moments[SAMPLES];

        for (int index = 0; index < SAMPLES; index++) {
            moments[index].before_ns = etwas_clock_qpc();
            moments[index].stamp = etwas_clock_now(kind);
            moments[index].after_ns = etwas_clock_qpc();
        }
        (void)usleep(PAUSE_US);
        etwas_session_time_renew(&time);
        slack = (SLACK_NS + time.before.tsc_error_ns + time.after.tsc_error_ns +
                 time.after.filetime_error_ns) *
                    stamps_per_us / 1000 +
                1;
        for (int index = 0; index < SAMPLES; index++) {
            assert_true(etwas_session_time_of(&time, moments[index].before_ns) <=
                        moments[index].stamp + slack);
            assert_true(etwas_session_time_of(&time, moments[index].after_ns) >=
                        moments[index].stamp - slack);
        }
    }
}

static void the_performance_counter_is_the_kernels(void **state)
{
    struct etwas_session_time time;

    (void)state;
    etwas_session_time_begin(&time, ETWAS_CLOCK_KIND_QPC);
    assert_int_equal(etwas_session_time_of(&time, 12345), 12345);
    follows_the_clock(ETWAS_CLOCK_KIND_QPC, 1000);
}

static void the_system_time_goes_with_the_newer_reading(void **state)
{
    (void)state;
    follows_the_clock(ETWAS_CLOCK_KIND_SYSTEM, 10);
}

static void the_cycle_counter_lies_on_the_line(void **state)
{
    const struct etwas_clock_reading first = etwas_clock_read_together();
    struct etwas_clock_reading second;

    (void)state;
    (void)usleep(20 * PAUSE_US);
    second = etwas_clock_read_together();
    follows_the_clock(ETWAS_CLOCK_KIND_TSC,
                      (second.tsc - first.tsc) * 1000 / (second.qpc_ns - first.qpc_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_performance_counter_is_the_kernels),
        cmocka_unit_test(the_system_time_goes_with_the_newer_reading),
        cmocka_unit_test(the_cycle_counter_lies_on_the_line),
    };

    return cmocka_run_group_tests_name("system session time", tests, NULL, NULL);
}
