/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Stopping sessions with restartable sequences while threads log without end (I6): every count is
 * exact, and nothing that was meant for one session lands in the next one in its place.
 */
#include <ck_pr.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "buffer/interrupt.h"
#include "buffer/storm.h"
#include "platform/rseq.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

/* ---- threads that never stop ----------------------------------------------------------------- */

enum {
    INTERVAL_NS = 100000,
    ROUNDS = 24,
    LOAD_EVENTS = 5000,
    LARGE_PAYLOAD = 60000,
    UNPINNED = 2,
    MOST_LOADERS = 16,
};

struct load;

/* One that logs into a session, and does not stop when the session does. */
struct loader {
    struct writer *writer;
    struct writer *handler; /* NULL: no storm */
    int processor;          /* -1: any */
    const struct load *load;
    uint64_t accepted_late;
    pthread_t thread;
};

static void pin(int processor)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((unsigned)processor, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) {
        abort();
    }
}

struct load {
    etwas_trace_handle session;
    const char *path;
    etwas_session_counts counts; /* when it stopped */
    struct loader loaders[MOST_LOADERS];
    uint32_t count;
    uint32_t stopped;
    uint32_t end;
};

static void *load_main(void *argument)
{
    struct loader *loader = argument;
    EVENT_TRACE_HEADER late = {.Size = sizeof late, .Flags = WNODE_FLAG_TRACED_GUID};

    if (loader->processor >= 0) {
        pin(loader->processor);
    }
    if (loader->handler != NULL) {
        storm_begin(loader->handler, INTERVAL_NS);
    }
    while (loader->writer->attempted < LOAD_EVENTS &&
           writer_log(loader->writer) != ERROR_INVALID_HANDLE) {
    }
    while (loader->writer->refused == 0 && ck_pr_load_32(&loader->load->stopped) == 0) {
        (void)sched_yield();
    }
    do {
        loader->accepted_late +=
            TraceEvent(loader->writer->options.session, &late) != ERROR_INVALID_HANDLE;
    } while (ck_pr_load_32(&loader->load->end) == 0);
    if (loader->handler != NULL) {
        storm_end();
    }
    return NULL;
}

static bool is_circular(int round)
{
    return round % 3 != 0;
}

/*
 * On each processor the caller may use two threads, one with large records, which are long inside a
 * sequence, and one in a storm; and some that go anywhere.
 */
static void load_start(struct load *load, etwas_trace_handle session)
{
    cpu_set_t allowed;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    load->session = session;
    load->count = 0;
    load->stopped = 0;
    load->end = 0;
    for (int turn = 0; turn < CPU_SETSIZE + UNPINNED; turn++) {
        bool pinned = turn < CPU_SETSIZE;

        if (pinned && !CPU_ISSET((unsigned)turn, &allowed)) {
            continue;
        }
        for (int one = 0; one < (pinned ? 2 : 1) && load->count < MOST_LOADERS; one++) {
            struct writer_options what = {.session = session,
                                          .class_handle = writer_class(),
                                          .events = LOAD_EVENTS,
                                          .largest_payload =
                                              one == 0 && pinned ? LARGE_PAYLOAD : 300,
                                          .even_sizes = true};

            load->loaders[load->count++] = (struct loader){
                .writer = writer_new(&what),
                .handler = one == 1 ? writer_new(&what) : NULL,
                .processor = pinned ? turn : -1,
                .load = load,
            };
        }
    }
    for (uint32_t index = 0; index < load->count; index++) {
        assert_int_equal(
            pthread_create(&load->loaders[index].thread, NULL, load_main, &load->loaders[index]),
            0);
    }
}

static void load_wait(const struct load *load, uint64_t events)
{
    for (uint32_t index = 0; index < load->count; index++) {
        while (writer_progress(load->loaders[index].writer) < events) {
            (void)sched_yield();
        }
    }
}

static void load_end(struct load *load)
{
    ck_pr_store_32(&load->end, 1);
    for (uint32_t index = 0; index < load->count; index++) {
        assert_int_equal(pthread_join(load->loaders[index].thread, NULL), 0);
        assert_int_equal(load->loaders[index].accepted_late, 0);
    }
}

static etwas_trace_handle start_large(bool circular, const char *path)
{
    const etwas_session_options options = {
        .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
        .buffer_size_kb = 64,
        .minimum_buffers = 24,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .clock = ETWAS_CLOCK_TSC,
        /*
         * A stop that has no thread to wait for reaches the slots while long sequences still run.
         */
        .flusher.no_thread = circular,
    };

    return start_session(circular ? NULL : path, &options);
}

static void expect_load_is_exact(struct load *load, bool circular)
{
    load_end(load);
    expect_exact_account(load->session, &load->counts);
    assert_int_equal(load->counts.lost, writers_totals(load->session).lost);
    assert_int_equal(load->counts.lost_abandoned, 0);
    if (!circular) {
        expect_file_reads_back(load->session, load->path, &load->counts);
    }
}

/*
 * The last session's writers go on while the next runs in its place; they are refused, all of them.
 */
static void sessions_stop_and_start_in_one_place_under_load(void **state)
{
    static struct load loads[2];

    (void)state;
    skip_without_sequences();
    storm_prepare();
    entries_fill();
    for (int round = 0; round < ROUNDS; round++) {
        struct load *now = &loads[round % 2];

        now->path = folder_path(round % 2 == 0 ? "even.etl" : "odd.etl");
        load_start(now, start_large(is_circular(round), now->path));
        load_wait(now, 5 + (uint64_t)round);
        if (round != 0) {
            expect_load_is_exact(&loads[(round - 1) % 2], is_circular(round - 1));
        }
        stop_session(now->session, &now->counts);
        ck_pr_store_32(&now->stopped, 1);
        /* Nobody was waited for, and the memory is given back. */
        assert_null(inside_of(now->session)->buffers.pool);
    }
    expect_load_is_exact(&loads[(ROUNDS - 1) % 2], is_circular(ROUNDS - 1));
    entries_empty();
}

/* ---- in the middle of a long sequence -------------------------------------------------------- */

enum {
    STOPS = 400,
    LONGEST = 65535
};

/* Logs the longest records, from one processor, into whichever session there is. */
struct long_writer {
    etwas_trace_handle session; /* 0: it shall wait */
    int processor;
    uint32_t end;
    uint64_t attempted; /* but for the refused */
    uint64_t seen;      /* the session whose end it has seen */
    pthread_t thread;
};

static void *write_longest(void *argument)
{
    static union {
        EVENT_TRACE_HEADER header;
        uint8_t bytes[LONGEST];
    } event;
    struct long_writer *writer = argument;

    pin(writer->processor);
    event.header.Size = LONGEST;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    while (ck_pr_load_32(&writer->end) == 0) {
        etwas_trace_handle session = ck_pr_load_64(&writer->session);

        if (session == ck_pr_load_64(&writer->seen)) {
            (void)sched_yield();
        } else if (TraceEvent(session, &event.header) == ERROR_INVALID_HANDLE) {
            ck_pr_fence_release();
            ck_pr_store_64(&writer->seen, session);
        } else {
            ck_pr_inc_64(&writer->attempted);
        }
    }
    return NULL;
}

/* The first and the last of the processors the caller may use. */
static void first_and_last_processor(int *first, int *last)
{
    cpu_set_t allowed;

    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    *first = -1;
    for (int processor = 0; processor < CPU_SETSIZE; processor++) {
        if (CPU_ISSET((unsigned)processor, &allowed)) {
            *first = *first < 0 ? processor : *first;
            *last = processor;
        }
    }
}

/*
 * Most stops find the writer inside a sequence, on another processor. It commits before the fence,
 * or not.
 */
static void a_stop_waits_for_nobody_and_misses_nothing(void **state)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = 256,
        .minimum_buffers = 8,
        .protocol = ETWAS_PROTOCOL_RSEQ,
        .flusher.no_thread = true,
    };
    struct long_writer writer = {.session = 0};
    int first;

    (void)state;
    skip_without_sequences();
    first_and_last_processor(&first, &writer.processor);
    if (first == writer.processor) {
        print_message("skipped: there are no two processors\n");
        skip();
    }
    entries_fill();
    stay_on_one_processor();
    pin(first);
    assert_int_equal(pthread_create(&writer.thread, NULL, write_longest, &writer), 0);
    for (int round = 0; round < STOPS; round++) {
        etwas_trace_handle session = start_session(NULL, &options);
        etwas_session_counts counts;

        ck_pr_store_64(&writer.attempted, 0);
        ck_pr_store_64(&writer.session, session);
        while (ck_pr_load_64(&writer.attempted) < (uint64_t)(5 + round % 7)) {
            ck_pr_stall();
        }
        stop_session(session, &counts);
        while (ck_pr_load_64(&writer.seen) != session) {
            ck_pr_stall();
        }
        ck_pr_fence_acquire();
        assert_int_equal(counts.recorded + counts.overwritten + counts.lost,
                         ck_pr_load_64(&writer.attempted));
    }
    ck_pr_store_32(&writer.end, 1);
    assert_int_equal(pthread_join(writer.thread, NULL), 0);
    leave_one_processor();
    entries_empty();
}

/* ---- without a fence ------------------------------------------------------------------------- */

/* What late writers commit is counted, though it is too late for the file. */
static void without_a_fence_late_events_are_counted(void **state)
{
    (void)state;
    skip_without_sequences();
    storm_prepare();
    entries_fill();
    for (int round = 0; round < 6; round++) {
        static struct load load;
        bool circular = is_circular(round);
        struct readback result;
        etwas_session_counts counts;

        load.path = folder_path("trace.etl");
        load_start(&load, start_large(circular, load.path));
        load_wait(&load, 10);
        etwas_rseq_fence_fails = true;
        stop_session(load.session, NULL);
        etwas_rseq_fence_fails = false;
        ck_pr_store_32(&load.stopped, 1);
        load_end(&load);
        counts = counts_of(load.session);
        expect_exact_account(load.session, &counts);
        if (!circular) {
            read_back(load.session, load.path, &result);
            assert_int_equal(result.wrong + result.unexpected, 0);
            assert_true(result.missing <= load.count);
        }
        writers_forget();
    }
    entries_empty();
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(sessions_stop_and_start_in_one_place_under_load),
        FOLDER_TEST(a_stop_waits_for_nobody_and_misses_nothing),
        FOLDER_TEST(without_a_fence_late_events_are_counted),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
