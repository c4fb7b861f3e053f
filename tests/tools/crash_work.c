/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: crash_work WHERE COUNT END     logs so many events to a crash-safe recorder, and ends
 *
 * WHERE: pool or memfd. END: kill, abort, or wait, which says that all is logged and waits to be
 * killed.
 */
#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const etwas_guid event_class = {
    0x1c2d3e4f, 0x1111, 0x2222, {0x33, 0x33, 0x44, 0x44, 0x55, 0x55, 0x66, 0x66}};

int main(int argc, char **argv)
{
    etwas_session_options options = {
        .log_file_mode = EVENT_TRACE_BUFFERING_MODE, .buffer_size_kb = 16, .maximum_buffers = 64};
    etwas_trace_handle session;

    if (argc != 4) {
        return 1;
    }
    options.crash_safe =
        strcmp(argv[1], "memfd") == 0 ? ETWAS_CRASH_SAFE_MEMFD : ETWAS_CRASH_SAFE_POOL_FILE;
    if (etwas_start("crash work", NULL, &options, &session) != ERROR_SUCCESS) {
        return 1;
    }
    for (long left = strtol(argv[2], NULL, 10); left > 0; left--) {
        EVENT_TRACE_HEADER event = {.Size = sizeof event};

        event.Flags = WNODE_FLAG_TRACED_GUID;
        event.Guid = event_class;
        if (TraceEvent(session, &event) != ERROR_SUCCESS) {
            return 1;
        }
    }
    if (strcmp(argv[3], "wait") == 0) {
        (void)printf("ready\n");
        (void)fflush(stdout);
        (void)pause();
    }
    (void)raise(strcmp(argv[3], "kill") == 0 ? SIGKILL : SIGABRT);
    return 1;
}
