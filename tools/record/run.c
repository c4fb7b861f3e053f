/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A kernel session around a program, or around what is left of a process's life.
 */

#include "record/record.h"

#include "commands.h"
#include "people.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BUFFER_KB = 256,
    MOST_BUFFERS = 256,
    LINE_MS = 1000,
    NOT_FOUND = 127, /* as shells have it */
    NOT_EXECUTABLE = 126,
    BY_SIGNAL = 128,
};

struct block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[64];
    char file_name[4096];
};

static volatile sig_atomic_t stopped; /* the signal that asked for the end; 0: none */

static void on_signal(int number)
{
    stopped = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

/* ---- the session ----------------------------------------------------------------------------- */

static void prepare(struct block *block, const struct etwas_record_wish *wish)
{
    *block = (struct block){.properties = {
                                .Wnode = {.BufferSize = sizeof *block,
                                          .Guid = SystemTraceControlGuid,
                                          .ClientContext = wish->clock,
                                          .Flags = WNODE_FLAG_TRACED_GUID},
                                .BufferSize = BUFFER_KB,
                                .MaximumBuffers = MOST_BUFFERS,
                                .LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                .EnableFlags = wish->flags,
                                .LoggerNameOffset = offsetof(struct block, session_name),
                                .LogFileNameOffset = offsetof(struct block, file_name),
                            }};
    (void)snprintf(block->file_name, sizeof block->file_name, "%s", wish->path);
}

static ULONG set_stacks(TRACEHANDLE session, const struct etwas_record_wish *wish)
{
    CLASSIC_EVENT_ID ids[ETWAS_RECORD_STACKS];

    for (uint32_t i = 0; i < wish->stack_count; i++) {
        ids[i] = (CLASSIC_EVENT_ID){.EventGuid = wish->stacks[i].EventGuid,
                                    .Type = wish->stacks[i].Type};
    }
    return wish->stack_count == 0 ? ERROR_SUCCESS
                                  : TraceSetInformation(session, TraceStackTracingInfo, ids,
                                                        wish->stack_count * (ULONG)sizeof *ids);
}

static void stop(TRACEHANDLE session)
{
    struct block block;

    memset(&block, 0, sizeof block);
    block.properties.Wnode.BufferSize = sizeof block;
    block.properties.LoggerNameOffset = offsetof(struct block, session_name);
    block.properties.LogFileNameOffset = offsetof(struct block, file_name);
    (void)ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP);
}

/* Of what is asked for and never comes. */
static void say_silent(TRACEHANDLE session)
{
    char why[512];
    uint32_t flags;

    if (etwas_kernel_silent(session, &flags, why, sizeof why) == ERROR_SUCCESS && flags != 0) {
        fprintf(stderr, "etwas record: %s\n", why);
    }
}

/* False: it has been said why. */
static bool start(const struct etwas_record_wish *wish, TRACEHANDLE *session)
{
    static struct block block;
    char why[512];
    ULONG code;

    if (strlen(wish->path) >= sizeof block.file_name) {
        fprintf(stderr, "etwas record: the name of the file is too long\n");
        return false;
    }
    prepare(&block, wish);
    code = StartTraceA(session, KERNEL_LOGGER_NAMEA, &block.properties);
    if (code == ERROR_SUCCESS) {
        code = set_stacks(*session, wish);
        if (code == ERROR_SUCCESS && wish->user_stack_bytes != 0) {
            code = etwas_kernel_user_stacks(*session, wish->user_stack_bytes);
        }
        if (code != ERROR_SUCCESS) {
            stop(*session);
        }
    }
    if (code == ERROR_SUCCESS) {
        say_silent(*session);
        return true;
    }
    fprintf(stderr, "etwas record: cannot record: %s\n", etwas_error_text(code));
    if (etwas_kernel_refusal(why, sizeof why) != 0) {
        fprintf(stderr, "%s\n", why);
    }
    return false;
}

static void say_counts(TRACEHANDLE session, const char *begin, const char *end)
{
    char recorded[ETWAS_PEOPLE_CHARACTERS];
    char lost[ETWAS_PEOPLE_CHARACTERS];
    etwas_session_counts counts;

    if (etwas_counts(session, &counts) == ERROR_SUCCESS) {
        fprintf(stderr, "%s%s events, %s lost%s", begin,
                etwas_people_count(recorded, counts.recorded),
                etwas_people_count(lost, counts.lost), end);
    }
}

/* What helps against that, no larger buffer does. */
static void say_kernel_loss(TRACEHANDLE session)
{
    char lost[ETWAS_PEOPLE_CHARACTERS];
    etwas_session_counts counts;

    if (etwas_counts(session, &counts) == ERROR_SUCCESS && counts.lost_in_kernel != 0) {
        fprintf(stderr,
                "%s of them in the kernel: if its rings were full (etwas stat), ask for fewer "
                "flags or stacks\n",
                etwas_people_count(lost, counts.lost_in_kernel));
    }
}

/* ---- what is recorded ------------------------------------------------------------------------ */

/* Returns what to exit with. */
static int say_cannot_run(const char *program, int error)
{
    fprintf(stderr, "etwas record: cannot run '%s': %s\n", program, strerror(error));
    return error == ENOENT ? NOT_FOUND : NOT_EXECUTABLE;
}

/* In the child. */
static void become(char **program)
{
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)execvp(program[0], program);
    _exit(say_cannot_run(program[0], errno));
}

/* A signal to us alone is handed on; Ctrl-C goes to the program anyway. */
static int run_program(char **program)
{
    pid_t child = fork();
    int status;

    if (child < 0) {
        fprintf(stderr, "etwas record: cannot run '%s': %s\n", program[0], strerror(errno));
        return ETWAS_EXIT_OPEN;
    }
    if (child == 0) {
        become(program);
    }
    while (waitpid(child, &status, 0) < 0) {
        if (stopped != 0 && stopped != SIGINT) {
            (void)kill(child, stopped);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}

static int await_process(int descriptor, TRACEHANDLE session)
{
    bool is_terminal = isatty(STDERR_FILENO) == 1;
    struct pollfd polled = {.fd = descriptor, .events = POLLIN};

    while (stopped == 0 && poll(&polled, 1, LINE_MS) <= 0) {
        if (is_terminal) {
            say_counts(session, "\r", "\033[K");
        }
    }
    if (is_terminal) {
        fputs("\r\033[K", stderr);
    }
    (void)close(descriptor);
    return ETWAS_EXIT_FINE;
}

int etwas_record_run(const struct etwas_record_wish *wish)
{
    TRACEHANDLE session;
    int descriptor = -1;
    int result;

    if (wish->process != 0) {
        descriptor = (int)syscall(SYS_pidfd_open, wish->process, 0);
        if (descriptor < 0) {
            fprintf(stderr, "etwas record: process %d: %s\n", (int)wish->process, strerror(errno));
            return ETWAS_EXIT_OPEN;
        }
    }
    result = wish->process != 0 ? 0 : etwas_record_find_program(wish->program[0]);
    if (result != 0) {
        return say_cannot_run(wish->program[0], result);
    }
    catch_signals();
    if (!start(wish, &session)) {
        return ETWAS_EXIT_OPEN;
    }
    result = wish->process != 0 ? await_process(descriptor, session) : run_program(wish->program);
    stop(session);
    fprintf(stderr, "%s: ", wish->path);
    say_counts(session, "", "\n");
    say_kernel_loss(session);
    return result;
}
