/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The flusher thread: when it writes, what it is, and sessions that end by themselves or have none.
 */
#include <ck_pr.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/processor.h"
#include "platform/wait.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

/* Waiting for something that comes soon; how soon is not tested. */
#define GENEROUS_NS (UINT64_C(60) * 1000000000)

static void pause_briefly(void)
{
    const struct timespec pause = {.tv_nsec = 2000000};

    (void)nanosleep(&pause, NULL);
}

/* R81. */
static void the_flush_timer_writes_buffers_that_are_not_full(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.flush_timer = 1};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(
        &(struct writer_options){.session = session, .class_handle = writer_class(), .events = 10});
    uint64_t end_ns = etwas_monotonic_ns() + GENEROUS_NS;
    struct readback result = {0};
    etwas_session_counts counts;

    (void)state;
    for (uint64_t logged = 1; logged <= 2; logged++) {
        assert_int_equal(writer_log_bytes(writer, 100), ERROR_SUCCESS);
        while (counts_of(session).buffers_written < 1 + logged) {
            assert_true(etwas_monotonic_ns() < end_ns);
            pause_briefly();
        }
        read_back(session, path, &result);
        assert_int_equal(result.events, logged);
        assert_int_equal(result.wrong, 0);
    }
    stop_session(session, &counts);
    assert_int_equal(counts.buffers_written, 3);
    expect_file_is_exact(session, path, &counts);
}

/* Without a timer full buffers are written all the same, and the pool never runs dry for long. */
static void full_buffers_are_written_without_being_asked_for(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.buffer_size_kb = 4};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                .class_handle = writer_class(),
                                                                .events = 1000,
                                                                .largest_payload = 100});
    uint64_t end_ns = etwas_monotonic_ns() + GENEROUS_NS;
    etwas_session_counts counts;

    (void)state;
    while (writer_log(writer) == ERROR_SUCCESS) {
    }
    assert_int_equal(writer->last_code, ERROR_SUCCESS);
    while (counts_of(session).buffers_written < 5) {
        assert_true(etwas_monotonic_ns() < end_ns);
        pause_briefly();
    }
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
}

static bool has_ended(const struct etwas_session *session)
{
    bool ended;

    etwas_control_lock();
    ended = session->entry.state == ETWAS_SESSION_FREE;
    etwas_control_unlock();
    return ended;
}

/*
 * R49, R93: SEQUENTIAL with a size ends by itself; what did not fit is counted, later events are
 * refused.
 */
static void a_session_ends_when_its_file_has_reached_its_size(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        const char *path = folder_path("trace.etl");
        etwas_session_options options = {.log_file_mode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                         .buffer_size_kb = 64,
                                         .maximum_file_size = 1,
                                         .flusher = {.no_thread = threads == 1}};
        etwas_trace_handle session = start_session(path, &options);
        const struct etwas_session *inside = inside_of(session);
        etwas_session_counts counts;
        struct readback result;
        struct stat status;
        struct writers writers;

        /*
         * Without a thread it is the flush that finds the file full; 40 of the pool's 64 MB are
         * enough.
         */
        writers_start(&writers, (uint32_t)threads,
                      &(struct writer_options){.session = session,
                                               .class_handle = writer_class(),
                                               .events = threads == 1 ? 20000 : 0,
                                               .largest_payload = 300});
        writers_join(&writers);
        if (threads == 1) {
            assert_int_equal(writers_totals(session).refused, 0);
            (void)etwas_flush(session);
        }
        /*
         * The session refuses before its end is complete: only then are the counts the last ones.
         */
        while (!has_ended(inside)) {
            pause_briefly();
        }
        assert_int_equal(writer_log(writer_new(&(struct writer_options){
                             .session = session, .class_handle = writer_class()})),
                         ERROR_INVALID_HANDLE);
        assert_int_equal(etwas_stop(session, NULL), ERROR_INVALID_HANDLE);
        memset(&counts, 0, sizeof counts);
        assert_int_equal(etwas_stop(session, &counts), ERROR_INVALID_HANDLE);
        assert_true(counts.lost_file_full > 0);
        assert_true(counts.buffers_lost > 0);
        assert_int_equal(counts.buffers_written, 16);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_size, 1 << 20);
        expect_exact_account(session, &counts);
        walk_back(session, path, true, &result);
        assert_int_equal(result.wrong + result.unexpected, 0);
        assert_int_equal(result.events, counts.recorded);
        assert_int_equal(result.missing, counts.lost_file_full);
        assert_int_equal(result.events_lost, counts.lost);
        assert_int_equal(result.buffers_lost, counts.buffers_lost);
        writers_forget();
    }
}

/* Enough calls of etwas_flush, and nothing is lost. */
static void a_session_without_a_thread_is_driven_by_the_host(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 64, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                .class_handle = writer_class(),
                                                                .events = 20000,
                                                                .largest_payload = 100});
    etwas_session_counts counts;

    (void)state;
    assert_null(query_session(session).LoggerThreadId);
    while (writer_log(writer) == ERROR_SUCCESS) {
        if (writer->attempted % 500 == 0) {
            assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        }
    }
    assert_int_equal(writer->recorded, 20000);
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
}

/* Nobody flushes: the pool grows to its maximum, then events are lost and counted. */
static void a_session_nobody_flushes_fills_its_pool_and_counts_the_rest(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {
        .buffer_size_kb = 4, .maximum_buffers = 20, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = writer_new(&(struct writer_options){.session = session,
                                                                .class_handle = writer_class(),
                                                                .events = 5000,
                                                                .largest_payload = 100});
    EVENT_TRACE_PROPERTIES properties;
    etwas_session_counts counts;
    uint64_t lost;

    (void)state;
    while (writer->attempted < 4000) {
        (void)writer_log(writer);
    }
    lost = writer->lost;
    assert_true(lost > 0);
    counts = counts_of(session);
    assert_int_equal(counts.lost_no_buffer, lost);
    assert_int_equal(counts.buffers_allocated, counts.buffers_free + 20);
    properties = query_session(session);
    assert_int_equal(properties.EventsLost, lost);
    assert_int_equal(properties.NumberOfBuffers, 20);
    assert_int_equal(properties.FreeBuffers, 0);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    stop_session(session, &counts);
    assert_int_equal(counts.lost, lost);
    expect_file_is_exact(session, path, &counts);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* The value behind "key:" in /proc/self/task/TID/FILE, with blanks before it removed. */
static void task_value(uint32_t thread_id, const char *key, char *value, size_t bytes)
{
    char path[64];
    char line[256];
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/self/task/%u/status", thread_id);
    file = fopen(path, "re");
    assert_non_null(file);
    value[0] = '\0';
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            const char *start = line + strlen(key);

            start += strspn(start, " \t");
            (void)snprintf(value, bytes, "%.*s", (int)strcspn(start, "\n"), start);
        }
    }
    (void)fclose(file);
}

static uint32_t flusher_of(etwas_trace_handle session)
{
    return (uint32_t)(uintptr_t)query_session(session).LoggerThreadId;
}

static void the_flusher_has_its_name_affinity_and_no_signals(void **state)
{
    const uint32_t last = etwas_processor_count() - 1;
    const struct {
        etwas_flusher_options options;
        const char *name;
    } cases[] = {
        {{0}, "etwas-flush"},
        {{.name = "mine"}, "mine"},
        {{.name = "a name of more than fifteen bytes"}, "a name of more "},
        {{.cpus = &last, .cpu_count = 1}, "etwas-flush"},
        {{.nice_value = 5}, "etwas-flush"},
    };
    cpu_set_t allowed;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (size_t index = 0; index < sizeof cases / sizeof cases[0]; index++) {
        etwas_session_options options = {.flusher = cases[index].options};
        const uint64_t standard = UINT64_C(0x7fffffff) & ~(UINT64_C(1) << 8 | UINT64_C(1) << 18);
        etwas_trace_handle session;
        cpu_set_t cpus;
        uint64_t blocked;
        uint64_t end_ns;
        uint32_t thread_id;
        char value[64];

        if (options.flusher.cpus != NULL && !CPU_ISSET(last, &allowed)) {
            continue; /* the container gives us other processors */
        }
        session = start_session(folder_path("trace.etl"), &options);
        thread_id = flusher_of(session);
        assert_int_not_equal(thread_id, 0);
        task_value(thread_id, "Name:", value, sizeof value);
        assert_string_equal(value, cases[index].name);
        /* Everything that can be blocked: SIGKILL (9) and SIGSTOP (19) cannot. */
        task_value(thread_id, "SigBlk:", value, sizeof value);
        blocked = strtoull(value, NULL, 16);
        assert_int_equal(blocked & standard, standard);
        assert_int_equal(sched_getaffinity((pid_t)thread_id, sizeof cpus, &cpus), 0);
        assert_int_equal(CPU_COUNT(&cpus), options.flusher.cpus != NULL ? 1 : CPU_COUNT(&allowed));
        stop_session(session, NULL);
        (void)snprintf(value, sizeof value, "/proc/self/task/%u", thread_id);
        /* A thread that was joined may stay in the list for a moment. */
        end_ns = etwas_monotonic_ns() + GENEROUS_NS;
        while (access(value, F_OK) == 0) {
            assert_true(etwas_monotonic_ns() < end_ns);
            pause_briefly();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(the_flush_timer_writes_buffers_that_are_not_full),
        FOLDER_TEST(full_buffers_are_written_without_being_asked_for),
        FOLDER_TEST(a_session_ends_when_its_file_has_reached_its_size),
        FOLDER_TEST(a_session_without_a_thread_is_driven_by_the_host),
        FOLDER_TEST(a_session_nobody_flushes_fills_its_pool_and_counts_the_rest),
        FOLDER_TEST(the_flusher_has_its_name_affinity_and_no_signals),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
