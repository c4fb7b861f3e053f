/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Handles outlive their sessions: what is written with one never lands in a session started later
 * in the same entry, while threads write without pause and sessions come and go (I6).
 */
#include <ck_pr.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/fixture.h"

enum {
    ENTRIES = 64,
    WRITERS = 3,
    SESSIONS = 200,
    OLD_HANDLES = 8
};

static etwas_trace_handle handles[SESSIONS];
static uint32_t newest; /* index of the newest handle */
static uint32_t end;

struct tally {
    uint64_t good[SESSIONS];
    uint64_t lost[SESSIONS];
    uint64_t refused;
    uint64_t odd;
};
static struct tally tallies[WRITERS];

/* The number says with which handle it was written. */
static uint64_t number_with(uint32_t session, uint32_t writer, uint64_t sequence)
{
    return (uint64_t)session << 48 | (uint64_t)writer << 40 | sequence;
}

/* Mostly the newest handle, now and then an older one. */
static void *write_always(void *argument)
{
    uint32_t writer = (uint32_t)(uintptr_t)argument;
    struct tally *tally = &tallies[writer];
    uint64_t sequence = 0;

    while (ck_pr_load_32(&end) == 0) {
        uint32_t session = ck_pr_load_32(&newest);

        if (sequence % 5 == 4) {
            uint32_t back = 1 + (uint32_t)(sequence / 5) % OLD_HANDLES;

            session = session > back ? session - back : 0;
        }
        switch (log_number(handles[session], number_with(session, writer, sequence))) {
        case ERROR_SUCCESS:
            tally->good[session]++;
            break;
        case ERROR_NOT_ENOUGH_MEMORY:
            tally->lost[session]++;
            break;
        case ERROR_INVALID_HANDLE:
            ck_pr_inc_64(&tally->refused);
            break;
        default:
            tally->odd++;
            break;
        }
        sequence++;
    }
    return NULL;
}

static const char *file_of(uint32_t session)
{
    char name[16];

    (void)snprintf(name, sizeof name, "%u.etl", session);
    return folder_path(name);
}

static void check_session(uint32_t session, const etwas_session_counts *counts)
{
    struct events events;
    uint64_t good = 0;
    uint64_t lost = 0;

    for (uint32_t writer = 0; writer < WRITERS; writer++) {
        good += tallies[writer].good[session];
        lost += tallies[writer].lost[session];
    }
    assert_int_equal(counts->recorded, good);
    assert_int_equal(counts->lost, lost);
    read_events(file_of(session), 0, &events);
    assert_int_equal(events.count, good);
    for (size_t index = 0; index < events.count; index++) {
        assert_int_equal(number_of(&events.items[index]) >> 48, session);
    }
    free_events(&events);
    assert_int_equal(unlink(file_of(session)), 0);
}

static void i6_no_event_lands_in_a_session_started_later_in_the_same_entry(void **state)
{
    const etwas_session_options filler = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                          .buffer_size_kb = 4,
                                          .flusher.no_thread = true};
    const etwas_session_options small = {.buffer_size_kb = 4, .maximum_buffers = 12};
    static etwas_session_counts counts[SESSIONS];
    etwas_trace_handle others[ENTRIES - 1];
    pthread_t threads[WRITERS];

    (void)state;
    /* One entry is left: every session takes it after the one before. */
    for (int index = 0; index < ENTRIES - 1; index++) {
        others[index] = start_session(NULL, &filler);
    }
    handles[0] = start_session(file_of(0), &small);
    for (uint32_t writer = 0; writer < WRITERS; writer++) {
        assert_int_equal(
            pthread_create(&threads[writer], NULL, write_always, (void *)(uintptr_t)writer), 0);
    }
    for (uint32_t session = 0; session < SESSIONS; session++) {
        if (session % 3 == 0) {
            (void)usleep(2000);
        }
        stop_session(handles[session], &counts[session]);
        if (session + 1 < SESSIONS) {
            handles[session + 1] = start_session(file_of(session + 1), &small);
            assert_int_equal(handles[session + 1] & 0xFF, handles[0] & 0xFF);
            ck_pr_fence_release();
            ck_pr_store_32(&newest, session + 1);
        }
    }
    for (uint32_t writer = 0; writer < WRITERS; writer++) {
        while (ck_pr_load_64(&tallies[writer].refused) == 0) {
            (void)usleep(1000);
        }
    }
    ck_pr_store_32(&end, 1);
    for (uint32_t writer = 0; writer < WRITERS; writer++) {
        assert_int_equal(pthread_join(threads[writer], NULL), 0);
        assert_int_equal(tallies[writer].odd, 0);
    }
    for (int index = 0; index < ENTRIES - 1; index++) {
        assert_int_equal(counts_of(others[index]).recorded, 0);
        stop_session(others[index], NULL);
    }
    for (uint32_t session = 0; session < SESSIONS; session++) {
        check_session(session, &counts[session]);
    }
}

static void what_never_was_a_handle_is_refused_by_every_function(void **state)
{
    static const etwas_trace_handle wrong[] = {1,
                                               2,
                                               0x41,
                                               0xFF,
                                               0x100,
                                               0xFFFFFFFF,
                                               UINT64_C(1) << 40,
                                               UINT64_C(1) << 62,
                                               INVALID_PROCESSTRACE_HANDLE};
    etwas_session_counts counts;
    etwas_session_memory memory;

    (void)state;
    assert_int_equal(log_number(0, 1), ERROR_INVALID_PARAMETER);
    for (size_t index = 0; index < sizeof wrong / sizeof wrong[0]; index++) {
        assert_int_equal(log_number(wrong[index], 1), ERROR_INVALID_HANDLE);
        assert_int_equal(etwas_counts(wrong[index], &counts), ERROR_INVALID_HANDLE);
        assert_int_equal(etwas_memory(wrong[index], &memory), ERROR_INVALID_HANDLE);
        assert_int_equal(etwas_flush(wrong[index]), ERROR_INVALID_HANDLE);
        assert_int_equal(etwas_snapshot(wrong[index], "f"), ERROR_INVALID_HANDLE);
        assert_int_equal(etwas_stop(wrong[index], NULL), ERROR_INVALID_HANDLE);
        assert_int_equal(EnableTrace(1, 0, 0, &control_guid, wrong[index]),
                         ERROR_INVALID_PARAMETER);
        assert_int_equal(UnregisterTraceGuids(wrong[index]), ERROR_INVALID_PARAMETER);
        assert_null(etwas_provider_of(wrong[index]));
    }
    assert_int_equal(etwas_stop(0, NULL), ERROR_INVALID_HANDLE);
    assert_int_equal(UnregisterTraceGuids(0), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTrace(1, 0, 0, &control_guid, 0), ERROR_INVALID_PARAMETER);
    assert_int_equal(EnableTrace(1, 0, 0, NULL, 0x101), ERROR_INVALID_PARAMETER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_never_was_a_handle_is_refused_by_every_function),
        FOLDER_TEST(i6_no_event_lands_in_a_session_started_later_in_the_same_entry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
