/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the drain asks of a sink, and what it makes of the answers: a made-up one stands in. */
#include "flush/sink.h"

#include <string.h>

#include "flush/flusher.h"
#include "support/flushing.h"
#include "support/inside.h"

/* What the made-up sink answers, and the calls that it has received. */
static struct {
    uint32_t room;
    bool keeps_every_second; /* the others are lost for the reason below */
    enum etwas_disposition loss;
    uint32_t code;

    uint32_t buffers;
    uint64_t records;
    uint64_t kept_records;
    uint32_t kept_before; /* buffers that a sink before this one has kept */
    int64_t newest;
    uint32_t flushes;
    int64_t bound;
    uint32_t syncs;
    uint32_t clocks;
    uint32_t ends;
    bool file_ended; /* before this one */
} fake;

static uint32_t room(struct etwas_session *session, uint32_t most, bool last)
{
    (void)session;
    return fake.room < most && !last ? fake.room : most;
}

static void take(struct etwas_session *session, struct etwas_batch *batch)
{
    (void)session;
    fake.room -= fake.room < batch->count ? fake.room : batch->count;
    for (uint32_t index = 0; index < batch->count; index++) {
        struct etwas_drained *buffer = &batch->buffers[index];

        fake.kept_before += buffer->kept;
        fake.buffers++;
        fake.records += buffer->records;
        fake.newest = buffer->newest > fake.newest ? buffer->newest : fake.newest;
        if (!fake.keeps_every_second || fake.buffers % 2 == 0) {
            buffer->kept = true;
            fake.kept_records += buffer->records;
        }
    }
    if (fake.code != ERROR_SUCCESS) {
        batch->loss = fake.loss;
        batch->code = fake.code;
    }
}

static void flushed(struct etwas_session *session, int64_t bound)
{
    (void)session;
    fake.flushes++;
    fake.bound = bound;
}

static uint32_t sync(struct etwas_session *session)
{
    (void)session;
    fake.syncs++;
    return ERROR_SUCCESS;
}

static void read_clocks(struct etwas_session *session, const struct etwas_clock_reading *reading,
                        bool quiet)
{
    (void)session;
    (void)reading;
    (void)quiet;
    fake.clocks++;
}

static void end(struct etwas_session *session)
{
    fake.ends++;
    fake.file_ended = session->drain.file == NULL;
    session->drain.sinks[ETWAS_SINK_REALTIME] = NULL;
}

static const struct etwas_sink made_up = {
    .room = room,
    .accept = take,
    .flushed = flushed,
    .sync = sync,
    .read_clocks = read_clocks,
    .end = end,
};

static const struct etwas_sink *log_file; /* of the session started last */

/* A session without a thread, with the sink in this place. */
static etwas_trace_handle start(enum etwas_session_sink place)
{
    const etwas_session_options options = {.buffer_size_kb = 4, .flusher = {.no_thread = true}};
    etwas_trace_handle session = start_session(folder_path("trace.etl"), &options);

    memset(&fake, 0, sizeof fake);
    fake.room = UINT32_MAX;
    log_file = inside_of(session)->drain.sinks[ETWAS_SINK_FILE];
    inside_of(session)->drain.sinks[place] = &made_up;
    return session;
}

static void every_verb_comes_at_its_time(void **state)
{
    etwas_trace_handle session = start(ETWAS_SINK_REALTIME);
    struct etwas_session *inside = inside_of(session);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    log_and_flush(writer, 1000);
    assert_int_equal(fake.records, 1000);
    assert_int_equal(fake.kept_before, fake.buffers);
    assert_int_equal(fake.flushes, 1);
    assert_true(fake.bound >= fake.newest);
    assert_int_equal(fake.syncs, 1);
    inside->drain.clock_read_ns = 0;
    etwas_session_clock_read_if_due(inside);
    assert_int_equal(fake.clocks, 1);
    log_events(writer, 10);
    stop_session(session, &counts);
    assert_int_equal(fake.records, 1010);
    assert_int_equal(fake.ends, 1);
    assert_false(fake.file_ended);
    expect_nothing_lost(counts);
}

/* What has no room stays in the pool, also for the file before it; and no flush is through. */
static void what_has_no_room_waits(void **state)
{
    etwas_trace_handle session = start(ETWAS_SINK_REALTIME);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    fake.room = 3;
    log_events(writer, 1000);
    assert_int_equal(etwas_flush(session), ERROR_LOG_FILE_FULL);
    assert_int_equal(fake.buffers, 3);
    assert_int_equal(counts_of(session).buffers_written, 1 + 3);
    assert_int_equal(fake.flushes, 0);
    assert_int_equal(etwas_flush(session), ERROR_LOG_FILE_FULL);
    assert_int_equal(fake.buffers, 3);
    fake.room = UINT32_MAX;
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    assert_int_equal(fake.records, 1000);
    assert_int_equal(fake.flushes, 1);
    stop_session(session, &counts);
    expect_nothing_lost(counts);
}

/* At the end of a session nothing can wait. */
static void a_sink_is_told_of_the_last_pass(void **state)
{
    etwas_trace_handle session = start(ETWAS_SINK_REALTIME);
    struct writer *writer = small_writer(session);
    etwas_session_counts counts;

    (void)state;
    fake.room = 0;
    log_events(writer, 1000);
    stop_session(session, &counts);
    assert_int_equal(fake.records, 1000);
    assert_int_equal(fake.ends, 1);
    expect_nothing_lost(counts);
}

/* I4: kept by one is written; what none has kept is lost for the reason that is given. */
static void what_no_sink_keeps_is_lost_for_its_reason(void **state)
{
    static const enum etwas_disposition reasons[] = {
        ETWAS_DISPOSITION_UNDELIVERED, ETWAS_DISPOSITION_WRITE_ERROR, ETWAS_DISPOSITION_FILE_FULL};

    (void)state;
    for (size_t index = 0; index < sizeof reasons / sizeof reasons[0]; index++) {
        etwas_trace_handle session = start(ETWAS_SINK_FILE);
        struct etwas_session *inside = inside_of(session);
        struct writer *writer = small_writer(session);
        uint64_t lost[ETWAS_DISPOSITIONS];
        etwas_session_counts counts;

        fake.keeps_every_second = true;
        fake.loss = reasons[index];
        fake.code =
            reasons[index] == ETWAS_DISPOSITION_UNDELIVERED ? ERROR_SUCCESS : ERROR_DISK_FULL;
        log_events(writer, 1000);
        assert_int_equal(etwas_flush(session), fake.code);
        counts = counts_of(session);
        lost[ETWAS_DISPOSITION_UNDELIVERED] = counts.lost_undelivered;
        lost[ETWAS_DISPOSITION_WRITE_ERROR] = counts.lost_write_error;
        lost[ETWAS_DISPOSITION_FILE_FULL] = counts.lost_file_full;
        assert_int_equal(fake.records, 1000);
        assert_int_equal(counts.recorded, fake.kept_records);
        assert_int_equal(counts.lost, 1000 - fake.kept_records);
        assert_int_equal(lost[reasons[index]], counts.lost);
        inside->drain.sinks[ETWAS_SINK_FILE] = log_file;
        stop_session(session, &counts);
        expect_exact_account(session, &counts);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_verb_comes_at_its_time),
        FOLDER_TEST(what_has_no_room_waits),
        FOLDER_TEST(a_sink_is_told_of_the_last_pass),
        FOLDER_TEST(what_no_sink_keeps_is_lost_for_its_reason),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
