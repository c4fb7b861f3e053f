/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* OpenTrace. Failures are told through the thread's last error. */
#include "reader/trace.h"

#include <stdlib.h>
#include <string.h>

#include "etl/utf16.h"
#include "platform/cancel.h"
#include "platform/fork.h"
#include "platform/last_error.h"
#include "reader/file_header.h"
#include "reader/knots.h"
#include "reader/live.h"
#include "reader/source.h"
#include "reader/table.h"

enum {
    PATH_LIMIT_UNITS = 4096
};

/* Compares without regard to the case of ASCII letters. */
static bool is_kernel_logger(const etwas_wchar *name)
{
    const char *expected = KERNEL_LOGGER_NAMEA;

    for (; *expected != 0; expected++, name++) {
        bool letter =
            (*expected >= 'a' && *expected <= 'z') || (*expected >= 'A' && *expected <= 'Z');

        if ((letter ? *name | 0x20 : *name) != (letter ? *expected | 0x20 : *expected)) {
            return false;
        }
    }
    return *name == 0;
}

/* Fills what OpenTrace gives back, in our copy; the caller's structure gets the same. */
static void fill_logfile(struct etwas_trace *trace)
{
    EVENT_TRACE_LOGFILEW *logfile = &trace->logfile.w;

    logfile->CurrentTime = 0;
    logfile->BuffersRead = 0;
    memset(&logfile->CurrentEvent, 0, sizeof logfile->CurrentEvent);
    etwas_file_header_fill(&trace->log, &logfile->LogfileHeader);
    logfile->BufferSize = trace->log.session_buffer_bytes;
    logfile->Filled = 0;
    logfile->EventsLost = 0;
    logfile->IsKernelTrace = trace->log.kernel || is_kernel_logger(trace->log.names);
}

static uint32_t put_into_table(struct etwas_trace *trace, etwas_trace_handle *handle)
{
    *handle = etwas_trace_table_add(trace);
    return *handle == INVALID_PROCESSTRACE_HANDLE ? ERROR_NOT_ENOUGH_MEMORY : ERROR_SUCCESS;
}

/* Those of buffer 0: a file is not looked through before somebody wants to know. */
static uint32_t read_first_knots(struct etwas_trace *trace)
{
    struct etwas_knot_list list = {0};

    if (etwas_knots_take_first(trace, &list)) {
        trace->timeline = etwas_timeline_new(&trace->log.base, &list);
    }
    trace->timeline_complete = trace->log.knots_at == 0;
    free(list.knots);
    return trace->timeline != NULL ? ERROR_SUCCESS : ERROR_NOT_ENOUGH_MEMORY;
}

/* Opens `path` for a trace whose logfile structure is filled in but for its names. */
static uint32_t open_path(struct etwas_trace *trace, const char *path, etwas_trace_handle *handle)
{
    uint32_t code = etwas_source_open(path, &trace->descriptor, &trace->file_bytes);

    if (code == ERROR_SUCCESS) {
        code = etwas_file_header_read(trace);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = read_first_knots(trace);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    fill_logfile(trace);
    return put_into_table(trace, handle);
}

/*
 * The session need not run yet: ProcessTrace looks again, and says so if it does not (R173). One
 * that runs keeps its buffers for this trace from now on.
 */
static uint32_t open_session(struct etwas_trace *trace, etwas_trace_handle *handle)
{
    uint32_t code = etwas_live_connect(trace);

    if (code == ERROR_SUCCESS) {
        fill_logfile(trace);
    } else if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
        memset(&trace->logfile.w.LogfileHeader, 0, sizeof trace->logfile.w.LogfileHeader);
    } else {
        return code;
    }
    return put_into_table(trace, handle);
}

/* What both forms check before anything else. `first` is the given name's first unit. */
static uint32_t check_names(const void *file_name, const void *logger_name, uint32_t first,
                            uint32_t mode)
{
    bool real_time = (mode & PROCESS_TRACE_MODE_REAL_TIME) != 0;

    if ((file_name != NULL && logger_name != NULL) || (logger_name != NULL) != real_time) {
        return ERROR_INVALID_PARAMETER;
    }
    if (first == 0) {
        return real_time ? ERROR_INVALID_PARAMETER : ERROR_BAD_PATHNAME;
    }
    return ERROR_SUCCESS;
}

static struct etwas_trace *new_trace(bool wide)
{
    struct etwas_trace *trace = calloc(1, sizeof *trace);

    if (trace != NULL) {
        trace->descriptor = -1;
        trace->wide = wide;
    }
    return trace;
}

static etwas_trace_handle finish(uint32_t code, struct etwas_trace *trace,
                                 etwas_trace_handle handle)
{
    if (code == ERROR_SUCCESS) {
        return handle;
    }
    etwas_trace_free(trace);
    etwas_set_last_error(code);
    return INVALID_PROCESSTRACE_HANDLE;
}

/* Names are UTF-8 and UTF-16 of the same length limit. */
static uint32_t widen(const char *name, etwas_wchar **wide)
{
    size_t bytes = strlen(name);
    size_t units = 0;

    if (etwas_utf8_to_utf16(name, bytes, NULL, 0, &units) == ETWAS_UTF_INVALID) {
        return ERROR_INVALID_PARAMETER;
    }
    *wide = malloc(units * sizeof **wide);
    if (*wide == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    (void)etwas_utf8_to_utf16(name, bytes, *wide, units, &units);
    return ERROR_SUCCESS;
}

/* The name of the caller's structure is copied, for buffer callbacks. */
static uint32_t open_narrow(struct etwas_trace *trace, const char *name, etwas_trace_handle *handle)
{
    bool real_time = trace->logfile.a.LoggerName != NULL;
    char *copy = strdup(name);
    uint32_t code;

    trace->logfile.a.LogFileName = real_time ? NULL : copy;
    trace->logfile.a.LoggerName = real_time ? copy : NULL;
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (!real_time) {
        return open_path(trace, name, handle);
    }
    code = widen(name, &trace->session_name);
    return code == ERROR_SUCCESS ? open_session(trace, handle) : code;
}

static etwas_trace_handle open_a(EVENT_TRACE_LOGFILEA *Logfile)
{
    etwas_trace_handle handle = INVALID_PROCESSTRACE_HANDLE;
    EVENT_TRACE_LOGFILEA given;
    const char *name;
    struct etwas_trace *trace;
    uint32_t code;

    if (Logfile == NULL) {
        return finish(ERROR_INVALID_PARAMETER, NULL, handle);
    }
    given = *Logfile;
    name = given.LoggerName != NULL ? given.LoggerName : given.LogFileName;
    code = check_names(given.LogFileName, given.LoggerName, name != NULL ? (uint8_t)*name : 0,
                       given.ProcessTraceMode);
    if (code != ERROR_SUCCESS) {
        return finish(code, NULL, handle);
    }
    trace = new_trace(false);
    if (trace == NULL) {
        return finish(ERROR_NOT_ENOUGH_MEMORY, NULL, handle);
    }
    trace->logfile.a = given;
    code = open_narrow(trace, name, &handle);
    if (code == ERROR_SUCCESS) {
        *Logfile = trace->logfile.a;
        Logfile->LogFileName = given.LogFileName;
        Logfile->LoggerName = given.LoggerName;
    }
    return finish(code, trace, handle);
}

/* The name as UTF-8 for the system. */
static uint32_t narrow(const etwas_wchar *name, size_t units, char **path)
{
    size_t bytes = 0;

    if (etwas_utf16_to_utf8(name, units, NULL, 0, &bytes) == ETWAS_UTF_INVALID) {
        return ERROR_BAD_PATHNAME;
    }
    *path = malloc(bytes);
    if (*path == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    (void)etwas_utf16_to_utf8(name, units, *path, bytes, &bytes);
    return ERROR_SUCCESS;
}

static etwas_wchar *copy_units(const etwas_wchar *name, size_t units)
{
    etwas_wchar *copy = malloc((units + 1) * sizeof *copy);

    if (copy != NULL) {
        memcpy(copy, name, units * sizeof *copy);
        copy[units] = 0;
    }
    return copy;
}

static uint32_t open_wide(struct etwas_trace *trace, const etwas_wchar *name,
                          etwas_trace_handle *handle)
{
    bool real_time = trace->logfile.w.LoggerName != NULL;
    size_t units = etwas_utf16_length(name, PATH_LIMIT_UNITS);
    etwas_wchar *copy = units < PATH_LIMIT_UNITS ? copy_units(name, units) : NULL;
    char *path = NULL;
    uint32_t code;

    trace->logfile.w.LogFileName = real_time ? NULL : copy;
    trace->logfile.w.LoggerName = real_time ? copy : NULL;
    if (units == PATH_LIMIT_UNITS) {
        return real_time ? ERROR_INVALID_PARAMETER : ERROR_FILENAME_EXCED_RANGE;
    }
    if (copy == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    if (real_time) {
        trace->session_name = copy_units(name, units);
        return trace->session_name != NULL ? open_session(trace, handle) : ERROR_NOT_ENOUGH_MEMORY;
    }
    code = narrow(name, units, &path);
    if (code == ERROR_SUCCESS) {
        code = open_path(trace, path, handle);
    }
    free(path);
    return code;
}

static etwas_trace_handle open_w(EVENT_TRACE_LOGFILEW *Logfile)
{
    etwas_trace_handle handle = INVALID_PROCESSTRACE_HANDLE;
    EVENT_TRACE_LOGFILEW given;
    const etwas_wchar *name;
    struct etwas_trace *trace;
    uint32_t code;

    if (Logfile == NULL) {
        return finish(ERROR_INVALID_PARAMETER, NULL, handle);
    }
    given = *Logfile;
    name = given.LoggerName != NULL ? given.LoggerName : given.LogFileName;
    code = check_names(given.LogFileName, given.LoggerName, name != NULL ? *name : 0,
                       given.ProcessTraceMode);
    if (code != ERROR_SUCCESS) {
        return finish(code, NULL, handle);
    }
    trace = new_trace(true);
    if (trace == NULL) {
        return finish(ERROR_NOT_ENOUGH_MEMORY, NULL, handle);
    }
    trace->logfile.w = given;
    code = open_wide(trace, name, &handle);
    if (code == ERROR_SUCCESS) {
        *Logfile = trace->logfile.w;
        Logfile->LogFileName = given.LogFileName;
        Logfile->LoggerName = given.LoggerName;
    }
    return finish(code, trace, handle);
}

/*
 * Opening and reading are points of cancellation: a thread that ended there would leave the trace.
 * A fork in the midst of it would leave the child a file that nobody closes.
 */
etwas_trace_handle OpenTraceA(EVENT_TRACE_LOGFILEA *Logfile)
{
    int cancelling = etwas_cancel_forbid();
    etwas_trace_handle handle;

    etwas_fork_forbid();
    handle = open_a(Logfile);
    etwas_fork_allow();
    etwas_cancel_allow(cancelling);
    return handle;
}

etwas_trace_handle OpenTraceW(EVENT_TRACE_LOGFILEW *Logfile)
{
    int cancelling = etwas_cancel_forbid();
    etwas_trace_handle handle;

    etwas_fork_forbid();
    handle = open_w(Logfile);
    etwas_fork_allow();
    etwas_cancel_allow(cancelling);
    return handle;
}
