/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "reader/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etl/utf16.h"
#include "platform/cancel.h"
#include "platform/fork.h"
#include "platform/name_case.h"
#include "reader/clock_snapshots.h"
#include "reader/file_header.h"
#include "reader/live.h"
#include "reader/trace_table.h"

enum {
    NAME_LIMIT_UNITS = 4096
};

/* Fills the results of OpenTrace in the trace's copy; the caller's structure gets the same. */
static void open_trace_fill_logfile(struct etwas_trace *trace)
{
    EVENT_TRACE_LOGFILEW *logfile = &trace->logfile.w;

    logfile->CurrentTime = 0;
    logfile->BuffersRead = 0;
    memset(&logfile->CurrentEvent, 0, sizeof logfile->CurrentEvent);
    etwas_file_header_fill(&trace->log, &logfile->LogfileHeader);
    logfile->BufferSize = trace->log.session_buffer_bytes;
    logfile->Filled = 0;
    logfile->EventsLost = 0;
    logfile->IsKernelTrace =
        trace->log.kernel || etwas_names_equal(trace->log.names, KERNEL_LOGGER_NAMEW);
}

static uint32_t open_trace_add_to_table(struct etwas_trace *trace, etwas_trace_handle *handle)
{
    *handle = etwas_trace_table_add(trace);
    return *handle == INVALID_PROCESSTRACE_HANDLE ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

/* Opens `path` for a trace whose logfile structure is filled in except for its names. */
static uint32_t open_trace_path(struct etwas_trace *trace, const char *path,
                                etwas_trace_handle *handle)
{
    uint32_t code = etwas_trace_file_open(path, &trace->descriptor, &trace->file_bytes);

    if (asprintf(&trace->index_path, "%s.index", path) < 0) {
        trace->index_path = NULL;
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_file_header_read(trace);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* The whole file is scanned only when a time is requested. */
    trace->timeline = etwas_clock_snapshots_read_timeline(trace, false);
    trace->timeline_complete = trace->log.clock_snapshots_at == 0;
    if (trace->timeline == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    open_trace_fill_logfile(trace);
    return open_trace_add_to_table(trace, handle);
}

/*
 * The session need not run yet: ProcessTrace connects again, and fails if it does not run (R173). A
 * running session stores its buffers for this trace from now on.
 */
static uint32_t open_trace_session(struct etwas_trace *trace, etwas_trace_handle *handle)
{
    uint32_t code = etwas_live_connect(trace);

    if (code == ERROR_SUCCESS) {
        open_trace_fill_logfile(trace);
    } else if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
        memset(&trace->logfile.w.LogfileHeader, 0, sizeof trace->logfile.w.LogfileHeader);
    } else {
        return code;
    }
    return open_trace_add_to_table(trace, handle);
}

/* Checks the names before anything else. `first` is the first unit of the given name. */
static uint32_t open_trace_check_names(const EVENT_TRACE_LOGFILEW *given, uint32_t first)
{
    bool real_time = (given->ProcessTraceMode & PROCESS_TRACE_MODE_REAL_TIME) != 0;

    if ((given->LogFileName != NULL && given->LoggerName != NULL) ||
        (given->LoggerName != NULL) != real_time) {
        return ERROR_INVALID_PARAMETER;
    }
    if (first == 0) {
        return real_time ? ERROR_INVALID_PARAMETER : ERROR_BAD_PATHNAME;
    }
    return ERROR_SUCCESS;
}

static uint32_t open_trace_named_file(struct etwas_trace *trace, const void *name, size_t units,
                                      etwas_trace_handle *handle)
{
    char path[3 * NAME_LIMIT_UNITS]; /* no unit of UTF-16 becomes more bytes */
    size_t bytes;

    if (!trace->wide) {
        return open_trace_path(trace, name, handle);
    }
    return etwas_utf16_to_utf8(name, units, path, sizeof path, &bytes) == ETWAS_UTF_OK
               ? open_trace_path(trace, path, handle)
               : ERROR_BAD_PATHNAME;
}

static uint32_t open_trace_named_session(struct etwas_trace *trace, const void *name, size_t units,
                                         etwas_trace_handle *handle)
{
    size_t needed;

    trace->session_name = calloc(units + 1, sizeof *trace->session_name);
    if (trace->session_name == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (trace->wide) {
        memcpy(trace->session_name, name, units * sizeof *trace->session_name);
    } else if (etwas_utf8_to_utf16(name, units, trace->session_name, units + 1, &needed) !=
               ETWAS_UTF_OK) {
        return ERROR_INVALID_PARAMETER;
    }
    return open_trace_session(trace, handle);
}

/* Copies the name of the caller's structure, for buffer callbacks, and opens it. */
static uint32_t open_trace_named(struct etwas_trace *trace, const void *name,
                                 etwas_trace_handle *handle)
{
    bool real_time = trace->logfile.w.LoggerName != NULL;
    size_t unit_bytes = trace->wide ? sizeof(etwas_wchar) : sizeof(char);
    size_t units =
        trace->wide ? etwas_utf16_length(name, NAME_LIMIT_UNITS) : strnlen(name, NAME_LIMIT_UNITS);
    void *copy = calloc(units + 1, unit_bytes);

    trace->logfile.w.LogFileName = real_time ? NULL : copy;
    trace->logfile.w.LoggerName = real_time ? copy : NULL;
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (units == NAME_LIMIT_UNITS) {
        return real_time ? ERROR_INVALID_PARAMETER : ERROR_FILENAME_EXCED_RANGE;
    }
    memcpy(copy, name, units * unit_bytes);
    return real_time ? open_trace_named_session(trace, copy, units, handle)
                     : open_trace_named_file(trace, copy, units, handle);
}

/* Opens the trace of `logfile`, which is an EVENT_TRACE_LOGFILEW, or A, as `wide` says. */
static uint32_t open_trace_logfile(void *logfile, bool wide, etwas_trace_connector connect,
                                   etwas_trace_handle *handle)
{
    union etwas_logfile given;
    union etwas_logfile filled;
    const void *name;
    uint32_t first = 0;
    struct etwas_trace *trace;
    uint32_t code;

    if (logfile == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(&given, logfile, sizeof given);
    name = given.w.LoggerName != NULL ? given.w.LoggerName : given.w.LogFileName;
    if (name != NULL) {
        first = wide ? *(const etwas_wchar *)name : *(const uint8_t *)name;
    }
    code = open_trace_check_names(&given.w, first);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    trace = calloc(1, sizeof *trace);
    if (trace == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    trace->descriptor = -1;
    trace->wide = wide;
    trace->connect = connect;
    trace->logfile = given;
    code = open_trace_named(trace, name, handle);
    if (code != ERROR_SUCCESS) {
        etwas_trace_free(trace);
        return code;
    }
    filled = trace->logfile;
    filled.w.LogFileName = given.w.LogFileName;
    filled.w.LoggerName = given.w.LoggerName;
    memcpy(logfile, &filled, sizeof filled);
    return ERROR_SUCCESS;
}

/*
 * Opening and reading are cancellation points: a thread that ended there would leak the trace. A
 * fork during it would leave the child a file that is never closed.
 */
etwas_trace_handle etwas_open_trace(void *logfile, bool wide, etwas_trace_connector connect)
{
    etwas_trace_handle handle = INVALID_PROCESSTRACE_HANDLE;
    ETWAS_UNCANCELLED_SCOPE;
    uint32_t code;

    etwas_fork_forbid();
    code = open_trace_logfile(logfile, wide, connect, &handle);
    etwas_fork_allow();
    if (code != ERROR_SUCCESS) {
        etwas_SetLastError(code);
    }
    return handle;
}
