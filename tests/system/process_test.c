/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EVENT_TRACE_FLAG_PROCESS against the real kernel: every process begins and ends once, with its name, its
 * parent and its command line, and is one and the same through its execs.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/testpoint.h"
#include "system/exits.h"
#include "system/kernel_fixture.h"
#include "system/logger.h"
#include "system/process_record.h"

enum {
    CHILDREN = 20,
    PROCESSES = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_NO_SYSCONFIG,
    SID_AT = 36 + 16,
    NAME_AT = SID_AT + 16,
};

static const etwas_guid process_class = {
    0x3d6fa8d0, 0xfe05, 0x11d0, {0x9d, 0xda, 0x00, 0xc0, 0x4f, 0xd7, 0xba, 0x7c}};

/* The next event from there on of a process; NULL: no other. */
static const struct event *next_of(const struct events *events, size_t *at, uint32_t process_id)
{
    while (*at < events->count) {
        const struct event *event = &events->items[(*at)++];

        if (memcmp(&event->record.EventHeader.ProviderId, &process_class, sizeof process_class) ==
                0 &&
            u32_at(event, 8) == process_id) {
            return event;
        }
    }
    return NULL;
}

static uint8_t type_of(const struct event *event)
{
    return event->record.EventHeader.EventDescriptor.Opcode;
}

static const char *name_of(const struct event *event)
{
    assert_true(event->record.UserDataLength > NAME_AT);
    return (const char *)event->payload + NAME_AT;
}

/* ASCII alone. */
static const char *command_line_of(const struct event *event)
{
    static char line[256];
    const uint8_t *wide = event->payload + NAME_AT + strlen(name_of(event)) + 1;
    size_t length = 0;

    while (length < sizeof line - 1 && wide[2 * length] != 0) {
        line[length] = (char)wide[2 * length];
        length++;
    }
    line[length] = 0;
    return line;
}

static uint32_t flags_of(const struct event *event)
{
    return u32_at(event, 32);
}

/* A letter for each event of a process: Start, End, DCStart, DCEnd, exec. */
static const char *types_of(const struct events *events, uint32_t process_id)
{
    static char types[64];
    static const char letters[] = {'?', 'S', 'E', 's', 'e'};
    const struct event *event;
    size_t length = 0;
    size_t at = 0;

    while ((event = next_of(events, &at, process_id)) != NULL && length < sizeof types - 1) {
        types[length++] =
            (flags_of(event) & ETWAS_PROCESS_EXEC) != 0 ? 'x' : letters[type_of(event)];
    }
    types[length] = 0;
    return types;
}

static void expect_types(const struct events *events, uint32_t process_id, const char *expected)
{
    assert_string_equal(types_of(events, process_id), expected);
}

/* All of it but for what is of the event itself. */
static void expect_same_process(const struct event *one, const struct event *other)
{
    assert_memory_equal(one->payload, other->payload, 20);
    assert_memory_equal(one->payload + SID_AT, other->payload + SID_AT, 16);
}

/* ---- the logger's pace ------------------------------------------------------------------------ */

/* How often the rings were read. */
static uint32_t drains;

/* While this is 1 they are not. */
static uint32_t keep_rings_full;

static void wait_before_drain(enum etwas_testpoint point)
{
    while (point == ETWAS_POINT_SYSTEM_DRAINS && ck_pr_load_32(&keep_rings_full) != 0) {
        (void)usleep(1000);
    }
    if (point == ETWAS_POINT_SYSTEM_DRAINS) {
        ck_pr_inc_32(&drains);
    }
}

/* The third that begins follows one that began after now, and is over. */
static void await_drains(void)
{
    uint32_t before = ck_pr_load_32(&drains);

    while (ck_pr_load_32(&drains) - before < 3) {
        (void)usleep(1000);
    }
}

/* A session that has told who is there. */
static etwas_trace_handle start_and_await(void)
{
    etwas_trace_handle session;

    etwas_testpoint_set(wait_before_drain);
    session = start_kernel(PROCESSES);
    await_drains();
    return session;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void every_process_begins_and_ends_once(void **state)
{
    pid_t children[CHILDREN];
    etwas_trace_handle session;
    struct events events;
    const struct event *start;
    uint32_t parent;

    (void)state;
    session = start_and_await();
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

struct program {
    pid_t process_id;
    int input;
};

/* A shell with this argument, which waits for its input to end. Returns when it runs. */
static struct program run_program(const char *argument)
{
    struct program program;
    int input[2];
    int ran[2];
    char nothing;

    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(ran, O_CLOEXEC), 0);
    program.process_id = fork();
    if (program.process_id == 0) {
        (void)dup2(input[0], STDIN_FILENO);
        (void)execl("/bin/sh", "a shell", "-c", "read line", argument, (char *)NULL);
        _exit(1);
    }
    assert_true(program.process_id > 0);
    (void)close(input[0]);
    (void)close(ran[1]);
    assert_int_equal(read(ran[0], &nothing, 1), 0);
    (void)close(ran[0]);
    program.input = input[1];
    return program;
}

static void end_program(const struct program *program)
{
    (void)close(program->input);
    assert_int_equal(waitpid(program->process_id, NULL, 0), program->process_id);
}

static void an_exec_changes_name_and_command_line(void **state)
{
    struct program programs[CHILDREN];
    etwas_trace_handle session;
    struct events events;
    char argument[32];

    (void)state;
    session = start_and_await();
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
        for (int told = 0; told < 2; told++) {
            event = next_of(&events, &at, child);
            expect_same_process(start, event);
            assert_string_equal(name_of(event), "sh");
            assert_int_equal(flags_of(event) & ETWAS_PROCESS_NO_COMMAND_LINE, 0);
            assert_string_equal(command_line_of(event), line);
        }
    }
    free_events(&events);
}

static void a_command_line_that_is_gone_is_said_to_be(void **state)
{
    etwas_trace_handle session;
    struct events events;
    size_t at = 0;
    const struct event *event;
    struct program program;

    (void)state;
    session = start_and_await();
    ck_pr_store_32(&keep_rings_full, 1); /* it has ended before the rings are read */
    program = run_program("x");
    end_program(&program);
    ck_pr_store_32(&keep_rings_full, 0);
    read_and_account(session, &events);
    expect_types(&events, (uint32_t)program.process_id, "SxE");
    (void)next_of(&events, &at, (uint32_t)program.process_id);
    while ((event = next_of(&events, &at, (uint32_t)program.process_id)) != NULL) {
        assert_int_not_equal(flags_of(event) & ETWAS_PROCESS_NO_COMMAND_LINE, 0);
        assert_string_equal(command_line_of(event), "");
    }
    free_events(&events);
}

static void who_is_there_when_it_begins_is_told_once(void **state)
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
    /* The rundown was faster than its fork, or its exec, or was not; it is told once in any case. */
    types = types_of(&events, (uint32_t)within.process_id);
    assert_true(strcmp(types, "Sxe") == 0 || strcmp(types, "sxe") == 0 || strcmp(types, "se") == 0);
    event = next_of(&events, &at, (uint32_t)before.process_id);
    assert_string_equal(name_of(event), "sh");
    assert_string_equal(command_line_of(event), "a shell -c read line x");
    free_events(&events);
}

static void a_flag_that_comes_later_tells_who_is_there(void **state)
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

/* By its first thread, by another, or by a signal. */
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

static void how_it_ended_is_said(void **state)
{
    static const int expected[] = {0, 3, 255, 7, -SIGKILL, -SIGTERM};
    pid_t children[6];
    struct etwas_fault fault;
    struct etwas_exits *exits = etwas_exits_open(&fault);
    etwas_trace_handle session;
    struct events events;

    (void)state;
    etwas_exits_close(exits);
    session = start_and_await();
    children[0] = run_to_its_end(0, false, 0);
    children[1] = run_to_its_end(3, false, 0);
    children[2] = run_to_its_end(255, false, 0);
    children[3] = run_to_its_end(7, !FIXTURE_SANITIZER, 0);
    children[4] = run_to_its_end(0, false, SIGKILL);
    children[5] = run_to_its_end(0, false, SIGTERM);
    read_and_account(session, &events);
    for (int index = 0; index < 6; index++) {
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

/* In the order of the file: nobody begins twice, or ends who has not begun. */
static void expect_whole_lives(const struct events *events)
{
    enum {
        MOST = 1 << 22
    };
    uint8_t *alive = calloc(MOST, 1);

    assert_non_null(alive);
    for (size_t index = 0; index < events->count; index++) {
        const struct event *event = &events->items[index];
        uint32_t process_id;

        if (memcmp(&event->record.EventHeader.ProviderId, &process_class, sizeof process_class) !=
            0) {
            continue;
        }
        process_id = u32_at(event, 8);
        assert_in_range(process_id, 1, MOST - 1);
        if ((flags_of(event) & ETWAS_PROCESS_EXEC) != 0) {
            assert_int_equal(alive[process_id], 1);
        } else {
            bool begins = type_of(event) == 1 || type_of(event) == 3;

            assert_int_equal(alive[process_id], begins ? 0 : 1);
            alive[process_id] = begins;
        }
    }
    for (uint32_t process_id = 0; process_id < MOST; process_id++) {
        assert_int_equal(alive[process_id], 0);
    }
    free(alive);
}

static void who_was_lost_is_found(void **state)
{
    const uint32_t ring_bytes = etwas_system_logger_ring_bytes;
    etwas_session_counts counts;
    etwas_trace_handle session;
    struct program programs[CHILDREN];
    struct program gone[CHILDREN];
    struct events events;

    (void)state;
    etwas_system_logger_ring_bytes = 4096;
    session = start_and_await();
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
    ck_pr_store_32(&keep_rings_full, 0);
    await_drains();
    await_drains();
    stop_session(session, &counts);
    for (int index = 0; index < CHILDREN; index++) {
        end_program(&programs[index]);
    }
    assert_in_range(counts.lost_in_kernel, 1, UINT64_MAX);
    read_events(folder_path("k.etl"), 0, &events);
    expect_whole_lives(&events);
    for (int index = 0; index < CHILDREN; index++) {
        assert_non_null(strchr(types_of(&events, (uint32_t)programs[index].process_id), 'e'));
        assert_non_null(strchr(types_of(&events, (uint32_t)gone[index].process_id), 'E'));
    }
    free_events(&events);
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

/* In a namespace of its own: who logs there sees its numbers, and nobody from outside. */
static int log_inside(void)
{
    etwas_trace_handle session;
    struct events events;
    pid_t child;

    session = start_and_await();
    child = run_child();
    stop_session(session, NULL);
    read_events(folder_path("k.etl"), 0, &events);
    expect_types(&events, (uint32_t)child, "SE");
    expect_types(&events, 0, "");
    expect_types(&events, (uint32_t)getpid(), ""); /* /proc is another namespace's */
    free_events(&events);
    return 0;
}

static void numbers_are_those_of_who_logs(void **state)
{
    etwas_trace_handle session;
    struct events events;
    pid_t outer;
    pid_t inner = 0;
    int numbers[2];

    (void)state;
    assert_int_equal(pipe2(numbers, O_CLOEXEC), 0);
    session = start_and_await();
    outer = fork_child();
    if (outer == 0) {
        pid_t child;

        if (unshare(CLONE_NEWPID) != 0) {
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
        FOLDER_TEST(a_command_line_that_is_gone_is_said_to_be),
        FOLDER_TEST(who_is_there_when_it_begins_is_told_once),
        FOLDER_TEST(a_flag_that_comes_later_tells_who_is_there),
        FOLDER_TEST(how_it_ended_is_said),
        FOLDER_TEST(who_was_lost_is_found),
        FOLDER_TEST(every_life_is_whole),
        FOLDER_TEST(numbers_are_those_of_who_logs),
    };

    return RUN_KERNEL_TESTS("system process", tests);
}
