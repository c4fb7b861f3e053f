/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A record on disk as the structures that callbacks get. */
#include "reader/step.h"

#include <string.h>

#include "etl/group.h"
#include "etl/layout.h"
#include "reader/class_callback.h"
#include "reader/trace.h"

/* What every record has, whatever its form: one step between disk and either structure. */
struct event {
    EVENT_HEADER header; /* Flags without pointer width; HeaderType is 0, as in Windows */
    uint16_t class_version;
    uint8_t marker_flags;
    uint32_t instance_id;
    uint32_t parent_instance_id;
    etwas_guid parent_guid;
    EVENT_EXTENDED_ITEM_INSTANCE numbered; /* of a message with a sequence number */
    EVENT_HEADER_EXTENDED_DATA_ITEM items[ETWAS_RECORD_ITEMS_LIMIT];
    uint16_t item_count;
};

/* `data` lies in the record or the event, which live as long as the callback. */
static void add_item(struct event *event, uint16_t type, uint16_t bytes, const void *data)
{
    if (event->item_count > 0) {
        event->items[event->item_count - 1].Linkage = 1;
    }
    event->items[event->item_count++] = (EVENT_HEADER_EXTENDED_DATA_ITEM){
        .ExtType = type, .DataSize = bytes, .DataPtr = (uint64_t)(uintptr_t)data};
}

static void set_class(struct event *event, uint8_t type, uint8_t level, uint16_t version)
{
    event->header.Flags = EVENT_HEADER_FLAG_CLASSIC_HEADER;
    event->header.EventDescriptor.Opcode = type;
    event->header.EventDescriptor.Level = level;
    event->header.EventDescriptor.Version = (uint8_t)version;
    event->class_version = version;
}

/* SYSTEM, COMPACT and PERFINFO; each is the beginning of the one before. */
static void decode_kernel(struct event *event, const struct etwas_record *record)
{
    struct etwas_etl_system_header disk = {0};
    const uint8_t *extension;
    uint16_t counters;

    memcpy(&disk, record->bytes, record->header_bytes);
    set_class(event, disk.type, 0, disk.version & ETWAS_ETL_VERSION_MASK);
    event->header.ProviderId = *etwas_class_of_hook(disk.group, disk.type);
    if (record->kind == ETWAS_RECORD_PERFINFO) {
        /* Nobody recorded them; ETW says so with all ones. */
        event->header.ThreadId = UINT32_MAX;
        event->header.ProcessId = UINT32_MAX;
    } else {
        event->header.ThreadId = disk.thread_id;
        event->header.ProcessId = disk.process_id;
        event->header.KernelTime = disk.kernel_time;
        event->header.UserTime = disk.user_time;
    }
    extension = record->bytes + record->header_bytes;
    counters = (uint16_t)((disk.version & ETWAS_ETL_EXTENSION_COUNTERS_MASK) >>
                          ETWAS_ETL_EXTENSION_COUNTERS_SHIFT);
    if ((disk.version & ETWAS_ETL_EXTENSION_PEBS) != 0) {
        add_item(event, EVENT_HEADER_EXT_TYPE_PEBS_INDEX, 8, extension);
        extension += 8;
    }
    if (counters > 0) {
        add_item(event, EVENT_HEADER_EXT_TYPE_PMC_COUNTERS, (uint16_t)(counters * 8), extension);
    }
}

static void decode_classic(struct event *event, const struct etwas_record *record)
{
    struct etwas_etl_instance_header disk = {0};

    memcpy(&disk, record->bytes, record->header_bytes);
    set_class(event, disk.full.type, disk.full.level, disk.full.version);
    event->header.ThreadId = disk.full.thread_id;
    event->header.ProcessId = disk.full.process_id;
    event->header.ProviderId = disk.full.guid;
    event->header.KernelTime = disk.full.kernel_time;
    event->header.UserTime = disk.full.user_time;
    if (record->kind != ETWAS_RECORD_INSTANCE) {
        return;
    }
    event->instance_id = disk.instance_id;
    event->parent_instance_id = disk.parent_instance_id;
    event->parent_guid = disk.parent_guid;
    /* On disk the three lie as in EVENT_EXTENDED_ITEM_INSTANCE (R118). */
    add_item(event, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof(EVENT_EXTENDED_ITEM_INSTANCE),
             record->bytes + offsetof(struct etwas_etl_instance_header, instance_id));
}

static void decode_event(struct event *event, const struct etwas_record *record)
{
    struct etwas_etl_event_header disk;

    memcpy(&disk, record->bytes, sizeof disk);
    event->header.Flags = disk.flags & (uint16_t)~EVENT_HEADER_FLAG_EXTENDED_INFO;
    event->header.EventProperty = disk.event_property;
    event->header.ThreadId = disk.thread_id;
    event->header.ProcessId = disk.process_id;
    event->header.ProviderId = disk.provider_id;
    event->header.EventDescriptor = (EVENT_DESCRIPTOR){
        .Id = disk.id,
        .Version = disk.version,
        .Channel = disk.channel,
        .Level = disk.level,
        .Opcode = disk.opcode,
        .Task = disk.task,
        .Keyword = disk.keyword,
    };
    event->header.KernelTime = disk.kernel_time;
    event->header.UserTime = disk.user_time;
    event->header.ActivityId = disk.activity_id;
    event->class_version = disk.version;
    for (uint32_t at = record->header_bytes; at < record->payload_at;) {
        struct etwas_etl_extended_item item;

        memcpy(&item, record->bytes + at, sizeof item);
        add_item(event, item.type, item.data_bytes, record->bytes + at + sizeof item);
        at += item.item_bytes;
    }
}

/*
 * A member is set only if the record has its flag (R110). The sequence number has none but the
 * instance id.
 */
static void decode_message(struct event *event, const struct etwas_record *record)
{
    struct etwas_etl_message_header disk;
    const uint8_t *at = record->bytes + sizeof disk;

    memcpy(&disk, record->bytes, sizeof disk);
    event->header.Flags = EVENT_HEADER_FLAG_TRACE_MESSAGE;
    event->header.EventDescriptor.Id = disk.message_number;
    event->header.EventDescriptor.Task = disk.option_flags;
    event->class_version = disk.message_number;
    if ((disk.option_flags & TRACE_MESSAGE_SEQUENCE) != 0) {
        memcpy(&event->instance_id, at, sizeof event->instance_id);
        event->numbered = (EVENT_EXTENDED_ITEM_INSTANCE){.InstanceId = event->instance_id};
        add_item(event, EVENT_HEADER_EXT_TYPE_INSTANCE_INFO, sizeof event->numbered,
                 &event->numbered);
        at += sizeof event->instance_id;
    }
    if ((disk.option_flags & TRACE_MESSAGE_GUID) != 0) {
        memcpy(&event->header.ProviderId, at, sizeof event->header.ProviderId);
        at += sizeof event->header.ProviderId;
    } else if ((disk.option_flags & TRACE_MESSAGE_COMPONENTID) != 0) {
        memcpy(&event->header.ProviderId.Data1, at, 4);
        at += 4;
    }
    if ((disk.option_flags & TRACE_MESSAGE_SYSTEMINFO) != 0) {
        at = record->bytes + record->payload_at - 8;
        memcpy(&event->header.ThreadId, at, 4);
        memcpy(&event->header.ProcessId, at + 4, 4);
    }
}

static void decode_record(struct event *event, const struct etwas_record *record)
{
    memset(event, 0, offsetof(struct event, items));
    event->item_count = 0;
    event->marker_flags = record->kind == ETWAS_RECORD_MESSAGE ? ETWAS_ETL_MESSAGE_MARKER_FLAGS
                                                               : ETWAS_ETL_MARKER_FLAGS;
    event->header.Size = (uint16_t)record->size;
    switch (record->kind) {
    case ETWAS_RECORD_SYSTEM:
    case ETWAS_RECORD_COMPACT:
    case ETWAS_RECORD_PERFINFO:
        decode_kernel(event, record);
        break;
    case ETWAS_RECORD_EVENT:
        decode_event(event, record);
        break;
    case ETWAS_RECORD_MESSAGE:
        decode_message(event, record);
        break;
    default:
        decode_classic(event, record);
        break;
    }
}

/*
 * In a file with retention classes each row of streams has the processors once more, and behind all rows are
 * the streams of threads without restartable sequences, which go by the number behind the processors.
 */
static uint16_t processor_of(const struct etwas_file_header *log, uint16_t stream)
{
    const struct etwas_etl_clock_trust *trust = &log->trust;

    if (trust->rows <= 1 || trust->processors == 0) {
        return stream;
    }
    if (trust->one_stream != 0) {
        return stream < trust->rows ? 0 : stream;
    }
    if (stream >= trust->rows * trust->processors) {
        return trust->processors;
    }
    return (uint16_t)(stream % trust->processors);
}

static ETW_BUFFER_CONTEXT context_of(const struct etwas_file_header *log,
                                     const struct etwas_index_entry *buffer)
{
    return (ETW_BUFFER_CONTEXT){.ProcessorIndex = processor_of(log, buffer->processor),
                                .LoggerId = buffer->logger_id};
}

/* Are the record's processor times zero because nobody took them? */
static bool has_no_times(const struct etwas_stream *stream)
{
    switch (stream->record.kind) {
    case ETWAS_RECORD_COMPACT:
    case ETWAS_RECORD_PERFINFO:
    case ETWAS_RECORD_MESSAGE:
        return true;
    default:
        return stream->trace->log.without_times;
    }
}

static uint16_t flags_of(const struct etwas_stream *stream, const struct event *event)
{
    const struct etwas_file_header *log = &stream->trace->log;
    /* Of any file: context_of has made an index of what it says. */
    unsigned flags = event->header.Flags | EVENT_HEADER_FLAG_PROCESSOR_INDEX;

    if (stream->record.pointer_bytes == 4) {
        flags |= EVENT_HEADER_FLAG_32_BIT_HEADER;
    } else if (stream->record.pointer_bytes == 8) {
        flags |= EVENT_HEADER_FLAG_64_BIT_HEADER;
    }
    if (event->item_count > 0) {
        flags |= EVENT_HEADER_FLAG_EXTENDED_INFO;
    }
    if ((log->fields.start.log_file_mode &
         (EVENT_TRACE_PRIVATE_LOGGER_MODE | EVENT_TRACE_PRIVATE_IN_PROC)) != 0) {
        flags |= EVENT_HEADER_FLAG_PRIVATE_SESSION;
    } else if (has_no_times(stream)) {
        flags |= EVENT_HEADER_FLAG_NO_CPUTIME;
    }
    return (uint16_t)flags;
}

static void deliver_record(struct etwas_stream *stream, struct event *event, void *payload,
                           uint32_t payload_bytes)
{
    EVENT_TRACE_LOGFILEW *logfile = &stream->trace->logfile.w;
    EVENT_RECORD out = {
        .EventHeader = event->header,
        .BufferContext = context_of(&stream->trace->log, stream->buffer),
        .ExtendedDataCount = event->item_count,
        .UserDataLength = (uint16_t)payload_bytes,
        .ExtendedData = event->item_count > 0 ? event->items : NULL,
        .UserData = payload,
        .UserContext = logfile->Context,
    };

    out.EventHeader.Flags = flags_of(stream, event);
    logfile->EventRecordCallback(&out);
}

static void deliver_classic(struct etwas_stream *stream, const struct event *event, void *payload,
                            uint32_t payload_bytes, PEVENT_CALLBACK callback)
{
    EVENT_TRACE_LOGFILEW *logfile = &stream->trace->logfile.w;
    const EVENT_HEADER *header = &event->header;
    EVENT_TRACE out = {
        .Header =
            {
                .Size = header->Size,
                .HeaderType = stream->record.header_type,
                .MarkerFlags = event->marker_flags,
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
        .InstanceId = event->instance_id,
        .ParentInstanceId = event->parent_instance_id,
        .ParentGuid = event->parent_guid,
        .MofData = payload,
        .MofLength = payload_bytes,
        .BufferContext = context_of(&stream->trace->log, stream->buffer),
    };

    logfile->CurrentEvent = out;
    callback(&out);
}

/* To whoever has asked for its class. */
static void deliver_to_class(struct etwas_stream *stream, const struct event *event, void *payload,
                             uint32_t payload_bytes)
{
    PEVENT_CALLBACK callback = NULL;

    if ((event->header.Flags & EVENT_HEADER_FLAG_CLASSIC_HEADER) != 0) {
        callback = etwas_class_callback_of(&event->header.ProviderId);
    }
    if (callback != NULL) {
        deliver_classic(stream, event, payload, payload_bytes, callback);
    }
}

/* The record's stamp in the form that the caller of OpenTrace asked for. */
static int64_t time_stamp(struct etwas_stream *stream, int64_t filetime)
{
    uint32_t mode = stream->trace->logfile.w.ProcessTraceMode;

    if ((mode & PROCESS_TRACE_MODE_RAW_TIMESTAMP) != 0) {
        return stream->record.stamp;
    }
    return (mode & ETWAS_PROCESS_TRACE_MODE_NANOSECONDS) != 0
               ? etwas_step_unix_ns(stream->timeline, stream->clock, stream->record.stamp,
                                    &stream->near_knot)
               : filetime;
}

void etwas_deliver(struct etwas_stream *stream, int64_t filetime)
{
    struct etwas_trace *trace = stream->trace;
    const struct etwas_record *record = &stream->record;
    EVENT_TRACE_LOGFILEW *logfile = &trace->logfile.w;
    struct event event;
    /* Callbacks get the reader's memory; ETW's structures have no const. */
    void *payload = (void *)(uintptr_t)(record->bytes + record->payload_at);
    uint32_t payload_bytes = record->size - record->payload_at;
    bool for_classes = etwas_class_callbacks_exist();

    logfile->CurrentTime = filetime;
    if (logfile->EventCallback == NULL && !for_classes) {
        return;
    }
    decode_record(&event, record);
    event.header.TimeStamp.QuadPart = time_stamp(stream, filetime);
    if (logfile->EventCallback == NULL) {
        /* Only the callbacks of classes are wanted. */
    } else if ((logfile->ProcessTraceMode & PROCESS_TRACE_MODE_EVENT_RECORD) != 0) {
        deliver_record(stream, &event, payload, payload_bytes);
    } else {
        deliver_classic(stream, &event, payload, payload_bytes, logfile->EventCallback);
    }
    if (for_classes) {
        deliver_to_class(stream, &event, payload, payload_bytes);
    }
}
