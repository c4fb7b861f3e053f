/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Real time across programs: a provider in one process, its session in another, consumers in others still, by public
 * calls alone. Each event has a number, and each consumer says of each number how often it got it.
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

#include "session/fixture.h"

#define SESSION "live over programs"

enum {
    CONSUMERS = 3,
    MOST_EVENTS = 400000,
    EVENTS = 20000,
    FIRST = 100,
    PAUSE_US = 500,
    PAUSES = 200000,
};

#define NEVER UINT32_MAX

/* What a consumer of the test says of itself. */
struct seat {
    uint32_t is_open; /* OpenTrace has returned */
    uint32_t events;
    uint32_t backwards; /* events whose numbers do not follow the one before */
    uint32_t notices;   /* Lost_Event */
    uint32_t blocks_at; /* at the event with this number it stays */
    uint32_t is_blocked;
    uint32_t closes_at; /* at the event with this number another thread closes the trace */
    uint8_t got[MOST_EVENTS];
};

/* In memory that all processes of a test share. */
struct board {
    uint32_t has_session;
    uint32_t queue_kb; /* of each consumer */
    uint32_t is_to_stop;
    etwas_session_counts counts; /* when it has stopped */
    uint32_t wanted;             /* so many events shall be logged */
    uint32_t logged;             /* recorded */
    uint32_t refused;
    uint32_t ends; /* the provider shall */
    struct seat seats[CONSUMERS];
};

static struct board *board;

static int begin(void **state)
{
    (void)folder_setup(state);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED) {
        return -1;
    }
    for (uint32_t index = 0; index < CONSUMERS; index++) {
        board->seats[index].blocks_at = NEVER;
        board->seats[index].closes_at = NEVER;
    }
    return setenv("ETWAS_SHARED", "1", 1) | setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1);
}

static int end(void **state)
{
    (void)munmap(board, sizeof *board);
    return folder_teardown(state);
}

static bool comes_to(const uint32_t *count, uint32_t wanted)
{
    for (uint32_t pause = 0; pause < PAUSES; pause++) {
        if (ck_pr_load_32(count) >= wanted) {
            return true;
        }
        (void)usleep(PAUSE_US);
    }
    return false;
}

static int start(int (*run)(uint32_t), uint32_t argument)
{
    int child = fork_child();

    if (child == 0) {
        exit(run(argument));
    }
    return child;
}

static void end_by(int child, int signal_number)
{
    int status;

    assert_int_equal(kill(child, signal_number), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* ---- the host's process ------------------------------------------------------------------------ */

static int host(uint32_t is_left_running)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE | EVENT_TRACE_USE_MS_FLUSH_TIMER,
        .flush_timer = 5,
        .buffer_size_kb = 128, /* more than one message takes */
        .clock = ETWAS_CLOCK_QPC,
        .consumer_queue_kb = board->queue_kb,
        .backlog_folder = folder_path("."),
        .sharing = ETWAS_SHARING_USER,
    };
    etwas_trace_handle session;

    CHECK_IN_CHILD(etwas_start(SESSION, NULL, &options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(EnableTrace(EVENT_CONTROL_CODE_ENABLE_PROVIDER, 0, 4, &control_guid, session) ==
                   ERROR_SUCCESS);
    ck_pr_store_32(&board->has_session, 1);
    CHECK_IN_CHILD(comes_to(&board->is_to_stop, 1));
    if (is_left_running != 0) {
        return 0;
    }
    CHECK_IN_CHILD(etwas_stop(session, &board->counts) == ERROR_SUCCESS);
    return 0;
}

static void stop_session_of(int process)
{
    const etwas_session_counts *counts = &board->counts;

    ck_pr_store_32(&board->is_to_stop, 1);
    assert_int_equal(exit_code_of(process), 0);
    assert_int_equal(board->logged + board->refused,
                     counts->recorded + counts->overwritten + counts->lost);
}

/* ---- the provider's process -------------------------------------------------------------------- */

static uint64_t enabling; /* the session */

static uint32_t on_request(WMIDPREQUESTCODE request, void *context, uint32_t *bytes, void *buffer)
{
    (void)context;
    (void)bytes;
    if (request == WMI_ENABLE_EVENTS) {
        ck_pr_store_64(&enabling, GetTraceLoggerHandle(buffer));
    }
    return ERROR_SUCCESS;
}

/* Logs numbers, up to the one that is wanted; one that is refused is tried again. */
static int provider(uint32_t argument)
{
    etwas_trace_handle registration;
    uint32_t number = 0;

    (void)argument;
    CHECK_IN_CHILD(RegisterTraceGuidsA(on_request, NULL, &control_guid, 0, NULL, NULL, NULL,
                                       &registration) == ERROR_SUCCESS);
    CHECK_IN_CHILD(ck_pr_load_64(&enabling) != 0);
    while (ck_pr_load_32(&board->ends) == 0) {
        if (number == ck_pr_load_32(&board->wanted)) {
            (void)usleep(PAUSE_US);
        } else if (log_number(ck_pr_load_64(&enabling), number) == ERROR_SUCCESS) {
            ck_pr_store_32(&board->logged, ++number);
        } else {
            ck_pr_inc_32(&board->refused);
            (void)usleep(PAUSE_US);
        }
    }
    CHECK_IN_CHILD(UnregisterTraceGuids(registration) == ERROR_SUCCESS);
    return 0;
}

static void log_up_to(uint32_t wanted)
{
    ck_pr_store_32(&board->wanted, wanted);
    assert_true(comes_to(&board->logged, wanted));
}

static void end_provider(int process)
{
    ck_pr_store_32(&board->ends, 1);
    assert_int_equal(exit_code_of(process), 0);
}

/* ---- a consumer's process ---------------------------------------------------------------------- */

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

/* Returns what ProcessTrace does. */
static int consumer(uint32_t number)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LoggerName = (char *)(uintptr_t)SESSION,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = on_event,
    };
    uint32_t code;

    seat = &board->seats[number];
    trace = OpenTraceA(&logfile);
    CHECK_IN_CHILD(trace != INVALID_PROCESSTRACE_HANDLE);
    CHECK_IN_CHILD(logfile.LogfileHeader.BufferSize == 128 * 1024);
    ck_pr_store_32(&seat->is_open, 1);
    code = ProcessTrace(&trace, 1, NULL, NULL);
    CHECK_IN_CHILD(CloseTrace(trace) ==
                   (seat->closes_at == NEVER ? (uint32_t)ERROR_SUCCESS : ERROR_INVALID_HANDLE));
    return code == ERROR_SUCCESS ? 0 : code == ERROR_WMI_INSTANCE_NOT_FOUND ? 2 : 3;
}

static int start_consumer(uint32_t number)
{
    int child = start(consumer, number);

    assert_true(comes_to(&board->seats[number].is_open, 1));
    return child;
}

/* ---- what was got ------------------------------------------------------------------------------ */

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
    assert_int_equal(board->counts.recorded, board->logged);
    assert_int_equal(board->counts.lost, board->refused);
    assert_int_equal(board->counts.realtime_buffers_lost, 0);
}

/* ---- the tests --------------------------------------------------------------------------------- */

/* R171, R172, R174: what was flushed before the first consumer came, and then each event, once, in order, to each. */
static void consumers_of_other_processes_get_every_event(void **state)
{
    int session = start(host, 0);
    int logging;
    int first;
    int second;

    (void)state;
    assert_true(comes_to(&board->has_session, 1));
    logging = start(provider, 0);
    log_up_to(EVENTS / 2);
    first = start_consumer(0);
    assert_true(comes_to(&board->seats[0].events, EVENTS / 2));
    second = start_consumer(1);
    log_up_to(EVENTS);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(first), 0);
    assert_int_equal(exit_code_of(second), 0);
    expect_all_from(&board->seats[0], 0);
    expect_all_from(&board->seats[1], EVENTS / 2);
    expect_nothing_was_lost();
}

/* R174: with the trace closed by another thread of the consumer's, the next consumer gets what it did not. */
static void a_consumer_that_leaves_hands_over(void **state)
{
    int session = start(host, 0);
    int logging;
    int first;
    int second;

    (void)state;
    board->seats[0].closes_at = EVENTS / 3;
    assert_true(comes_to(&board->has_session, 1));
    logging = start(provider, 0);
    first = start_consumer(0);
    log_up_to(EVENTS / 2);
    assert_int_equal(exit_code_of(first), 0);
    log_up_to(EVENTS);
    second = start_consumer(1);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(second), 0);
    for (uint32_t number = 0; number < EVENTS; number++) {
        assert_int_equal(board->seats[0].got[number] + board->seats[1].got[number], 1);
    }
    assert_true(board->seats[0].events < EVENTS);
    assert_int_equal(board->seats[1].backwards, 0);
    expect_nothing_was_lost();
}

/* Whatever a killed consumer had in part is given again, and nothing is missing. */
static void the_next_consumer_goes_on_where_one_was_killed(void **state)
{
    int session = start(host, 0);
    uint32_t begins = 0;
    int logging;
    int first;
    int second;

    (void)state;
    board->seats[0].blocks_at = EVENTS / 3;
    assert_true(comes_to(&board->has_session, 1));
    logging = start(provider, 0);
    first = start_consumer(0);
    log_up_to(EVENTS);
    assert_true(comes_to(&board->seats[0].is_blocked, 1));
    end_by(first, SIGKILL);
    second = start_consumer(1);
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(second), 0);
    while (board->seats[1].got[begins] == 0) {
        begins++;
    }
    assert_true(begins <= EVENTS / 3 + 1);
    expect_all_from(&board->seats[1], begins);
    expect_nothing_was_lost();
}

/* R175: one that does nothing any more loses events, and neither the session nor another consumer does. */
static void a_consumer_that_hangs_harms_nobody(void **state)
{
    int session;
    int logging;
    int hanging;
    int second;

    (void)state;
    board->queue_kb = 4096;
    session = start(host, 0);
    assert_true(comes_to(&board->has_session, 1));
    logging = start(provider, 0);
    hanging = start_consumer(0);
    log_up_to(FIRST);
    assert_true(comes_to(&board->seats[0].events, FIRST));
    assert_int_equal(kill(hanging, SIGSTOP), 0);
    second = start_consumer(1);
    /* Piece by piece, so that the other one is never behind by more than its queue. */
    for (uint32_t logged = FIRST + EVENTS; logged <= MOST_EVENTS; logged += EVENTS) {
        log_up_to(logged);
        assert_true(comes_to(&board->seats[1].events, logged - FIRST));
    }
    end_provider(logging);
    stop_session_of(session);
    assert_int_equal(exit_code_of(second), 0);
    assert_int_equal(kill(hanging, SIGCONT), 0);
    /* Its host has ended with more to send than it could. */
    assert_int_equal(exit_code_of(hanging), 2);
    assert_true(board->counts.realtime_buffers_lost > 0);
    assert_int_equal(board->counts.recorded, board->logged);
    assert_int_equal(board->counts.lost, board->refused);
    expect_all_from(&board->seats[1], FIRST);
}

/* It is given what had come, and is told why there is no more. */
static void a_consumer_whose_host_is_killed_comes_to_an_end(void **state)
{
    int session = start(host, 0);
    int logging;
    int first;

    (void)state;
    assert_true(comes_to(&board->has_session, 1));
    logging = start(provider, 0);
    first = start_consumer(0);
    log_up_to(EVENTS);
    assert_true(comes_to(&board->seats[0].events, EVENTS));
    end_by(session, SIGKILL);
    assert_int_equal(exit_code_of(first), 2);
    expect_all_from(&board->seats[0], 0);
    end_provider(logging);
}

/* A process that ends with its session running sends its consumers all the same what they have to get. */
static void a_host_that_exits_ends_its_consumers(void **state)
{
    int session = start(host, 1);
    int logging;
    int first;

    (void)state;
    assert_true(comes_to(&board->has_session, 1));
    logging = start(provider, 0);
    first = start_consumer(0);
    log_up_to(EVENTS);
    end_provider(logging);
    ck_pr_store_32(&board->is_to_stop, 1);
    assert_int_equal(exit_code_of(session), 0);
    assert_int_equal(exit_code_of(first), 0);
    expect_all_from(&board->seats[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(consumers_of_other_processes_get_every_event, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_that_leaves_hands_over, begin, end),
        cmocka_unit_test_setup_teardown(the_next_consumer_goes_on_where_one_was_killed, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_that_hangs_harms_nobody, begin, end),
        cmocka_unit_test_setup_teardown(a_consumer_whose_host_is_killed_comes_to_an_end, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_host_that_exits_ends_its_consumers, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
