/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Consumers of a real-time session that leave while they are told that something was lost. */
#include <ck_pr.h>
#include <pthread.h>
#include <string.h>

#include "support/consumer.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

static const etwas_guid lost_event_class = {
    0x6a399ae0, 0x4bc6, 0x4de9, {0x87, 0x0b, 0x36, 0x57, 0xf8, 0x94, 0x7e, 0x7e}};

/* A consumer whose thread ends with the first notice. */
struct leaver {
    etwas_trace_handle trace;
    uint64_t events;
    uint64_t notices;
};

static void leave_at_a_notice(EVENT_RECORD *record)
{
    struct leaver *leaver = record->UserContext;

    if (memcmp(&record->EventHeader.ProviderId, &lost_event_class, sizeof lost_event_class) == 0) {
        leaver->notices++;
        pthread_exit(NULL);
    }
    leaver->events++;
}

static void *process(void *argument)
{
    struct leaver *leaver = argument;

    (void)ProcessTrace(&leaver->trace, 1, NULL, NULL);
    return NULL;
}

static void log_events(struct writer *writer, uint64_t events)
{
    for (uint64_t event = 0; event < events; event++) {
        assert_int_equal(writer_log(writer), ERROR_SUCCESS);
    }
}

/* The notice is told before the events of the buffer that brings it: none of them was given. */
static void who_leaves_at_a_notice_leaves_the_buffer_behind_it_to_the_next(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_REAL_TIME_MODE,
        .buffer_size_kb = 4,
        .consumer_queue_kb = 4, /* an empty queue takes one buffer of any size */
    };
    etwas_trace_handle session = start_session(NULL, &options);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .largest_payload = 100});
    struct leaver leaver = {0};
    EVENT_TRACE_LOGFILEW file = {
        .LoggerName = inside_of(session)->configuration.name,
        .ProcessTraceMode = PROCESS_TRACE_MODE_REAL_TIME | PROCESS_TRACE_MODE_EVENT_RECORD,
        .EventRecordCallback = leave_at_a_notice,
        .Context = &leaver,
    };
    struct consumer next = {0};
    etwas_session_counts counts;
    pthread_t thread;
    bool left = false;

    (void)state;
    leaver.trace = OpenTraceW(&file);
    assert_true(leaver.trace != INVALID_PROCESSTRACE_HANDLE);
    do {
        log_events(writer, 10);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    } while (counts_of(session).realtime_buffers_lost == 0);
    assert_int_equal(pthread_create(&thread, NULL, process, &leaver), 0);
    while (!left) {
        log_events(writer, 10);
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
        left = pthread_tryjoin_np(thread, NULL) == 0;
    }
    assert_int_equal(leaver.notices, 1);
    assert_int_equal(CloseTrace(leaver.trace), ERROR_SUCCESS);
    consumer_open(&next, session);
    consumer_start(&next);
    log_events(writer, 10);
    stop_session(session, &counts);
    consumer_join(&next);
    expect_exact_account(session, &counts);
    assert_int_equal(next.wrong, 0);
    assert_int_equal(leaver.events + next.events, counts.recorded);
    consumer_free(&next);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(who_leaves_at_a_notice_leaves_the_buffer_behind_it_to_the_next),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
