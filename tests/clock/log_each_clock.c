/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/log_each_clock.h"

#include <sched.h>
#include <unistd.h>

#include <etwas/etwas.h>

#include "platform/processor.h"
#include "support/folder.h"
#include "support/readback.h"
#include "support/start.h"
#include "support/writer.h"

enum {
    THREADS = 4,
    EVENTS = 400, /* of each thread */
};

/* Half of the threads log already when `meanwhile` is called, the others begin after it. */
static void log_on_threads(etwas_trace_handle session, void (*meanwhile)(void))
{
    const struct writer_options options = {
        .session = session, .class_handle = writer_class(), .events = EVENTS};
    struct writers first;
    struct writers second;

    writers_start(&first, THREADS, &options);
    if (meanwhile != NULL) {
        while (writer_progress(first.list[0]) == 0) {
            (void)sched_yield();
        }
        meanwhile();
    }
    writers_start(&second, THREADS, &options);
    writers_join(&first);
    writers_join(&second);
}

static void log_with_clock(uint32_t clock, void (*meanwhile)(void))
{
    const char *path = folder_path("trace.etl");
    const etwas_session_options options = {.clock = clock, .maximum_buffers = 256};
    etwas_trace_handle session = start_session(path, &options);
    etwas_session_counts counts;
    struct readback result;

    log_on_threads(session, meanwhile);
    stop_session(session, &counts);
    assert_int_equal(counts.recorded + counts.lost, 2 * THREADS * EVENTS);
    assert_true(counts.recorded > 0);
    expect_exact_account(session, &counts);
    expect_file_is_exact(session, path, &counts);
    read_back(session, path, &result);
    assert_int_equal(result.events, counts.recorded);
    assert_int_equal(result.clock, etwas_clock_effective(clock));
    /* Threads without a restartable sequence have a stream of their own. */
    assert_int_equal(result.processors,
                     etwas_processor_count() + (sessions_have_sequences() ? 1 : 0));
    (void)unlink(path);
}

void log_with_each_clock(void (*meanwhile)(void))
{
    for (uint32_t clock = 1; clock <= 3; clock++) {
        log_with_clock(clock, meanwhile);
        writers_forget();
    }
}
