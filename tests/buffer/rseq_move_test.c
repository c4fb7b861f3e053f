/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writers that are moved from processor to processor, between any two steps or at any moment: a
 * record is in the stream of the processor that committed it, and each is there once.
 */
#include <ck_pr.h>
#include <etwas/evntcons.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "buffer/interrupt.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 400
};

/* ---- just before and inside a step ----------------------------------------------------------- */

static unsigned processors[CPU_SETSIZE]; /* those the test may use */
static unsigned processor_count;
static unsigned here;                /* an index */
static unsigned finished_on[EVENTS]; /* the processor at the end of the call, by number of event */

static void list_processors(void)
{
    cpu_set_t allowed;

    processor_count = 0;
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    for (unsigned processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET(processor, &allowed)) {
            processors[processor_count++] = processor;
        }
    }
}

static void go_to(pid_t thread, unsigned index)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(processors[index], &one);
    (void)sched_setaffinity(thread, sizeof one, &one); /* a thread may have ended */
}

static void go_anywhere(void)
{
    cpu_set_t all;

    CPU_ZERO(&all);
    for (unsigned index = 0; index < processor_count; index++) {
        CPU_SET(processors[index], &all);
    }
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void go_to_the_next(void *context)
{
    (void)context;
    here = (here + 1) % processor_count;
    go_to(0, here);
}

static uint64_t in_wrong_stream;

static void compare_stream(EVENT_RECORD *record)
{
    const struct writer *writer = record->UserContext;

    for (uint16_t index = 0; index < record->ExtendedDataCount; index++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[index];
        EVENT_EXTENDED_ITEM_INSTANCE instance;

        if (item->ExtType == EVENT_HEADER_EXT_TYPE_INSTANCE_INFO) {
            memcpy(&instance, (const void *)(uintptr_t)item->DataPtr, sizeof instance);
            in_wrong_stream += record->BufferContext.ProcessorIndex !=
                               finished_on[instance.InstanceId - writer_instance_id(writer->id, 0)];
            return;
        }
    }
    if (record->EventHeader.ProviderId.Data1 == writer->id) {
        uint64_t number;

        memcpy(&number, record->EventHeader.ProviderId.Data4, sizeof number);
        in_wrong_stream += record->BufferContext.ProcessorIndex != finished_on[number];
    }
}

static void expect_right_streams(const char *path, struct writer *writer)
{
    EVENT_TRACE_LOGFILEA file = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD | PROCESS_TRACE_MODE_RAW_TIMESTAMP,
        .EventRecordCallback = compare_stream,
        .Context = writer,
    };
    etwas_trace_handle trace = OpenTraceA(&file);

    assert_true(trace != INVALID_PROCESSTRACE_HANDLE);
    in_wrong_stream = 0;
    assert_int_equal(ProcessTrace(&trace, 1, NULL, NULL), ERROR_SUCCESS);
    assert_int_equal(CloseTrace(trace), ERROR_SUCCESS);
    assert_int_equal(in_wrong_stream, 0);
}

static void move_in(enum sequence_step step, uint32_t point, bool circular)
{
    const etwas_session_options options = {
        .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
        .buffer_size_kb = 4,
        .minimum_buffers = circular ? 24 : 4,
        .maximum_buffers = step == STEP_LOST ? 8 : 300,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .flusher.no_thread = true,
    };
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_session(circular ? NULL : path, &options);
    struct writer *writer = writer_new(&(struct writer_options){
        .session = session, .class_handle = writer_class(), .events = EVENTS});
    struct interruptions interruptions = {
        .session = session, .step = step, .point = point, .act = go_to_the_next};
    etwas_session_counts counts;

    go_to(0, here);
    interruptions_begin(&interruptions);
    for (uint32_t number = 0; number < EVENTS; number++) {
        interruptions_arm_quick();
        (void)writer_log_bytes(writer, number * 7 % 1000);
        finished_on[number] = processors[here];
    }
    interruptions_end();
    assert_true(interruptions.total != 0);
    if (circular) {
        expect_recorder_is_exact(session, path);
        expect_right_streams(path, writer);
    }
    stop_session(session, &counts);
    expect_exact_account(session, &counts);
    assert_int_equal(counts.committed_shared, 0);
    if (!circular) {
        expect_file_reads_back(session, path, &counts);
        expect_right_streams(path, writer);
    }
    writers_forget();
}

static void a_writer_moved_before_or_inside_a_step_writes_where_it_is_then(void **state)
{
    (void)state;
    skip_without_sequences();
    interruptions_prepare();
    list_processors();
    if (processor_count < 2) {
        print_message("skipped: there are no two processors\n");
        skip();
    }
    for (enum sequence_step step = 0; step < STEPS; step++) {
        for (uint32_t point = sequence_first_point(step); point <= sequence_last_point(step);
             point++) {
            for (int circular = 0; circular < 2; circular++) {
                if (sequence_happens(step, circular == 1)) {
                    move_in(step, point, circular == 1);
                }
            }
        }
    }
    go_anywhere();
}

/* ---- at any moment --------------------------------------------------------------------------- */

enum {
    MOVED = 4,
    EVENTS_OF_EACH = 40000,
    PAUSE_NS = 100000,
};

struct moved {
    struct writer *writer;
    uint32_t thread_id;
    uint32_t done;
    pthread_t thread;
};

static void *write_all(void *argument)
{
    struct moved *moved = argument;

    ck_pr_store_32(&moved->thread_id, (uint32_t)gettid());
    while (writer_log(moved->writer) != ERROR_MORE_DATA) {
    }
    ck_pr_store_32(&moved->done, 1);
    return NULL;
}

static void move_until_done(struct moved *moved)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    unsigned done = 0;

    for (unsigned turn = 0; done < MOVED; turn++) {
        done = 0;
        for (unsigned index = 0; index < MOVED; index++) {
            uint32_t thread = ck_pr_load_32(&moved[index].thread_id);

            if (thread != 0) {
                go_to((pid_t)thread, (turn + index) % processor_count);
            }
            done += ck_pr_load_32(&moved[index].done);
        }
        (void)nanosleep(&pause, NULL);
    }
}

/* Records from 0 to many bytes; the long ones are mostly caught inside. */
static void writers_that_are_moved_all_the_time_lose_nothing_unseen(void **state)
{
    (void)state;
    skip_without_sequences();
    list_processors();
    for (int turn = 0; turn < 4; turn++) {
        bool circular = turn % 2 == 1;
        const etwas_session_options options = {
            .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
            .buffer_size_kb = turn < 2 ? 4 : 64,
            .minimum_buffers = circular ? 20 : 0,
            .clock = ETWAS_CLOCK_TSC,
            .protocol = ETWAS_PROTOCOL_RSEQ,
        };
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start_session(circular ? NULL : path, &options);
        struct writer_options what = {.session = session,
                                      .class_handle = writer_class(),
                                      .events = turn < 2 ? EVENTS_OF_EACH : EVENTS_OF_EACH / 40,
                                      .largest_payload = turn < 2 ? 300 : 30000,
                                      .even_sizes = true};
        struct moved moved[MOVED];
        etwas_session_counts counts;

        memset(moved, 0, sizeof moved);
        for (int index = 0; index < MOVED; index++) {
            moved[index].writer = writer_new(&what);
            assert_int_equal(pthread_create(&moved[index].thread, NULL, write_all, &moved[index]),
                             0);
        }
        move_until_done(moved);
        for (int index = 0; index < MOVED; index++) {
            assert_int_equal(pthread_join(moved[index].thread, NULL), 0);
        }
        if (circular) {
            expect_recorder_is_exact(session, path);
        }
        stop_session(session, &counts);
        assert_int_equal(counts.lost, writers_totals(session).lost);
        expect_exact_account(session, &counts);
        if (!circular) {
            expect_file_reads_back(session, path, &counts);
        }
        writers_forget();
    }
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_writer_moved_before_or_inside_a_step_writes_where_it_is_then),
        FOLDER_TEST(writers_that_are_moved_all_the_time_lose_nothing_unseen),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
