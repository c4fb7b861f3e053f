/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A kernel logger that records nothing but the system's configuration.
 *
 * usage: configuration FILE    Exits with 77 where the kernel's events cannot be had.
 */
#include <etwas/evntrace.h>
#include <stddef.h>
#include <stdio.h>

enum {
    SKIPPED = 77
};

int main(int count, char **arguments)
{
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char session_name[4096];
        char file_name[4096];
    } block = {
        .properties =
            {
                .Wnode = {.BufferSize = sizeof block,
                          .Guid = SystemTraceControlGuid,
                          .ClientContext = 1,
                          .Flags = WNODE_FLAG_TRACED_GUID},
                .LogFileMode = EVENT_TRACE_FILE_MODE_SEQUENTIAL,
                .LoggerNameOffset = sizeof block.properties,
                .LogFileNameOffset = sizeof block.properties + sizeof block.session_name,
            },
    };
    etwas_trace_handle session;
    ULONG code;

    if (count != 2) {
        return 1;
    }
    (void)snprintf(block.file_name, sizeof block.file_name, "%s", arguments[1]);
    code = StartTraceA(&session, KERNEL_LOGGER_NAMEA, &block.properties);
    if (code == ERROR_ACCESS_DENIED || code == ERROR_NOT_SUPPORTED ||
        code == ERROR_PATH_NOT_FOUND) {
        return SKIPPED;
    }
    return code == ERROR_SUCCESS && ControlTraceA(session, NULL, &block.properties,
                                                  EVENT_TRACE_CONTROL_STOP) == ERROR_SUCCESS
               ? 0
               : 1;
}
