/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Batches of a process that is killed, or read while it runs: each is recovered whole or not at
 * all.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provider/batches.h"
#include "recover/crash.h"

enum {
    TURNS = 12,
    LIVE_LOOKS = 4,
    THREADS = 3,
    LONGEST_LIFE_US = 30000,
    LARGE_BYTES = 700,
};

/* ---- the child ------------------------------------------------------------------------------- */

/* A batch in which every fourth event is large. */
struct numbered {
    struct {
        EVENT_TRACE_HEADER header;
        struct batch_mark mark;
        uint8_t rest[LARGE_BYTES];
    } parts[ETWAS_BATCH_EVENTS];
    etwas_batch_event events[ETWAS_BATCH_EVENTS];
};

struct writer {
    etwas_trace_handle session;
    uint64_t number;
};

static void *write_batches(void *context)
{
    const struct writer *writer = context;
    struct numbered *batch = calloc(1, sizeof *batch);

    for (uint64_t number = writer->number;; number++) {
        uint32_t count = 1 + (uint32_t)(number * 7 % ETWAS_BATCH_EVENTS);

        for (uint32_t index = 0; index < count; index++) {
            EVENT_TRACE_HEADER *header = &batch->parts[index].header;
            size_t bytes = (number + index) % 4 == 0 ? sizeof batch->parts[index]
                                                     : sizeof *header + sizeof(struct batch_mark);

            *header = (EVENT_TRACE_HEADER){.Size = (uint16_t)bytes, .Guid = event_class};
            header->Flags = WNODE_FLAG_TRACED_GUID;
            batch->parts[index].mark = (struct batch_mark){number, index, count};
            batch->events[index] = etwas_batch_trace(writer->session, header);
        }
        (void)etwas_write_many(batch->events, count, NULL, NULL);
    }
    return NULL;
}

static void write_until_killed(etwas_trace_handle session)
{
    static struct writer writers[THREADS];

    for (uint64_t index = 0; index < THREADS; index++) {
        pthread_t thread;

        writers[index] = (struct writer){session, (index << 48) + 1};
        CHECK_IN_CHILD(pthread_create(&thread, NULL, write_batches, &writers[index]) == 0);
    }
    for (;;) {
        (void)pause();
    }
}

/* ---- its parent ------------------------------------------------------------------------------ */

/* Returns how many events the file has. */
static size_t expect_whole_in(const char *path)
{
    struct read_events events;

    batches_read(path, &events);
    expect_only_whole_batches(&events);
    free(events.list);
    return events.count;
}

static void a_batch_of_a_killed_process_is_recovered_whole_or_not_at_all(void **state)
{
    static const struct {
        uint32_t mode;
        uint32_t protocol;
    } kinds[] = {
        {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_BEST},
        {EVENT_TRACE_BUFFERING_MODE, ETWAS_PROTOCOL_SHARED},
        {EVENT_TRACE_BUFFERING_MODE | EVENT_TRACE_NO_PER_PROCESSOR_BUFFERING, ETWAS_PROTOCOL_BEST},
    };
    struct crash_progress *progress = crash_progress_new();

    (void)state;
    assert_int_equal(mkdir(folder_path("run"), 0700), 0);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        const etwas_session_options options = {
            .log_file_mode = kinds[turn % 3].mode,
            .protocol = kinds[turn % 3].protocol,
            .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
            .buffer_size_kb = 16,
            .minimum_buffers = 8,
            .maximum_buffers = 16,
        };
        etwas_recovered recovered;
        size_t seen = 0;
        int child = crash_child_that(&options, NULL, 0, progress, write_until_killed);

        crash_await(child, progress, 0, 0);
        for (uint32_t look = 0; look < LIVE_LOOKS; look++) {
            (void)usleep((useconds_t)(rand() % LONGEST_LIFE_US));
            assert_int_equal(etwas_recover(progress->path, 0, folder_path("live.etl"), &recovered),
                             ERROR_SUCCESS);
            assert_true(recovered.is_alive);
            seen += expect_whole_in(folder_path("live.etl"));
        }
        crash_kill(child);
        crash_recover(progress->path, folder_path("after.etl"), &recovered);
        seen += expect_whole_in(folder_path("after.etl"));
        assert_true(seen != 0);
    }
    crash_progress_free(progress);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(a_batch_of_a_killed_process_is_recovered_whole_or_not_at_all),
    };

    return cmocka_run_group_tests_name("recovered batches", tests, NULL, NULL);
}
