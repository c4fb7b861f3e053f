/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* Turns a record on disk into the structures that callbacks get. */
#include "reader/event_step.h"

#include <string.h>

#include "etl/kernel_class.h"
#include "etl/layout.h"
#include "reader/class_callback.h"
#include "reader/trace.h"

/*
 * An event in the form that callbacks get. It is made in place and member by member: clearing it
 * first, or copying parts that were just written, takes as long again. It is new for each event,
 * because callbacks may write into it. No member crosses a cache line, wherever the stack is.
 */
struct event {
    _Alignas(64) EVENT_RECORD record;      /* HeaderType is 0, as in Windows */
    uint16_t class_version;                /* only EVENT_TRACE has all of it */
    EVENT_EXTENDED_ITEM_INSTANCE sequence; /* a message's number, as its InstanceId */
    EVENT_HEADER_EXTENDED_DATA_ITEM items[ETWAS_RECORD_ITEMS_LIMIT];
};

/*
 * Adds an extended item, without the flag that says so. `data` lies in the record or the event,
 * which live as long as the callback.
 */
static inline void event_put_item(struct event *event, uint16_t type, uint16_t bytes,
                                  const void *data)
{
    EVENT_RECORD *record = &event->record;

    if (record->ExtendedDataCount > 0) {
        event->items[record->ExtendedDataCount - 1].Linkage = 1;
    }
    event->items[record->ExtendedDataCount++] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
        .ExtType = type, .DataSize = bytes, .DataPtr = (uint64_t)(uintptr_t)data};
    record->ExtendedData = event->items;
}

static inline void event_add_item(struct event *event, uint16_t type, uint16_t bytes,
                                  const void *data)
{
    event_put_item(event, type, bytes, data);
    event->record.EventHeader.Flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
}

/* Sets the members up to EventProperty in one store. */
static inline void event_set_start(struct event *event, uint16_t size, unsigned flags,
                                   uint16_t property)
{
    uint64_t start = (uint64_t)size << 8 * offsetof(EVENT_HEADER, Size) |
                     (uint64_t)(uint16_t)flags << 8 * offsetof(EVENT_HEADER, Flags) |
                     (uint64_t)property << 8 * offsetof(EVENT_HEADER, EventProperty);

    memcpy(&event->record.EventHeader, &start, sizeof start);
}

/*
 * The descriptor is stored as one number: code that compares descriptors as a whole would wait for
 * one that is stored in parts.
 */
static inline void event_set_class(struct event *event, uint8_t type, uint8_t level,
                                   uint16_t version)
{
    EVENT_HEADER *header = &event->record.EventHeader;
    uint64_t descriptor = (uint64_t)(uint8_t)version << 8 * offsetof(EVENT_DESCRIPTOR, Version) |
                          (uint64_t)level << 8 * offsetof(EVENT_DESCRIPTOR, Level) |
                          (uint64_t)type << 8 * offsetof(EVENT_DESCRIPTOR, Opcode);

    memcpy(&header->EventDescriptor, &descriptor, sizeof descriptor);
    header->EventDescriptor.Keyword = 0;
    header->ActivityId = (etwas_guid){0};
    event->class_version = version;
}

/* SYSTEM, COMPACT and PERFINFO; each is the beginning of the one before. */
static void event_decode_kernel(struct event *event, const struct etwas_record *record)
{
    EVENT_HEADER *header = &event->record.EventHeader;
    struct etwas_etl_system_header disk = {0};
    const uint8_t *extension;
    uint16_t counters;

    memcpy(&disk, record->bytes, record->header_bytes);
    event_set_class(event, disk.type, 0, disk.version & ETWAS_ETL_VERSION_MASK);
    header->ProviderId = *etwas_class_of_hook(disk.group, disk.type);
    if (record->kind == ETWAS_RECORD_PERFINFO) {
        /* They were not recorded, which ETW shows with all ones. */
        header->ThreadId = UINT32_MAX;
        header->ProcessId = UINT32_MAX;
        header->ProcessorTime = 0;
    } else {
        header->ThreadId = disk.thread_id;
        header->ProcessId = disk.process_id;
        header->KernelTime = disk.kernel_time;
        header->UserTime = disk.user_time;
    }
    extension = record->bytes + record->header_bytes;
    counters = (uint16_t)((disk.version & ETWAS_ETL_EXTENSION_COUNTERS_MASK) >>
                          ETWAS_ETL_EXTENSION_COUNTERS_SHIFT);
    if ((disk.version & ETWAS_ETL_EXTENSION_PEBS) != 0) {
        event_add_item(event, EVENT_HEADER_EXT_TYPE_PEBS_INDEX, 8, extension);
        extension += 8;
    }
    if (counters > 0) {
        event_add_item(event, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS, (uint16_t)(counters * 8),
                       extension);
    }
}

/* Headers are read where they lie: records begin at multiples of 8 bytes, in memory that does. */
static inline void event_decode_full(struct event *event, const struct etwas_etl_full_header *disk)
{
    EVENT_HEADER *header = &event->record.EventHeader;

    event_set_class(event, disk->type, disk->level, disk->version);
    header->ThreadId = disk->thread_id;
    header->ProcessId = disk->process_id;
    header->ProviderId = disk->guid;
    header->KernelTime = disk->kernel_time;
    header->UserTime = disk->user_time;
}

static inline void event_decode_instance(struct event *event,
                                         const struct etwas_etl_instance_header *disk,
                                         uint16_t flags)
{
    event_set_start(event, disk->full.size, flags | EVENT_HEADER_FLAG_EXTENDED_INFO, 0);
    event_decode_full(event, &disk->full);
    /* On disk they lie as in the item (R118). */
    event_put_item(event, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof(EVENT_EXTENDED_ITEM_INSTANCE),
                   &disk->instance_id);
}

/* Decodes everything except its items. */
static inline void event_decode_modern(struct event *event,
                                       const struct etwas_etl_event_header *disk, uint16_t flags)
{
    EVENT_HEADER *header = &event->record.EventHeader;

    event_set_start(event, disk->size,
                    flags | (disk->flags & (uint16_t)~EVENT_HEADER_FLAG_EXTENDED_INFO),
                    disk->event_property);
    header->ThreadId = disk->thread_id;
    header->ProcessId = disk->process_id;
    header->ProviderId = disk->provider_id;
    header->EventDescriptor = (EVENT_DESCRIPTOR){
        .Id = disk->id,
        .Version = disk->version,
        .Channel = disk->channel,
        .Level = disk->level,
        .Opcode = disk->opcode,
        .Task = disk->task,
        .Keyword = disk->keyword,
    };
    header->KernelTime = disk->kernel_time;
    header->UserTime = disk->user_time;
    header->ActivityId = disk->activity_id;
    event->class_version = disk->version;
}

static inline void event_add_items(struct event *event, const struct etwas_record *record)
{
    for (uint32_t at = record->header_bytes; at < record->payload_at;) {
        struct etwas_etl_extended_item item;

        memcpy(&item, record->bytes + at, sizeof item);
        event_add_item(event, item.type, item.data_bytes, record->bytes + at + sizeof item);
        at += item.item_bytes;
    }
}

/*
 * Sets a member only if the record has its flag (R110). The only member for the sequence number is
 * the instance id.
 */
static void event_decode_message(struct event *event, const struct etwas_record *record)
{
    EVENT_HEADER *header = &event->record.EventHeader;
    struct etwas_etl_message_header disk;
    const uint8_t *at = record->bytes + sizeof disk;

    memcpy(&disk, record->bytes, sizeof disk);
    header->ThreadId = 0;
    header->ProcessId = 0;
    header->ProviderId = (etwas_guid){0};
    header->EventDescriptor =
        (EVENT_DESCRIPTOR){.Id = disk.message_number, .Task = disk.option_flags};
    header->ProcessorTime = 0;
    header->ActivityId = (etwas_guid){0};
    event->class_version = disk.message_number;
    if ((disk.option_flags & TRACE_MESSAGE_SEQUENCE) != 0) {
        event->sequence = (EVENT_EXTENDED_ITEM_INSTANCE){0};
        memcpy(&event->sequence.InstanceId, at, sizeof event->sequence.InstanceId);
        event_add_item(event, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof event->sequence,
                       &event->sequence);
        at += sizeof event->sequence.InstanceId;
    }
    if ((disk.option_flags & TRACE_MESSAGE_GUID) != 0) {
        memcpy(&header->ProviderId, at, sizeof header->ProviderId);
        at += sizeof header->ProviderId;
    } else if ((disk.option_flags & TRACE_MESSAGE_COMPONENTID) != 0) {
        memcpy(&header->ProviderId.Data1, at, 4);
        at += 4;
    }
    if ((disk.option_flags & TRACE_MESSAGE_SYSTEMINFO) != 0) {
        at = record->bytes + record->payload_at - 8;
        memcpy(&header->ThreadId, at, 4);
        memcpy(&header->ProcessId, at + 4, 4);
    }
}

/* Returns the item that EVENT_TRACE has as members, the only one that these records may have. */
static EVENT_EXTENDED_ITEM_INSTANCE event_instance_of(const struct event *event,
                                                      enum etwas_record_kind kind)
{
    EVENT_EXTENDED_ITEM_INSTANCE instance = {0};

    if ((kind == ETWAS_RECORD_INSTANCE || kind == ETWAS_RECORD_MESSAGE) &&
        event->record.ExtendedDataCount > 0) {
        memcpy(&instance, (const void *)(uintptr_t)event->items[0].DataPtr, sizeof instance);
    }
    return instance;
}

static void deliver_classic(struct etwas_stream *stream, const struct event *event,
                            PEVENT_CALLBACK callback)
{
    EVENT_TRACE_LOGFILEW *logfile = &stream->trace->logfile.w;
    const EVENT_RECORD *record = &event->record;
    const EVENT_HEADER *header = &record->EventHeader;
    EVENT_EXTENDED_ITEM_INSTANCE instance = event_instance_of(event, stream->record.kind);
    EVENT_TRACE out = {
        .Header =
            {
                .Size = header->Size,
                .HeaderType = stream->record.header_type,
                .MarkerFlags = stream->record.kind == ETWAS_RECORD_MESSAGE
                                   ? ETWAS_ETL_MESSAGE_MARKER_FLAGS
                                   : ETWAS_ETL_MARKER_FLAGS,
                .Class = {.Type = header->EventDescriptor.Opcode,
                          .Level = header->EventDescriptor.Level,
                          .Version = event->class_version},
                .ThreadId = header->ThreadId,
                .ProcessId = header->ProcessId,
                .TimeStamp = header->TimeStamp,
                .Guid = header->ProviderId,
                .KernelTime = header->KernelTime,
                .UserTime = header->UserTime,
            },
        .InstanceId = instance.InstanceId,
        .ParentInstanceId = instance.ParentInstanceId,
        .ParentGuid = instance.ParentGuid,
        .MofData = record->UserData,
        .MofLength = record->UserDataLength,
        .BufferContext = record->BufferContext,
    };

    logfile->CurrentEvent = out;
    callback(&out);
}

/* Returns the record's stamp in the form that the caller of OpenTrace requested. */
static inline int64_t event_time_stamp(struct etwas_stream *stream, int64_t filetime)
{
    uint32_t mode = stream->trace->logfile.w.ProcessTraceMode;

    if ((mode & (PROCESS_TRACE_MODE_RAW_TIMESTAMP | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS)) == 0) {
        return filetime;
    }
    return (mode & PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0
               ? stream->record.stamp
               : etwas_event_time_unix_ns(&stream->time, stream->record.stamp);
}

/*
 * Returns whether the header is one of the three whose layout on disk is much as it is delivered,
 * with the payload right behind it.
 */
static inline bool event_has_plain_header(const struct etwas_record *record)
{
    return record->kind == ETWAS_RECORD_INSTANCE || record->kind == ETWAS_RECORD_FULL ||
           (record->kind == ETWAS_RECORD_EVENT && record->payload_at == record->header_bytes);
}

static inline void event_decode_plain(struct event *event, const struct etwas_record *record,
                                      uint16_t flags)
{
    if (record->kind == ETWAS_RECORD_INSTANCE) {
        event_decode_instance(event, (const void *)record->bytes, flags);
    } else if (record->kind == ETWAS_RECORD_FULL) {
        event_set_start(event, (uint16_t)record->size, flags, 0);
        event_decode_full(event, (const void *)record->bytes);
    } else {
        event_decode_modern(event, (const void *)record->bytes, flags);
    }
}

static void event_decode_other(struct event *event, const struct etwas_record *record,
                               uint16_t flags)
{
    event_set_start(event, (uint16_t)record->size, flags, 0);
    if (record->kind == ETWAS_RECORD_EVENT) {
        event_decode_modern(event, (const void *)record->bytes, flags);
        event_add_items(event, record);
    } else if (record->kind == ETWAS_RECORD_MESSAGE) {
        event_decode_message(event, record);
    } else {
        event_decode_kernel(event, record);
    }
}

/* Fills the members that all forms have in common. */
static inline void event_begin(const struct etwas_stream *stream, const struct etwas_record *record,
                               struct event *event, int64_t stamp)
{
    event->record.EventHeader.TimeStamp.QuadPart = stamp;
    event->record.BufferContext = stream->context;
    event->record.ExtendedDataCount = 0;
    event->record.UserDataLength = (uint16_t)(record->size - record->payload_at);
    event->record.ExtendedData = NULL;
    /* Callbacks get the reader's memory; ETW's structures have no const. */
    event->record.UserData = (void *)(uintptr_t)(record->bytes + record->payload_at);
    event->record.UserContext = stream->trace->logfile.w.Context;
}

/* Fills in the others, which depend on the form. */
static inline void event_decode(const struct etwas_stream *stream, struct event *event)
{
    if (event_has_plain_header(&stream->record)) {
        event_decode_plain(event, &stream->record, stream->flags);
    } else {
        event_decode_other(event, &stream->record, stream->flags);
    }
}

static void event_make(struct etwas_stream *stream, struct event *event, int64_t filetime)
{
    event_begin(stream, &stream->record, event, event_time_stamp(stream, filetime));
    event_decode(stream, event);
}

/* Delivers to the callback of the record's class, if there is one. */
static __attribute__((cold, noinline)) void deliver_to_class(struct etwas_stream *stream,
                                                             int64_t filetime)
{
    PEVENT_CALLBACK callback = NULL;
    struct event event;

    event_make(stream, &event, filetime);
    if ((event.record.EventHeader.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0) {
        callback = etwas_class_callback_of(&event.record.EventHeader.ProviderId);
    }
    if (callback != NULL) {
        deliver_classic(stream, &event, callback);
    }
}

static void deliver_to_trace(struct etwas_stream *stream, int64_t filetime)
{
    const EVENT_TRACE_LOGFILEW *logfile = &stream->trace->logfile.w;
    struct event event;

    event_make(stream, &event, filetime);
    if ((logfile->ProcessTraceMode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0) {
        logfile->EventRecordCallback(&event.record);
    } else {
        deliver_classic(stream, &event, logfile->EventCallback);
    }
}

/* Delivers any form of record to every callback that requests it. */
static __attribute__((noinline)) void deliver_any(struct etwas_stream *stream, int64_t filetime)
{
    if (stream->trace->logfile.w.EventCallback != NULL) {
        deliver_to_trace(stream, filetime);
    }
    if (etwas_class_callbacks_exist()) {
        deliver_to_class(stream, filetime);
    }
}

/* Returns whether the only callback is one that gets EVENT_RECORD. */
static inline bool deliver_is_wanted_plain(const EVENT_TRACE_LOGFILEW *logfile)
{
    return (logfile->ProcessTraceMode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0 &&
           logfile->EventRecordCallback != NULL && !etwas_class_callbacks_exist();
}

/*
 * Mostly only the callback is called, as the last thing, so no register has to be saved around it.
 */
void etwas_deliver(struct etwas_stream *stream, int64_t filetime)
{
    EVENT_TRACE_LOGFILEW *logfile = &stream->trace->logfile.w;
    struct event event;

    logfile->CurrentTime = filetime;
    if (!deliver_is_wanted_plain(logfile) || !event_has_plain_header(&stream->record)) {
        deliver_any(stream, filetime);
        return;
    }
    event_begin(stream, &stream->record, &event, event_time_stamp(stream, filetime));
    event_decode_plain(&event, &stream->record, stream->flags);
    logfile->EventRecordCallback(&event.record);
}

/* ---- records in runs ------------------------------------------------------------------------- */

/*
 * Returns whether a run may begin with this record: an event of a form that the next one may have,
 * too, wanted once and as EVENT_RECORD, whose time is in the span and the time segment.
 */
static bool deliver_may_begin_alike(const struct etwas_stream *stream,
                                    const struct etwas_span *span)
{
    return stream->state == ETWAS_STREAM_RECORD && stream->form != ETWAS_STREAM_NO_FORM &&
           etwas_stream_has_plain_payload(&stream->record) && !stream->is_misnumbered &&
           stream->duplicates == NULL && stream->buffer != &stream->trace->log.buffer &&
           stream->record.stamp == stream->key_raw &&
           stream->key_filetime >= span->start_filetime &&
           stream->key_filetime <= span->end_filetime &&
           etwas_time_segment_contains(&stream->time.segment, stream->key_raw) &&
           deliver_is_wanted_plain(&stream->trace->logfile.w);
}

/*
 * Delivers the stream's record and those behind it that are alike and before until_raw. Most are,
 * so all that changes is in registers, and the stream is written at the end. Returns whether its
 * record is the next one, else it is the last one delivered.
 */
static inline bool deliver_run(struct etwas_stream *stream, enum etwas_record_kind kind,
                               int64_t until_raw, int64_t end_filetime)
{
    struct etwas_trace *trace = stream->trace;
    EVENT_TRACE_LOGFILEW *logfile = &trace->logfile.w;
    const struct etwas_time_segment *segment = &stream->time.segment;
    uint32_t at = stream->record_at - stream->window_at;
    struct etwas_record record = stream->record;
    int64_t filetime = stream->key_filetime;
    int64_t unix_ns = etwas_time_segment_unix_ns(segment, record.stamp);
    bool in_raw = (logfile->ProcessTraceMode & PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0;
    bool in_ns = (logfile->ProcessTraceMode & ETWAS_PROCESS_TRACE_MODE_NANOSECONDS) != 0;
    bool is_next;

    record.kind = kind;
    for (;;) {
        struct etwas_record next = record;
        struct event event;

        is_next = filetime > end_filetime || etwas_trace_is_closing(trace) ||
                  etwas_class_callbacks_exist();
        if (is_next) {
            break;
        }
        etwas_trace_count(&trace->information.events, 1);
        logfile->CurrentTime = filetime;
        event_begin(stream, &record, &event, in_raw ? record.stamp : in_ns ? unix_ns : filetime);
        event_decode_plain(&event, &record, stream->flags);
        logfile->EventRecordCallback(&event.record);
        at += (uint32_t)etwas_etl_round_up_8(record.size);
        is_next = etwas_stream_read_same_form(stream, at, &next) && next.stamp >= record.stamp &&
                  etwas_stream_has_plain_payload(&next) &&
                  etwas_time_segment_contains(segment, next.stamp);
        if (!is_next) {
            break;
        }
        record = next;
        unix_ns = etwas_time_segment_unix_ns(segment, record.stamp);
        filetime = etwas_time_segment_filetime_of(unix_ns);
        if (record.stamp >= until_raw) {
            break;
        }
    }
    stream->last_stamp = record.stamp;
    stream->key_raw = record.stamp;
    stream->key_filetime = filetime;
    if (is_next) {
        stream->record = record;
        stream->record_at = stream->window_at + at;
        at += (uint32_t)etwas_etl_round_up_8(record.size);
    }
    stream->offset = stream->window_at + at;
    return is_next;
}

/*
 * Delivers a run of one stream, or runs of a pair in turns. The streams are of one trace. Returns
 * whether the record of *first is the next one, else it is the last one delivered.
 */
static __attribute__((flatten)) bool deliver_alike(struct etwas_stream **first,
                                                   struct etwas_stream **second, bool is_pair,
                                                   const struct etwas_span *span)
{
    struct etwas_stream *stream = *first;
    struct etwas_stream *other = second != NULL ? *second : NULL;
    bool is_next;

    for (;;) {
        struct etwas_stream *before = stream;
        int64_t until_raw = other != NULL ? other->key_raw : INT64_MAX;

        is_next = stream->record.kind == ETWAS_RECORD_INSTANCE
                      ? deliver_run(stream, ETWAS_RECORD_INSTANCE, until_raw, span->end_filetime)
                      : deliver_run(stream, ETWAS_RECORD_EVENT, until_raw, span->end_filetime);
        if (!is_next || !is_pair || stream->key_raw <= until_raw) {
            break;
        }
        stream = other;
        other = before;
    }
    if (is_pair) {
        *first = stream;
        *second = other;
    }
    return is_next;
}

enum etwas_stream_state etwas_deliver_records(struct etwas_stream **first,
                                              struct etwas_stream **second, bool is_pair,
                                              const struct etwas_span *span)
{
    bool is_one_trace = second == NULL || (*second)->trace == (*first)->trace;

    if (!is_one_trace || !deliver_may_begin_alike(*first, span)) {
        return etwas_event_step_pass(*first, span);
    }
    return deliver_alike(first, second, is_pair && deliver_may_begin_alike(*second, span), span)
               ? ETWAS_STREAM_RECORD
               : etwas_event_step_go_on(*first);
}

bool etwas_event_step_end_buffer(struct etwas_stream *stream)
{
    union etwas_logfile *logfile = &stream->trace->logfile;
    bool compressed = stream->buffer->compressed;

    logfile->w.BuffersRead++;
    logfile->w.BufferSize =
        compressed ? stream->trace->log.session_buffer_bytes : stream->buffer->buffer_bytes;
    logfile->w.Filled = stream->buffer->data_end;
    if (logfile->w.BufferCallback == NULL) {
        return true;
    }
    return stream->trace->wide ? logfile->w.BufferCallback(&logfile->w) != 0
                               : logfile->a.BufferCallback(&logfile->a) != 0;
}
