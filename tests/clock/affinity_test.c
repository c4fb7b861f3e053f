/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* More processors than the affinity mask allows: sessions, their counts, and the verdict. */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "clock/log_each_clock.h"
#include "clock/trust.h"
#include "support/folder.h"
#include "support/start.h"

static cpu_set_t all; /* that the program may use */

/* Sets the mask of all threads, as `taskset --all-tasks` does from outside. */
static void have_mask(const cpu_set_t *mask)
{
    DIR *threads = opendir("/proc/self/task");

    assert_non_null(threads);
    for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

        /* A thread may end meanwhile; the names "." and ".." give 0, the caller. */
        if (sched_setaffinity(thread, sizeof *mask, mask) != 0) {
            assert_int_equal(errno, ESRCH);
        }
    }
    (void)closedir(threads);
}

static void leave_it(void)
{
    have_mask(&all);
}

/* Begins every test: one that failed may have left the mask narrow. */
static void begin_with_several(void)
{
    leave_it();
    if (CPU_COUNT(&all) < 2) {
        print_message("skipped: there are no two processors\n");
        skip();
    }
}

/* The last processor that is allowed, so that there are others below it. */
static void stay_on_the_last(void)
{
    cpu_set_t one;
    int last = CPU_SETSIZE - 1;

    while (!CPU_ISSET((size_t)last, &all)) {
        last--;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)last, &one);
    have_mask(&one);
}

static void a_mask_of_one_processor_of_several_loses_no_record_of_any_clock(void **state)
{
    (void)state;
    begin_with_several();
    stay_on_the_last();
    log_with_each_clock(NULL);
    leave_it();
}

static void a_mask_that_becomes_narrower_while_a_session_runs_loses_no_record(void **state)
{
    (void)state;
    begin_with_several();
    log_with_each_clock(stay_on_the_last);
    leave_it();
}

static void a_mask_that_becomes_wider_while_a_session_runs_loses_no_record(void **state)
{
    (void)state;
    begin_with_several();
    for (int round = 0; round < 2; round++) {
        stay_on_the_last();
        log_with_each_clock(leave_it);
    }
}

/* The machine is the same, however much of it may be used; only the measurement varies. */
static void the_verdict_does_not_depend_on_the_mask(void **state)
{
    const uint32_t measured = ETWAS_CLOCK_REASON_EMULATED | ETWAS_CLOCK_REASON_WRONG_FREQUENCY |
                              ETWAS_CLOCK_REASON_BACKWARDS | ETWAS_CLOCK_REASON_NO_COUNTER;
    etwas_clock_trust wide;
    etwas_clock_trust narrow;

    (void)state;
    begin_with_several();
    etwas_clock_trust_of(&etwas_this_machine, &wide);
    stay_on_the_last();
    etwas_clock_trust_of(&etwas_this_machine, &narrow);
    leave_it();
    assert_int_equal(wide.reasons & ~measured, narrow.reasons & ~measured);
    assert_true(wide.stated_hz == narrow.stated_hz);
    assert_string_equal(wide.clocksource, narrow.clocksource);
    assert_string_equal(wide.hypervisor, narrow.hypervisor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_mask_of_one_processor_of_several_loses_no_record_of_any_clock),
        FOLDER_TEST(a_mask_that_becomes_narrower_while_a_session_runs_loses_no_record),
        FOLDER_TEST(a_mask_that_becomes_wider_while_a_session_runs_loses_no_record),
        cmocka_unit_test(the_verdict_does_not_depend_on_the_mask),
    };

    if (sched_getaffinity(0, sizeof all, &all) != 0) {
        return 1;
    }
    return RUN_WITH_EACH_PROTOCOL(tests);
}
