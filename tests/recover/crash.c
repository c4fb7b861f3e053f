/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "recover/crash.h"

#include <ck_pr.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    THREAD_SHIFT = 48,
    PAUSE_US = 200,
    TIMEOUT_US = 60000000,
    MOST_PARTS = 1000,
};

struct crash_progress *crash_progress_new(void)
{
    struct crash_progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    assert_true(progress != MAP_FAILED);
    return progress;
}

void crash_progress_free(struct crash_progress *progress)
{
    (void)munmap(progress, sizeof *progress);
}

uint64_t crash_number(uint32_t thread, uint64_t nth)
{
    return (uint64_t)thread << THREAD_SHIFT | nth;
}

/* ---- the child ------------------------------------------------------------------------------- */

struct logger {
    etwas_trace_handle session;
    struct crash_progress *progress;
    uint32_t thread;
};

static void *log_on(void *context)
{
    const struct logger *logger = context;

    for (uint64_t nth = 0;; nth++) {
        while (log_number(logger->session, crash_number(logger->thread, nth)) != ERROR_SUCCESS) {
            (void)usleep(PAUSE_US); /* the flusher is behind */
        }
        ck_pr_fence_store();
        ck_pr_store_64(&logger->progress->logged[logger->thread], nth + 1);
    }
    return NULL;
}

static void log_until_killed(const etwas_session_options *options, const char *file,
                             uint32_t threads, struct crash_progress *progress,
                             void (*meanwhile)(etwas_trace_handle session))
{
    static struct logger loggers[CRASH_THREADS];
    etwas_trace_handle session;
    pthread_t thread;

    CHECK_IN_CHILD(setenv("ETWAS_RUNTIME_DIR", folder_path("run"), 1) == 0);
    CHECK_IN_CHILD(etwas_start("crash", file, options, &session) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_crash_safe_path(session, progress->path, sizeof progress->path) ==
                   ERROR_SUCCESS);
    ck_pr_fence_store();
    ck_pr_store_32(&progress->is_ready, 1);
    for (uint32_t index = 0; index < threads; index++) {
        loggers[index] = (struct logger){session, progress, index};
        CHECK_IN_CHILD(pthread_create(&thread, NULL, log_on, &loggers[index]) == 0);
    }
    meanwhile(session);
}

static void wait_for_ever(etwas_trace_handle session)
{
    (void)session;
    for (;;) {
        (void)pause();
    }
}

int crash_child_that(const etwas_session_options *options, const char *file, uint32_t threads,
                     struct crash_progress *progress, void (*meanwhile)(etwas_trace_handle session))
{
    int child;

    memset(progress, 0, sizeof *progress);
    child = fork_child();
    if (child == 0) {
        log_until_killed(options, file, threads, progress, meanwhile);
        _exit(0);
    }
    return child;
}

int crash_child(const etwas_session_options *options, const char *file, uint32_t threads,
                struct crash_progress *progress)
{
    return crash_child_that(options, file, threads, progress, wait_for_ever);
}

/* ---- its parent ------------------------------------------------------------------------------ */

void crash_kill(int child)
{
    int status;

    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

uint64_t crash_logged(const struct crash_progress *progress)
{
    uint64_t sum = 0;

    for (uint32_t index = 0; index < CRASH_THREADS; index++) {
        sum += ck_pr_load_64(&progress->logged[index]);
    }
    return sum;
}

static bool has_logged(const struct crash_progress *progress, uint32_t threads, uint64_t count)
{
    for (uint32_t index = 0; index < threads; index++) {
        if (ck_pr_load_64(&progress->logged[index]) < count) {
            return false;
        }
    }
    return ck_pr_load_32(&progress->is_ready) != 0;
}

void crash_await(int child, const struct crash_progress *progress, uint32_t threads, uint64_t count)
{
    for (uint64_t waited_us = 0; !has_logged(progress, threads, count); waited_us += PAUSE_US) {
        if (waited_us > TIMEOUT_US || waitpid(child, NULL, WNOHANG) == child) {
            fail_msg("the child does not log");
        }
        (void)usleep(PAUSE_US);
    }
}

void crash_recover(const char *source, const char *output, etwas_recovered *recovered)
{
    assert_int_equal(etwas_recover(source, 0, output, recovered), ERROR_SUCCESS);
    assert_false(recovered->is_alive);
    assert_int_equal(recovered->damaged_buffers, 0);
    assert_int_equal(unlink(source), 0);
}

struct log {
    struct events files[MOST_PARTS];
    uint32_t count;
    bool is_torn; /* one of them ends inside a buffer, which is recovered whole */
};

/* The numbers of one thread that a file has, behind those that are there. */
static size_t take_numbers(const struct events *its, uint32_t thread, uint64_t *numbers,
                           size_t count)
{
    for (size_t index = 0; index < its->count; index++) {
        uint64_t number = number_of(&its->items[index]);

        if (number >> THREAD_SHIFT == thread) {
            numbers[count++] = number;
        }
    }
    return count;
}

static int by_number(const void *left, const void *right)
{
    uint64_t one = *(const uint64_t *)left;
    uint64_t other = *(const uint64_t *)right;

    return one < other ? -1 : one > other;
}

/*
 * How many different numbers there are. Each is there once, but for those at the beginning of a
 * buffer that the log file has in part.
 */
static size_t count_numbers(uint64_t *numbers, size_t count, bool is_torn)
{
    size_t different = count > 0;

    qsort(numbers, count, sizeof *numbers, by_number);
    for (size_t index = 1; index < count; index++) {
        assert_true(numbers[index] > numbers[index - 1] || is_torn);
        different += numbers[index] > numbers[index - 1];
    }
    return different;
}

const char *crash_part(uint32_t part)
{
    char name[32];

    (void)snprintf(name, sizeof name, "log%u.etl", part);
    return folder_path(name);
}

/* Whether it ends inside a buffer: the file is unfinished then, not damaged. */
static bool ends_in_a_buffer(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint32_t buffer_bytes = 0; /* each buffer begins with them */
    struct stat facts;

    assert_non_null(file);
    assert_int_equal(fread(&buffer_bytes, sizeof buffer_bytes, 1, file), 1);
    assert_int_equal(fstat(fileno(file), &facts), 0);
    (void)fclose(file);
    return (uint64_t)facts.st_size % buffer_bytes != 0;
}

static void read_part(const char *path, struct log *log)
{
    struct events *its = &log->files[log->count];

    assert_true(log->count < MOST_PARTS);
    read_events(path, 0, its);
    log->count++;
    log->is_torn =
        log->is_torn || its->information.damages != 0 ||
        (its->information.compressed ? its->information.unfinished : ends_in_a_buffer(path));
}

/* What is in the log file, or the set. Where the newest has nothing yet, it is none. */
static void read_log(const char *log_file, struct log *log)
{
    struct stat facts;

    if (strchr(log_file, '%') == NULL) {
        read_part(log_file, log);
        return;
    }
    while (stat(crash_part(log->count + 1), &facts) == 0 && facts.st_size != 0) {
        read_part(crash_part(log->count + 1), log);
    }
}

void crash_expect(const char *recovered, const char *log_file,
                  const struct crash_progress *progress, uint32_t threads, bool is_recorder)
{
    static struct log log;
    struct events after;
    size_t events;
    uint64_t *numbers;

    log.count = 0;
    log.is_torn = false;
    if (log_file != NULL) {
        read_log(log_file, &log);
    }
    read_events(recovered, 0, &after);
    events = after.count;
    for (uint32_t file = 0; file < log.count; file++) {
        events += log.files[file].count;
    }
    numbers = malloc((events + 1) * sizeof *numbers);
    assert_non_null(numbers);
    for (uint32_t thread = 0; thread < threads; thread++) {
        uint64_t logged = progress->logged[thread];
        size_t count = take_numbers(&after, thread, numbers, 0);
        size_t different;

        for (uint32_t file = 0; file < log.count; file++) {
            count = take_numbers(&log.files[file], thread, numbers, count);
        }
        different = count_numbers(numbers, count, log.is_torn);
        assert_true(count == 0 || numbers[count - 1] <= crash_number(thread, logged));
        if (!is_recorder) {
            assert_in_range(different, logged, logged + 1);
        }
    }
    free(numbers);
    free_events(&after);
    for (uint32_t file = 0; file < log.count; file++) {
        free_events(&log.files[file]);
    }
}
