/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* ProcessTrace and etwas_process_traces: on files, or on one session. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/cancel.h"
#include "reader/damage.h"
#include "reader/file_set.h"
#include "reader/live.h"
#include "reader/trace.h"
#include "reader/trace_table.h"

enum {
    FILES_LIMIT = 64 /* limit of ProcessTrace, as in ETW */
};

static uint32_t process_session(struct etwas_trace *trace, const struct etwas_span *span)
{
    uint32_t code = ERROR_SUCCESS;

    /* R173: the session may have been started since OpenTrace. */
    if (trace->consumer == NULL) {
        ETWAS_UNCANCELLED_SCOPE;

        code = etwas_live_connect(trace);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    trace->logfile.w.BuffersRead = 0;
    etwas_trace_begin_information(trace);
    return etwas_live_run(trace, span);
}

static int64_t process_filetime_value(const etwas_filetime *time, int64_t absent)
{
    uint64_t value;

    if (time == NULL) {
        return absent;
    }
    value = (uint64_t)time->dwHighDateTime << 32 | time->dwLowDateTime;
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* State of one call, freed when ProcessTrace returns or a callback ends the thread. */
struct processing {
    /* A copy: after CloseTrace the caller may free or reuse the array. */
    etwas_trace_handle *handles;
    uint32_t count;
    struct etwas_trace **traces;
    struct etwas_trace *live; /* NULL: files */
    struct etwas_files_run *run;
    struct etwas_span span;
};

static void process_free(struct processing *processing)
{
    free(processing->handles);
    free(processing->traces);
    if (processing->run != NULL) {
        etwas_files_run_free(processing->run);
    }
    free(processing);
}

static struct processing *process_new(const etwas_trace_handle *handles, uint32_t count,
                                      const struct etwas_span *span, bool is_aligned)
{
    struct processing *processing = calloc(1, sizeof *processing);

    if (processing == NULL) {
        return NULL;
    }
    processing->count = count;
    processing->span = *span;
    processing->handles = calloc(count, sizeof *processing->handles);
    processing->traces = calloc(count, sizeof(struct etwas_trace *));
    processing->run = etwas_files_run_new(count, span, is_aligned);
    if (processing->handles == NULL || processing->traces == NULL || processing->run == NULL) {
        process_free(processing);
        return NULL;
    }
    memcpy(processing->handles, handles, count * sizeof *handles);
    return processing;
}

static void process_end(void *argument)
{
    struct processing *processing = argument;

    etwas_files_run_free(processing->run); /* before the traces may be freed */
    processing->run = NULL;
    /* When its session has ended the trace is disconnected (R174). */
    if (processing->live != NULL) {
        etwas_live_disconnect(processing->live);
    }
    etwas_trace_table_release(processing->handles, processing->count);
    process_free(processing);
}

/* Processes one session alone, or files alone (C16). */
static uint32_t process_traces(struct processing *processing)
{
    for (uint32_t i = 0; processing->count > 1 && i < processing->count; i++) {
        if (processing->traces[i]->session_name != NULL) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    if (processing->traces[0]->session_name != NULL) {
        processing->live = processing->traces[0];
        return process_session(processing->live, &processing->span);
    }
    return etwas_files_run_process(processing->run, processing->traces);
}

static uint32_t process_and_end(struct processing *processing)
{
    volatile uint32_t code;

    pthread_cleanup_push(process_end, processing);
    code = process_traces(processing);
    pthread_cleanup_pop(1);
    return code;
}

static uint32_t process_handles(const etwas_trace_handle *traces, uint32_t count,
                                const etwas_filetime *start, const etwas_filetime *end,
                                bool is_aligned)
{
    const struct etwas_span span = {process_filetime_value(start, INT64_MIN),
                                    process_filetime_value(end, INT64_MAX)};
    struct processing *processing;
    uint32_t code;

    if (traces == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (count == 0 || count > ETWAS_TRACES) {
        return ERROR_BAD_LENGTH;
    }
    if (span.end_filetime < span.start_filetime) {
        return ERROR_INVALID_TIME;
    }
    processing = process_new(traces, count, &span, is_aligned);
    if (processing == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_trace_table_acquire(processing->handles, count, processing->traces);
    if (code != ERROR_SUCCESS) {
        process_free(processing);
        return code;
    }
    return process_and_end(processing);
}

uint32_t ProcessTrace(etwas_trace_handle *HandleArray, uint32_t HandleCount,
                      etwas_filetime *StartTime, etwas_filetime *EndTime)
{
    if (HandleArray != NULL && HandleCount > FILES_LIMIT) {
        return ERROR_BAD_LENGTH;
    }
    return process_handles(HandleArray, HandleCount, StartTime, EndTime, false);
}

uint32_t etwas_process_traces(const etwas_trace_handle *traces, uint32_t count,
                              const etwas_filetime *start, const etwas_filetime *end)
{
    return process_handles(traces, count, start, end, true);
}
