/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Restartable sequences under load: nearly every event goes that way, whatever its size and entry
 * point; the largest make progress under a storm of signals; one that is always interrupted goes to
 * the extra slot.
 */
#include <etwas/evntcons.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/interrupt.h"
#include "buffer/storm.h"
#include "platform/processor.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    LARGEST_PLAIN = 65535 - 48, /* payload of the largest record */
    LARGEST_INSTANCE = 65535 - 72,
};

/* 99.99 % */
static void expect_nearly_all_by_sequences(const etwas_session_counts *counts)
{
    uint64_t all = counts->committed_rseq + counts->committed_shared;

    assert_true(all >= 10000);
    if (counts->committed_shared * 10000 > all) {
        fail_msg("%llu of %llu events by the shared protocol, %llu restarts",
                 (unsigned long long)counts->committed_shared, (unsigned long long)all,
                 (unsigned long long)counts->restarts);
    }
}

/* ---- everything goes this way ---------------------------------------------------------------- */

enum {
    THREADS = 4,
    EVENTS = 20000,
    MOST_PAYLOAD = 600,
};

struct pinned {
    struct writer *writer;
    unsigned processor;
    pthread_t thread;
};

/*
 * The `turn`-th of the processors the caller may use, again from the first when there are no more.
 */
static unsigned allowed_processor(unsigned turn)
{
    cpu_set_t allowed;
    unsigned processor = 0;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    turn %= (unsigned)CPU_COUNT(&allowed);
    while (!CPU_ISSET(processor, &allowed) || turn-- != 0) {
        processor++;
    }
    return processor;
}

static void *write_pinned(void *argument)
{
    struct pinned *pinned = argument;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(pinned->processor, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        abort();
    }
    while (writer_log(pinned->writer) != ERROR_MORE_DATA) {
    }
    return NULL;
}

static void load_with_pinned_threads(const struct writer_options *what)
{
    struct pinned pinned[THREADS];

    for (unsigned index = 0; index < THREADS; index++) {
        pinned[index].writer = writer_new(what);
        pinned[index].processor = allowed_processor(index);
        assert_int_equal(pthread_create(&pinned[index].thread, NULL, write_pinned, &pinned[index]),
                         0);
    }
    for (unsigned index = 0; index < THREADS; index++) {
        assert_int_equal(pthread_join(pinned[index].thread, NULL), 0);
    }
}

static void load_with_free_threads(const struct writer_options *what)
{
    struct writers writers;

    writers_start(&writers, THREADS, what);
    writers_join(&writers);
}

static void at_least_9999_of_10000_events_are_committed_by_sequences(void **state)
{
    (void)state;
    skip_without_sequences();
    for (int turn = 0; turn < 4; turn++) {
        bool circular = turn % 2 == 1;
        const etwas_session_options options = {
            .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
            .buffer_size_kb = 16,
            .clock = turn < 2 ? ETWAS_CLOCK_TSC : ETWAS_CLOCK_QPC,
        };
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_session(circular ? NULL : path, &options);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = EVENTS,
                                      .largest_payload = MOST_PAYLOAD};
        etwas_session_counts counts;
        uint32_t protocol;

        assert_int_equal(etwas_session_protocol(session, &protocol), ERROR_SUCCESS);
        assert_int_equal(protocol, ETWAS_PROTOCOL_RSEQ);
        if (turn < 2) {
            load_with_pinned_threads(&what);
        } else {
            load_with_free_threads(&what);
        }
        if (circular) {
            expect_recorder_is_exact(session, path);
        }
        stop_session(session, &counts);
        expect_nearly_all_by_sequences(&counts);
        assert_int_equal(counts.committed_rseq + counts.committed_shared + counts.lost_no_buffer,
                         writers_totals(session).attempted);
        if (circular) {
            expect_exact_account(session, &counts);
        } else {
            expect_file_reads_back(session, path, &counts);
        }
        writers_forget();
    }
}

/* TraceEvent and TraceEventInstance, with and without a parent, in one piece and of MOF fields. */
static void every_size_up_to_the_largest_is_committed_by_sequences(void **state)
{
    enum {
        SMALL_ONES = 1200, /* of each size, all entry points come by */
        STEP = 211
    };
    const etwas_session_options options = {.buffer_size_kb = 256, .maximum_buffers = 400};
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session;
    struct writer *writer;
    etwas_session_counts counts;

    (void)state;
    skip_without_sequences();
    session = start_session(path, &options);
    writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = 20000});
    for (uint32_t bytes = 0; bytes < SMALL_ONES; bytes++) {
        for (int number = 0; number < 13; number++) {
            assert_int_equal(writer_log_bytes(writer, bytes), ERROR_SUCCESS);
        }
    }
    for (uint32_t bytes = SMALL_ONES; bytes < LARGEST_INSTANCE; bytes += STEP) {
        assert_int_equal(writer_log_bytes(writer, bytes), ERROR_SUCCESS);
    }
    for (int number = 0; number < 12; number++) {
        uint32_t largest = writer->attempted % 2 == 1 ? LARGEST_INSTANCE : LARGEST_PLAIN;

        assert_int_equal(writer_log_bytes(writer, largest), ERROR_SUCCESS);
    }
    stop_session(session, &counts);
    expect_nearly_all_by_sequences(&counts);
    expect_nothing_lost(counts);
    expect_file_is_exact(session, path, &counts);
}

/* ---- the largest in a storm ------------------------------------------------------------------ */

enum {
    STORMED = 3,
    LARGE_EVENTS = 60,
    HANDLER_EVENTS = 200000,
    INTERVAL_NS = 50000,
};

struct stormed {
    struct writer *writer;
    struct writer *handler;
    pthread_t thread;
};

static void *write_largest_in_a_storm(void *argument)
{
    struct stormed *stormed = argument;

    storm_begin(stormed->handler, INTERVAL_NS);
    while (stormed->writer->attempted < LARGE_EVENTS) {
        (void)writer_log_bytes(stormed->writer, stormed->writer->attempted % 2 == 1
                                                    ? LARGEST_INSTANCE
                                                    : LARGEST_PLAIN);
    }
    storm_end();
    return NULL;
}

static void the_largest_records_get_on_under_a_storm_of_signals(void **state)
{
    (void)state;
    skip_without_sequences();
    storm_prepare();
    for (int circular = 0; circular < 2; circular++) {
        const etwas_session_options options = {
            .log_file_mode = circular == 1 ? EVENT_TRACE_BUFFERING_MODE : 0,
            .buffer_size_kb = 128,
            .minimum_buffers = 16,
            .maximum_buffers = 200,
        };
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_session(circular == 1 ? NULL : path, &options);
        struct writer_options what = {
            .session = session, .class_handle = writer_class(), .events = LARGE_EVENTS};
        struct writer_options often = {.session = session,
                                       .class_handle = writer_class(),
                                       .events = HANDLER_EVENTS,
                                       .largest_payload = 200};
        struct stormed stormed[STORMED];
        etwas_session_counts counts;

        for (int index = 0; index < STORMED; index++) {
            stormed[index] =
                (struct stormed){.writer = writer_new(&what), .handler = writer_new(&often)};
            assert_int_equal(pthread_create(&stormed[index].thread, NULL, write_largest_in_a_storm,
                                            &stormed[index]),
                             0);
        }
        for (int index = 0; index < STORMED; index++) {
            assert_int_equal(pthread_join(stormed[index].thread, NULL), 0);
        }
        if (circular == 1) {
            expect_recorder_is_exact(session, path);
        }
        stop_session(session, &counts);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        assert_int_equal(counts.committed_rseq + counts.committed_shared + counts.lost_no_buffer,
                         writers_totals(session).attempted);
        if (circular == 0) {
            expect_file_is_exact(session, path, &counts);
        }
        expect_exact_account(session, &counts);
        writers_forget();
    }
}

/* ---- a storm without end --------------------------------------------------------------------- */

enum {
    SEVERAL = 40,
    POINTS_OF_ALL = 4,
};

struct streams {
    uint64_t events[CPU_SETSIZE + 1];
    uint32_t processors; /* NumberOfProcessors */
};

static void on_event(EVENT_RECORD *record)
{
    struct streams *streams = record->UserContext;

    if (memcmp(&record->EventHeader.ProviderId, &EventTraceGuid, sizeof EventTraceGuid) != 0) {
        streams->events[record->BufferContext.ProcessorIndex]++;
    }
}

static void read_streams(const char *path, struct streams *streams)
{
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = on_event,
        .Context = streams,
    };
    etwas_trace_handle trace;

    memset(streams, 0, sizeof *streams);
    trace = OpenTraceA(&file);
    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    streams->processors = file.LogfileHeader.NumberOfProcessors;
}

/*
 * Each attempt to publish, or to get a buffer, is interrupted: the event takes the way that needs
 * none.
 */
static void an_event_that_is_always_interrupted_goes_to_the_extra_slot(void **state)
{
    static const enum sequence_step steps[] = {STEP_PUBLISH, STEP_CLAIM, STEP_ADOPT};

    (void)state;
    skip_without_sequences();
    interruptions_prepare();
    stay_on_one_processor();
    for (uint32_t turn = 0; turn < 2 * POINTS_OF_ALL * sizeof steps / sizeof steps[0]; turn++) {
        enum sequence_step step = steps[turn / 2 / POINTS_OF_ALL];
        bool circular = turn % 2 == 1;
        const etwas_session_options options = {
            .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
            .buffer_size_kb = 4,
            .minimum_buffers = 12,
        };
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_session(circular ? NULL : path, &options);
        struct writer *writer =
            writer_new(&(struct writer_options){.session = session, .events = 3 * SEVERAL});
        struct interruptions interruptions = {
            .session = session,
            .step = step,
            .point = 1 + turn / 2 % POINTS_OF_ALL,
            .always = true,
        };
        etwas_session_counts before;
        etwas_session_counts counts;
        struct streams streams;

        for (int number = 0; number < SEVERAL; number++) {
            assert_int_equal(writer_log_bytes(writer, 300), ERROR_SUCCESS);
        }
        before = counts_of(session);
        assert_int_equal(before.committed_shared, 0);
        interruptions_begin(&interruptions);
        for (int number = 0; number < SEVERAL; number++) {
            assert_int_equal(writer_log_bytes(writer, 300), ERROR_SUCCESS);
        }
        interruptions_end();
        counts = counts_of(session);
        /* Without a new buffer the current one is filled first. */
        assert_true(counts.committed_shared >= (step == STEP_PUBLISH ? SEVERAL : SEVERAL - 12));
        assert_int_equal(counts.committed_shared + counts.committed_rseq, 2 * SEVERAL);
        /* Some attempts of the hundred fail before they come to the step. */
        assert_true(interruptions.total >= 90 * counts.committed_shared);
        assert_true(counts.restarts - before.restarts >= interruptions.total);
        for (int number = 0; number < SEVERAL; number++) {
            assert_int_equal(writer_log_bytes(writer, 300), ERROR_SUCCESS);
        }
        /* When the storm is over they go the usual way again. */
        assert_int_equal(counts_of(session).committed_shared, counts.committed_shared);
        if (circular) {
            expect_recorder_is_exact(session, path);
        }
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        if (!circular) {
            expect_file_is_exact(session, path, &counts);
            read_streams(path, &streams);
            assert_int_equal(streams.processors, etwas_processor_count() + 1);
            assert_int_equal(streams.events[etwas_processor_count()], counts.committed_shared);
        }
        writers_forget();
    }
    leave_one_processor();
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(at_least_9999_of_10000_events_are_committed_by_sequences),
        FOLDER_TEST(every_size_up_to_the_largest_is_committed_by_sequences),
        FOLDER_TEST(the_largest_records_get_on_under_a_storm_of_signals),
        FOLDER_TEST(an_event_that_is_always_interrupted_goes_to_the_extra_slot),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
