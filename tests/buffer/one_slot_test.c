/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions with EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING: one slot for the writers of all processors,
 * two buffers in all if no more are asked for (R65), and one stream in the order of time (R78).
 */
#include <ck_pr.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buffer/interrupt.h"
#include "etl/layout.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "support/folder.h"
#include "support/inside.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    WRITERS = 4,
    EVENTS = 5000,
    BUFFER_KB = 4,
    BUFFER_BYTES = BUFFER_KB * 1024,
    MANY_BUFFERS = 4000,
    TURNS = 8,
};

static etwas_trace_handle start(const char *path, bool buffering, uint32_t clock, uint32_t buffers)
{
    const etwas_session_options options = {
        .log_file_mode =
            EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING | (buffering ? EVENT_TRACE_BUFFERING_MODE : 0),
        .clock = clock,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = buffering ? buffers : 1,
        .maximum_buffers = buffers,
    };

    return start_session(buffering ? NULL : path, &options);
}

static struct writer_options what_to_log(etwas_trace_handle session, uint64_t events)
{
    return (struct writer_options){.session = session,
                                   .class_handle = writer_class(),
                                   .events = events,
                                   .largest_payload = 900};
}

static void log_from_all_processors(etwas_trace_handle session, uint64_t events)
{
    const struct writer_options what = what_to_log(session, events);
    struct writers writers;

    writers_start(&writers, WRITERS, &what);
    writers_join(&writers);
}

/* ---- the file, byte by byte ------------------------------------------------------------------ */

static uint8_t *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *content;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *bytes = (size_t)ftell(file);
    rewind(file);
    content = malloc(*bytes);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, *bytes, file), *bytes);
    (void)fclose(file);
    return content;
}

/* The stamps in a buffer, from *newest on. Returns how many records are not etwas' own. */
static uint64_t expect_order_in(const uint8_t *buffer, int64_t *newest)
{
    struct etwas_etl_buffer_header head;
    uint64_t records = 0;

    memcpy(&head, buffer, sizeof head);
    assert_int_equal(head.buffer_bytes, BUFFER_BYTES);
    assert_int_equal(head.flags & ETWAS_ETL_BUFFER_PROCESSOR_INDEX,
                     ETWAS_ETL_BUFFER_PROCESSOR_INDEX);
    assert_int_equal(head.processor, 0);
    for (uint32_t at = sizeof head; at < head.offset;) {
        const uint8_t *guid = buffer + at + offsetof(struct etwas_etl_full_header, guid);
        uint16_t size;
        int64_t stamp;

        memcpy(&size, buffer + at, sizeof size);
        memcpy(&stamp, buffer + at + offsetof(struct etwas_etl_full_header, time_stamp),
               sizeof stamp);
        assert_true(stamp >= *newest);
        *newest = stamp;
        at += (uint32_t)etwas_etl_round_up_8(size);
        records += memcmp(guid, &etwas_etl_own_class, sizeof etwas_etl_own_class) != 0;
    }
    return records;
}

static uint64_t sequence_of(const uint8_t *buffer)
{
    struct etwas_etl_buffer_header head;

    memcpy(&head, buffer, sizeof head);
    return (uint64_t)head.sequence_number;
}

/*
 * R78: from buffer 1 on, in the order of their numbers, no stamp is older than the one before it.
 */
static void expect_one_stream(const char *path, uint64_t records)
{
    size_t bytes;
    uint8_t *content = read_whole(path, &bytes);
    size_t buffers = bytes / BUFFER_BYTES;
    size_t read = 1; /* the first is not of the stream */
    int64_t newest = 0;
    uint64_t found = 0;

    assert_int_equal(bytes % BUFFER_BYTES, 0);
    /* A snapshot has the newest first, and gives no buffer the number of one that was empty. */
    for (size_t sequence = 1; read < buffers; sequence++) {
        for (size_t index = 1; index < buffers; index++) {
            if (sequence_of(content + index * BUFFER_BYTES) == sequence) {
                found += expect_order_in(content + index * BUFFER_BYTES, &newest);
                read++;
            }
        }
        assert_true(sequence < 2 * buffers);
    }
    assert_int_equal(found, records);
    free(content);
}

static void expect_exact_file(etwas_trace_handle session, const char *path,
                              const etwas_session_counts *counts)
{
    struct readback result;

    assert_int_equal(counts->committed_rseq, 0);
    expect_file_reads_back(session, path, counts);
    read_back(session, path, &result);
    assert_int_equal(result.processors, etwas_processor_count());
    expect_one_stream(path, counts->recorded);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void one_slot_takes_the_events_of_all_processors_in_the_order_of_time(void **state)
{
    (void)state;
    for (uint32_t clock = ETWAS_CLOCK_QPC; clock <= ETWAS_CLOCK_TSC; clock++) {
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session = start(path, false, clock, MANY_BUFFERS);
        etwas_session_counts counts;

        log_from_all_processors(session, EVENTS);
        stop_session(session, &counts);
        assert_int_equal(writers_totals(session).attempted, WRITERS * EVENTS);
        expect_file_is_exact(session, path, &counts);
        expect_exact_file(session, path, &counts);
        writers_forget();
    }
}

/* R65, R70: no more than two, and what finds none is lost and counted. */
static void two_buffers_suffice(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start(path, false, ETWAS_CLOCK_QPC, 1);
    etwas_session_counts counts;
    EVENT_TRACE_PROPERTIES properties = query_session(session);

    (void)state;
    assert_int_equal(properties.MinimumBuffers, 2);
    assert_int_equal(properties.MaximumBuffers, 2);
    log_from_all_processors(session, EVENTS);
    stop_session(session, &counts);
    assert_int_equal(counts.buffers_allocated, 2);
    assert_true(counts.recorded > 0);
    expect_exact_file(session, path, &counts);
    writers_forget();
}

/* R65, R72. */
static void a_flight_recorder_with_one_slot_keeps_the_newest_events_of_all_processors(void **state)
{
    const uint32_t sizes[] = {1, 2, 3, 64};

    (void)state;
    for (size_t turn = 0; turn < sizeof sizes / sizeof sizes[0]; turn++) {
        const char *path = folder_path("snapshot.etl");
        etwas_trace_handle session = start(NULL, true, ETWAS_CLOCK_TSC, sizes[turn]);
        etwas_session_counts counts;

        log_from_all_processors(session, EVENTS);
        counts = counts_of(session);
        assert_int_equal(counts.buffers_allocated, sizes[turn] < 2 ? 2 : sizes[turn]);
        assert_true(counts.overwritten > 0);
        assert_int_equal(counts.committed_rseq, 0);
        expect_recorder_is_exact(session, path);
        expect_one_stream(path, counts.recorded);
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
        writers_forget();
    }
}

/* Each was refused once, unless it had logged all that it may before it came to that. */
static void expect_refused(const struct writers *writers)
{
    for (uint32_t index = 0; index < writers->count; index++) {
        const struct writer *writer = writers->list[index];

        assert_true(writer->refused == 1 ||
                    (writer->refused == 0 && writer->attempted == writer->options.events));
    }
}

/* I6. The pools are of many buffers and of the fewest. */
static void a_session_with_one_slot_stops_while_all_processors_write(void **state)
{
    (void)state;
    for (int turn = 0; turn < TURNS; turn++) {
        bool buffering = turn % 2 == 1;
        const char *path = folder_path("trace.etl");
        etwas_trace_handle session =
            start(path, buffering, ETWAS_CLOCK_TSC, turn % 4 < 2 ? MANY_BUFFERS : 1);
        struct writer_options what = what_to_log(session, 0);
        etwas_session_counts counts;
        struct writers writers;

        what.pauses = true; /* a writer that loses events would soon have logged all of them */
        writers_start(&writers, WRITERS, &what);
        while (writer_progress(writers.list[0]) < 1000) {
            (void)sched_yield();
        }
        stop_session(session, &counts);
        writers_join(&writers);
        expect_refused(&writers);
        assert_null(inside_of(session)->buffers.pool); /* nothing had to be leaked */
        if (buffering) {
            expect_exact_account(session, &counts);
        } else {
            expect_exact_file(session, path, &counts);
        }
        writers_forget();
    }
}

static void a_flush_writes_what_is_in_the_one_slot_while_all_processors_write(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start(path, false, ETWAS_CLOCK_TSC, MANY_BUFFERS);
    const struct writer_options what = what_to_log(session, EVENTS);
    struct writer *last = writer_new(&what);
    etwas_session_counts counts;
    struct writers writers;

    (void)state;
    writers_start(&writers, WRITERS, &what);
    for (int turn = 0; turn < TURNS; turn++) {
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    writers_join(&writers);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    counts = counts_of(session);
    assert_int_equal(writer_log_bytes(last, 8), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).buffers_written, counts.buffers_written);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(counts_of(session).buffers_written, counts.buffers_written + 1);
    stop_session(session, &counts);
    expect_exact_file(session, path, &counts);
    writers_forget();
}

static void a_fork_leaves_the_one_slot_to_the_parent(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start(path, false, ETWAS_CLOCK_TSC, MANY_BUFFERS);
    const struct writer_options what = what_to_log(session, EVENTS);
    etwas_session_counts counts;
    struct writers writers;

    (void)state;
    writers_start(&writers, WRITERS, &what);
    for (int turn = 0; turn < TURNS; turn++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0) {
            EVENT_TRACE_HEADER event = {.Size = sizeof event};

            event.Flags = WNODE_FLAG_TRACED_GUID;
            _exit(TraceEvent(session, &event) == ERROR_INVALID_HANDLE ? 0 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    writers_join(&writers);
    stop_session(session, &counts);
    expect_exact_file(session, path, &counts);
    writers_forget();
}

/*
 * I6: whatever kind of session comes next in the place, a handle is good for its own session alone.
 */
static void sessions_with_one_slot_and_with_many_take_turns_in_one_place(void **state)
{
    etwas_trace_handle before = 0;
    struct etwas_session *place = NULL;

    (void)state;
    entries_fill();
    for (int turn = 0; turn < 8; turn++) {
        const char *path = folder_path("trace.etl");
        bool one_slot = turn % 2 == 0;
        const etwas_session_options many = {.buffer_size_kb = BUFFER_KB,
                                            .maximum_buffers = MANY_BUFFERS};
        etwas_trace_handle session = one_slot ? start(path, false, ETWAS_CLOCK_TSC, MANY_BUFFERS)
                                              : start_session(path, &many);
        struct writer_options stale = what_to_log(before, 100);
        etwas_session_counts counts;

        assert_true(place == NULL || inside_of(session) == place);
        place = inside_of(session);
        for (uint32_t processor = 0; processor < etwas_slot_count; processor++) {
            assert_int_equal(ck_pr_load_32(&etwas_slot_of(place->index, processor)->gate) == 0,
                             one_slot);
        }
        if (before != 0) {
            struct writer *writer = writer_new(&stale);

            while (writer_log(writer) != ERROR_MORE_DATA) {
            }
            assert_int_equal(writer->refused, 100);
        }
        log_from_all_processors(session, EVENTS / 10);
        stop_session(session, &counts);
        if (one_slot) {
            expect_exact_file(session, path, &counts);
        } else {
            expect_file_reads_back(session, path, &counts);
        }
        writers_forget();
        before = session;
    }
    entries_empty();
}

static void a_session_with_one_slot_has_the_shared_protocol(void **state)
{
    etwas_session_options options = {.log_file_mode = EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING |
                                                      EVENT_TRACE_BUFFERING_MODE};
    etwas_trace_handle session = start_session(NULL, &options);
    uint32_t protocol;

    (void)state;
    assert_int_equal(etwas_session_protocol(session, &protocol), ERROR_SUCCESS);
    assert_int_equal(protocol, ETWAS_PROTOCOL_SHARED);
    stop_session(session, NULL);
    options.protocol = ETWAS_PROTOCOL_RSEQ;
    assert_int_equal(etwas_start("one slot", NULL, &options, &session), ERROR_INVALID_PARAMETER);
    assert_int_equal(session, 0);
}

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(one_slot_takes_the_events_of_all_processors_in_the_order_of_time),
        FOLDER_TEST(two_buffers_suffice),
        FOLDER_TEST(a_flight_recorder_with_one_slot_keeps_the_newest_events_of_all_processors),
        FOLDER_TEST(a_session_with_one_slot_stops_while_all_processors_write),
        FOLDER_TEST(a_flush_writes_what_is_in_the_one_slot_while_all_processors_write),
        FOLDER_TEST(a_fork_leaves_the_one_slot_to_the_parent),
        FOLDER_TEST(sessions_with_one_slot_and_with_many_take_turns_in_one_place),
        FOLDER_TEST(a_session_with_one_slot_has_the_shared_protocol),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
