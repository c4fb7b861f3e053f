/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sequence numbers in messages (R110), and messages under load: from all processors, from signal
 * handlers, when buffers run out and when the session stops. What is in a file is exactly what
 * TraceMessage said is recorded, each message whole, each number once.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "provider/message.h"
#include "support/alarm.h"

enum {
    WRITERS = 5,
    MOST_MESSAGES = 4000,
    PATTERN_BYTES =
        600, /* the longest data: some records are put together before they are copied */
    NUMBERED = TRACE_MESSAGE_SEQUENCE | TRACE_MESSAGE_TIMESTAMP,
    INTERVAL_NS = 60000,
};

static uint8_t pattern[PATTERN_BYTES + 256];

struct writer {
    etwas_trace_handle sessions[2]; /* by turns; the second may be 0 */
    uint32_t messages;
    uint16_t id;
    pthread_t thread;
    uint32_t attempted;
    uint32_t recorded;
    uint32_t lost;
    uint32_t odd;
    uint8_t *is_recorded; /* by number of the attempt */
};

static struct writer writers[2 * WRITERS]; /* threads, and then their handlers */

static uint32_t data_bytes(uint32_t attempt)
{
    return attempt % 97 == 0 ? PATTERN_BYTES : attempt * 7 % 60;
}

/* Logs one message: writer, number, and as many bytes of the pattern. Async-signal-safe. */
static uint32_t log_message(struct writer *writer)
{
    uint32_t attempt = writer->attempted;
    etwas_trace_handle session = writer->sessions[writer->sessions[1] != 0 ? attempt % 2 : 0];
    const uint8_t *data = pattern + attempt % 256;
    uint32_t code;

    writer->attempted++;
    code = TraceMessage(session, attempt % 3 == 0 ? TRACE_MESSAGE_SEQUENCE : NUMBERED, NULL,
                        writer->id, &attempt, sizeof attempt, data, (size_t)data_bytes(attempt),
                        NULL, (size_t)0);
    writer->is_recorded[attempt] = code == ERROR_SUCCESS;
    writer->recorded += code == ERROR_SUCCESS;
    writer->lost += code == ERROR_NOT_ENOUGH_MEMORY;
    writer->odd +=
        code != ERROR_SUCCESS && code != ERROR_NOT_ENOUGH_MEMORY && code != ERROR_INVALID_HANDLE;
    return code;
}

static void prepare_writers(uint32_t count, uint32_t messages, etwas_trace_handle first,
                            etwas_trace_handle second)
{
    for (size_t index = 0; index < sizeof pattern; index++) {
        pattern[index] = (uint8_t)(index * 11 + index / 256);
    }
    memset(writers, 0, sizeof writers);
    for (uint32_t index = 0; index < count; index++) {
        writers[index] = (struct writer){.sessions = {first, second},
                                         .messages = messages,
                                         .id = (uint16_t)(index + 1),
                                         .is_recorded = calloc(messages, 1)};
        assert_non_null(writers[index].is_recorded);
    }
}

static void free_writers(void)
{
    for (uint32_t index = 0; index < 2 * WRITERS; index++) {
        free(writers[index].is_recorded);
        writers[index].is_recorded = NULL;
    }
}

static void *writer_main(void *argument)
{
    struct writer *writer = argument;

    while (writer->attempted < writer->messages && log_message(writer) != ERROR_INVALID_HANDLE) {
    }
    return NULL;
}

static void start_threads(void *(*run)(void *))
{
    for (uint32_t index = 0; index < WRITERS; index++) {
        assert_int_equal(pthread_create(&writers[index].thread, NULL, run, &writers[index]), 0);
    }
}

static void join_threads(void)
{
    for (uint32_t index = 0; index < WRITERS; index++) {
        assert_int_equal(pthread_join(writers[index].thread, NULL), 0);
        assert_int_equal(writers[index].odd, 0);
    }
}

static uint32_t sum_of_recorded(void)
{
    uint32_t sum = 0;

    for (uint32_t index = 0; index < 2 * WRITERS; index++) {
        sum += writers[index].recorded;
    }
    return sum;
}

static uint32_t sum_of_lost(void)
{
    uint32_t sum = 0;

    for (uint32_t index = 0; index < 2 * WRITERS; index++) {
        sum += writers[index].lost;
    }
    return sum;
}

/* Each message whole, recorded, and there once: marks it off. */
static void expect_whole(const struct messages *messages)
{
    for (size_t index = 0; index < messages->count; index++) {
        const struct message *message = &messages->items[index];
        struct writer *writer = &writers[message->number - 1];
        uint32_t attempt;

        assert_in_range(message->number, 1, 2 * WRITERS);
        assert_in_range(message->bytes, sizeof attempt, sizeof attempt + PATTERN_BYTES);
        memcpy(&attempt, message->data, sizeof attempt);
        assert_true(attempt < writer->attempted);
        assert_int_equal(writer->is_recorded[attempt], 1);
        writer->is_recorded[attempt] = 0;
        assert_int_equal(message->bytes, sizeof attempt + data_bytes(attempt));
        assert_memory_equal(message->data + sizeof attempt, pattern + attempt % 256,
                            data_bytes(attempt));
    }
}

static etwas_trace_handle begin(uint32_t mode, const char *file, uint32_t maximum_buffers)
{
    const etwas_session_options options = {
        .log_file_mode = mode, .buffer_size_kb = 4, .maximum_buffers = maximum_buffers};

    return start_session(folder_path(file), &options);
}

/* ---- all processors -------------------------------------------------------------------------- */

static void r110_local_numbers_count_each_sessions_messages_from_1_without_a_gap(void **state)
{
    static const char *const files[] = {"first.etl", "second.etl"};
    etwas_trace_handle sessions[2];
    struct messages messages;
    uint32_t walked = 0;

    (void)state;
    for (int index = 0; index < 2; index++) {
        sessions[index] = begin(EVENT_TRACE_USE_LOCAL_SEQUENCE, files[index], 10000);
    }
    prepare_writers(WRITERS, 2001, sessions[0], sessions[1]);
    start_threads(writer_main);
    join_threads();
    for (int index = 0; index < 2; index++) {
        etwas_session_counts counts;

        stop_session(sessions[index], &counts);
        expect_nothing_lost(counts);
        walk_messages(folder_path(files[index]), &messages);
        expect_numbers(&messages, (uint32_t)counts.recorded);
        expect_whole(&messages);
        walked += (uint32_t)messages.count;
        free_messages(&messages);
    }
    assert_int_equal(walked, WRITERS * 2001);
    free_writers();
}

static void append(struct messages *all, struct messages *more)
{
    if (more->count != 0) {
        all->items = realloc(all->items, (all->count + more->count) * sizeof *all->items);
        assert_non_null(all->items);
        memcpy(all->items + all->count, more->items, more->count * sizeof *all->items);
        all->count += more->count;
    }
    free(more->items);
}

/* The number that the next message of a session with global numbers gets. */
static uint32_t next_global_number(void)
{
    etwas_trace_handle session = begin(EVENT_TRACE_USE_GLOBAL_SEQUENCE, "probe.etl", 0);
    struct messages messages;
    uint32_t number;

    assert_int_equal(TraceMessage(session, NUMBERED, NULL, 1, NULL, (size_t)0), ERROR_SUCCESS);
    stop_session(session, NULL);
    walk_messages(folder_path("probe.etl"), &messages);
    assert_int_equal(messages.count, 1);
    number = messages.items[0].sequence;
    free_messages(&messages);
    return number + 1;
}

static void r110_global_numbers_are_unique_across_sessions_without_a_gap(void **state)
{
    static const char *const files[] = {"first.etl", "second.etl"};
    uint32_t first_number = next_global_number();
    struct messages all = {0};
    etwas_trace_handle sessions[2];

    (void)state;
    for (int index = 0; index < 2; index++) {
        sessions[index] = begin(EVENT_TRACE_USE_GLOBAL_SEQUENCE, files[index], 10000);
    }
    prepare_writers(WRITERS, 2001, sessions[0], sessions[1]);
    start_threads(writer_main);
    join_threads();
    for (int index = 0; index < 2; index++) {
        struct messages messages;

        stop_session(sessions[index], NULL);
        walk_messages(folder_path(files[index]), &messages);
        expect_whole(&messages);
        assert_true(messages.count > 0);
        append(&all, &messages);
    }
    for (size_t index = 0; index < all.count; index++) {
        assert_true(all.items[index].sequence >= first_number);
        all.items[index].sequence -= first_number - 1;
    }
    assert_int_equal(all.count, sum_of_recorded());
    expect_numbers(&all, WRITERS * 2001);
    free_messages(&all);
    free_writers();
}

static void r110_global_numbers_of_a_process_start_at_1_and_a_forks_child_is_another(void **state)
{
    uint32_t next = next_global_number();
    struct messages messages;
    int child = fork();

    (void)state;
    if (child == 0) {
        const etwas_session_options options = {.log_file_mode = EVENT_TRACE_USE_GLOBAL_SEQUENCE};
        etwas_trace_handle session;

        CHECK_IN_CHILD(etwas_start("child", folder_path("child.etl"), &options, &session) ==
                       ERROR_SUCCESS);
        for (int number = 0; number < 3; number++) {
            CHECK_IN_CHILD(TraceMessage(session, NUMBERED, NULL, 1, NULL, (size_t)0) ==
                           ERROR_SUCCESS);
        }
        CHECK_IN_CHILD(etwas_stop(session, NULL) == ERROR_SUCCESS);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    walk_messages(folder_path("child.etl"), &messages);
    expect_numbers(&messages, 3);
    free_messages(&messages);
    assert_int_equal(next_global_number(), next + 1);
}

/* ---- buffers run out, sessions stop ---------------------------------------------------------- */

/* R74, R76, R110: a lost message took its number with it; nothing else is missing. */
static void r76_and_r110_a_lost_message_leaves_its_number_out(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                           .buffer_size_kb = 4,
                                           .maximum_buffers = 1,
                                           .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    uint8_t seen[WRITERS * 2000 + 1] = {0};
    etwas_session_counts counts;
    struct messages messages;

    (void)state;
    prepare_writers(WRITERS, 2000, session, 0);
    start_threads(writer_main);
    join_threads();
    stop_session(session, &counts);
    assert_true(counts.lost > 0);
    assert_int_equal(counts.lost, sum_of_lost());
    assert_int_equal(counts.recorded, sum_of_recorded());
    assert_int_equal(counts.recorded + counts.lost, WRITERS * 2000);
    walk_messages(folder_path("f.etl"), &messages);
    assert_int_equal(messages.count, counts.recorded);
    expect_whole(&messages);
    for (size_t index = 0; index < messages.count; index++) {
        assert_in_range(messages.items[index].sequence, 1, WRITERS * 2000);
        assert_int_equal(seen[messages.items[index].sequence], 0);
        seen[messages.items[index].sequence] = 1;
    }
    free_messages(&messages);
    free_writers();
}

/* I6 */
static void a_session_stops_while_messages_are_written_and_each_is_accounted_for(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        const struct timespec pause = {.tv_nsec = 2000000};
        etwas_trace_handle session = begin(EVENT_TRACE_USE_LOCAL_SEQUENCE, "f.etl", 10000);
        etwas_session_counts counts;
        struct messages messages;

        prepare_writers(WRITERS, MOST_MESSAGES, session, 0);
        start_threads(writer_main);
        (void)nanosleep(&pause, NULL);
        stop_session(session, &counts);
        join_threads();
        assert_int_equal(counts.recorded, sum_of_recorded());
        assert_int_equal(counts.lost, sum_of_lost());
        walk_messages(folder_path("f.etl"), &messages);
        assert_int_equal(messages.count, counts.recorded);
        expect_whole(&messages);
        free_messages(&messages);
        free_writers();
    }
}

/* A flight recorder counts what it overwrites; what it keeps is whole. */
static void a_flight_recorder_keeps_the_last_messages(void **state)
{
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE |
                                                            EVENT_TRACE_USE_LOCAL_SEQUENCE,
                                           .buffer_size_kb = 4};
    etwas_trace_handle session = start_session(NULL, &options);
    etwas_session_counts counts;
    struct messages messages;
    uint32_t newest = 0;

    (void)state;
    prepare_writers(WRITERS, 3000, session, 0);
    start_threads(writer_main);
    join_threads();
    assert_int_equal(etwas_snapshot(session, folder_path("f.etl")), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_true(counts.overwritten > 0);
    assert_int_equal(counts.recorded + counts.overwritten + counts.lost, WRITERS * 3000);
    walk_messages(folder_path("f.etl"), &messages);
    assert_int_equal(messages.count, counts.recorded);
    expect_whole(&messages);
    for (size_t index = 0; index < messages.count; index++) {
        newest = messages.items[index].sequence > newest ? messages.items[index].sequence : newest;
    }
    assert_true(newest <= WRITERS * 3000 && newest > messages.count);
    free_messages(&messages);
    free_writers();
}

/* ---- signal handlers ------------------------------------------------------------------------- */

static _Thread_local struct writer *of_handler; /* NULL: this thread's handler logs nothing */

static void on_signal(int number)
{
    (void)number;
    if (of_handler != NULL && of_handler->attempted < of_handler->messages) {
        (void)log_message(of_handler);
    }
}

static void *stormed_main(void *argument)
{
    timer_t timer;

    of_handler = (struct writer *)argument + WRITERS;
    timer = start_alarms(INTERVAL_NS);
    (void)writer_main(argument);
    end_alarms(timer);
    of_handler = NULL;
    return NULL;
}

/* I7: a handler logs while its own thread is anywhere inside TraceMessage. */
static void r110_handlers_that_interrupt_writers_take_numbers_of_their_own(void **state)
{
    etwas_trace_handle session = begin(EVENT_TRACE_USE_LOCAL_SEQUENCE, "f.etl", 10000);
    etwas_session_counts counts;
    struct messages messages;
    uint32_t of_handlers = 0;

    (void)state;
    handle_signal(SIGALRM, on_signal);
    prepare_writers(2 * WRITERS, MOST_MESSAGES, session, 0);
    start_threads(stormed_main);
    join_threads();
    stop_session(session, &counts);
    for (uint32_t index = WRITERS; index < 2 * WRITERS; index++) {
        assert_int_equal(writers[index].odd, 0);
        of_handlers += writers[index].attempted;
    }
    assert_true(of_handlers > 0);
    expect_nothing_lost(counts);
    assert_int_equal(counts.recorded, WRITERS * MOST_MESSAGES + of_handlers);
    walk_messages(folder_path("f.etl"), &messages);
    expect_numbers(&messages, (uint32_t)counts.recorded);
    expect_whole(&messages);
    free_messages(&messages);
    free_writers();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(r110_local_numbers_count_each_sessions_messages_from_1_without_a_gap),
        FOLDER_TEST(r110_global_numbers_are_unique_across_sessions_without_a_gap),
        FOLDER_TEST(r110_global_numbers_of_a_process_start_at_1_and_a_forks_child_is_another),
        FOLDER_TEST(r76_and_r110_a_lost_message_leaves_its_number_out),
        FOLDER_TEST(a_session_stops_while_messages_are_written_and_each_is_accounted_for),
        FOLDER_TEST(a_flight_recorder_keeps_the_last_messages),
        FOLDER_TEST(r110_handlers_that_interrupt_writers_take_numbers_of_their_own),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
