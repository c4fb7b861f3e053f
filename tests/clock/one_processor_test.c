/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A machine with one processor. This program is linked so that the system says there is one; it
 * runs on one, whatever its number is.
 */
#include <sched.h>
#include <unistd.h>

#include <etwas/etwas.h>

#include "clock/log_each_clock.h"
#include "platform/processor.h"
#include "support/folder.h"
#include "support/start.h"

long __real_sysconf(int name);
long __wrap_sysconf(int name);

uint32_t __wrap_etwas_processor_count(void);

long __wrap_sysconf(int name)
{
    return name == _SC_NPROCESSORS_ONLN ? 1 : __real_sysconf(name);
}

uint32_t __wrap_etwas_processor_count(void)
{
    return 1;
}

static void sessions_of_each_clock_count_exactly_on_the_only_processor(void **state)
{
    (void)state;
    assert_int_equal(etwas_processor_count(), 1);
    stay_on_one_processor();
    log_with_each_clock(NULL);
    leave_one_processor();
}

static void the_counter_of_the_only_processor_is_judged(void **state)
{
    etwas_clock_trust trust;

    (void)state;
    stay_on_one_processor();
    assert_int_equal(etwas_clock_query_trust(&trust), ERROR_SUCCESS);
    leave_one_processor();
    assert_true(trust.reasons != 0);
    assert_int_equal(trust.frequency_hz == 0, (trust.reasons & ETWAS_CLOCK_REASON_NO_COUNTER) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(sessions_of_each_clock_count_exactly_on_the_only_processor),
        cmocka_unit_test(the_counter_of_the_only_processor_is_judged),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
