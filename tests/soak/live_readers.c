/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Readers that come to a running session and leave it in every way there is; and of files.
 */
#include <ck_pr.h>

#include "live.h"

/* A thread that is cancelled is so before or after an event, never inside this. */
static void on_event(EVENT_RECORD *record)
{
    struct live_reader *reader = record->UserContext;
    struct live *live = reader->live;
    uint32_t writer;
    uint32_t number;

    if (!live_identify(live, record, &writer, &number)) {
        return;
    }
    if (reader->last_visit[writer][number] == reader->visit) {
        soak_fault(live->where, "event %u of writer %u was given twice", number, writer);
    }
    reader->last_visit[writer][number] = reader->visit;
    ck_pr_store_8(&live->writers[writer].seen[number], 1);
    reader->events++;
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEA *logfile)
{
    struct live_reader *reader = logfile->Context;

    if (reader->events_left <= logfile->Filled) {
        return FALSE;
    }
    reader->events_left -= logfile->Filled;
    return TRUE;
}

void live_open(struct live_reader *reader, const char *file)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)file,
        .LoggerName = file == NULL ? (char *)(uintptr_t)reader->live->name : NULL,
        .ProcessTraceMode =
            PROCESS_TRACE_MODE_EVENT_RECORD | (file == NULL ? PROCESS_TRACE_MODE_REAL_TIME : 0),
        .EventRecordCallback = on_event,
        .BufferCallback = on_buffer,
        .Context = reader,
    };

    reader->visit++;
    reader->events = 0;
    reader->events_left = UINT32_MAX;
    reader->trace = OpenTraceA(&logfile);
    if (reader->trace == INVALID_PROCESSTRACE_HANDLE) {
        soak_fault(reader->live->where, "OpenTrace: code %u", etwas_GetLastError());
    }
}

void *live_process(void *argument)
{
    struct live_reader *reader = argument;
    uint32_t code = ProcessTrace(&reader->trace, 1, NULL, NULL);

    /* It may be closed before it begins; a session that is not real-time yet has no consumers. */
    if (code != ERROR_SUCCESS && code != ERROR_CANCELLED && code != ERROR_INVALID_HANDLE &&
        code != ERROR_WMI_INSTANCE_NOT_FOUND) {
        soak_fault(reader->live->where, "ProcessTrace: code %u", code);
    }
    return NULL;
}

/* Comes, and leaves: without reading, by itself, closed by another thread, cancelled. */
static void visit(struct live_reader *reader)
{
    uint32_t leaving = soak_upto(&reader->random, 4);
    pthread_t thread;

    live_open(reader, NULL);
    if (reader->trace == INVALID_PROCESSTRACE_HANDLE) {
        return;
    }
    if (leaving == 1) {
        reader->events_left = soak_upto(&reader->random, 200000);
    }
    soak_pause_us(soak_upto(&reader->random, 1000));
    if (leaving != 0 && pthread_create(&thread, NULL, live_process, reader) == 0) {
        soak_pause_us(soak_upto(&reader->random, 20000));
        if (leaving == 2 && LIVE_MAY_CANCEL) {
            (void)pthread_cancel(thread);
        } else {
            (void)CloseTrace(reader->trace);
        }
        (void)pthread_join(thread, NULL);
    }
    (void)CloseTrace(reader->trace); /* closed already, or not */
}

void *live_come_and_go(void *argument)
{
    struct live_reader *reader = argument;

    while (ck_pr_load_32(&reader->live->end) == 0 && !soak_has_faults()) {
        visit(reader);
        soak_pause_us(soak_upto(&reader->random, 2000));
    }
    return NULL;
}

uint64_t live_read_file(struct live *live, const char *file)
{
    struct live_reader *reader = &live->readers[LIVE_READERS];

    live_open(reader, file);
    if (reader->trace == INVALID_PROCESSTRACE_HANDLE) {
        return 0;
    }
    (void)live_process(reader);
    if (CloseTrace(reader->trace) != ERROR_SUCCESS) {
        soak_fault(live->where, "%s cannot be closed", file);
    }
    return reader->events;
}
