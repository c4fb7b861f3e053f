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
    pinned->seen = etwas_processor_of_rseq();
    pinned->asked = etwas_processor_query();
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

static void the_number_of_every_processor_we_may_use_is_below_the_count(void **state)
{
    cpu_set_t allowed;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (size_t processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &allowed)) {
            assert_true(processor < etwas_processor_count());
        }
    }
}

static const char *possible; /* what a made-up machine says; NULL: nothing */

static bool text_of_machine(const char *path, char *text, size_t size)
{
    assert_string_equal(path, "/possible");
    if (possible == NULL) {
        return false;
    }
    assert_true(strlen(possible) < size);
    (void)strcpy(text, possible);
    return true;
}

static void every_possible_number_is_below_the_count_also_where_numbers_are_missing(void **state)
{
    static const struct {
        const char *text;
        uint32_t count;
    } machines[] = {
        {"0\n", 1},
        {"0-7\n", 8},
        {"0,2-5\n", 6},
        {"0-3,64-67,130\n", 131},
        /* Indexes on disk have 11 bits, and one is kept for the extra slot. */
        {"0-2045\n", 2046},
        {"0-2046\n", 2047},
        {"0-2047\n", 2047},
        {"0-8191\n", 2047},
    };
    static const char *const unusable[] = {NULL,    "\n", "0-\n", "all\n", "0-99999999999\n",
                                           "0-3x\n"};
    const struct etwas_machine machine = {.text = text_of_machine};

    (void)state;
    for (size_t index = 0; index < sizeof machines / sizeof machines[0]; index++) {
        possible = machines[index].text;
        assert_int_equal(etwas_processor_count_of(&machine, "/possible"), machines[index].count);
    }
    for (size_t index = 0; index < sizeof unusable / sizeof unusable[0]; index++) {
        possible = unusable[index];
        assert_int_equal(etwas_processor_count_of(&machine, "/possible"),
                         sysconf(_SC_NPROCESSORS_CONF));
    }
}

static const char *online; /* what another says of the processors that are */

static bool text_of_changing_machine(const char *path, char *text, size_t size)
{
    assert_string_equal(path, ETWAS_PROCESSORS_ONLINE);
    if (online == NULL) {
        return false;
    }
    assert_true(strlen(online) < size);
    (void)strcpy(text, online);
    return true;
}

static void a_processor_is_offline_that_the_machine_does_not_list(void **state)
{
    static const char *const with_3[] = {"0-7\n", "3\n", "0,2-3\n", "0,3,64-67\n"};
    static const char *const without_3[] = {"0-2\n", "0,2,4-7\n", "30-39\n", "13\n"};
    /* What does not say it of 3 either. */
    static const char *const unusable[] = {NULL, "", "\n", "0", "0-\n", "0-2,\n", "0-2x\n"};
    const struct etwas_machine machine = {.text = text_of_changing_machine};

    (void)state;
    for (size_t index = 0; index < sizeof with_3 / sizeof with_3[0]; index++) {
        online = with_3[index];
        assert_false(etwas_processor_is_offline(&machine, 3));
    }
    for (size_t index = 0; index < sizeof without_3 / sizeof without_3[0]; index++) {
        online = without_3[index];
        assert_true(etwas_processor_is_offline(&machine, 3));
    }
    for (size_t index = 0; index < sizeof unusable / sizeof unusable[0]; index++) {
        online = unusable[index];
        assert_false(etwas_processor_is_offline(&machine, 3));
    }
}

/* Or both runs of this program would test the same. */
static void rseq_is_off_where_it_was_switched_off(void **state)
{
    const char *tunables = getenv("GLIBC_TUNABLES");

    (void)state;
    if (tunables == NULL || strstr(tunables, "glibc.pthread.rseq=0") == NULL) {
        print_message("skipped: restartable sequences are not switched off (preset norseq)\n");
        skip();
    }
    assert_false(rseq_is_registered());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pinned_thread_sees_the_number_of_its_processor),
        cmocka_unit_test(preparing_again_changes_nothing),
        cmocka_unit_test(the_number_of_every_processor_we_may_use_is_below_the_count),
        cmocka_unit_test(every_possible_number_is_below_the_count_also_where_numbers_are_missing),
        cmocka_unit_test(a_processor_is_offline_that_the_machine_does_not_list),
        cmocka_unit_test(rseq_is_off_where_it_was_switched_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
