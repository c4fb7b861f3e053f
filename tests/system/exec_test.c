/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The arguments of programs against the real kernel: with the probe each exec has those that it was
 * given, however short it lives; without it they are read afterwards, and the record says so.
 */
#include <ck_pr.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/names/bpf_probes.h"
#include "system/names/processes.h"
#include "system/process_events.h"

enum {
    FORKERS = 4,
    EXECS = 50, /* of each of them */
    ALL = FORKERS * EXECS,
    OF_THE_LINE = ETWAS_PROCESS_NO_COMMAND_LINE | ETWAS_PROCESS_COMMAND_LINE_READ |
                  ETWAS_PROCESS_COMMAND_LINE_CUT,
};

static void skip_without_probe(void)
{
    struct etwas_probe probe;

    if (!etwas_exec_probe_open(&probe, 1)) {
        (void)printf("skipped: there is no leave to load BPF programs\n");
        skip();
    }
    etwas_probe_close(&probe);
}

/* The event of its exec. */
static const struct event *exec_of(const struct events *events, pid_t process_id)
{
    const struct event *event;
    size_t at = 0;

    expect_types(events, (uint32_t)process_id, "SxE");
    (void)next_of(events, &at, (uint32_t)process_id);
    event = next_of(events, &at, (uint32_t)process_id);
    assert_non_null(event);
    return event;
}

static void expect_line(const struct events *events, pid_t process_id, const char *line,
                        uint32_t flags)
{
    const struct event *event = exec_of(events, process_id);

    assert_string_equal(command_line_of(event), line);
    assert_int_equal(flags_of(event) & OF_THE_LINE, flags);
}

static pid_t run(const char *path, char *const *arguments)
{
    char *const none[] = {NULL};
    pid_t child = fork();

    if (child == 0) {
        (void)execve(path, arguments, none);
        _exit(1);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

/* ---- arguments ------------------------------------------------------------------------------- */

/* A line of its own for each, of one length to forty. */
static void write_line(char *line, size_t size, int number, char between)
{
    (void)snprintf(line, size, "true%c%d%c%.*s", between, number, between, number % 40,
                   "abcdefghijklmnopqrstuvwxyz0123456789-+_.");
}

static void fork_and_exec(pid_t *children)
{
    for (int index = 0; index < EXECS; index++) {
        pid_t child = fork();

        if (child == 0) {
            char line[128];
            char *arguments[4] = {line};

            write_line(line, sizeof line, (int)getpid() % 1000, 0);
            arguments[1] = line + strlen(line) + 1;
            arguments[2] = arguments[1] + strlen(arguments[1]) + 1;
            (void)execv("/bin/true", arguments);
            _exit(1);
        }
        children[index] = child; /* shared with it */
    }
    for (int index = 0; index < EXECS; index++) {
        (void)waitpid(children[index], NULL, 0);
    }
}

static void every_exec_has_its_arguments(void **state)
{
    pid_t(*children)[EXECS] =
        mmap(NULL, sizeof(pid_t) * ALL, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    etwas_trace_handle session;
    pid_t forkers[FORKERS];
    struct events events;

    (void)state;
    skip_without_probe();
    assert_true(children != MAP_FAILED);
    session = start_processes();
    for (int index = 0; index < FORKERS; index++) {
        forkers[index] = fork();
        if (forkers[index] == 0) {
            fork_and_exec(children[index]);
            _exit(0);
        }
    }
    for (int index = 0; index < FORKERS; index++) {
        assert_int_equal(waitpid(forkers[index], NULL, 0), forkers[index]);
    }
    read_and_account(session, &events);
    for (int index = 0; index < ALL; index++) {
        pid_t child = children[index / EXECS][index % EXECS];
        char line[128];

        write_line(line, sizeof line, (int)child % 1000, ' ');
        expect_line(&events, child, line, 0);
        assert_string_equal(name_of(exec_of(&events, child)), "true");
    }
    (void)munmap(children, sizeof(pid_t) * ALL);
    free_events(&events);
}

/* As /proc shows it: the kernel puts the interpreter before its name. */
static void a_script_has_those_of_its_interpreter(void **state)
{
    static const char text[] = "#!/bin/sh -e\nexit 0\n";
    char *const arguments[] = {"what it was called", "x", "", "last", NULL};
    char path[256];
    char line[512];
    etwas_trace_handle session;
    struct events events;
    pid_t child;
    int file;

    (void)state;
    skip_without_probe();
    (void)snprintf(path, sizeof path, "%s", folder_path("script"));
    file = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
    (void)close(file);
    session = start_processes();
    child = run(path, arguments);
    read_and_account(session, &events);
    (void)snprintf(line, sizeof line, "/bin/sh -e %s x  last", path);
    expect_line(&events, child, line, 0);
    assert_string_equal(name_of(exec_of(&events, child)), "script");
    free_events(&events);
}

/* In one argument, so that its part alone is too long, and in many. */
static void arguments_that_are_too_long_are_marked_as_cut(void **state)
{
    static char most[ETWAS_EXEC_MOST_BYTES + 1];
    static char longest[4 * ETWAS_EXEC_MOST_BYTES];
    static char *many[ETWAS_EXEC_MOST_BYTES];
    char *one[] = {"true", most, NULL};
    etwas_trace_handle session;
    struct events events;
    pid_t children[4];
    size_t length = ETWAS_EXEC_MOST_BYTES - sizeof "true" - 1;

    (void)state;
    skip_without_probe();
    session = start_processes();
    memset(most, 'x', length); /* with two zeros, just enough */
    most[length] = 0;
    children[0] = run("/bin/true", one);
    most[length] = 'x';
    children[1] = run("/bin/true", one);
    memset(longest, 'x', sizeof longest - 1);
    one[1] = longest;
    children[2] = run("/bin/true", one);
    for (int index = 0; index < ETWAS_EXEC_MOST_BYTES - 1; index++) {
        many[index] = "yy";
    }
    children[3] = run("/bin/true", many);
    read_and_account(session, &events);
    for (int index = 0; index < 4; index++) {
        const struct event *event = exec_of(&events, children[index]);

        assert_int_equal(flags_of(event) & OF_THE_LINE,
                         index == 0 ? 0 : ETWAS_PROCESS_COMMAND_LINE_CUT);
        assert_int_equal(strlen(command_line_of(event)),
                         ETWAS_EXEC_MOST_BYTES - (index == 0 ? 1 : 0));
        assert_memory_equal(command_line_of(event), index == 3 ? "yy yy yy" : "true xxx", 8);
    }
    free_events(&events);
}

/* ---- without --------------------------------------------------------------------------------- */

static bool drop(int capability)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    if (syscall(SYS_capget, &head, data) != 0) {
        return false;
    }
    data[CAP_TO_INDEX(capability)].effective &= ~CAP_TO_MASK(capability);
    data[CAP_TO_INDEX(capability)].permitted &= ~CAP_TO_MASK(capability);
    return syscall(SYS_capset, &head, data) == 0;
}

static int log_without_leave(void)
{
    char *const arguments[] = {"true", "x", NULL};
    struct etwas_probe probe;
    struct program program;
    etwas_trace_handle session;
    struct events events;
    size_t at = 0;
    pid_t child;

    if ((monitoring_capabilities() & UINT64_C(1) << CAP_SYS_ADMIN) != 0 || !drop(CAP_BPF) ||
        !drop(CAP_SYS_ADMIN) || etwas_exec_probe_open(&probe, 1)) {
        print_message("skipped: capabilities cannot be given up, or BPF needs none\n");
        return 77;
    }
    session = start_processes();
    program = run_program("x");
    await_drains();
    ck_pr_store_32(&keep_rings_full, 1); /* this one has ended before the rings are read */
    child = run("/bin/true", arguments);
    ck_pr_store_32(&keep_rings_full, 0);
    end_program(&program);
    stop_session(session, NULL);
    read_events(folder_path("k.etl"), 0, &events);
    expect_line(&events, child, "", ETWAS_PROCESS_NO_COMMAND_LINE);
    expect_line(&events, program.process_id, "a shell -c read line x",
                ETWAS_PROCESS_COMMAND_LINE_READ);
    /* A fork's child has its parent's command line, which the rundown reads. */
    assert_int_equal(flags_of(next_of(&events, &at, (uint32_t)child)) & OF_THE_LINE,
                     ETWAS_PROCESS_COMMAND_LINE_READ);
    free_events(&events);
    return 0;
}

static void without_leave_they_are_read_afterwards(void **state)
{
    (void)state;
    expect_in_child(log_without_leave);
}

#ifdef __x86_64__
/*
 * A program of 32 bits that ends at once. Its stack has words of another size, which the probe
 * skips.
 */
static const uint8_t small_program[] = {
    0x7F, 'E',  'L', 'F', 1,  1,    1,    0,    0,    0,    0, 0,
    0,    0,    0,   0,                      /* ident */
    2,    0,    3,   0,   1,  0,    0,    0, /* type, machine, version */
    84,   0x80, 4,   8,   52, 0,    0,    0,    0,    0,    0, 0,
    0,    0,    0,   0,                                           /* entry, headers, flags */
    52,   0,    32,  0,   1,  0,    0,    0,    0,    0,    0, 0, /* sizes and counts */
    1,    0,    0,   0,   0,  0,    0,    0,    0,    0x80, 4, 8,
    0,    0x80, 4,   8, /* type, offset, addresses */
    93,   0,    0,   0,   93, 0,    0,    0,    5,    0,    0, 0,
    0,    0x10, 0,   0,                               /* sizes, flags, alignment */
    0xB8, 1,    0,   0,   0,  0x31, 0xDB, 0xCD, 0x80, /* exit(0) */
};

static void of_a_program_of_half_the_words_they_are_not_known(void **state)
{
    char *const arguments[] = {"small", "x", NULL};
    etwas_trace_handle session;
    struct events events;
    pid_t child;
    int status;
    int file;

    (void)state;
    skip_without_probe();
    file = open(folder_path("small"), O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
    assert_int_equal(write(file, small_program, sizeof small_program), sizeof small_program);
    (void)close(file);
    child = fork();
    if (child == 0) {
        (void)execv(folder_path("small"), arguments);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status != 0) {
        (void)printf("skipped: programs of 32 bits do not run here\n");
        skip();
    }
    session = start_processes();
    ck_pr_store_32(&keep_rings_full, 1);
    child = run(folder_path("small"), arguments);
    ck_pr_store_32(&keep_rings_full, 0);
    read_and_account(session, &events);
    expect_line(&events, child, "", ETWAS_PROCESS_NO_COMMAND_LINE);
    free_events(&events);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(every_exec_has_its_arguments),
        FOLDER_TEST(a_script_has_those_of_its_interpreter),
        FOLDER_TEST(arguments_that_are_too_long_are_marked_as_cut),
        FOLDER_TEST(without_leave_they_are_read_afterwards),
#ifdef __x86_64__
        FOLDER_TEST(of_a_program_of_half_the_words_they_are_not_known),
#endif
    };

    return RUN_KERNEL_TESTS("system exec", tests);
}
