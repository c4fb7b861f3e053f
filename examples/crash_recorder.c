/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A flight recorder that saves its events when the program crashes. The handler of SIGSEGV and
 * SIGABRT writes the buffers to a file that was opened earlier, and then lets the signal take its
 * default action. It runs on a stack of its own, because a stack overflow may have caused the
 * crash. Here a child crashes, and its parent reads the file.
 */

#include <etwas/etwas.h>
#include <etwas/tdh.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    FAULTY_JOB = 6000,
    STACK_BYTES = 64 * 1024
};

static const GUID job_guid = {
    0x2b3c9f4e, 0x51d7, 0x4e0a, {0xb1, 0x6d, 0x03, 0x9a, 0x7e, 0xc4, 0x58, 0x21}};

static const etwas_field_description job_fields[] = {
    {.name = "number", .in_type = TDH_INTYPE_UINT64}};
static const etwas_type_description job_types[] = {{.fields = job_fields, .field_count = 1}};
static const etwas_class_description job_description = {.guid = &job_guid,
                                                        .provider_name = "Worker",
                                                        .name = "Job",
                                                        .types = job_types,
                                                        .type_count = 1};

static TRACEHANDLE session;
static etwas_prepared_snapshot *prepared;

static void on_crash(int number)
{
    etwas_snapshot_signal_safe(prepared);
    signal(number, SIG_DFL); /* after the return, the signal comes again and kills the process */
}

/* Describes the class, starts the session and installs the handlers, before anything can crash. */
static bool prepare(int descriptor)
{
    static char stack[STACK_BYTES];
    const stack_t handler_stack = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
    const etwas_session_options options = {.log_file_mode = EVENT_TRACE_BUFFERING_MODE,
                                           .buffer_size_kb = 4};

    return etwas_describe_class(&job_description, NULL) == ERROR_SUCCESS &&
           etwas_start("crash recorder", NULL, &options, &session) == ERROR_SUCCESS &&
           etwas_snapshot_prepare(session, descriptor, &prepared) == ERROR_SUCCESS &&
           sigaltstack(&handler_stack, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0 &&
           sigaction(SIGABRT, &action, NULL) == 0;
}

static void work(void)
{
    ULONG64 good;
    ULONG64 *volatile result;

    for (ULONG64 number = 0;; number++) {
        struct {
            EVENT_TRACE_HEADER header;
            ULONG64 number;
        } event = {.header = {.Size = sizeof event, .Guid = job_guid}, .number = number};

        event.header.Flags = WNODE_FLAG_TRACED_GUID;
        TraceEvent(session, &event.header);
        result = number == FAULTY_JOB ? NULL : &good;
        *result = number; /* the work itself */
    }
}

static ULONG64 held, last_held; /* jobs in the file */

static void WINAPI on_event(PEVENT_TRACE event)
{
    if (event->MofLength == sizeof(ULONG64) && IsEqualGUID(&event->Header.Guid, &job_guid)) {
        memcpy(&last_held, event->MofData, sizeof(ULONG64));
        held++;
    }
}

int main(int argc, char **argv)
{
    char *path = argc > 1 ? argv[1] : (char[]){"crash_recorder.etl"};
    EVENT_TRACE_LOGFILE trace = {.LogFileName = path, .EventCallback = on_event};
    int descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    TRACEHANDLE handle;
    int status;

    if (descriptor < 0) {
        fprintf(stderr, "cannot write %s\n", path);
        return 1;
    }
    if (fork() == 0) {
        if (prepare(descriptor)) {
            work();
        }
        _exit(1);
    }
    wait(&status);
    handle = OpenTrace(&trace);
    ProcessTrace(&handle, 1, NULL, NULL);
    CloseTrace(handle);
    printf("killed by signal %d; %s: %lu events, the last one of job %lu\n",
           WIFSIGNALED(status) ? WTERMSIG(status) : 0, path, held, last_held);
    return held > 0 ? 0 : 1;
}
