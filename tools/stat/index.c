/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes FILE.index, with which a window of a large file is found without reading all of it. */

#include "stat/show.h"

#include "cli/output_file.h"
#include "event/names.h"
#include "exit.h"

#include <etwas/evntrace.h>
#include <etwas/reading.h>
#include <stdio.h>
#include <stdlib.h>

static void complain(const char *path, uint32_t code)
{
    const char *reason = code == ERROR_NOT_SUPPORTED
                             ? "an index is of a file that etwas wrote to its end in one session, "
                               "by another clock than the system's"
                             : etwas_names_error(code);

    fprintf(stderr, "etwas stat: no index of '%s': %s\n", path,
            reason != NULL ? reason : "it cannot be read");
}

/*
 * Writes the index of an open trace to the file `name`. Returns false after a message if that
 * fails.
 */
static bool write_beside(etwas_trace_handle trace, const char *path, char *name)
{
    struct etwas_output_file file = {.command = "etwas stat", .path = name, .force = true};
    uint32_t code;

    if (!etwas_output_file_open(&file)) {
        return false;
    }
    code = etwas_trace_write_index(trace, file.descriptor);
    if (code == ERROR_SUCCESS) {
        return etwas_output_file_keep(&file);
    }
    complain(path, code);
    etwas_output_file_drop(&file);
    return false;
}

int etwas_stat_write_index(const char *path)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path,
                                    .ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD};
    etwas_trace_handle trace = OpenTraceA(&logfile);
    int result = ETWAS_EXIT_FAILED;
    char *name;

    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        complain(path, etwas_GetLastError());
        return result;
    }
    if (asprintf(&name, "%s.index", path) < 0) {
        complain(path, ERROR_NOT_ENOUGH_MEMORY);
    } else {
        result = write_beside(trace, path, name) ? ETWAS_EXIT_DONE : ETWAS_EXIT_FAILED;
        free(name);
    }
    CloseTrace(trace);
    return result;
}
