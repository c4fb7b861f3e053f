/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions in a real control group with little memory: logging takes none that the start had not
 * taken, and what was logged before the kernel killed the process for want of memory is recovered.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recover/crash.h"
#include "support/memory_group.h"

enum {
    KIB = 1 << 10,
    MIB = 1 << 20,
    GROUP_BYTES = 64 * MIB,
    SLACK_BYTES = MIB, /* for page tables, stacks and what the kernel counts late */
    CHUNK_BYTES = 64 * KIB,
    LEAST_PAGE_BYTES = 4 * KIB,
    TAKERS = 8,
    POOL_MIB = 16,
    BUFFER_KB = 64,
    POOL_BUFFERS = POOL_MIB * (MIB / KIB) / BUFFER_KB,
    EVENTS = 20000,
    EVENT_BYTES = 4000,
};

static void have_group(void)
{
    if (FIXTURE_SANITIZER || !memory_group_make(GROUP_BYTES)) {
        print_message("skipped: no control group of its own is granted\n");
        skip();
    }
}

/* ---- hard limits ----------------------------------------------------------------------------- */

/* Memory of the process's own, until so much is left that the next chunk could be the last. */
static void fill_group(void)
{
    while (memory_group_used_bytes() + SLACK_BYTES < GROUP_BYTES) {
        uint8_t *chunk = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

        CHECK_IN_CHILD(chunk != MAP_FAILED);
    }
}

static void log_several_times_the_pool(etwas_trace_handle session)
{
    static struct {
        EVENT_TRACE_HEADER header;
        uint8_t payload[EVENT_BYTES];
    } event = {.header = {.Flags = WNODE_FLAG_TRACED_GUID}};

    for (size_t logged = 0; logged < (size_t)4 * POOL_MIB * MIB; logged += sizeof event) {
        event.header.Size = sizeof event;
        CHECK_IN_CHILD(TraceEvent(session, &event.header) == ERROR_SUCCESS);
    }
}

static int log_in_a_full_group(const etwas_session_options *options)
{
    etwas_session_counts counts;
    etwas_trace_handle session;

    CHECK_IN_CHILD(memory_group_enter());
    CHECK_IN_CHILD(etwas_start("full", NULL, options, &session) == ERROR_SUCCESS);
    fill_group();
    log_several_times_the_pool(session);
    CHECK_IN_CHILD(memory_group_kills() == 0);
    CHECK_IN_CHILD(etwas_stop(session, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.lost == 0 && counts.overwritten > counts.recorded);
    return 0;
}

static int recorder_in_a_full_group(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = POOL_BUFFERS,
    };

    return log_in_a_full_group(&options);
}

static int crash_safe_recorder_in_a_full_group(void)
{
    const etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE,
        .crash_safe = ETWAS_CRASH_SAFE_MEMFD,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = POOL_BUFFERS,
    };

    return log_in_a_full_group(&options);
}

static void logging_into_what_the_start_has_taken_kills_nobody(void **state)
{
    (void)state;
    have_group();
    expect_in_child(recorder_in_a_full_group);
    expect_in_child(crash_safe_recorder_in_a_full_group);
    assert_int_equal(memory_group_kills(), 0);
    assert_true(memory_group_remove());
}

/* ---- an out-of-memory kill ------------------------------------------------------------------- */

/* So that the kernel kills the process that logs, not one of those that take the memory. */
static void prefer(int process)
{
    char path[64];
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/oom_score_adj", process);
    file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs("1000", file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/*
 * Page by page: where a page that a program touches is missing the kernel kills, where one is
 * missing that is only asked for it refuses. Kept until the process is killed.
 */
static void take_memory(size_t bytes)
{
    uint8_t *taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK_IN_CHILD(taken != MAP_FAILED);
    for (size_t at = 0; at < bytes; at += LEAST_PAGE_BYTES) {
        taken[at] = 1;
    }
    for (;;) {
        (void)pause();
    }
}

/*
 * Together twice what the group may have, each a small part: one alone would have more than the
 * kernel ever kills for when what the other process has is written to the disk.
 */
static void take_all_memory(int takers[TAKERS])
{
    for (int index = 0; index < TAKERS; index++) {
        takers[index] = fork_child();
        if (takers[index] == 0) {
            take_memory(2 * GROUP_BYTES / TAKERS);
        }
    }
}

/* Logs in the group, and is killed by the kernel. */
static void log_until_memory_ends(const etwas_session_options *options, const char *log_file,
                                  struct crash_progress *progress)
{
    int takers[TAKERS];
    int status;
    int child;

    assert_true(memory_group_enter());
    child = crash_child(options, log_file, CRASH_THREADS, progress);
    prefer(child);
    crash_await(child, progress, CRASH_THREADS, EVENTS);
    take_all_memory(takers);
    assert_true(memory_group_leave());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(memory_group_kills() != 0);
    for (int index = 0; index < TAKERS; index++) {
        (void)kill(takers[index], SIGKILL);
        assert_int_equal(waitpid(takers[index], NULL, 0), takers[index]);
    }
}

static void die_for_want_of_memory(const char *folder, bool is_recorder)
{
    const char *log_file = is_recorder ? NULL : folder_path("log.etl");
    const etwas_session_options options = {
        .log_file_mode = is_recorder ? EVENT_TRACE_BUFFERING_MODE : 0,
        .crash_safe = ETWAS_CRASH_SAFE_POOL_FILE,
        .crash_safe_folder = folder,
        .buffer_size_kb = BUFFER_KB,
        .minimum_buffers = is_recorder ? POOL_BUFFERS : 0,
        .maximum_buffers = POOL_BUFFERS,
    };
    struct crash_progress *progress = crash_progress_new();
    etwas_recovered recovered;

    have_group();
    log_until_memory_ends(&options, log_file, progress);
    crash_recover(progress->path, folder_path("after.etl"), &recovered);
    crash_expect(folder_path("after.etl"), log_file, progress, CRASH_THREADS, is_recorder);
    if (is_recorder) {
        assert_in_range(recovered.events + recovered.overwritten + recovered.unfinished,
                        crash_logged(progress), crash_logged(progress) + CRASH_THREADS);
    }
    crash_progress_free(progress);
    assert_true(memory_group_remove());
}

/* Whose pages are charged to the group, and stay there when the process is dead. */
static void what_was_logged_in_memory_before_an_out_of_memory_kill_is_recovered(void **state)
{
    char folder[64];

    (void)state;
    (void)snprintf(folder, sizeof folder, "/dev/shm/etwas-test-%d", (int)getpid());
    if (mkdir(folder, 0700) != 0) {
        print_message("skipped: there is no /dev/shm to write to\n");
        skip();
    }
    die_for_want_of_memory(folder, true);
    assert_int_equal(rmdir(folder), 0);
}

static void so_is_what_a_log_file_and_a_pool_on_a_disk_have(void **state)
{
    char folder[256];

    (void)state;
    (void)snprintf(folder, sizeof folder, "%s", folder_path("pool"));
    die_for_want_of_memory(folder, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(logging_into_what_the_start_has_taken_kills_nobody),
        FOLDER_TEST(what_was_logged_in_memory_before_an_out_of_memory_kill_is_recovered),
        FOLDER_TEST(so_is_what_a_log_file_and_a_pool_on_a_disk_have),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
