/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a log file header says about the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "platform/machine.h"

static void expect_zone(int32_t bias_minutes, const char *name)
{
    static const struct etwas_etl_system_time no_date;
    struct etwas_etl_time_zone zone;
    size_t length = strlen(name);

    memset(&zone, 0xff, sizeof zone);
    etwas_system_time_zone(&zone);
    assert_int_equal(zone.bias_minutes, bias_minutes);
    for (size_t index = 0; index < 32; index++) {
        assert_int_equal(zone.standard_name[index], index < length ? name[index] : 0);
        assert_int_equal(zone.daylight_name[index], 0);
    }
    assert_int_equal(zone.standard_bias_minutes, 0);
    assert_int_equal(zone.daylight_bias_minutes, 0);
    assert_memory_equal(&zone.standard_date, &no_date, sizeof no_date);
    assert_memory_equal(&zone.daylight_date, &no_date, sizeof no_date);
}

/* UTC = local + bias. */
static void the_time_zone_is_the_hosts_own(void **state)
{
    static const struct {
        const char *variable;
        int32_t bias_minutes;
        const char *name;
    } rows[] = {
        {"UTC0", 0, "UTC"},
        {"CET-1", -60, "CET"},
        {"EST5", 300, "EST"},
        {"<+0545>-5:45", -345, "+0545"},
        {"<-0330>3:30", 210, "-0330"},
    };
    time_t now = time(NULL);
    struct tm local;

    (void)state;
    tzset();
    assert_non_null(localtime_r(&now, &local));
    expect_zone((int32_t)(-local.tm_gmtoff / 60), local.tm_zone);
    for (size_t index = 0; index < sizeof rows / sizeof rows[0]; index++) {
        assert_int_equal(setenv("TZ", rows[index].variable, 1), 0);
        tzset();
        expect_zone(rows[index].bias_minutes, rows[index].name);
    }
}

static void the_processors_speed_is_plausible(void **state)
{
    uint32_t speed_mhz = etwas_system_cpu_speed_mhz();

    (void)state;
    assert_true(speed_mhz > 0);
    assert_true(speed_mhz < 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_zone_is_the_hosts_own),
        cmocka_unit_test(the_processors_speed_is_plausible),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
