/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A system that does not answer, or a flusher that gets no processor: whatever call about the log
 * file it is in, writers go on, and QUERY answers. What finds no buffer meanwhile is counted.
 *
 * Writers are seen not to wait by what they do: they log all their events while the call hangs.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "failures/account.h"
#include "failures/failing.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    PARTS = 60,
    EVENTS_BEFORE = 200000,
    EVENTS_MEANWHILE = 20000,
};

static const char *paths[PARTS];

static etwas_trace_handle start_parts(uint32_t more_mode)
{
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_FILE_MODE_NEWFILE | EVENT_TRACE_USE_KBYTES_FOR_SIZE |
                         EVENT_TRACE_USE_MS_FLUSH_TIMER | more_mode,
        .maximum_file_size = 256,
        .buffer_size_kb = 4,
        .maximum_buffers = 64,
        .flush_timer = 1,
    };

    for (uint32_t part = 0; part < PARTS; part++) {
        char name[32];

        (void)snprintf(name, sizeof name, "part-%u.etl", part + 1);
        paths[part] = folder_path(name);
    }
    return start_session(folder_path("part-%d.etl"), &options);
}

static void log_one(struct writer *writer)
{
    uint32_t code = writer_log(writer);

    assert_true(code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY);
}

static void log_while_it_hangs(enum etwas_log_file_call call)
{
    bool allocates = call == ETWAS_FILE_ALLOCATE;
    etwas_trace_handle session = start_parts(allocates ? EVENT_TRACE_FILE_MODE_PREALLOCATE : 0);
    struct writer *writer =
        writer_new(&(struct writer_options){.session = session,
                                            .class_handle = writer_class(),
                                            .events = EVENTS_BEFORE + EVENTS_MEANWHILE,
                                            .largest_payload = 100});
    const struct account account = {
        .session = session, .paths = paths, .path_count = PARTS, .flags = ACCOUNT_LOSSES};
    const struct timespec pause = {.tv_nsec = 200000};
    etwas_session_counts counts;

    hang_call(call, 2);
    while (!hangs_now()) {
        assert_true(writer->attempted < EVENTS_BEFORE);
        /* The writer is not faster than the flusher, which has to come so far. */
        for (int index = 0; index < 200 && has_room(session); index++) {
            log_one(writer);
        }
        (void)nanosleep(&pause, NULL);
    }
    for (uint32_t index = 0; index < EVENTS_MEANWHILE; index++) {
        log_one(writer);
    }
    if (call == ETWAS_FILE_OPEN || call == ETWAS_FILE_CLOSE) {
        fork_while_it_hangs();
    }
    assert_true(hangs_now());
    assert_int_equal(query_session(session).EventsLost, counts_of(session).lost);
    assert_true(counts_of(session).lost_no_buffer > 0);
    hang_release();
    stop_session(session, &counts);
    assert_int_equal(counts.lost, counts.lost_no_buffer);
    assert_true(expect_accounted_files(&account, &counts) > 0);
    for (uint32_t part = 0; part < PARTS; part++) {
        (void)unlink(paths[part]);
    }
}

static void writers_go_on_while_a_write_hangs(void **state)
{
    (void)state;
    log_while_it_hangs(ETWAS_FILE_WRITE);
}

static void writers_go_on_while_a_sync_hangs(void **state)
{
    (void)state;
    log_while_it_hangs(ETWAS_FILE_SYNC);
}

/* Between two files. */
static void writers_go_on_while_the_next_file_is_opened(void **state)
{
    (void)state;
    log_while_it_hangs(ETWAS_FILE_OPEN);
    log_while_it_hangs(ETWAS_FILE_STAT);
    log_while_it_hangs(ETWAS_FILE_LOCK);
    log_while_it_hangs(ETWAS_FILE_ALLOCATE);
}

static void writers_go_on_while_the_last_file_is_ended(void **state)
{
    (void)state;
    log_while_it_hangs(ETWAS_FILE_TRUNCATE);
    log_while_it_hangs(ETWAS_FILE_CLOSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FAILING_TEST(writers_go_on_while_a_write_hangs),
        FAILING_TEST(writers_go_on_while_a_sync_hangs),
        FAILING_TEST(writers_go_on_while_the_next_file_is_opened),
        FAILING_TEST(writers_go_on_while_the_last_file_is_ended),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
