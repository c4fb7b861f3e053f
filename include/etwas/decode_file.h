/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_DECODE_FILE_H
#define ETWAS_DECODE_FILE_H

/*
 * A log file with its decoder: both passes over it in one call. This header is a part of
 * <etwas/decode.h>, which states what holds for all of its functions. A program that calls it needs
 * libetwas as well, which reads the file: `pkg-config --libs etwas etwas-tdh`. It is inline so that
 * libetwas-tdh needs nothing of libetwas.
 */

#include <etwas/decode.h>
#include <etwas/evntrace.h>

#include <string.h>

ETWAS_BEGIN_DECLS

/* An event of a file. All of it is valid until the callback returns. */
typedef struct etwas_decoded_event {
    const EVENT_RECORD *record;
    const etwas_schema *schema; /* NULL: nothing describes the event */
    const char *provider;       /* UTF-8; "" if nothing says it */
    const char *name;           /* as etwas_schema.event; "" if nothing says it */
    etwas_decoder *decoder;     /* for etwas_decoder_message and the like */
} etwas_decoded_event;

/*
 * Called for each event of a file, in the order of time. Records that describe others are not
 * passed. Returns whether there shall be more events.
 */
typedef bool (*etwas_decode_callback)(const etwas_decoded_event *event, void *context);

/* One of the two passes; not for programs. */
struct etwas_decode_pass {
    etwas_decoder *decoder;
    etwas_decode_callback each; /* NULL: the first pass */
    void *context;
    uint32_t code;
    bool is_stopped;
};

static inline void etwas_decode_pass_give(struct etwas_decode_pass *pass,
                                          const EVENT_RECORD *record, const etwas_schema *schema)
{
    etwas_decoded_event event;

    event.record = record;
    event.schema = schema;
    event.provider = schema != NULL ? schema->provider : "";
    event.name = schema != NULL ? schema->event : "";
    event.decoder = pass->decoder;
    pass->is_stopped = !pass->each(&event, pass->context);
}

static inline void etwas_decode_pass_take(EVENT_RECORD *record)
{
    struct etwas_decode_pass *pass = (struct etwas_decode_pass *)record->UserContext;
    const etwas_schema *schema = NULL;
    uint32_t code = ERROR_NOT_FOUND;

    if (pass->each == NULL) {
        code = etwas_decoder_learn_ahead(pass->decoder, record);
    } else if (!pass->is_stopped) {
        code = etwas_decoder_learn(pass->decoder, record);
        if (code == ERROR_NOT_FOUND) {
            code = etwas_decoder_schema(pass->decoder, record, &schema);
            if (code != ERROR_NOT_ENOUGH_MEMORY) {
                etwas_decode_pass_give(pass, record, code == ERROR_SUCCESS ? schema : NULL);
            }
        }
    }
    if (code == ERROR_NOT_ENOUGH_MEMORY) {
        pass->is_stopped = true;
        pass->code = code;
    }
}

static inline uint32_t etwas_decode_pass_goes_on(EVENT_TRACE_LOGFILEA *logfile)
{
    return ((struct etwas_decode_pass *)logfile->Context)->is_stopped ? 0 : 1;
}

static inline uint32_t etwas_decode_pass_run(struct etwas_decode_pass *pass, const char *path)
{
    EVENT_TRACE_LOGFILEA logfile;
    etwas_trace_handle trace;
    uint32_t code;

    memset(&logfile, 0, sizeof logfile);
    logfile.LogFileName = (char *)(uintptr_t)path;
    logfile.ProcessTraceMode = PROCESS_TRACE_MODE_EVENT_RECORD;
    logfile.EventRecordCallback = etwas_decode_pass_take;
    logfile.BufferCallback = etwas_decode_pass_goes_on;
    logfile.Context = pass;
    trace = OpenTraceA(&logfile);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        return etwas_GetLastError();
    }
    code = ProcessTrace(&trace, 1, NULL, NULL);
    (void)CloseTrace(trace);
    if (pass->code != ERROR_SUCCESS) {
        return pass->code;
    }
    return pass->is_stopped && code == ERROR_SUCCESS ? (uint32_t)ERROR_CANCELLED : code;
}

/*
 * Opens a log file and a decoder for it, reads all descriptions in the file, and then passes each
 * event, with its schema, to `each`. The file must not change meanwhile; the events of a running
 * session are read in real time instead (OpenTrace). `path` is UTF-8; `context` is passed on. Both
 * the decoder and the file are closed when the call returns. It calls `each` in this thread, and is
 * thread-safe for files that are read at once, each in a thread of its own. It is not
 * async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: `path` or `each` is NULL.
 * ERROR_CANCELLED: `each` returned false.
 * ERROR_FILE_CORRUPT: parts of the file were damaged; all other events were passed.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory, and events are missing.
 *
 * Other errors are those of OpenTrace, as GetLastError has them, and of ProcessTrace.
 */
static inline uint32_t etwas_decode_file(const char *path, etwas_decode_callback each,
                                         void *context)
{
    struct etwas_decode_pass pass = {NULL, NULL, context, ERROR_SUCCESS, false};
    uint32_t code;

    if (path == NULL || each == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_decoder_open(&pass.decoder);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = etwas_decode_pass_run(&pass, path);
    if (code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT) {
        pass.each = each;
        code = etwas_decode_pass_run(&pass, path);
    }
    etwas_decoder_close(pass.decoder);
    return code;
}

/*
 * Finds the number that a field of an event has: the first value of this name, an integer, a
 * floating-point number, or a boolean as 0 or 1. Returns false, and leaves *number as it is, if
 * there is none. An integer above 2^53 is rounded. It allocates no memory.
 */
static inline bool etwas_decoded_number(const etwas_decoded_event *event, const char *field,
                                        double *number)
{
    etwas_fields fields;
    etwas_value value;
    etwas_number found;
    uint32_t kind;

    if (event->schema == NULL) {
        return false;
    }
    etwas_fields_begin(&fields, event->schema, event->record);
    do {
        if (!etwas_fields_next(&fields, &value)) {
            return false;
        }
    } while (value.token != ETWAS_TOKEN_VALUE || strcmp(value.field->name, field) != 0);
    kind = etwas_value_number(&value, &found);
    if (kind != ETWAS_VALUE_TEXT) {
        *number = kind == ETWAS_VALUE_FLOAT    ? found.f
                  : kind == ETWAS_VALUE_SIGNED ? (double)found.i
                                               : (double)found.u;
    }
    return kind != ETWAS_VALUE_TEXT;
}

ETWAS_END_DECLS

#endif
