/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Hosts that stand still, as a debugger or SIGSTOP has them: what becomes of processes that want to
 * log into their sessions, or to list them.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/shared.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "buffer/pool_join.h"
#include "platform/wait.h"
#include "session/session.h"
#include "sharing/programs.h"
#include "sharing/service.h"

static const etwas_guid modern_guid = {0x77777777, 7, 7, {7, 7, 7, 7, 7, 7, 7, 7}};

enum {
    SOME = 1000,
    LEVEL = 4,
    SHORT_MS = 300,
    PAUSE_US = 1000,
    QUIET_US = 600000,
    SETTLE_NS = 1000000000,
};

/* ---- a host ---------------------------------------------------------------------------------- */

/* Stops the session itself, and has then heard of everybody. */
static int host_of_counted(void)
{
    etwas_trace_handle session = start_in_file("still", "log.etl");
    etwas_session_counts counts;

    CHECK_IN_CHILD(enable_with_timeout(session, &control_guid, 0) == ERROR_SUCCESS);
    CHECK_IN_CHILD(enable_with_timeout(session, &modern_guid, 0) == ERROR_SUCCESS);
    ck_pr_inc_32(&board->steps);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.lost == counts.lost_unattached);
    CHECK_IN_CHILD(counts.recorded == ck_pr_load_32(&board->logged));
    CHECK_IN_CHILD(counts.lost_unattached == ck_pr_load_32(&board->lost));
    return 0;
}

static int start_still_host(int (*run)(void))
{
    int host = start_program(run);

    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(kill(host, SIGSTOP), 0);
    return host;
}

/* ---- programs that log ----------------------------------------------------------------------- */

/* From its first event on, and has ended before the host goes on. */
static int short_program(void)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = LEVEL, .Keyword = 0x10};
    uint64_t number = 7;
    EVENT_DATA_DESCRIPTOR data;
    REGHANDLE provider;

    (void)register_provider(&control_guid);
    CHECK_IN_CHILD(ck_pr_load_32(&board->enabled) != 0);
    CHECK_IN_CHILD(EventRegister(&modern_guid, NULL, NULL, &provider) == ERROR_SUCCESS);
    EventDataDescCreate(&data, &number, sizeof number);
    for (uint32_t event = 0; event < SOME; event++) {
        CHECK_IN_CHILD(log_number(enabling_session(), number) == ERROR_NOT_ENOUGH_MEMORY);
        CHECK_IN_CHILD(EventWrite(provider, &descriptor, 1, &data) == ERROR_NOT_ENOUGH_MEMORY);
        (void)ck_pr_faa_32(&board->lost, 2);
    }
    return 0;
}

static int short_program_that_is_killed(void)
{
    CHECK_IN_CHILD(short_program() == 0);
    ck_pr_inc_32(&board->steps);
    (void)pause();
    return 0;
}

/*
 * They live when the host goes on, have ended or were killed; each process that counts sees the
 * same.
 */
static void what_is_logged_before_a_still_host_answers_is_counted(void **state)
{
    int host = start_still_host(host_of_counted);
    int killed;
    int living;

    (void)state;
    killed = start_program(short_program_that_is_killed);
    assert_true(comes_to(&board->steps, 2));
    kill_program(killed);
    assert_int_equal(exit_code_of(start_program(short_program)), 0);
    living = start_program(logging_program);
    assert_true(comes_to(&board->lost, 4 * SOME + 1));
    assert_int_equal(board->logged, 0);
    assert_int_equal(kill(host, SIGCONT), 0);
    assert_true(comes_to(&board->logged, SOME));
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(living), 0);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(host), 0);
    assert_int_equal(board->refused, 0);
    assert_int_equal(count_events(folder_path("log.etl")), board->logged);
}

/* ---- two sessions ---------------------------------------------------------------------------- */

/*
 * One event for both: the living one has it, and the still one counts it. On a busy machine the
 * living one may answer late, and counts what it has lost until then.
 */
static int program_of_two(void)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = LEVEL, .Keyword = 0x10};
    uint64_t number = 7;
    EVENT_DATA_DESCRIPTOR data;
    REGHANDLE provider;

    CHECK_IN_CHILD(EventRegister(&modern_guid, NULL, NULL, &provider) == ERROR_SUCCESS);
    EventDataDescCreate(&data, &number, sizeof number);
    for (uint32_t recorded = 0; recorded < SOME;) {
        uint32_t code = EventWrite(provider, &descriptor, 1, &data);

        CHECK_IN_CHILD(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
        ck_pr_inc_32(&board->lost);
        recorded += code == ERROR_SUCCESS;
        if (code != ERROR_SUCCESS) {
            ck_pr_inc_32(&board->refused);
            (void)usleep(PAUSE_US);
        }
    }
    return 0;
}

static void a_still_host_keeps_no_event_from_another_session(void **state)
{
    int host = start_still_host(host_of_counted);
    etwas_trace_handle session = start_in_file("living", "living.etl");
    etwas_session_counts counts;

    (void)state;
    assert_int_equal(enable_with_timeout(session, &modern_guid, 0), ERROR_SUCCESS);
    assert_int_equal(exit_code_of(start_program(program_of_two)), 0);
    assert_int_equal(kill(host, SIGCONT), 0);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(host), 0);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, SOME);
    assert_int_equal(counts.lost, board->refused);
}

/* ---- what is known of it --------------------------------------------------------------------- */

static void a_session_of_a_still_host_is_told_from_its_entry(void **state)
{
    int host = start_still_host(host_of_counted);
    EVENT_TRACE_PROPERTIES *blocks[2];
    struct block first;
    struct block second;
    uint32_t count = 0;

    (void)state;
    prepare_block(&first, NULL);
    prepare_block(&second, NULL);
    blocks[0] = &first.properties;
    blocks[1] = &second.properties;
    assert_int_equal(QueryAllTracesA(blocks, 2, &count), ERROR_SUCCESS);
    assert_int_equal(count, 1);
    assert_string_equal(first.session_name, "still");
    assert_int_equal(first.properties.BufferSize, 0);
    assert_int_equal((uintptr_t)first.properties.LoggerThreadId, host);
    assert_int_equal(QueryTraceA(0, "still", &second.properties), ERROR_TIMEOUT);
    assert_string_equal(second.session_name, "still");
    assert_int_equal(kill(host, SIGCONT), 0);
    assert_int_equal(
        QueryTraceA(first.properties.Wnode.HistoricalContext, NULL, &second.properties),
        ERROR_SUCCESS);
    assert_true(second.properties.BufferSize != 0);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(host), 0);
}

/* ---- a provider that stands still ------------------------------------------------------------ */

/* R190: the timeout is the caller's, and other providers are notified meanwhile. */
static void a_still_provider_is_waited_for_until_the_timeout(void **state)
{
    etwas_trace_handle session = start_in_file("enabling", "log.etl");
    int still = start_program(idle_program);
    int living;

    (void)state;
    assert_true(comes_to(&board->registered, 1));
    assert_int_equal(kill(still, SIGSTOP), 0);
    living = start_program(idle_program);
    assert_true(comes_to(&board->registered, 2));
    assert_int_equal(enable_with_timeout(session, &control_guid, SHORT_MS), ERROR_TIMEOUT);
    assert_true(comes_to(&board->enabled, 1));
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    assert_int_equal(kill(still, SIGCONT), 0);
    assert_true(comes_to(&board->enabled, 3));
    (void)stop_by_handle(session);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(living), 0);
    assert_int_equal(exit_code_of(still), 0);
}

/* ---- a guest that closes what it did not open ------------------------------------------------ */

/*
 * Closes all descriptors, as daemon does. It goes on logging into the session that it is attached
 * to, in its own slot.
 */
static int program_without_descriptors(void)
{
    (void)register_provider(&control_guid);
    CHECK_IN_CHILD(comes_to(&board->enabled, 1));
    log_until_recorded(7);
    (void)syscall(SYS_close_range, 3, UINT_MAX, 0);
    ck_pr_inc_32(&board->steps);
    while (ck_pr_load_32(&board->end) == 0) {
        log_until_recorded(7);
        (void)usleep(PAUSE_US);
    }
    return 0;
}

static uint8_t state_of_slot(etwas_trace_handle session, uint32_t number)
{
    struct etwas_held_session held;
    uint8_t found;

    etwas_service_wait_idle(etwas_monotonic_ns() + SETTLE_NS);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(etwas_session_hold(session, &held), ERROR_SUCCESS);
    found = ck_pr_load_8(&held.session->buffers.pool->guests[number]);
    etwas_session_release(&held);
    return found;
}

/* About guests: byte 0 of a file is that of its process, and asked for by each look. */
static uint32_t lock_questions;

int __real_fcntl(int descriptor, int command, void *argument);
int __wrap_fcntl(int descriptor, int command, void *argument);

int __wrap_fcntl(int descriptor, int command, void *argument)
{
    ck_pr_add_32(&lock_questions,
                 command == F_OFD_GETLK && ((const struct flock *)argument)->l_start != 0);
    return __real_fcntl(descriptor, command, argument);
}

/* Its slot is another's when it is dead, and no sooner. */
static void a_guest_that_closes_its_connection_keeps_its_slot(void **state)
{
    etwas_trace_handle session = start_in_file("closing", "log.etl");
    uint32_t questions;
    int closing;
    int other;

    (void)state;
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    closing = start_program(program_without_descriptors);
    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(state_of_slot(session, 0), ETWAS_GUEST_LIVES);
    other = start_program(idle_program);
    assert_true(comes_to(&board->enabled, 2));
    assert_int_equal(state_of_slot(session, 1), ETWAS_GUEST_LIVES);
    /*
     * No thread asks again and again whether it is still there. Only time can show it: one that did
     * would be no thread of which something else can be heard.
     */
    questions = ck_pr_load_32(&lock_questions);
    (void)usleep(QUIET_US);
    assert_int_equal(ck_pr_load_32(&lock_questions), questions);
    kill_program(closing);
    while (state_of_slot(session, 0) != ETWAS_GUEST_NONE) {
        (void)usleep(PAUSE_US);
    }
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(other), 0);
    assert_int_equal(stop_by_handle(session), board->lost);
}

static void a_session_may_end_before_a_guest_that_closes_its_connection(void **state)
{
    etwas_trace_handle session = start_in_file("first", "first.etl");
    int closing;
    int other;

    (void)state;
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    closing = start_program(program_without_descriptors);
    assert_true(comes_to(&board->steps, 1));
    assert_int_equal(state_of_slot(session, 0), ETWAS_GUEST_LIVES);
    (void)stop_by_handle(session);
    /* The next one has its entry, and its rows. */
    session = start_in_file("second", "second.etl");
    assert_int_equal(enable_with_timeout(session, &control_guid, 0), ERROR_SUCCESS);
    other = start_program(idle_program);
    assert_true(comes_to(&board->enabled, 2));
    assert_int_equal(state_of_slot(session, 0), ETWAS_GUEST_LIVES);
    kill_program(closing);
    assert_int_equal(state_of_slot(session, 0), ETWAS_GUEST_LIVES);
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(other), 0);
    assert_int_equal(stop_by_handle(session), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PROGRAMS_TEST(what_is_logged_before_a_still_host_answers_is_counted),
        PROGRAMS_TEST(a_still_host_keeps_no_event_from_another_session),
        PROGRAMS_TEST(a_session_of_a_still_host_is_told_from_its_entry),
        PROGRAMS_TEST(a_still_provider_is_waited_for_until_the_timeout),
        PROGRAMS_TEST(a_guest_that_closes_its_connection_keeps_its_slot),
        PROGRAMS_TEST(a_session_may_end_before_a_guest_that_closes_its_connection),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
