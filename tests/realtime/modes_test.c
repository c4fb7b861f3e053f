/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Real time together with the file modes, and the forms in which consumers get events. */
#include <ck_pr.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "clock/clock.h"
#include "platform/file.h"
#include "support/flushing.h"
#include "support/readback.h"

/* ---- file modes ------------------------------------------------------------------------------ */

/* A real-time session that also writes a file, of at most 1 MB. */
static etwas_trace_handle start_with_file(const char *path, uint32_t file_mode)
{
    etwas_session_options options = realtime_options();

    options.log_file_mode |= file_mode;
    options.maximum_file_size = 1;
    return start_session(path, &options);
}

/* R94: what a circular file replaces consumers have seen. */
static void consumers_see_what_a_circular_file_replaces(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_with_file(path, EVENT_TRACE_FILE_MODE_CIRCULAR);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    struct readback result;
    etwas_session_counts counts;

    (void)state;
    consume(&consumer, session);
    for (uint32_t round = 0; round < 30; round++) {
        log_and_flush(writer, 1000);
    }
    stop_and_join(session, &counts, &consumer);
    assert_true(counts.overwritten > 0);
    expect_nothing_lost(counts);
    assert_int_equal(counts.recorded + counts.overwritten, 30000);
    assert_int_equal(consumer.events, 30000);
    expect_consumer_is_exact(&consumer, session);
    assert_int_equal(consumer.backwards, 0);
    read_back(session, path, &result);
    assert_int_equal(result.wrong, 0);
    assert_int_equal(result.events, counts.recorded);
    consumer_free(&consumer);
}

/* R97: consumers notice nothing of the seams of a set; together its parts hold what they saw. */
static void consumers_see_no_seams_of_a_new_file_set(void **state)
{
    etwas_trace_handle session =
        start_with_file(folder_path("part%d.etl"), EVENT_TRACE_FILE_MODE_NEWFILE);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    etwas_session_counts counts;
    uint64_t in_parts = 0;
    uint32_t parts = 0;
    char name[32];

    (void)state;
    consume(&consumer, session);
    for (uint32_t round = 0; round < 30; round++) {
        log_and_flush(writer, 1000);
    }
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(counts.recorded, 30000);
    expect_consumer_is_exact(&consumer, session);
    assert_int_equal(consumer.backwards, 0);
    for (;;) {
        struct readback result;

        (void)snprintf(name, sizeof name, "part%u.etl", parts + 1);
        if (etwas_file_length(folder_path(name)) == 0) {
            break;
        }
        read_back(session, folder_path(name), &result);
        assert_int_equal(result.wrong, 0);
        in_parts += result.events;
        parts++;
    }
    assert_true(parts > 2);
    assert_int_equal(in_parts, 30000);
    consumer_free(&consumer);
}

/*
 * R93: a sequential file that is full ends the session for consumers too; they got also what it
 * could not take.
 */
static void a_full_file_ends_the_session_for_consumers_too(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_with_file(path, EVENT_TRACE_FILE_MODE_SEQUENTIAL);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    struct readback result;
    etwas_session_counts counts;
    uint32_t code;

    (void)state;
    consume(&consumer, session);
    do {
        code = writer_log(writer);
    } while (code != ERROR_INVALID_HANDLE);
    consumer_join(&consumer);
    assert_int_equal(consumer.code, ERROR_SUCCESS);
    assert_int_equal(etwas_counts(session, &counts), ERROR_SUCCESS);
    assert_int_equal(counts.lost, counts.lost_no_buffer);
    assert_int_equal(consumer.events, counts.recorded);
    expect_consumer_is_exact(&consumer, session);
    read_back(session, path, &result);
    assert_int_equal(result.wrong, 0);
    assert_true(result.events <= counts.recorded);
    consumer_free(&consumer);
}

static long refuse_log_file(enum etwas_log_file_call call, size_t bytes)
{
    return call == ETWAS_FILE_WRITE ? -EIO : (long)bytes;
}

/*
 * Consumers get what a failing file does not take, and it is not lost. What neither gets is lost to
 * the file, also if a consumer had room for it before.
 */
static void consumers_get_what_a_failing_file_refuses(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_trace_handle session;
    struct writer *writer;
    struct consumer consumer = {0};
    etwas_session_counts counts;

    (void)state;
    options.flusher.no_thread = true;
    session = start_session(folder_path("trace.etl"), &options);
    writer = small_writer(session);
    consumer_open(&consumer, session);
    log_and_flush(writer, 200);
    log_events(writer, 300);
    etwas_file_set_failure_hook(refuse_log_file);
    assert_int_not_equal(etwas_flush(session), ERROR_SUCCESS);
    etwas_file_set_failure_hook(NULL);
    expect_nothing_lost(counts_of(session));
    consumer_start(&consumer);
    consumer_wait(&consumer, 500);
    assert_int_equal(CloseTrace(consumer.trace), ERROR_CTX_CLOSE_PENDING);
    consumer_join(&consumer);
    expect_consumer_is_exact(&consumer, session);
    /* The backlog is on the same disk: no consumer takes these. */
    log_events(writer, 400);
    etwas_file_set_failure_hook(refuse_log_file);
    assert_int_not_equal(etwas_flush(session), ERROR_SUCCESS);
    etwas_file_set_failure_hook(NULL);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded, 500);
    assert_int_equal(counts.lost_write_error, 400);
    expect_exact_account(session, &counts);
    consumer_free(&consumer);
}

/*
 * R96: a converted session's file ends with what was logged before; consumers get what is logged
 * after it, and only that.
 */
static void a_converted_session_gives_each_event_to_one_side(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_session_options options = {.flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(path, &options);
    struct writer *writer = small_writer(session);
    struct consumer consumer = {0};
    struct readback result;
    etwas_session_counts counts;

    (void)state;
    log_events(writer, 700);
    convert_to_realtime(session);
    log_events(writer, 300);
    consume_to_the_end(&consumer, session, &counts);
    read_back(session, path, &result);
    assert_int_equal(result.events, 700);
    assert_int_equal(consumer.events, 300);
    assert_int_equal(consumer.seen[0].number, 700);
    assert_int_equal(consumer.lost_event_notices, 0);
    assert_int_equal(counts.recorded, 1000);
    consumer_free(&consumer);
}

/* ---- time ------------------------------------------------------------------------------------ */

/*
 * System time that is set back holds nothing up: what was logged before and after it arrives with
 * the next flushes.
 */
static void system_time_that_steps_back_delays_no_event(void **state)
{
    etwas_session_options options = realtime_options();
    etwas_trace_handle session;
    struct writer *writer;
    struct consumer consumer = {0};
    etwas_session_counts counts;

    (void)state;
    options.clock = ETWAS_CLOCK_KIND_SYSTEM;
    options.flusher.no_thread = true;
    session = start_session(NULL, &options);
    writer = small_writer(session);
    consume(&consumer, session);
    for (uint64_t round = 1; round <= 5; round++) {
        log_events(writer, 300);
        ck_pr_store_64(&etwas_clock_system_step,
                       0 - round * 3600 * (uint64_t)ETWAS_CLOCK_FILETIME_PER_SECOND);
        log_and_flush(writer, 300);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        consumer_wait(&consumer, round * 600);
    }
    ck_pr_store_64(&etwas_clock_system_step, 0);
    stop_and_join(session, &counts, &consumer);
    assert_int_equal(counts.recorded, 3000);
    expect_consumer_is_exact(&consumer, session);
    consumer_free(&consumer);
}

/* ---- forms ----------------------------------------------------------------------------------- */

struct classic {
    uint64_t events;
    uint64_t wrong;
    uint32_t buffers;
    char session_name[128];
};

static struct classic seen;

static void on_classic(EVENT_TRACE *event)
{
    seen.events++;
    seen.wrong += event->Header.TimeStamp.QuadPart == 0 || event->Header.ProcessId == 0;
}

static uint32_t on_classic_buffer(EVENT_TRACE_LOGFILEA *file)
{
    seen.buffers++;
    seen.wrong += file->LogFileName != NULL || strcmp(file->LoggerName, seen.session_name) != 0 ||
                  file->EventsLost != 0 || file->BuffersRead != seen.buffers;
    return 1;
}

/*
 * The A form by a name in other letters, EVENT_TRACE callbacks, and a span of time; two runs of one
 * trace.
 */
static void a_narrow_classic_consumer_gets_its_span_of_time(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                     .clock = ETWAS_CLOCK_KIND_SYSTEM,
                                     .flusher = {.no_thread = true}};
    EVENT_TRACE_LOGFILEA file = {
        .LoggerName = seen.session_name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME,
        .EventCallback = on_classic,
        .BufferCallback = on_classic_buffer,
    };
    etwas_trace_handle trace;

    (void)state;
    memset(&seen, 0, sizeof seen);
    (void)strcpy(seen.session_name, "A NARROW \xC3\x84 Session");
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_null(file.LogfileHeader.LoggerName);
    for (uint32_t run = 0; run < 3; run++) {
        FILETIME start;
        uint64_t now;
        etwas_trace_information information;
        etwas_trace_handle session = 0;
        struct writer *writer;

        options.protocol = session_protocol;
        assert_int_equal(etwas_start("a narrow \xC3\x84 session", NULL, &options, &session),
                         ERROR_SUCCESS);
        writer = small_writer(session);
        log_and_flush(writer, 10);
        now = (uint64_t)etwas_clock_system();
        while ((uint64_t)etwas_clock_system() <= now) {
        }
        start = (FILETIME){(uint32_t)(now + 1), (uint32_t)((now + 1) >> 32)};
        log_events(writer, 25);
        {
            /* Connected, so that the end finds it. */
            etwas_trace_handle other = OpenTraceA(&file);

            assert_non_null(file.LogfileHeader.LoggerName);
            seen.events = 0;
            seen.buffers = 0;
            stop_session(session, NULL);
            assert_int_equal(ProcessTrace(&other, 1, &start, NULL), ERROR_SUCCESS);
            assert_int_equal(seen.events, 25);
            assert_true(seen.buffers >= 2);
            assert_int_equal(seen.wrong, 0);
            assert_int_equal(etwas_trace_query(other, &information), ERROR_SUCCESS);
            assert_int_equal(information.events, 25);
            assert_int_equal(information.buffers, seen.buffers);
            assert_int_equal(information.damages, 0);
            assert_int_equal(information.clock, ETWAS_CLOCK_KIND_SYSTEM);
            assert_int_equal(CloseTrace(other), ERROR_SUCCESS);
        }
        assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_WMI_INSTANCE_NOT_FOUND);
    }
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

static etwas_wchar *names_at_first;

static uint32_t look_at_names(EVENT_TRACE_LOGFILEW *file)
{
    const etwas_wchar *name = file->LogfileHeader.LoggerName;

    if (names_at_first == NULL) {
        names_at_first = file->LogfileHeader.LoggerName;
    }
    seen.wrong += name != names_at_first || memcmp(name, file->LoggerName, 8) != 0;
    return 0;
}

/*
 * One trace for session after session of a name: what it said about names stays there until
 * CloseTrace.
 */
static void a_trace_may_follow_the_sessions_of_a_name(void **state)
{
    static etwas_wchar name[] = {'f', 'o', 'l', 'l', 'o', 'w', 0};
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
                                     .flusher = {.no_thread = true}};
    EVENT_TRACE_LOGFILEW file = {
        .LoggerName = name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME,
        .BufferCallback = look_at_names,
    };
    etwas_trace_handle trace = OpenTraceW(&file);

    (void)state;
    memset(&seen, 0, sizeof seen);
    names_at_first = NULL;
    for (uint32_t run = 0; run < 4; run++) {
        etwas_trace_handle session = 0;

        options.protocol = session_protocol;
        assert_int_equal(etwas_start("follow", NULL, &options, &session), ERROR_SUCCESS);
        log_events(small_writer(session), 100);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_CANCELLED);
        stop_session(session, NULL);
    }
    assert_non_null(names_at_first);
    assert_int_equal(seen.wrong, 0);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(consumers_see_what_a_circular_file_replaces),
        FOLDER_TEST(consumers_see_no_seams_of_a_new_file_set),
        FOLDER_TEST(a_full_file_ends_the_session_for_consumers_too),
        FOLDER_TEST(consumers_get_what_a_failing_file_refuses),
        FOLDER_TEST(a_converted_session_gives_each_event_to_one_side),
        FOLDER_TEST(system_time_that_steps_back_delays_no_event),
        FOLDER_TEST(a_narrow_classic_consumer_gets_its_span_of_time),
        FOLDER_TEST(a_trace_may_follow_the_sessions_of_a_name),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
