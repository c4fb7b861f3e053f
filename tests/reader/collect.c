/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "collect.h"

#include <string.h>

struct collected collected;

static void look_at(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < size; i++) {
        collected.checksum = collected.checksum * 31 + at[i];
    }
}

static struct collected_event *next_event(void)
{
    size_t at = collected.event_count < COLLECT_EVENTS ? collected.event_count : COLLECT_EVENTS - 1;

    collected.event_count++;
    memset(&collected.events[at], 0, sizeof collected.events[at]);
    return &collected.events[at];
}

static void keep_payload(struct collected_event *event, const void *payload, uint32_t bytes)
{
    look_at(payload, bytes);
    event->payload_bytes = bytes;
    memcpy(event->payload, payload, bytes < COLLECT_PAYLOAD ? bytes : COLLECT_PAYLOAD);
    memcpy(&event->number, event->payload, sizeof event->number);
}

static void on_record(EVENT_RECORD *record)
{
    struct collected_event *event = next_event();

    event->header = record->EventHeader;
    event->context = record->BufferContext;
    event->user_context = record->UserContext;
    event->item_count = record->ExtendedDataCount;
    for (uint16_t i = 0; i < record->ExtendedDataCount; i++) {
        const EVENT_HEADER_EXTENDED_DATA_ITEM *item = &record->ExtendedData[i];
        const void *data = (const void *)(uintptr_t)item->DataPtr;

        look_at(data, item->DataSize);
        if (i < COLLECT_ITEMS) {
            event->items[i] = *item;
            memcpy(event->item_data[i], data,
                   item->DataSize < COLLECT_ITEM_BYTES ? item->DataSize : COLLECT_ITEM_BYTES);
        }
    }
    keep_payload(event, record->UserData, record->UserDataLength);
}

static void on_classic(EVENT_TRACE *trace)
{
    struct collected_event *event = next_event();

    collected.per_type[trace->Header.HeaderType]++;
    event->classic = *trace;
    event->context = trace->BufferContext;
    keep_payload(event, trace->MofData, trace->MofLength);
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEA *logfile)
{
    if (collected.buffer_count < COLLECT_EVENTS) {
        collected.buffers[collected.buffer_count] = (struct collected_buffer){
            .buffers_read = logfile->BuffersRead,
            .buffer_bytes = logfile->BufferSize,
            .filled = logfile->Filled,
            .current_time = logfile->CurrentTime,
            .events_before = collected.event_count,
        };
    }
    collected.buffer_count++;
    return 1;
}

static void on_damage(const etwas_damage *damage, void *context)
{
    (void)context;
    if (collected.damage_count < COLLECT_DAMAGES) {
        collected.damages[collected.damage_count] = *damage;
        collected.events_before[collected.damage_count] = collected.event_count;
    }
    collected.damage_count++;
}

void forget_collected(void)
{
    memset(collected.per_type, 0, sizeof collected.per_type);
    memset(&collected.information, 0, sizeof collected.information);
    collected.event_count = 0;
    collected.buffer_count = 0;
    collected.damage_count = 0;
    collected.checksum = 0;
    collected.code = 0;
}

etwas_trace_handle open_collecting(const char *path, uint32_t mode)
{
    EVENT_TRACE_LOGFILEA logfile = {
        .LogFileName = (char *)(uintptr_t)path,
        .ProcessTraceMode = mode,
        .BufferCallback = on_buffer,
        .Context = &collected,
    };
    etwas_trace_handle handle;

    if ((mode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0) {
        logfile.EventRecordCallback = on_record;
    } else {
        logfile.EventCallback = on_classic;
    }
    handle = OpenTraceA(&logfile);
    if (handle == INVALID_PROCESSTRACE_HANDLE) {
        collected.code = etwas_GetLastError();
    } else {
        etwas_trace_on_damage(handle, on_damage, NULL);
    }
    return handle;
}

void run_files(const char *const *paths, uint32_t count, uint32_t mode, etwas_filetime *start,
               etwas_filetime *end)
{
    etwas_trace_handle handles[64];

    forget_collected();
    for (uint32_t i = 0; i < count; i++) {
        handles[i] = open_collecting(paths[i], mode);
        if (handles[i] == INVALID_PROCESSTRACE_HANDLE) {
            while (i > 0) {
                CloseTrace(handles[--i]);
            }
            return;
        }
    }
    collected.code = ProcessTrace(handles, count, start, end);
    etwas_trace_query(handles[0], &collected.information);
    for (uint32_t i = 0; i < count; i++) {
        CloseTrace(handles[i]);
    }
}

void run_file(const char *path)
{
    run_files(&path, 1, PROCESS_TRACE_MODE_EVENT_RECORD, NULL, NULL);
}

size_t damages_of(etwas_damage_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < collected.damage_count && i < COLLECT_DAMAGES; i++) {
        count += collected.damages[i].kind == kind;
    }
    return count;
}

etwas_filetime filetime_of(int64_t value)
{
    return (etwas_filetime){(uint32_t)value, (uint32_t)((uint64_t)value >> 32)};
}
