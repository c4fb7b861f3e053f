/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Children of every making while events flow: vfork, posix_spawn, clone, daemon, and a storm of
 * forks. tests/control has more about fork itself (fork_test.c, interrupted_test.c).
 */
#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failures/failing.h"
#include "session/fixture.h"

extern char **environ;

/* ---- load ------------------------------------------------------------------------------------ */

/*
 * A thread that logs to a file, and another that logs to a flight recorder, until they are told to
 * end.
 */
struct load {
    etwas_trace_handle session;
    uint64_t pause_every;
    uint64_t recorded;
    uint64_t lost;
    uint64_t odd;
    uint32_t has_begun; /* atomic: has recorded something */
    uint32_t end;       /* atomic */
    pthread_t thread;
};

static void *log_until_end(void *argument)
{
    const struct timespec pause = {.tv_nsec = 50000};
    struct load *load = argument;

    for (uint64_t number = 1; ck_pr_load_32(&load->end) == 0; number++) {
        uint32_t code = log_number(load->session, number);

        load->recorded += code == ERROR_SUCCESS;
        load->lost += code == ERROR_NOT_ENOUGH_MEMORY;
        load->odd += code != ERROR_SUCCESS && code != ERROR_NOT_ENOUGH_MEMORY;
        ck_pr_store_32(&load->has_begun, load->recorded > 0);
        if (number % load->pause_every == 0) {
            (void)nanosleep(&pause, NULL);
        }
    }
    return NULL;
}

static struct load to_file;
static struct load to_memory;

static void begin_load(struct load *load, etwas_trace_handle session, uint64_t pause_every)
{
    *load = (struct load){.session = session, .pause_every = pause_every};
    assert_int_equal(pthread_create(&load->thread, NULL, log_until_end, load), 0);
    while (ck_pr_load_32(&load->has_begun) == 0) {
        (void)sched_yield();
    }
}

static void begin_loads(const char *path)
{
    begin_load(&to_file, start_session(path, NULL), 1);
    begin_load(&to_memory, start_recorder(), 200);
}

static void end_load(struct load *load, etwas_session_counts *counts)
{
    ck_pr_store_32(&load->end, 1);
    assert_int_equal(pthread_join(load->thread, NULL), 0);
    stop_session(load->session, counts);
    assert_int_equal(load->odd, 0);
    assert_true(load->recorded > 0);
    assert_int_equal(counts->lost, load->lost);
    assert_int_equal(counts->recorded + counts->overwritten, load->recorded);
}

/* Every event of the parent is where its call said, and no other. */
static void end_loads(const char *path)
{
    etwas_session_counts counts;

    end_load(&to_memory, &counts);
    end_load(&to_file, &counts);
    assert_int_equal(count_events(path), to_file.recorded);
}

/* ---- children that become another program ---------------------------------------------------- */

static const char looks_for_files[] = "! ls -l /proc/$$/fd 2>&1 | grep -q 'f[.]etl'";

static int spawn(void)
{
    char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)looks_for_files, NULL};
    pid_t child;

    assert_int_equal(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0);
    return child;
}

/*
 * Such a child runs in its parent's memory, and has none of our code to run before it is another
 * program.
 */
static int vfork_and_exec(void)
{
    pid_t child = vfork();

    if (child == 0) {
        (void)execl("/bin/sh", "sh", "-c", looks_for_files, (char *)NULL);
        _exit(2);
    }
    return child;
}

static void what_is_spawned_inherits_nothing_and_disturbs_nobody(void **state)
{
    const char *path = folder_path("f.etl");

    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer handles such children itself\n");
        skip();
    }
    begin_loads(path);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(exit_code_of(spawn()), 0);
        assert_int_equal(exit_code_of(vfork_and_exec()), 0);
    }
    end_loads(path);
}

/* ---- clone ----------------------------------------------------------------------------------- */

static int log_in_clone(void *argument)
{
    (void)argument;
    limit_child();
    for (uint64_t number = 0; number < 1000; number++) {
        if (log_number(to_file.session, number) != ERROR_INVALID_HANDLE ||
            log_number(to_memory.session, number) != ERROR_INVALID_HANDLE) {
            return 1;
        }
    }
    return 0;
}

/*
 * No handler of pthread_atfork runs for it: the kernel alone has wiped what says that it is
 * attached.
 */
static void a_clones_child_writes_nowhere(void **state)
{
    enum {
        STACK_BYTES = 256 << 10
    };
    const char *path = folder_path("f.etl");
    char *stack;

    (void)state;
    if (FIXTURE_SANITIZER) {
        print_message("skipped: a sanitizer handles such children itself\n");
        skip();
    }
    stack = malloc(STACK_BYTES);
    assert_non_null(stack);
    begin_loads(path);
    for (int round = 0; round < 20; round++) {
        assert_int_equal(exit_code_of(clone(log_in_clone, stack + STACK_BYTES, SIGCHLD, NULL)), 0);
    }
    end_loads(path);
    free(stack);
}

/* ---- daemon ---------------------------------------------------------------------------------- */

/* The process that called daemon is gone without a word; what goes on is its child. */
static void live_as_daemon(const char *path, int report)
{
    const etwas_session_options options = {.flusher.no_thread = FIXTURE_SANITIZER};
    etwas_trace_handle before;
    etwas_trace_handle own;
    etwas_session_counts counts;
    char good = 1;

    CHECK_IN_CHILD(etwas_start("before", folder_path("before.etl"), &options, &before) ==
                   ERROR_SUCCESS);
    CHECK_IN_CHILD(daemon(1, 1) == 0);
    limit_child();
    CHECK_IN_CHILD(log_number(before, 1) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(!has_open(folder_path("before.etl")));
    CHECK_IN_CHILD(etwas_start("before", path, &options, &own) == ERROR_SUCCESS);
    CHECK_IN_CHILD(log_number(own, 2) == ERROR_SUCCESS);
    CHECK_IN_CHILD(etwas_stop(own, &counts) == ERROR_SUCCESS);
    CHECK_IN_CHILD(counts.recorded == 1);
    CHECK_IN_CHILD(write(report, &good, 1) == 1);
    _exit(0);
}

static void a_daemon_starts_its_own_sessions(void **state)
{
    const char *path = folder_path("daemon.etl");
    int report[2];
    char good = 0;
    int child;

    (void)state;
    assert_int_equal(pipe2(report, O_CLOEXEC), 0);
    child = fork_child();
    if (child == 0) {
        live_as_daemon(path, report[1]);
    }
    assert_int_equal(exit_code_of(child), 0);
    (void)close(report[1]);
    assert_int_equal(read(report[0], &good, 1), 1);
    (void)close(report[0]);
    assert_int_equal(count_events(path), 1);
}

/* ---- fork while much goes on ----------------------------------------------------------------- */

/* The flusher has its role and stands in a write. */
static void a_fork_does_not_wait_for_a_flusher_that_hangs(void **state)
{
    const etwas_session_options options = {.buffer_size_kb = 4,
                                           .maximum_buffers = 16,
                                           .log_file_mode = EVENT_TRACE_USE_MS_FLUSH_TIMER,
                                           .flush_timer = 1};
    etwas_trace_handle session = start_session(folder_path("f.etl"), &options);
    etwas_session_counts counts;
    uint64_t attempted = 0;
    int child;

    (void)state;
    hang_call(ETWAS_FILE_WRITE, 1);
    while (!hangs_now()) {
        (void)log_number(session, ++attempted);
    }
    child = fork_child();
    if (child == 0) {
        etwas_session_options own_options = {.flusher.no_thread = true};
        etwas_trace_handle own;

        CHECK_IN_CHILD(log_number(session, 1) == ERROR_INVALID_HANDLE);
        CHECK_IN_CHILD(!has_open(folder_path("f.etl")));
        own_options.log_file_mode = EVENT_TRACE_BUFFERING_MODE;
        CHECK_IN_CHILD(etwas_start("own", NULL, &own_options, &own) == ERROR_SUCCESS);
        CHECK_IN_CHILD(log_number(own, 1) == ERROR_SUCCESS);
        CHECK_IN_CHILD(etwas_stop(own, NULL) == ERROR_SUCCESS);
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_true(hangs_now());
    hang_release();
    stop_session(session, &counts);
    assert_int_equal(counts.recorded + counts.lost, attempted);
}

static REGHANDLE provider;

static void live_in_the_storm(bool traces)
{
    const EVENT_DESCRIPTOR event = {.Id = 1, .Level = 4};
    etwas_session_options options = small_recorder;
    etwas_trace_handle own;
    etwas_session_counts counts;

    CHECK_IN_CHILD(log_number(to_file.session, 1) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(log_number(to_memory.session, 1) == ERROR_INVALID_HANDLE);
    CHECK_IN_CHILD(!EventProviderEnabled(provider, 4, 0));
    CHECK_IN_CHILD(EventWrite(provider, &event, 0, NULL) == ERROR_SUCCESS);
    if (traces) {
        options.flusher.no_thread = FIXTURE_SANITIZER;
        CHECK_IN_CHILD(etwas_start("own", NULL, &options, &own) == ERROR_SUCCESS);
        CHECK_IN_CHILD(log_number(own, 1) == ERROR_SUCCESS);
        CHECK_IN_CHILD(etwas_stop(own, &counts) == ERROR_SUCCESS);
        CHECK_IN_CHILD(counts.recorded == 1);
    }
    _exit(0);
}

static void a_storm_of_forks_costs_no_event_and_adds_none(void **state)
{
    enum {
        CHILDREN = FIXTURE_SANITIZER ? 100 : 1000,
        AT_ONCE = 8,
        TRACES_EVERY = 10,
    };
    const char *path = folder_path("f.etl");
    int children[AT_ONCE] = {0};

    (void)state;
    assert_int_equal(EventRegister(&control_guid, NULL, NULL, &provider), ERROR_SUCCESS);
    begin_loads(path);
    assert_int_equal(EnableTrace(1, 0, 5, &control_guid, to_file.session), ERROR_SUCCESS);
    for (int round = 0; round < CHILDREN + AT_ONCE; round++) {
        int *child = &children[round % AT_ONCE];

        if (*child != 0) {
            assert_int_equal(exit_code_of(*child), 0);
        }
        *child = round < CHILDREN ? fork_child() : 0;
        if (*child == 0 && round < CHILDREN) {
            live_in_the_storm(round % TRACES_EVERY == 0);
        }
    }
    assert_true(EventProviderEnabled(provider, 4, 0));
    end_loads(path);
    assert_int_equal(EventUnregister(provider), ERROR_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(what_is_spawned_inherits_nothing_and_disturbs_nobody),
        FOLDER_TEST(a_clones_child_writes_nowhere),
        FOLDER_TEST(a_daemon_starts_its_own_sessions),
        FAILING_TEST(a_fork_does_not_wait_for_a_flusher_that_hangs),
        FOLDER_TEST(a_storm_of_forks_costs_no_event_and_adds_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
