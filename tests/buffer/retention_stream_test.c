/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What others see of a session with retention classes: consumers in real time, and a snapshot from
 * a signal handler, have each class's events once and in order; and what a class overwrites are its
 * oldest ones.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "class_case.h"
#include "support/folder.h"
#include "support/start.h"

/* ---- in real time ---------------------------------------------------------------------------- */

enum {
    LEVELS = 4,
    EACH = 20000,
};

struct logging {
    etwas_trace_handle session;
    uint8_t level;
    uint64_t refused;
    pthread_t thread;
};

static void *log_a_level(void *argument)
{
    struct logging *logging = argument;

    for (uint64_t number = 0; number < EACH; number++) {
        logging->refused += log_one(logging->session, logging->level, number) != ERROR_SUCCESS;
    }
    return NULL;
}

static void *consume(void *argument)
{
    return (void *)(uintptr_t)ProcessTrace(argument, 1, NULL, NULL);
}

static etwas_trace_handle open_session(etwas_trace_handle session)
{
    etwas_wchar *name = session_name(session);
    EVENT_TRACE_LOGFILEW log = {.LoggerName = name, .EventRecordCallback = take};
    etwas_trace_handle trace;

    log.ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD |
                           PROCESS_TRACE_MODE_RAW_TIMESTAMP;
    memset(&found, 0, sizeof found);
    trace = OpenTraceW(&log);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    return trace;
}

/* A thread for each level; the first two levels are classes, the others what is left. */
static void a_consumer_has_each_class_once_and_in_order(void **state)
{
    static const etwas_retention_class classes[] = {{.level = 1, .share_percent = 20},
                                                    {.level = 2, .share_percent = 30}};
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                           .clock = ETWAS_CLOCK_QPC,
                                           .buffer_size_kb = 4,
                                           .minimum_buffers = 64,
                                           .classes = classes,
                                           .class_count = 2};
    struct logging logging[LEVELS];
    etwas_trace_handle session = start_session(NULL, &options);
    etwas_trace_handle trace = open_session(session);
    pthread_t consumer;
    void *code;

    (void)state;
    assert_int_equal(pthread_create(&consumer, NULL, consume, &trace), 0);
    for (uint8_t index = 0; index < LEVELS; index++) {
        logging[index] = (struct logging){.session = session, .level = (uint8_t)(index + 1)};
        assert_int_equal(pthread_create(&logging[index].thread, NULL, log_a_level, &logging[index]),
                         0);
    }
    for (uint32_t index = 0; index < LEVELS; index++) {
        assert_int_equal(pthread_join(logging[index].thread, NULL), 0);
    }
    stop_session(session, NULL);
    assert_int_equal(pthread_join(consumer, &code), 0);
    assert_int_equal((uintptr_t)code, ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(found.wrong, 0);
    assert_int_equal(found.out_of_order, 0);
    assert_int_equal(found.out_of_turn, 0);
    assert_int_equal(found.elsewhere, 0);
    for (uint32_t number = 0; number < 2; number++) {
        etwas_retention_class_state class = state_of(session, 1 + number);

        assert_int_equal(class.attempted, EACH);
        assert_int_equal(class.lost, logging[number].refused);
        assert_int_equal(class.recorded, found.count[1 + number]);
    }
    assert_int_equal(state_of(session, 0).recorded, found.count[3] + found.count[4]);
    assert_int_equal(state_of(session, 0).lost, logging[2].refused + logging[3].refused);
    expect_sums(session, 2);
}

/* ---- from a signal handler ------------------------------------------------------------------- */

static etwas_prepared_snapshot *prepared;
static uint32_t snapshot_code;

static void take_snapshot(int number)
{
    (void)number;
    snapshot_code = etwas_snapshot_signal_safe(prepared);
}

static void a_handlers_snapshot_has_the_errors_before_the_storm(void **state)
{
    struct sigaction action = {.sa_handler = take_snapshot};
    struct sigaction before;
    int descriptor = open(folder_path("handler.etl"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    etwas_trace_handle session = start_session(NULL, &recorder);

    (void)state;
    assert_true(descriptor >= 0);
    assert_int_equal(etwas_snapshot_prepare(session, descriptor, &prepared), ERROR_SUCCESS);
    log_errors_in_a_storm(session);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(snapshot_code, ERROR_SUCCESS);
    read_file(folder_path("handler.etl"));
    assert_int_equal(found.count[ERROR], ERRORS);
    assert_int_equal(found.count[VERBOSE], state_of(session, 0).recorded);
    assert_true(found.count[VERBOSE] < STORM);
    expect_sums(session, 1);
    stop_session(session, NULL);
    etwas_snapshot_discard(prepared);
    assert_int_equal(close(descriptor), 0);
}

/* ---- what is overwritten --------------------------------------------------------------------- */

/*
 * So many of a tag's events that were logged are there, and each of them is newer than all that are
 * not.
 */
static void expect_newest(uint32_t tag, uint64_t logged, uint64_t recorded)
{
    assert_int_equal(found.count[tag], recorded);
    assert_int_equal(found.out_of_turn, 0);
    for (uint64_t number = 0; number < logged; number++) {
        assert_int_equal(found.seen[tag][number], number >= logged - recorded);
    }
}

/*
 * On one processor, whose buffers a storm has taken all of: the class gets its share back, then
 * overwrites its own, wherever these lie.
 */
static void a_class_overwrites_its_oldest(void **state)
{
    etwas_trace_handle session;

    (void)state;
    stay_on_one_processor();
    session = start_session(NULL, &recorder);
    for (uint64_t number = 0; number < STORM; number++) {
        assert_int_equal(log_one(session, VERBOSE, number), ERROR_SUCCESS);
        if (number % 3 == 0) {
            assert_int_equal(log_one(session, ERROR, number / 3), ERROR_SUCCESS);
        }
    }
    assert_true(state_of(session, 1).overwritten > 0);
    assert_true(state_of(session, 0).overwritten > 0);
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    read_file(folder_path("s.etl"));
    expect_newest(ERROR, (STORM + 2) / 3, state_of(session, 1).recorded);
    expect_newest(VERBOSE, STORM, state_of(session, 0).recorded);
    expect_sums(session, 1);
    stop_session(session, NULL);
    leave_one_processor();
}

/*
 * The class's first buffers lie in the midst of the pool. The next ones, which were lent to other
 * classes and come back, lie before these.
 */
static void also_where_its_buffers_lie_in_another_order(void **state)
{
    etwas_session_options options = recorder;
    etwas_trace_handle session;
    uint64_t verbose = 0;
    uint64_t errors = 0;

    (void)state;
    stay_on_one_processor();
    options.minimum_buffers = 100;
    session = start_session(NULL, &options);
    while (state_of(session, 0).buffers < 50) {
        assert_int_equal(log_one(session, VERBOSE, verbose++), ERROR_SUCCESS);
    }
    while (state_of(session, 1).buffers < 5) {
        assert_int_equal(log_one(session, ERROR, errors++), ERROR_SUCCESS);
    }
    while (state_of(session, 0).overwritten == 0) {
        assert_int_equal(log_one(session, VERBOSE, verbose++), ERROR_SUCCESS);
    }
    while (state_of(session, 1).overwritten == 0) {
        assert_int_equal(log_one(session, ERROR, errors++), ERROR_SUCCESS);
    }
    assert_int_equal(etwas_snapshot(session, folder_path("s.etl")), ERROR_SUCCESS);
    read_file(folder_path("s.etl"));
    expect_newest(ERROR, errors, state_of(session, 1).recorded);
    expect_newest(VERBOSE, verbose, state_of(session, 0).recorded);
    expect_sums(session, 1);
    stop_session(session, NULL);
    leave_one_processor();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_consumer_has_each_class_once_and_in_order),
        FOLDER_TEST(a_handlers_snapshot_has_the_errors_before_the_storm),
        FOLDER_TEST(a_class_overwrites_its_oldest),
        FOLDER_TEST(also_where_its_buffers_lie_in_another_order),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
