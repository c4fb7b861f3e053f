/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which processor runs the caller. CTest runs this program with and without registered rseq areas.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/processor.h"

extern const unsigned int __rseq_size __attribute__((weak));

static bool rseq_is_registered(void)
{
    return &__rseq_size != NULL && __rseq_size != 0;
}

/* What a thread pinned to one processor sees of it. */
struct pinned {
    uint32_t processor;
    bool is_pinned;
    uint32_t seen;
    uint32_t asked;
    uint32_t current;
};

static void *look_from(void *argument)
{
    struct pinned *pinned = argument;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(pinned->processor, &one);
    pinned->is_pinned = sched_setaffinity(0, sizeof one, &one) == 0;
    pinned->seen = etwas_processor_seen();
    pinned->asked = etwas_processor_ask();
    pinned->current = etwas_processor_current();
    return NULL;
}

static void expect_right_number(const struct pinned *pinned)
{
    assert_true(pinned->is_pinned);
    assert_int_equal(pinned->current, pinned->processor);
    assert_int_equal(pinned->asked, pinned->processor);
    assert_int_equal(pinned->seen, rseq_is_registered() ? pinned->processor : UINT32_MAX);
}

static void a_pinned_thread_sees_the_number_of_its_processor(void **state)
{
    unsigned looked = 0;
    cpu_set_t allowed;

    (void)state;
    etwas_processor_prepare();
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (uint32_t processor = 0; processor < CPU_SETSIZE; processor++) {
        struct pinned here = {.processor = processor};
        struct pinned there = {.processor = processor};
        pthread_t thread;

        if (!CPU_ISSET(processor, &allowed)) {
            continue;
        }
        (void)look_from(&here);
        assert_int_equal(sched_setaffinity(0, sizeof allowed, &allowed), 0);
        expect_right_number(&here);
        assert_int_equal(pthread_create(&thread, NULL, look_from, &there), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        expect_right_number(&there);
        looked++;
    }
    assert_int_equal(looked, CPU_COUNT(&allowed));
}

static void preparing_again_changes_nothing(void **state)
{
    ptrdiff_t offset;

    (void)state;
    etwas_processor_prepare();
    offset = etwas_processor_offset;
    assert_true(offset != 0);
    etwas_processor_prepare();
    assert_true(etwas_processor_offset == offset);
}

static void the_processors_are_counted_once_and_at_least_as_many_as_we_may_use(void **state)
{
    cpu_set_t allowed;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    assert_true(etwas_processor_count() >= (uint32_t)CPU_COUNT(&allowed));
    assert_int_equal(etwas_processor_count(), sysconf(_SC_NPROCESSORS_CONF));
}

/* Or both runs of this program would test the same. */
static void rseq_is_off_where_it_was_switched_off(void **state)
{
    const char *tunables = getenv("GLIBC_TUNABLES");

    (void)state;
    if (tunables == NULL || strstr(tunables, "glibc.pthread.rseq=0") == NULL) {
        skip();
    }
    assert_false(rseq_is_registered());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pinned_thread_sees_the_number_of_its_processor),
        cmocka_unit_test(preparing_again_changes_nothing),
        cmocka_unit_test(the_processors_are_counted_once_and_at_least_as_many_as_we_may_use),
        cmocka_unit_test(rseq_is_off_where_it_was_switched_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
