/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real time across programs: a provider in one process, its session in another, consumers in others
 * still, by public calls alone. Each event has a number, and each consumer says of each number how
 * often it got it.
 */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/shared.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sharing/programs.h"

#define SESSION "live over programs"

enum {
    CONSUMERS = 3,
    MOST_CONSUMERS = 64, /* of a session, in other processes (docs/reference/modes.md) */
    MOST_EVENTS = 400000,
    EVENTS = 20000,
    FIRST = 100,
    PAUSE_US = 500,
};

#define NEVER UINT32_MAX

/* What a consumer of the test says of itself. */
struct seat {
    uint32_t is_open; /* OpenTrace has returned */
    uint32_t events;
    uint32_t backwards; /* events with a number that does not follow the one before */
    uint32_t notices;   /* Lost_Event */
    uint32_t blocks_at; /* at the event with this number it stays */
    uint32_t is_blocked;
    uint32_t closes_at; /* at the event with this number another thread closes the trace */
    uint8_t got[MOST_EVENTS];
};

/* In memory that all processes of a test share, beside the board. */
struct audience {
    uint32_t queue_kb;           /* of each consumer */
    etwas_session_counts counts; /* when the session has stopped */
    uint32_t wanted;             /* so many events shall be logged */
    struct seat seats[CONSUMERS];
};

static struct audience *audience;

static int begin(void **state)
{
    if (programs_begin(state) != 0) {
        return -1;
    }
    audience = shared_memory(sizeof *audience);
    for (uint32_t index = 0; audience != NULL && index < CONSUMERS; index++) {
        audience->seats[index].blocks_at = NEVER;
        audience->seats[index].closes_at = NEVER;
    }
    return audience == NULL ? -1 : 0;
}

static int end(void **state)
{
    (void)munmap(audience, sizeof *audience);
    return programs_end(state);
}

/* ---- the host's process ---------------------------------------------------------------------- */

static etwas_trace_handle start_live(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .flush_timer = 5,
        .buffer_size_kb = 128, /* more than one message takes */
        .clock = ETWAS_CLOCK_QPC,
        .consumer_queue_kb = audience->queue_kb,
        .backlog_folder = folder_path("."),
        .sharing = ETWAS_SHARING_USER,
    };
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start(SESSION, NULL, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 4, &control_guid, session) ==
                   ERROR_SUCCESS);
    ck_pr_store_32(&board->steps, 1);
    CHECK_IN_CHILD(comes_to(&board->go, 1));
    return session;
}

static int stopping_host(void)
{
    etwas_trace_handle session = start_live();

    CHECK_IN_CHILD(etwas_stop(session, &audience->counts) == ERROR_SUCCESS);
    return 0;
}

static int exiting_host(void)
{
    (void)start_live();
    return 0;
}

static int start_host(int (*run)(void))
{
    int child = start_program(run);

    assert_true(comes_to(&board->steps, 1));
    return child;
}

static void stop_session_of(int process)
{
    const etwas_session_counts *counts = &audience->counts;

    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(process), 0);
    assert_int_equal(board->logged + board->lost,
                     counts->recorded + counts->overwritten + counts->lost);
}

/* ---- the provider's process ------------------------------------------------------------------ */

/* Logs numbers, up to the one that is wanted; one that is lost is tried again. */
static int provider(void)
{
    etwas_trace_handle registration = register_provider(&control_guid);
    uint32_t number = 0;

    CHECK_IN_CHILD(enabling_session() != 0);
    while (ck_pr_load_32(&board->end) == 0) {
        if (number == ck_pr_load_32(&audience->wanted) || enabling_session() == 0) {
            (void)usleep(PAUSE_US);
        } else if (log_number(enabling_session(), number) == ERROR_SUCCESS) {
            ck_pr_store_32(&board->logged, ++number);
        } else {
            ck_pr_inc_32(&board->lost);
            (void)usleep(PAUSE_US);
        }
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void log_up_to(uint32_t wanted)
{
    ck_pr_store_32(&audience->wanted, wanted);
    assert_true(comes_to(&board->logged, wanted));
}

static void end_provider(int process)
{
    ck_pr_store_32(&board->end, 1);
    assert_int_equal(exit_code_of(process), 0);
}

/* ---- a consumer's process -------------------------------------------------------------------- */

static struct seat *seat; /* of this process */
static etwas_trace_handle trace;

static void *close_trace(void *argument)
{
    (void)CloseTrace(trace);
    return argument;
}

static void on_event(EVENT_RECORD *record)
{
    static uint64_t expected;
    pthread_t closer;
    uint64_t number;

    if (memcmp(&record->EventHeader.ProviderId, &event_class, sizeof event_class) != 0) {
        ck_pr_inc_32(&seat->notices);
        return;
    }
    memcpy(&number, record->UserData, sizeof number);
    seat->backwards += seat->events != 0 && number != expected;
    expected = number + 1;
    seat->got[number]++;
    ck_pr_inc_32(&seat->events);
    if (number == seat->closes_at) {
        (void)pthread_create(&closer, NULL, close_trace, NULL);
        (void)pthread_join(closer, NULL);
    }
    if (number >= ck_pr_load_32(&seat->blocks_at)) {
        ck_pr_store_32(&seat->is_blocked, 1);
        while (ck_pr_load_32(&seat->blocks_at) != NEVER) {
            (void)usleep(PAUSE_US);
        }
    }
}

static void open_trace(void)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LoggerName = (char *)(uintptr_t)SESSION,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_event,
    };
    TRACE_LOGFILE_HEADER header;
    uint32_t bytes;

    trace = OpenTraceA(&logfile);
    CHECK_IN_CHILD(trace != INVALID_PROCESSTRACE_HANDLE);
    CHECK_IN_CHILD(logfile.LogfileHeader.BufferSize == 128 * 1024);
    CHECK_IN_CHILD(QueryTraceProcessingHandle(trace, EtwQueryLogFileHeader, NULL, 0, &header,
                                              sizeof header, &bytes) == ERROR_SUCCESS);
    CHECK_IN_CHILD(header.BufferSize == 128 * 1024 && bytes == sizeof header);
    ck_pr_store_32(&seat->is_open, 1);
}

/* Returns what ProcessTrace does. */
static int process_trace(void)
{
    uint32_t code = ProcessTrace(&trace, 1, NULL, NULL);

    CHECK_IN_CHILD(CloseTrace(trace) ==
                   (seat->closes_at == NEVER ? (uint32_t)ERROR_SUCCESS : ERROR_INVALID_HANDLE));
    return code == ERROR_SUCCESS ? 0 : code == ERROR_WMI_INSTANCE_NOT_FOUND ? 2 : 3;
}

static int consumer(void)
{
    open_trace();
    return process_trace();
}

/*
 * Its child has nothing of the parent's trace, in seat 1, and may have one of its own, in seat 2.
 */
static int consumer_that_forks(void)
{
    int child;

    open_trace();
    child = fork_child();
    if (child == 0) {
        seat = &audience->seats[1];
        (void)process_trace();
        seat = &audience->seats[2];
        return consumer();
    }
    CHECK_IN_CHILD(process_trace() == 0);
    return exit_code_of(child);
}

static int start_consumer(uint32_t number)
{
    int child;

    seat = &audience->seats[number];
    child = start_program(consumer);
    assert_true(comes_to(&seat->is_open, 1));
    return child;
}

/* ---- what was got ---------------------------------------------------------------------------- */

/* It got all from that one on, once, in order. */
static void expect_all_from(const struct seat *got, uint32_t first)
{
    for (uint32_t number = 0; number < board->logged; number++) {
        assert_int_equal(got->got[number], number >= first);
    }
    assert_int_equal(got->backwards, 0);
    assert_int_equal(got->notices, 0);
}

static void expect_nothing_was_lost(void)
{
    assert_int_equal(audience->counts.recorded, board->logged);
    assert_int_equal(audience->counts.lost, board->lost);
    assert_int_equal(audience->counts.realtime_buffers_lost, 0);
}

/* ---- the tests ------------------------------------------------------------------------------- */

/*
 * R171, R172, R174: what was flushed before the first consumer came, and then each event, once, in
 * order, to each.
 */
static void consumers_of_other_processes_get_every_event(void **state)
{
    int session = start_host(stopping_host);
    int logging;
    int first;
    int second;

    (void)state;
    logging = start_program(provider);
    log_up_to(EVENTS / 2);
    first = start_consumer(0);
    assert_true(comes_to(&audience->seats[0].events, EVENTS / 2));
    second = start_consumer(1);
    log_up_to(EVENTS);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(first), 0);
    assert_int_equal(exit_code_of(second), 0);
    expect_all_from(&audience->seats[0], 0);
    expect_all_from(&audience->seats[1], EVENTS / 2);
    expect_nothing_was_lost();
}

/*
 * R174: with the trace closed by another thread of the consumer's, the next consumer gets what it
 * did not.
 */
static void a_consumer_that_leaves_hands_over(void **state)
{
    int session = start_host(stopping_host);
    int logging;
    int first;
    int second;

    (void)state;
    audience->seats[0].closes_at = EVENTS / 3;
    logging = start_program(provider);
    first = start_consumer(0);
    log_up_to(EVENTS / 2);
    assert_int_equal(exit_code_of(first), 0);
    log_up_to(EVENTS);
    second = start_consumer(1);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(second), 0);
    for (uint32_t number = 0; number < EVENTS; number++) {
        assert_int_equal(audience->seats[0].got[number] + audience->seats[1].got[number], 1);
    }
    assert_true(audience->seats[0].events < EVENTS);
    assert_int_equal(audience->seats[1].backwards, 0);
    expect_nothing_was_lost();
}

/* Whatever a killed consumer had in part is given again, and nothing is missing. */
static void the_next_consumer_goes_on_where_one_was_killed(void **state)
{
    int session = start_host(stopping_host);
    uint32_t begins = 0;
    int logging;
    int first;
    int second;

    (void)state;
    audience->seats[0].blocks_at = EVENTS / 3;
    logging = start_program(provider);
    first = start_consumer(0);
    log_up_to(EVENTS);
    assert_true(comes_to(&audience->seats[0].is_blocked, 1));
    kill_program(first);
    second = start_consumer(1);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(second), 0);
    while (audience->seats[1].got[begins] == 0) {
        begins++;
    }
    assert_true(begins <= EVENTS / 3 + 1);
    expect_all_from(&audience->seats[1], begins);
    expect_nothing_was_lost();
}

/*
 * R175: one that does nothing any more loses events, and neither the session nor another consumer
 * does.
 */
static void a_consumer_that_hangs_harms_nobody(void **state)
{
    int session;
    int logging;
    int hanging;
    int second;

    (void)state;
    audience->queue_kb = 4096;
    session = start_host(stopping_host);
    logging = start_program(provider);
    hanging = start_consumer(0);
    log_up_to(FIRST);
    assert_true(comes_to(&audience->seats[0].events, FIRST));
    assert_int_equal(kill(hanging, SIGSTOP), 0);
    second = start_consumer(1);
    /* Piece by piece, so that the other one is never behind by more than its queue. */
    for (uint32_t logged = FIRST + EVENTS; logged <= MOST_EVENTS; logged += EVENTS) {
        log_up_to(logged);
        assert_true(comes_to(&audience->seats[1].events, logged - FIRST));
    }
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(second), 0);
    assert_int_equal(kill(hanging, SIGCONT), 0);
    /* Its host has ended with more to send than it could. */
    assert_int_equal(exit_code_of(hanging), 2);
    assert_true(audience->counts.realtime_buffers_lost > 0);
    assert_int_equal(audience->counts.recorded, board->logged);
    assert_int_equal(audience->counts.lost, board->lost);
    expect_all_from(&audience->seats[1], FIRST);
}

/* It is given what had come, and is told why there is no more. */
static void a_consumer_whose_host_is_killed_comes_to_an_end(void **state)
{
    int session = start_host(stopping_host);
    int logging;
    int first;

    (void)state;
    logging = start_program(provider);
    first = start_consumer(0);
    log_up_to(EVENTS);
    assert_true(comes_to(&audience->seats[0].events, EVENTS));
    kill_program(session);
    assert_int_equal(exit_code_of(first), 2);
    expect_all_from(&audience->seats[0], 0);
    end_provider(logging);
}

/*
 * A process that ends with its session running sends its consumers all the same what they have to
 * get.
 */
static void a_host_that_exits_ends_its_consumers(void **state)
{
    int session = start_host(exiting_host);
    int logging;
    int first;

    (void)state;
    logging = start_program(provider);
    first = start_consumer(0);
    log_up_to(EVENTS);
    end_provider(logging);
    ck_pr_store_32(&board->go, 1);
    assert_int_equal(exit_code_of(session), 0);
    assert_int_equal(exit_code_of(first), 0);
    expect_all_from(&audience->seats[0], 0);
}

/* ---- how many -------------------------------------------------------------------------------- */

static etwas_trace_handle open_one(void)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LoggerName = (char *)(uintptr_t)SESSION,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_event,
    };

    return OpenTraceA(&logfile);
}

static int many_consumers(void)
{
    etwas_trace_handle traces[MOST_CONSUMERS];
    etwas_trace_handle one_more = INVALID_PROCESSTRACE_HANDLE;

    for (uint32_t index = 0; index < MOST_CONSUMERS; index++) {
        traces[index] = open_one();
        CHECK_IN_CHILD(traces[index] != INVALID_PROCESSTRACE_HANDLE);
    }
    CHECK_IN_CHILD(open_one() == INVALID_PROCESSTRACE_HANDLE);
    CHECK_IN_CHILD(GetLastError() == ERROR_NO_SYSTEM_RESOURCES);
    CHECK_IN_CHILD(CloseTrace(traces[0]) == ERROR_SUCCESS);
    /* Its host hears of that soon, and not at once. */
    while (one_more == INVALID_PROCESSTRACE_HANDLE) {
        one_more = open_one();
        (void)usleep(PAUSE_US); /* limit_child ends a child that waits for ever */
    }
    return 0;
}

static void a_session_has_so_many_consumers_in_other_processes(void **state)
{
    int session = start_host(stopping_host);

    (void)state;
    assert_int_equal(exit_code_of(start_program(many_consumers)), 0);
    stop_session_of(session);
}

/* Neither disturbs the other, nor the session. */
static void a_consumer_and_its_child_get_every_event(void **state)
{
    int session = start_host(stopping_host);
    int consumers;
    int logging;

    (void)state;
    seat = &audience->seats[0];
    consumers = start_program(consumer_that_forks);
    assert_true(comes_to(&audience->seats[0].is_open, 1));
    assert_true(comes_to(&audience->seats[2].is_open, 1));
    logging = start_program(provider);
    log_up_to(EVENTS);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(consumers), 0);
    expect_all_from(&audience->seats[0], 0);
    expect_all_from(&audience->seats[2], 0);
    assert_int_equal(audience->seats[1].events, 0);
    expect_nothing_was_lost();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(consumers_of_other_processes_get_every_event, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_that_leaves_hands_over, begin, end),
        cmocka_unit_test_setup_teardown(the_next_consumer_goes_on_where_one_was_killed, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_that_hangs_harms_nobody, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_and_its_child_get_every_event, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_whose_host_is_killed_comes_to_an_end, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_host_that_exits_ends_its_consumers, begin, end),
        cmocka_unit_test_setup_teardown(a_session_has_so_many_consumers_in_other_processes, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, programs_begin_all, programs_end_all);
}
