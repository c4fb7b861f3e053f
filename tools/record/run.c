/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Starts and stops sessions around a program, or around the rest of processes' lives: a kernel
 * session, one for programs' own providers, or both.
 */

#include "record/record.h"

#include "cli/no_room.h"
#include "cli/replace.h"
#include "exit.h"
#include "print/human.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    BUFFER_KB = 256,
    MOST_BUFFERS = 256,
    LINE_MS = 1000,
};

struct block {
    EVENT_TRACE_PROPERTIES properties;
    char session_name[64];
    char file_name[4096];
};

/* ---- one session ----------------------------------------------------------------------------- */

static void prepare(struct block *block, const struct etwas_record_request *request)
{
    *block = (struct block){.properties = {
                                .Wnode = {.BufferSize = sizeof *block,
                                          .Guid = SystemTraceControlGuid,
                                          .ClientContext = etwas_record_clock(request),
                                          .Flags = WNODE_FLAG_TRACED_GUID},
                                .BufferSize = BUFFER_KB,
                                .MaximumBuffers = MOST_BUFFERS,
                                .LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                                .EnableFlags = request->filters.process_count != 0
                                                   ? etwas_record_others(request->flags)
                                                   : request->flags,
                                .LoggerNameOffset = offsetof(struct block, session_name),
                                .LogFileNameOffset = offsetof(struct block, file_name),
                            }};
    (void)snprintf(block->file_name, sizeof block->file_name, "%s", request->path);
}

static ULONG set_stacks(TRACEHANDLE session, const struct etwas_record_request *request)
{
    CLASSIC_EVENT_ID ids[ETWAS_RECORD_STACKS];

    for (uint32_t i = 0; i < request->stack_count; i++) {
        ids[i] = (CLASSIC_EVENT_ID){.EventGuid = request->stacks[i].EventGuid,
                                    .Type = request->stacks[i].Type};
    }
    return request->stack_count == 0
               ? ERROR_SUCCESS
               : TraceSetInformation(session, TraceStackTracingInfo, ids,
                                     request->stack_count * (ULONG)sizeof *ids);
}

/*
 * Stops a session. If another process is stopping it, waits for its end, when the counts are final.
 */
static void stop(TRACEHANDLE session)
{
    struct block block;

    if (session == 0) {
        return;
    }
    memset(&block, 0, sizeof block);
    block.properties.Wnode.BufferSize = sizeof block;
    block.properties.LoggerNameOffset = offsetof(struct block, session_name);
    block.properties.LogFileNameOffset = offsetof(struct block, file_name);
    if (ControlTraceA(session, NULL, &block.properties, EVENT_TRACE_CONTROL_STOP) ==
        ERROR_ACTIVE_CONNECTIONS) {
        (void)etwas_session_wait(session, UINT32_MAX);
    }
}

/* Reports requested events that the kernel never delivers. */
static void say_silent(TRACEHANDLE session)
{
    char why[512];
    uint32_t flags;

    if (etwas_kernel_silent(session, &flags, why, sizeof why) == ERROR_SUCCESS && flags != 0) {
        fprintf(stderr, "etwas record: %s\n", why);
    }
}

/*
 * If the kernel refused, its reason is printed on a second line. Otherwise the file is the cause.
 */
static void say_cannot_record(const char *path, ULONG code)
{
    char why[512];
    struct stat status;

    if (etwas_kernel_refusal(why, sizeof why) != 0) {
        fprintf(stderr, "etwas record: the kernel: cannot record it: %s\n%s\n",
                etwas_no_room_error_text(code), why);
    } else if (code == ERROR_BAD_PATHNAME && stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        fprintf(stderr, "etwas record: %s: cannot record to it: it is not a regular file\n", path);
    } else {
        fprintf(stderr, "etwas record: %s: cannot record to it: %s\n", path,
                etwas_no_room_error_text(code));
    }
}

/* Returns false after a message. */
static bool start_kernel(const struct etwas_record_request *request, TRACEHANDLE *session)
{
    static struct block block;
    ULONG code;

    if (strlen(request->path) >= sizeof block.file_name) {
        fprintf(stderr, "etwas record: %s: the name is too long\n", request->path);
        return false;
    }
    prepare(&block, request);
    code = StartTraceA(session, KERNEL_LOGGER_NAMEA, &block.properties);
    if (code == ERROR_SUCCESS) {
        code = request->filters.process_count != 0
                   ? etwas_record_only(*session, request->flags, &request->filters)
                   : ERROR_SUCCESS;
        code = code == ERROR_SUCCESS ? set_stacks(*session, request) : code;
        if (code == ERROR_SUCCESS && request->user_stack_bytes != 0) {
            code = etwas_kernel_user_stacks(*session, request->user_stack_bytes);
        }
        if (code != ERROR_SUCCESS) {
            stop(*session);
        }
    }
    if (code == ERROR_SUCCESS) {
        say_silent(*session);
        return true;
    }
    say_cannot_record(request->path, code);
    return false;
}

/* ---- both sessions --------------------------------------------------------------------------- */

struct sessions {
    TRACEHANDLE kernel; /* 0: not recorded; the same for `programs` */
    TRACEHANDLE programs;
};

static bool begin_sessions(const struct etwas_record_request *request, struct sessions *sessions)
{
    if (request->has_kernel && !start_kernel(request, &sessions->kernel)) {
        return false;
    }
    if (request->provider_count != 0 && !etwas_record_programs(request, &sessions->programs)) {
        stop(sessions->kernel);
        return false;
    }
    return true;
}

static bool may_write(const struct etwas_record_request *request)
{
    const char *programs = etwas_record_programs_path(request);

    return (!request->has_kernel ||
            etwas_replace_may("etwas record", request->path, request->force)) &&
           (request->provider_count == 0 ||
            etwas_replace_may("etwas record", programs, request->force));
}

/* Returns false after a message. Then no session is running, and the files are unchanged. */
static bool start(const struct etwas_record_request *request, struct sessions *sessions)
{
    struct etwas_replaced files[2] = {{.path = NULL}, {.path = NULL}};
    bool has_begun;

    *sessions = (struct sessions){0};
    if (request->provider_count != 0 && !etwas_record_share()) {
        return false;
    }
    has_begun =
        (!request->has_kernel ||
         etwas_replace_begin(&files[0], "etwas record", request->path, false, request->force)) &&
        (request->provider_count == 0 ||
         etwas_replace_begin(&files[1], "etwas record", etwas_record_programs_path(request), false,
                             request->force)) &&
        begin_sessions(request, sessions);
    etwas_replace_end(&files[0], has_begun);
    etwas_replace_end(&files[1], has_begun);
    return has_begun;
}

static void say_counts(const struct sessions *sessions, const char *begin, const char *end)
{
    const TRACEHANDLE each[] = {sessions->kernel, sessions->programs};
    char recorded[ETWAS_HUMAN_CHARACTERS];
    char lost[ETWAS_HUMAN_CHARACTERS];
    etwas_session_counts counts;
    uint64_t sum_recorded = 0;
    uint64_t sum_lost = 0;

    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        if (each[i] != 0 && etwas_counts(each[i], &counts) == ERROR_SUCCESS) {
            sum_recorded += counts.recorded;
            sum_lost += counts.lost;
        }
    }
    fprintf(stderr, "%s%s event%s, %s lost%s", begin, etwas_human_count(recorded, sum_recorded),
            etwas_human_plural(sum_recorded), etwas_human_count(lost, sum_lost), end);
}

/* Prints what a session recorded, and `of_what`; --quiet leaves only reports of lost events. */
static void say_result(const char *path, TRACEHANDLE session, const char *of_what)
{
    const struct sessions alone = {.kernel = session};
    etwas_session_counts counts;

    if (etwas_is_quiet && etwas_counts(session, &counts) == ERROR_SUCCESS && counts.lost == 0) {
        return;
    }
    fprintf(stderr, "%s: ", path);
    say_counts(&alone, "", of_what);
    fputc('\n', stderr);
}

/*
 * Stops the session of programs first, so that the kernel's covers all its time. Returns false if
 * events were lost because a file could not be written.
 */
static bool finish(const struct etwas_record_request *request, const struct sessions *sessions)
{
    etwas_session_counts counts;
    bool is_written = true;

    stop(sessions->programs);
    stop(sessions->kernel);
    if (sessions->kernel != 0) {
        say_result(request->path, sessions->kernel,
                   request->is_unasked ? ", of the kernel; without --enable none of programs" : "");
        is_written = etwas_record_report_losses(
            sessions->kernel, request->path,
            "since the disk did not keep up: ask for fewer flags or stacks");
    }
    if (sessions->programs != 0) {
        say_result(etwas_record_programs_path(request), sessions->programs, "");
        is_written = etwas_record_report_losses(
                         sessions->programs, etwas_record_programs_path(request),
                         "since the disk did not keep up: enable fewer levels or keywords") &&
                     is_written;
        if (!etwas_is_quiet && etwas_counts(sessions->programs, &counts) == ERROR_SUCCESS) {
            etwas_record_summarize(request, etwas_record_programs_path(request), &counts);
        }
    }
    return is_written;
}

/* ---- waiting --------------------------------------------------------------------------------- */

struct awaited {
    struct pollfd processes[MAX_EVENT_FILTER_PID_COUNT];
    uint32_t count;
};

static void close_processes(struct awaited *awaited)
{
    while (awaited->count != 0) {
        awaited->count--;
        if (awaited->processes[awaited->count].fd >= 0) {
            (void)close(awaited->processes[awaited->count].fd);
        }
    }
}

/* Returns false after a message if one of them is not a process. */
static bool open_processes(const struct etwas_steer_filters *filters, struct awaited *awaited)
{
    awaited->count = 0;
    for (uint32_t i = 0; i < filters->process_count; i++) {
        int descriptor = (int)syscall(SYS_pidfd_open, (pid_t)filters->processes[i], 0);

        if (descriptor < 0) {
            fprintf(stderr, "etwas record: process %u: %s\n", filters->processes[i],
                    errno == ENOENT || errno == EINVAL ? "it is a thread of another one"
                                                       : strerror(errno));
            close_processes(awaited);
            return false;
        }
        awaited->processes[awaited->count++] = (struct pollfd){.fd = descriptor, .events = POLLIN};
    }
    return true;
}

/* Waits until all processes have ended. */
static int await_processes(const struct etwas_record_request *request, struct awaited *awaited,
                           const struct sessions *sessions)
{
    bool is_shown = isatty(STDERR_FILENO) == 1 && !etwas_is_quiet;
    uint32_t ended = 0;

    while (!etwas_record_is_stopped() && ended < awaited->count) {
        int ready = poll(awaited->processes, awaited->count, LINE_MS);

        for (uint32_t i = 0; ready > 0 && i < awaited->count; i++) {
            if (awaited->processes[i].fd >= 0 && awaited->processes[i].revents != 0) {
                (void)close(awaited->processes[i].fd);
                awaited->processes[i].fd = -1; /* poll skips it */
                ended++;
            }
        }
        if (ready <= 0) {
            etwas_record_look_near(request);
        }
        if (ready <= 0 && is_shown) {
            say_counts(sessions, "\r", "\033[K");
        }
    }
    if (is_shown) {
        fputs("\r\033[K", stderr);
    }
    return ETWAS_EXIT_DONE;
}

int etwas_record_run(const struct etwas_record_request *request)
{
    struct sessions sessions;
    struct awaited awaited;
    int result;

    if (!open_processes(&request->filters, &awaited)) {
        return ETWAS_EXIT_FAILED;
    }
    result = etwas_record_runs(request) ? etwas_record_find_program(request->program[0]) : 0;
    if (result != 0) {
        return etwas_record_cannot_run(request->program[0], result);
    }
    if (!may_write(request)) {
        return ETWAS_EXIT_OUTPUT;
    }
    etwas_record_catch_signals();
    if (!start(request, &sessions)) {
        return ETWAS_EXIT_FAILED;
    }
    result = etwas_record_runs(request) ? etwas_record_child(request)
                                        : await_processes(request, &awaited, &sessions);
    close_processes(&awaited);
    /* The program's exit status takes precedence over ours. */
    return !finish(request, &sessions) && result == ETWAS_EXIT_DONE ? ETWAS_EXIT_OUTPUT : result;
}
