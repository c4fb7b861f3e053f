/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is left over from a shared session: a writer that was in it when it ended, and goes on at any
 * time. The next session in that place may have restartable sequences, and the writer may not harm it
 * (I6). A writer on the slow path has the memory leaked, and stays in it; a writer that has read its
 * slot's word, and does not visit, finds the next session's there.
 */
#include <ck_pr.h>
#include <pthread.h>

#include "buffer/interrupt.h"
#include "buffer/pool.h"
#include "flush/drain.h"
#include "platform/processor.h"
#include "support/folder.h"
#include "support/hold.h"
#include "support/inside.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    EVENTS = 600,
    BUFFER_KB = 4,
    BUFFERS = 256,
    LARGE_PAYLOAD = 3000,
    SMALLEST_RECORD_UNITS = 6, /* a plain event without payload */
};

#define SOON_NS (UINT64_C(20) * 1000000)

/* A writer of the first session that is held. */
struct held_writer {
    enum etwas_testpoint point;
    uint32_t payload;
    struct writer *writer;
    uint32_t code;
    pthread_t thread;
};

static void *visit(void *argument)
{
    struct held_writer *held = argument;

    hold_me(held->point);
    held->code = writer_log_bytes(held->writer, held->payload);
    return NULL;
}

static etwas_trace_handle start(const char *path, bool circular, uint32_t protocol)
{
    const etwas_session_options options = {
        .log_file_mode = circular ? EVENT_TRACE_BUFFERING_MODE : 0,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = circular ? BUFFERS : 0,
        .maximum_buffers = BUFFERS,
        .protocol = protocol,
        .flusher.no_thread = true,
    };

    return start_session(circular ? NULL : path, &options);
}

/* The slot of the only processor this thread may run on. */
static struct etwas_slot *slot_of(const struct etwas_session *place)
{
    return etwas_slot_folded(place->index, etwas_processor_current());
}

/* Starts a shared session and stops it while a writer is on the slow path. */
static struct etwas_session *leave_a_slow_path_writer(struct held_writer *held, bool circular)
{
    etwas_trace_handle session = start(folder_path("first.etl"), circular, ETWAS_PROTOCOL_SHARED);
    struct etwas_session *place = inside_of(session);

    held->writer = writer_new(&(struct writer_options){.session = session, .events = EVENTS});
    assert_int_equal(pthread_create(&held->thread, NULL, visit, held), 0);
    hold_wait();
    stop_session(session, NULL);
    assert_non_null(place->buffers.pool); /* leaked */
    return place;
}

static void let_go(struct held_writer *held)
{
    hold_release();
    assert_int_equal(pthread_join(held->thread, NULL), 0);
    assert_int_equal(held->code, ERROR_INVALID_HANDLE);
}

static void expect_exact_end(etwas_trace_handle session, bool circular, const char *path)
{
    etwas_session_counts counts;

    if (circular) {
        expect_recorder_is_exact(session, path);
    }
    stop_session(session, &counts);
    expect_nothing_lost(counts);
    assert_int_equal(counts.overwritten, 0);
    assert_int_equal(counts.committed_shared, 0);
    if (circular) {
        expect_exact_account(session, &counts);
    } else {
        expect_file_reads_back(session, path, &counts);
    }
}

static void a_slow_path_writer_left_over_from_a_leaked_session_does_not_move_records_of_the_next(
    void **state)
{
    (void)state;
    skip_without_sequences();
    for (int circular = 0; circular < 2; circular++) {
        const char *path = folder_path("second.etl");
        struct held_writer held = {.point = ETWAS_POINT_SWITCH_ENTERED, .payload = LARGE_PAYLOAD};
        struct etwas_session *place = leave_a_slow_path_writer(&held, circular == 1);
        etwas_trace_handle session = start(path, circular == 1, ETWAS_PROTOCOL_RSEQ);
        struct writer *writer = writer_new(&(struct writer_options){
            .session = session, .class_handle = writer_class(), .events = 2 * EVENTS});

        assert_ptr_equal(inside_of(session), place);
        assert_int_equal(ck_pr_load_32(&slot_of(place)->slow_writers), 0);
        /* Over many buffers: in the first one a wrong size of a buffer does no harm. */
        for (uint32_t number = 0; number < EVENTS; number++) {
            assert_int_equal(writer_log_bytes(writer, number * 97 % 900), ERROR_SUCCESS);
        }
        let_go(&held);
        for (uint32_t number = 0; number < EVENTS; number++) {
            assert_int_equal(writer_log_bytes(writer, number * 97 % 900), ERROR_SUCCESS);
        }
        expect_exact_end(session, circular == 1, path);
        writers_forget();
    }
}

/* ---- a word that looks the same -------------------------------------------------------------- */

static void log_records(struct writer *writer, uint32_t records, uint32_t units)
{
    for (uint32_t number = 0; number < records; number++) {
        assert_int_equal(
            writer_log_bytes(writer, (units - SMALLEST_RECORD_UNITS) * ETWAS_UNIT_BYTES),
            ERROR_SUCCESS);
    }
}

/*
 * A writer has read its slot's word and is about to exchange it: {epoch, buffer, units}. The next
 * session's is brought to {as many records, the same buffer, the same units}.
 */

/* What a writer of a session saw, and how to bring another one's slot as far. */
struct sight {
    struct etwas_session *place;
    uint64_t word;
    uint32_t records;
    uint32_t units; /* of each */
};

/* Leaves a writer that has seen {epoch, buffer, units} after as many records as the epoch counts. */
static struct sight leave_a_writer(struct held_writer *held, bool circular)
{
    const uint32_t buffer_units =
        BUFFER_KB * 1024 / ETWAS_UNIT_BYTES - ETWAS_FIRST_UNIT - SMALLEST_RECORD_UNITS;
    const uint32_t epoch_mask = (UINT32_C(1) << 23) - 1;
    etwas_trace_handle session = start(folder_path("first.etl"), circular, ETWAS_PROTOCOL_SHARED);
    struct sight sight = {.place = inside_of(session)};
    const struct etwas_slot *slot = slot_of(sight.place);

    sight.records = ((uint32_t)etwas_word_count(ck_pr_load_64(&slot->word)) & epoch_mask) + 1;
    sight.units = buffer_units / sight.records;
    assert_true(sight.units >= SMALLEST_RECORD_UNITS);
    held->writer = writer_new(&(struct writer_options){.session = session, .events = EVENTS});
    log_records(held->writer, sight.records, sight.units);
    sight.word = ck_pr_load_64(&slot->word);
    assert_int_equal(etwas_word_count(sight.word) & epoch_mask, sight.records);
    assert_int_equal(pthread_create(&held->thread, NULL, visit, held), 0);
    hold_wait();
    assert_true(ck_pr_load_64(&slot->word) == sight.word);
    stop_session(session, NULL);
    assert_null(
        sight.place->buffers.pool); /* nothing is leaked: the next session has the same slot */
    return sight;
}

/*
 * The session's slot comes to {…, the same buffer, the same units}, the writer goes on, and nothing
 * has changed.
 */
static void let_go_before_the_same_word(const struct sight *sight, struct held_writer *held,
                                        etwas_trace_handle session)
{
    struct writer *writer =
        writer_new(&(struct writer_options){.session = session, .events = EVENTS});
    uint64_t word;

    assert_ptr_equal(inside_of(session), sight->place);
    log_records(writer, sight->records, sight->units);
    word = ck_pr_load_64(&slot_of(sight->place)->word);
    assert_int_equal(etwas_word_buffer(word), etwas_word_buffer(sight->word));
    assert_int_equal(etwas_word_units(word), etwas_word_units(sight->word));
    let_go(held);
    assert_true(ck_pr_load_64(&slot_of(sight->place)->word) == word);
    log_records(writer, sight->records, sight->units);
}

/* The next session's slot has as many records as the word's epoch says. */
static void a_writer_does_not_take_the_place_of_a_session_whose_word_looks_like_its_own(
    void **state)
{
    (void)state;
    skip_without_sequences();
    for (int circular = 0; circular < 2; circular++) {
        const char *path = folder_path("second.etl");
        struct held_writer held = {.point = ETWAS_POINT_STAMPED};
        struct sight sight = leave_a_writer(&held, circular == 1);
        etwas_trace_handle session = start(path, circular == 1, ETWAS_PROTOCOL_RSEQ);

        let_go_before_the_same_word(&sight, &held, session);
        expect_exact_end(session, circular == 1, path);
        writers_forget();
    }
}

/* Sequences need no epoch, but do not make it begin anew. */
static void a_session_with_sequences_in_between_brings_back_no_word_of_a_writer(void **state)
{
    (void)state;
    skip_without_sequences();
    for (int turn = 0; turn < 2; turn++) {
        const char *path = folder_path("third.etl");
        struct held_writer held = {.point = ETWAS_POINT_STAMPED};
        struct sight sight = leave_a_writer(&held, false);
        etwas_session_counts counts;
        etwas_trace_handle session;

        stop_session(start(folder_path("second.etl"), false, ETWAS_PROTOCOL_RSEQ), NULL);
        session = start(path, false, ETWAS_PROTOCOL_SHARED);
        let_go_before_the_same_word(&sight, &held, session);
        stop_session(session, &counts);
        expect_nothing_lost(counts);
        expect_file_reads_back(session, path, &counts);
        writers_forget();
    }
}

static int setup(void **state)
{
    int code = folder_setup(state);

    etwas_drain_timeout_ns = SOON_NS;
    return code;
}

static int teardown(void **state)
{
    hold_release_all();
    etwas_drain_timeout_ns = TEST_DRAIN_TIMEOUT_NS;
    return folder_teardown(state);
}

static int fill_places(void **state)
{
    (void)state;
    if (can_have_sequences()) {
        entries_fill();
        stay_on_one_processor();
    }
    return 0;
}

static int empty_places(void **state)
{
    (void)state;
    if (can_have_sequences()) {
        leave_one_processor();
        entries_empty();
    }
    return 0;
}

#define LEFTOVER_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(int argument_count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        LEFTOVER_TEST(
            a_slow_path_writer_left_over_from_a_leaked_session_does_not_move_records_of_the_next),
        LEFTOVER_TEST(a_writer_does_not_take_the_place_of_a_session_whose_word_looks_like_its_own),
        LEFTOVER_TEST(a_session_with_sequences_in_between_brings_back_no_word_of_a_writer),
    };

    choose_tests(argument_count, arguments);
    return cmocka_run_group_tests(tests, fill_places, empty_places);
}
