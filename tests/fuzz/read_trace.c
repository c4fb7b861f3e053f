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
    /* The offset is in a buffer if the trace is of a session. */
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

/* How many buffers may begin; each begins behind the one before. */
struct stepping {
    uint32_t buffers;
    uint64_t next;
    uint64_t records;
    uint64_t damages;
};

static uint32_t on_begin(const etwas_trace_buffer *buffer, void *context)
{
    struct stepping *stepping = context;

    MUST(buffer->file_offset >= stepping->next && buffer->file_bytes > 0);
    MUST(buffer->kind <= ETWAS_BUFFER_READINGS);
    MUST(buffer->records == 0 && buffer->damages == 0 && buffer->bytes_skipped == 0);
    stepping->next = buffer->file_offset + buffer->file_bytes;
    if (stepping->buffers == 0) {
        return ETWAS_BUFFER_STOP;
    }
    stepping->buffers--;
    return buffer->number % 8 == 7 ? ETWAS_BUFFER_PASS : ETWAS_BUFFER_READ;
}

static uint32_t on_end(const etwas_trace_buffer *buffer, void *context)
{
    struct stepping *stepping = context;

    MUST(buffer->file_offset + buffer->file_bytes == stepping->next);
    stepping->records += buffer->records;
    stepping->damages += buffer->damages;
    return ETWAS_BUFFER_READ;
}

static void on_stepped(EVENT_RECORD *record)
{
    etwas_clock_time time;
    etwas_trace_handle *trace = record->UserContext;

    look_at(record->UserData, record->UserDataLength);
    MUST(etwas_trace_convert_time(*trace, record->EventHeader.TimeStamp.QuadPart,
                                  ETWAS_CLOCK_SYSTEM_TIME, &time) == ERROR_SUCCESS);
}

/*
 * Processes a hundred buffers on one handle, two at a time, each time from where the last one
 * ended.
 */
static void step_through(const char *path, uint32_t mode)
{
    etwas_trace_handle trace;
    EVENT_TRACE_LOGFILEA logfile = {.LogFileName = (char *)(uintptr_t)path,
                                    .ProcessTraceMode = mode | PROCESS_TRACE_MODE_EVENT_RECORD,
                                    .EventRecordCallback = on_stepped,
                                    .Context = &trace};
    uint64_t from = 0;
    uint32_t code = ERROR_CANCELLED;
    int64_t raw;

    trace = OpenTraceA(&logfile);
    for (int times = 0; trace != INVALID_PROCESSTRACE_HANDLE && times < 50; times++) {
        struct stepping stepping = {.buffers = 2, .next = from};
        etwas_trace_information information;

        code = etwas_trace_process_buffers(trace, from, UINT64_MAX, on_begin, on_end, &stepping);
        MUST(code == ERROR_SUCCESS || code == ERROR_FILE_CORRUPT || code == ERROR_CANCELLED ||
             code == ERROR_NOT_SUPPORTED);
        MUST(etwas_trace_known_until(trace, &raw) == ERROR_SUCCESS);
        MUST(etwas_trace_query(trace, &information) == ERROR_SUCCESS);
        MUST(code == ERROR_NOT_SUPPORTED ||
             (information.events == stepping.records && information.damages >= stepping.damages));
        if (code != ERROR_CANCELLED) {
            break;
        }
        from = from < stepping.next ? stepping.next : from + 1;
    }
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
        step_through(path, mode);
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
