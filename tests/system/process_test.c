/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROCESS against the real kernel: every process begins and ends once, with its
 * name, its parent and its command line, and is one and the same through its execs.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/logger.h"
#include "system/names/processes.h"
#include "system/process_events.h"

enum {
    CHILDREN = 20,
    LAST_STATUS = 9,
};

/* ---- processes ------------------------------------------------------------------------------- */

static void every_process_begins_and_ends_once(void **state)
{
    pid_t children[CHILDREN];
    etwas_trace_handle session;
    struct events events;
    const struct event *start;
    uint32_t parent;

    (void)state;
    session = start_processes();
    for (int index = 0; index < CHILDREN; index++) {
        children[index] = run_child(); /* with three threads */
    }
    read_and_account(session, &events);
    for (int index = 0; index < CHILDREN; index++) {
        uint32_t child = (uint32_t)children[index];
        size_t at = 0;

        expect_types(&events, child, "SE");
        start = next_of(&events, &at, child);
        assert_int_equal(start->record.EventHeader.EventDescriptor.Version, 4);
        assert_int_equal(start->record.EventHeader.ProcessId, getpid());
        assert_int_equal(u32_at(start, 12), getpid());
        assert_int_equal(u32_at(start, 16), getsid(0));
        assert_int_equal(u32_at(start, 20), 259);
        assert_int_equal(u32_at(start, SID_AT + 8), 1);
        assert_int_equal(u32_at(start, SID_AT + 12), geteuid());
        assert_string_equal(name_of(start), "system_process");
        assert_non_null(strstr(command_line_of(start), "system_process"));
        expect_same_process(start, next_of(&events, &at, child));
    }
    parent = (uint32_t)getpid();
    expect_types(&events, parent, "se");
    expect_types(&events, 1, "se");
    free_events(&events);
}

static void an_exec_changes_name_and_command_line(void **state)
{
    struct program programs[CHILDREN];
    etwas_trace_handle session;
    struct events events;
    char argument[32];

    (void)state;
    session = start_processes();
    for (int index = 0; index < CHILDREN; index++) {
        (void)snprintf(argument, sizeof argument, "%d", index);
        programs[index] = run_program(argument);
    }
    await_drains();
    for (int index = 0; index < CHILDREN; index++) {
        end_program(&programs[index]);
    }
    read_and_account(session, &events);
    for (int index = 0; index < CHILDREN; index++) {
        uint32_t child = (uint32_t)programs[index].process_id;
        const struct event *start;
        const struct event *event;
        char line[64];
        size_t at = 0;

        expect_types(&events, child, "SxE");
        start = next_of(&events, &at, child);
        assert_string_equal(name_of(start), "system_process");
        (void)snprintf(line, sizeof line, "a shell -c read line %d", index);
        for (int emitted = 0; emitted < 2; emitted++) {
            event = next_of(&events, &at, child);
            expect_same_process(start, event);
            assert_string_equal(name_of(event), "sh");
            assert_int_equal(flags_of(event) & ETWAS_PROCESS_NO_COMMAND_LINE, 0);
            assert_string_equal(command_line_of(event), line);
        }
    }
    free_events(&events);
}

static void a_process_of_before_is_in_the_rundown_once(void **state)
{
    struct program before = run_program("x");
    struct program within;
    etwas_trace_handle session;
    struct events events;
    const struct event *event;
    const char *types;
    size_t at = 0;

    (void)state;
    session = start_kernel(PROCESSES);
    within = run_program("y");
    read_and_account(session, &events);
    end_program(&before);
    end_program(&within);
    expect_types(&events, (uint32_t)before.process_id, "se");
    /*
     * The rundown was faster than its fork, or its exec, or was not; it is told once in any case.
     */
    types = types_of(&events, (uint32_t)within.process_id);
    assert_true(strcmp(types, "Sxe") == 0 || strcmp(types, "sxe") == 0 || strcmp(types, "se") == 0);
    event = next_of(&events, &at, (uint32_t)before.process_id);
    assert_string_equal(name_of(event), "sh");
    assert_string_equal(command_line_of(event), "a shell -c read line x");
    free_events(&events);
}

static void a_later_flag_emits_its_rundown(void **state)
{
    uint32_t child;
    etwas_trace_handle session;
    struct events events;

    (void)state;
    session = start_kernel(EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_NO_SYSCONFIG);
    update_kernel_flags(session, PROCESSES, ERROR_SUCCESS);
    (void)run_child();
    child = (uint32_t)run_child();
    read_and_account(session, &events);
    expect_types(&events, (uint32_t)getpid(), "se");
    assert_true(child != 0);
    free_events(&events);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void *end_process(void *argument)
{
    _exit((int)(intptr_t)argument);
}

static void *end_after_first(void *argument)
{
    (void)pthread_join(*(const pthread_t *)argument, NULL);
    _exit(LAST_STATUS);
}

/* Its first thread is gone by then, and has said something else. */
static pid_t run_without_first(void)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        static pthread_t first;
        pthread_t thread;

        first = pthread_self();
        if (!FIXTURE_SANITIZER && pthread_create(&thread, NULL, end_after_first, &first) == 0) {
            (void)syscall(SYS_exit, 0);
        }
        _exit(LAST_STATUS);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

/* Runs a process that ends by its first thread, by another, or by a signal. */
static pid_t run_to_its_end(int status, bool by_another, int signal)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0) {
        pthread_t thread;

        if (signal != 0) {
            (void)kill(getpid(), signal);
        }
        if (by_another &&
            pthread_create(&thread, NULL, end_process, (void *)(intptr_t)status) == 0) {
            (void)pthread_join(thread, NULL);
        }
        _exit(status);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static void the_exit_status_is_recorded(void **state)
{
    static const int expected[] = {0, 3, 255, 7, -SIGKILL, -SIGTERM, LAST_STATUS};
    pid_t children[7];
    struct etwas_unavailability fault;
    struct etwas_exits *exits = etwas_exits_open(&fault);
    etwas_trace_handle session;
    struct events events;

    (void)state;
    etwas_exits_close(exits);
    session = start_processes();
    children[0] = run_to_its_end(0, false, 0);
    children[1] = run_to_its_end(3, false, 0);
    children[2] = run_to_its_end(255, false, 0);
    children[3] = run_to_its_end(7, !FIXTURE_SANITIZER, 0);
    children[4] = run_to_its_end(0, false, SIGKILL);
    children[5] = run_to_its_end(0, false, SIGTERM);
    children[6] = run_without_first();
    read_and_account(session, &events);
    for (int index = 0; index < 7; index++) {
        uint32_t child = (uint32_t)children[index];
        const struct event *event;
        size_t at = 0;

        (void)next_of(&events, &at, child);
        event = next_of(&events, &at, child);
        assert_int_equal(type_of(event), 2);
        assert_int_equal(flags_of(event) & ETWAS_PROCESS_NO_EXIT_STATUS,
                         exits != NULL ? 0 : ETWAS_PROCESS_NO_EXIT_STATUS);
        assert_int_equal((int32_t)u32_at(event, 20), exits != NULL ? expected[index] : 0);
    }
    free_events(&events);
    if (exits == NULL) {
        (void)printf("skipped: taskstats is denied\n");
        skip();
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

static void *stop_it(void *session)
{
    stop_session(*(etwas_trace_handle *)session, NULL);
    return NULL;
}

/* The rings are read for the last time when it stops. */
static void stop_with_full_rings(etwas_trace_handle session)
{
    enum {
        UNTIL_ASKED_US = 50000
    };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, stop_it, &session), 0);
    (void)usleep(UNTIL_ASKED_US);
    ck_pr_store_32(&keep_rings_full, 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static void find_lost(bool is_end)
{
    const uint32_t ring_bytes = etwas_system_logger_ring_bytes;
    etwas_trace_handle session;
    struct program programs[CHILDREN];
    struct program gone[CHILDREN];
    struct events events;

    etwas_system_logger_ring_bytes = 4096;
    session = start_processes();
    etwas_system_logger_ring_bytes = ring_bytes;
    for (int index = 0; index < CHILDREN; index++) {
        gone[index] = run_program("gone");
    }
    await_drains();
    ck_pr_store_32(&keep_rings_full, 1);
    for (int round = 0; round < 10; round++) { /* more than the rings have room for */
        for (int index = 0; index < CHILDREN; index++) {
            (void)run_child();
        }
    }
    for (int index = 0; index < CHILDREN; index++) {
        programs[index] = run_program("x");
        end_program(&gone[index]);
    }
    if (is_end) {
        stop_with_full_rings(session);
    } else {
        ck_pr_store_32(&keep_rings_full, 0);
        await_drains();
        await_drains();
        stop_session(session, NULL);
    }
    for (int index = 0; index < CHILDREN; index++) {
        end_program(&programs[index]);
    }
    read_events(folder_path("k.etl"), 0, &events);
    assert_in_range(events.header.EventsLost, 1, UINT32_MAX);
    expect_whole_lives(&events);
    for (int index = 0; index < CHILDREN; index++) {
        assert_non_null(strchr(types_of(&events, (uint32_t)programs[index].process_id), 'e'));
        assert_non_null(strchr(types_of(&events, (uint32_t)gone[index].process_id), 'E'));
    }
    free_events(&events);
}

static void a_lost_process_is_found(void **state)
{
    (void)state;
    find_lost(false);
}

static void a_process_lost_at_the_end_is_found(void **state)
{
    (void)state;
    find_lost(true);
}

/* Forks all the time, while sessions begin and end. */
static void every_life_is_whole(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        etwas_trace_handle session;
        struct events events;
        pid_t forker = fork();

        if (forker == 0) {
            limit_child();
            for (;;) {
                pid_t child = fork();

                if (child == 0) {
                    (void)execl("/bin/true", "true", (char *)NULL);
                    _exit(0);
                }
                (void)waitpid(child, NULL, 0);
            }
        }
        session = start_kernel(PROCESSES);
        for (int index = 0; index < CHILDREN; index++) {
            (void)run_child();
        }
        read_and_account(session, &events);
        assert_int_equal(kill(forker, SIGKILL), 0);
        assert_int_equal(waitpid(forker, NULL, 0), forker);
        expect_whole_lives(&events);
        free_events(&events);
    }
}

/* ---- PID namespaces -------------------------------------------------------------------------- */

/*
 * Logs in a PID namespace of its own: a session there has its numbers, and no process from outside.
 */
static int log_inside(void)
{
    etwas_trace_handle session;
    struct events events;
    pid_t child;

    session = start_processes();
    child = run_child();
    stop_session(session, NULL);
    read_events(folder_path("k.etl"), 0, &events);
    expect_types(&events, (uint32_t)child, "SE");
    expect_types(&events, 0, "");
    expect_types(&events, (uint32_t)getpid(), ""); /* /proc is another namespace's */
    free_events(&events);
    return 0;
}

static void numbers_are_those_of_the_loggers_namespace(void **state)
{
    etwas_trace_handle session;
    struct events events;
    pid_t outer;
    pid_t inner = 0;
    int numbers[2];

    (void)state;
    assert_int_equal(pipe2(numbers, O_CLOEXEC), 0);
    session = start_processes();
    outer = fork_child();
    if (outer == 0) {
        pid_t child;

        if (unshare(CLONE_NEWPID) != 0) {
            print_message("skipped: a PID namespace is not granted\n");
            _exit(77);
        }
        child = fork();
        if (child == 0) {
            _exit(getpid() == 1 ? 0 : 1);
        }
        (void)!write(numbers[1], &child, sizeof child);
        _exit(exit_code_of(child));
    }
    if (exit_code_of(outer) == 77) {
        stop_session(session, NULL);
        print_message("skipped: a user namespace with a PID namespace is not granted\n");
        skip();
    }
    assert_int_equal(read(numbers[0], &inner, sizeof inner), sizeof inner);
    read_and_account(session, &events);
    expect_types(&events, (uint32_t)outer, "SE");
    expect_types(&events, (uint32_t)inner, "SE");
    expect_whole_lives(&events);
    free_events(&events);
    outer = fork_child();
    if (outer == 0) {
        pid_t child = unshare(CLONE_NEWPID) == 0 ? fork() : -1;

        if (child == 0) {
            _exit(log_inside());
        }
        _exit(child < 0 ? 1 : exit_code_of(child));
    }
    assert_int_equal(exit_code_of(outer), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_process_begins_and_ends_once),
        FOLDER_TEST(an_exec_changes_name_and_command_line),
        FOLDER_TEST(a_process_of_before_is_in_the_rundown_once),
        FOLDER_TEST(a_later_flag_emits_its_rundown),
        FOLDER_TEST(the_exit_status_is_recorded),
        FOLDER_TEST(a_lost_process_is_found),
        FOLDER_TEST(a_process_lost_at_the_end_is_found),
        FOLDER_TEST(every_life_is_whole),
        FOLDER_TEST(numbers_are_those_of_the_loggers_namespace),
    };

    return RUN_KERNEL_TESTS("system process", tests);
}
