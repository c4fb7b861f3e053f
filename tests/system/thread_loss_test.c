/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Threads whose beginning or end was lost: after a gap the threads that exist are emitted, and
 * those that have gone have ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "clock/clock.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "system/groups/event_groups.h"
#include "system/stream/kernel_record.h"

enum {
    NOBODY = 4194303, /* no thread has this number: the kernel gives lesser ones */
    PROCESS = 7,
    END_NOT_SEEN = 1,
};

ETWAS_KERNEL_RECORD(thread_record, etwas_etl_system_header, THREAD);

/* What was told of one thread. */
struct emitted {
    uint32_t starts;
    uint32_t ends;
    uint32_t ends_not_seen;
    uint32_t rundowns;
};

static struct emitted emitted_of_us;
static struct emitted emitted_of_nobody;

static void take_record(struct etwas_emitter *emitter, uint32_t slot,
                        const struct etwas_stamped_record *stamped)
{
    struct thread_record record;
    struct emitted *emitted = NULL;

    (void)emitter;
    assert_int_equal(stamped->size, sizeof record);
    memcpy(&record, stamped->bytes, sizeof record);
    if (record.TThreadId == NOBODY) {
        assert_int_equal(record.ProcessId, PROCESS);
        emitted = &emitted_of_nobody;
    } else if (record.TThreadId == etwas_thread_ids().thread_id) {
        assert_int_equal(record.ProcessId, etwas_thread_ids().process_id);
        emitted = &emitted_of_us;
    }
    if (emitted != NULL) {
        emitted->starts += record.header.type == ETWAS_THREAD_START;
        emitted->ends += record.header.type == ETWAS_THREAD_END;
        emitted->rundowns += record.header.type == ETWAS_THREAD_RUNDOWN_START;
        emitted->ends_not_seen += record.ThreadFlags == END_NOT_SEEN;
        assert_true(record.ThreadFlags == 0 || slot == etwas_slot_count);
    }
}

static struct etwas_emitter emitter = {.receive = take_record};
static struct etwas_record_builder record;
static struct etwas_event_group_host host = {.emitter = &emitter, .record = &record};
static void *group;

static int begin_test(void **state)
{
    (void)state;
    emitted_of_us = (struct emitted){0};
    emitted_of_nobody = (struct emitted){0};
    group = etwas_event_group_threads.open(&host);
    return group == NULL;
}

static int end_test(void **state)
{
    (void)state;
    etwas_event_group_threads.close(group);
    return 0;
}

static void say(uint32_t type, uint32_t process_id, uint32_t thread_id)
{
    const struct etwas_process_record process_record = {
        .origin = {.time_ns = 1}, .type = type, .process_id = process_id, .thread_id = thread_id};

    etwas_event_group_threads.handle_process_record(group, &host, 0, &process_record);
}

static void look(void)
{
    assert_false(etwas_event_group_threads.find_lost(group, etwas_clock_qpc()));
}

static void drained(void)
{
    assert_true(etwas_event_group_threads.find_lost(group, etwas_clock_qpc()));
}

static void a_thread_that_has_gone_has_ended(void **state)
{
    (void)state;
    say(PERF_RECORD_FORK, PROCESS, NOBODY);
    assert_int_equal(emitted_of_nobody.starts, 1);
    look();
    assert_false(etwas_event_group_threads.find_lost(group, 1));
    assert_int_equal(emitted_of_nobody.ends, 0);
    drained();
    assert_int_equal(emitted_of_nobody.ends, 1);
    assert_int_equal(emitted_of_nobody.ends_not_seen, 1);
    look();
    drained();
    assert_int_equal(emitted_of_nobody.ends, 1);
}

/* The ring has its end. */
static void a_thread_that_ends_during_a_scan_ends_once(void **state)
{
    (void)state;
    say(PERF_RECORD_FORK, PROCESS, NOBODY);
    look();
    say(PERF_RECORD_EXIT, PROCESS, NOBODY);
    drained();
    assert_int_equal(emitted_of_nobody.ends, 1);
    assert_int_equal(emitted_of_nobody.ends_not_seen, 0);
}

static void an_unknown_thread_is_emitted_once(void **state)
{
    (void)state;
    look();
    assert_int_equal(emitted_of_us.rundowns, 1);
    drained();
    look();
    drained();
    assert_int_equal(emitted_of_us.rundowns, 1);
    assert_int_equal(emitted_of_us.ends, 0);
}

/* What the rings say may be taken before the rundown comes to it. */
static void a_thread_that_began_before_the_rundown_is_not_in_it(void **state)
{
    (void)state;
    say(PERF_RECORD_FORK, etwas_thread_ids().process_id, etwas_thread_ids().thread_id);
    etwas_event_group_threads.run_down(group, &host, false);
    assert_int_equal(emitted_of_us.starts, 1);
    assert_int_equal(emitted_of_us.rundowns, 0);
    etwas_event_group_threads.run_down(group, &host, false); /* it was asked for */
    assert_int_equal(emitted_of_us.rundowns, 1);
}

#define THREAD_TEST(test) cmocka_unit_test_setup_teardown(test, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        THREAD_TEST(a_thread_that_has_gone_has_ended),
        THREAD_TEST(a_thread_that_ends_during_a_scan_ends_once),
        THREAD_TEST(an_unknown_thread_is_emitted_once),
        THREAD_TEST(a_thread_that_began_before_the_rundown_is_not_in_it),
    };

    etwas_processor_prepare();
    return cmocka_run_group_tests_name("lost threads", tests, NULL, NULL);
}
