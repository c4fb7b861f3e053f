/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Clock snapshots while a session runs: when they are in the file, which thread reads the clocks,
 * and what a killed process leaves.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock/clock_reading.h"
#include "support/clock_snapshots.h"
#include "support/fixed_clock_snapshots.h"
#include "support/flushing.h"
#include "support/inside.h"
#include "support/places.h"
#include "support/readback.h"

enum {
    MS = 1000000,
    TIMEOUT_MS = 60000,
};

static struct clock_snapshots clock_snapshots;

static uint64_t content_sum(const char *path, struct stat *status)
{
    FILE *file = fopen(path, "re");
    uint64_t sum = 0;
    int byte;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), status), 0);
    while ((byte = fgetc(file)) != EOF) {
        sum = sum * 1099511628211u + (uint64_t)byte;
    }
    (void)fclose(file);
    return sum;
}

static void an_idle_session_does_not_touch_its_file(void **state)
{
    const char *path = folder_path("trace.etl");
    etwas_trace_handle session = start_by_hand(path, 0, 0, ETWAS_CLOCK_QPC);
    struct writer *writer = plain_writer(session);
    etwas_session_counts counts;
    struct stat before;
    struct stat after;
    uint64_t sum;

    (void)state;
    log_events(writer, 10);
    assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    clock_snapshots_read(path, &clock_snapshots);
    assert_int_equal(clock_snapshots.count,
                     2); /* the start, and one that runs: a killed process leaves it */
    sum = content_sum(path, &before);
    for (int flush = 0; flush < 1000; flush++) {
        assert_int_equal(etwas_flush(session), ERROR_SUCCESS);
    }
    assert_true(content_sum(path, &after) == sum);
    assert_true(memcmp(&before.st_mtim, &after.st_mtim, sizeof before.st_mtim) == 0);
    stop_session(session, &counts);
    expect_file_is_exact(session, path, &counts);
    clock_snapshots_read(path, &clock_snapshots);
    assert_int_equal(clock_snapshots.buffers, 0);
    assert_true(clock_snapshots.count > 2);
}

static void wait_for(bool (*done)(void *), void *context)
{
    const struct timespec pause = {.tv_nsec = MS};

    for (int waited = 0; !done(context); waited++) {
        assert_true(waited < TIMEOUT_MS);
        (void)nanosleep(&pause, NULL);
    }
}

static bool has_read_often(void *session)
{
    struct etwas_session *inside = session;
    bool often;

    (void)pthread_mutex_lock(&inside->drain.role);
    often = inside->drain.clock_history.count > 20;
    (void)pthread_mutex_unlock(&inside->drain.role);
    return often;
}

/*
 * Also of a flight recorder, whose thread has nothing else to do, and of one that only has
 * consumers.
 */
static void the_flusher_thread_reads_the_clocks_in_every_mode(void **state)
{
    static const uint32_t wanted[] = {EVENT_TRACE_FILE_MODE_SEQUENTIAL, EVENT_TRACE_BUFFERING_MODE,
                                      EVENT_TRACE_REAL_TIME_MODE};

    (void)state;
    etwas_clock_snapshot_interval_ns = MS;
    for (size_t row = 0; row < sizeof wanted / sizeof wanted[0]; row++) {
        const char *path = wanted[row] == EVENT_TRACE_REAL_TIME_MODE ? NULL : folder_path("t.etl");
        const etwas_session_options options = {.log_file_mode = wanted[row]};
        etwas_trace_handle session = start_session(path, &options);

        wait_for(has_read_often, inside_of(session));
        if (wanted[row] == EVENT_TRACE_BUFFERING_MODE) {
            assert_int_equal(etwas_snapshot(session, path), ERROR_SUCCESS);
        }
        stop_session(session, NULL);
        if (path != NULL) {
            clock_snapshots_read(path, &clock_snapshots);
            assert_true(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING) >=
                        20);
        }
    }
}

static bool has_running_clock_snapshots(void *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || status.st_size < 64 << 10) {
        return false;
    }
    clock_snapshots_read(path, &clock_snapshots);
    return clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING) >= 5;
}

static void be_killed(const char *path)
{
    static const etwas_session_options options = {.clock = ETWAS_CLOCK_TSC, .maximum_buffers = 64};
    const struct timespec pause = {.tv_nsec = MS};
    etwas_trace_handle session;
    struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[200];
    } event = {.header = {.Size = sizeof event, .Flags = WNODE_FLAG_TRACED_GUID}};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (etwas_start("killed", path, &options, &session) != ERROR_SUCCESS) {
        _exit(1);
    }
    for (uint64_t number = 0;; number++) {
        (void)TraceEvent(session, &event.header);
        if (number % 100 == 0) {
            (void)nanosleep(&pause, NULL);
        }
    }
}

static void a_killed_writer_leaves_running_clock_snapshots(void **state)
{
    const char *path = folder_path("killed.etl");
    char command[1024];
    int status;
    pid_t child;

    (void)state;
    etwas_clock_snapshot_interval_ns = 10 * MS;
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        be_killed(path);
    }
    wait_for(has_running_clock_snapshots, (void *)(uintptr_t)path);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    clock_snapshots_read(path, &clock_snapshots);
    assert_true(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_RUNNING) >= 5);
    assert_int_equal(clock_snapshots_with(&clock_snapshots, ETWAS_ETL_CLOCK_SNAPSHOT_FILE_ENDED),
                     0);
    (void)snprintf(command, sizeof command, WALKER " --unfinished '%s'", path);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CLOCK_SNAPSHOTS_TEST(an_idle_session_does_not_touch_its_file),
        CLOCK_SNAPSHOTS_TEST(the_flusher_thread_reads_the_clocks_in_every_mode),
        CLOCK_SNAPSHOTS_TEST(a_killed_writer_leaves_running_clock_snapshots),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
