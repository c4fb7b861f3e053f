/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "read_trace.h"

#include <etwas/evntcons.h>
#include <etwas/winerror.h>

#include "walk.h"

struct reading {
    struct read_trace *result;
    etwas_decoder *decoder; /* NULL: events are only looked at */
    bool learns;
    void (*opened)(void); /* a session; NULL: a file */
    uint64_t file_bytes;
};

/* Each byte is looked at, so that one outside of the record is noticed. */
static void look_at(const void *bytes, size_t count)
{
    volatile uint8_t sum = 0;

    for (size_t index = 0; index < count; index++) {
        sum = (uint8_t)(sum + ((const uint8_t *)bytes)[index]);
    }
}

static void on_record(EVENT_RECORD *record)
{
    struct reading *reading = record->UserContext;

    reading->result->events++;
    reading->result->events_of_class +=
        record->EventHeader.ProviderId.Data1 == reading->result->class_data1;
    look_at(record->UserData, record->UserDataLength);
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        look_at((const void *)(uintptr_t)record->ExtendedData[i].DataPtr,
                record->ExtendedData[i].DataSize);
    }
    if (reading->learns) {
        etwas_decoder_learn(reading->decoder, record);
    } else {
        walk_event(reading->decoder, record);
    }
}

static void on_classic(EVENT_TRACE *event)
{
    look_at(event->MofData, event->MofLength);
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEA *logfile)
{
    MUST(logfile->Filled <= logfile->BufferSize || logfile->BufferSize == 0);
    return 1;
}

static void on_damage(const etwas_damage *damage, void *context)
{
    struct reading *reading = context;

    reading->result->damages++;
    MUST(damage->kind >= ETWAS_DAMAGE_TRUNCATED && damage->kind <= ETWAS_DAMAGE_READ);
    /* Of a session the offset is in a buffer. */
    MUST(damage->file_offset <= reading->file_bytes || reading->opened != NULL);
}

static void process(EVENT_TRACE_LOGFILEA *logfile, struct reading *reading)
{
    struct read_trace *result = reading->result;
    etwas_trace_handle trace;

    result->events = 0;
    result->events_of_class = 0;
    result->damages = 0;
    logfile->BufferCallback = on_buffer;
    logfile->Context = reading;
    if ((logfile->ProcessTraceMode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0) {
        logfile->EventRecordCallback = on_record;
    } else {
        logfile->EventCallback = on_classic;
    }
    trace = OpenTraceA(logfile);
    if (trace == INVALID_PROCESSTRACE_HANDLE) {
        result->code = etwas_GetLastError();
        MUST(result->code != ERROR_SUCCESS);
        return;
    }
    etwas_trace_on_damage(trace, on_damage, reading);
    MUST(etwas_trace_query(trace, &result->information) == ERROR_SUCCESS);
    reading->file_bytes = result->information.file_bytes;
    if (reading->opened != NULL) {
        reading->opened();
    }
    result->code = ProcessTrace(&trace, 1, NULL, NULL);
    MUST(etwas_trace_query(trace, &result->information) == ERROR_SUCCESS);
    MUST(result->information.damages == result->damages);
    /* A session may be another process's, which is gone by now. */
    MUST(result->code == ERROR_SUCCESS || result->code == ERROR_FILE_CORRUPT ||
         (reading->opened != NULL && result->code == ERROR_WMI_INSTANCE_NOT_FOUND));
    /* A consumer is told with an event. */
    MUST(result->code != ERROR_SUCCESS || result->damages == 0 || reading->opened != NULL);
    (void)CloseTrace(trace);
}

void read_trace_file(const char *path, uint32_t mode, struct read_trace *result)
{
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path,
                                    .ProcessTraceMode = mode};
    struct reading reading = {.result = result, .decoder = open_decoder(), .learns = true};
    uint64_t events;

    process(&logfile, &reading);
    if (result->code == ERROR_SUCCESS || result->code == ERROR_FILE_CORRUPT) {
        events = result->events;
        reading.learns = false;
        process(&logfile, &reading);
        /* The same bytes say the same twice. */
        MUST(result->events == events);
    }
    etwas_decoder_close(reading.decoder);
}

void read_trace_live(const char *session, uint32_t mode, void (*opened)(void),
                     struct read_trace *result)
{
    EVENT_TRACE_LOGFILEA logfile = {.LoggerName = (char *)(uintptr_t)session,
                                    .ProcessTraceMode = mode | PROCESS_TRACE_MODE_REAL_TIME};
    struct reading reading = {.result = result, .decoder = open_decoder(), .opened = opened};

    process(&logfile, &reading);
    etwas_decoder_close(reading.decoder);
}
