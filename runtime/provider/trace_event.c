/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceEvent and TraceEventInstance: from the caller's header to a record on its way into a buffer.
 *
 * No lock, no allocation, no system call. Everything is checked before the record is published, so
 * a refused event changes nothing.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/publish.h"
#include "buffer/publish_quick.h"
#include "platform/thread.h"
#include "provider/event_class.h"
#include "provider/instance_id.h"
#include "provider/registration.h"
#include "session/handle.h"

/* What follows the caller's header: the payload itself as one field, or up to 16 fields. */
struct payload {
    const MOF_FIELD *fields;
    uint32_t field_count;
    uint32_t bytes;
    MOF_FIELD plain;
};

/* `given` are the bytes behind a header (R101). False: not whole fields, too many, or too long. */
static inline uint32_t find_payload(struct payload *payload, const void *behind_header,
                                    uint32_t given, uint32_t flags)
{
    uint64_t bytes = 0;

    if ((flags & WNODE_FLAG_USE_MOF_PTR) == 0) {
        payload->plain.DataPtr = (uint64_t)(uintptr_t)behind_header;
        payload->plain.Length = given;
        payload->fields = &payload->plain;
        payload->field_count = given != 0 ? 1 : 0;
        payload->bytes = given;
        return ERROR_SUCCESS;
    }
    if (given % sizeof(MOF_FIELD) != 0 || given / sizeof(MOF_FIELD) > MAX_MOF_FIELDS) {
        return ERROR_INVALID_PARAMETER;
    }
    payload->fields = behind_header;
    payload->field_count = given / (uint32_t)sizeof(MOF_FIELD);
    for (uint32_t index = 0; index < payload->field_count; index++) {
        if (payload->fields[index].DataPtr == 0 && payload->fields[index].Length != 0) {
            return ERROR_INVALID_PARAMETER;
        }
        bytes += payload->fields[index].Length;
    }
    if (bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        return ERROR_MORE_DATA;
    }
    payload->bytes = (uint32_t)bytes;
    return ERROR_SUCCESS;
}

/*
 * Fills in the marker, who logs, and publishes; `header` has class, GUIDs and ids (R62, R63, R103).
 */
static inline uint32_t publish(uint64_t handle, struct etwas_etl_instance_header *header,
                               uint32_t header_bytes, uint8_t header_type, uint16_t size,
                               const struct payload *payload)
{
    struct etwas_record record = {
        .header = header,
        .header_bytes = header_bytes,
        .bytes = header_bytes + payload->bytes,
        .fields = payload->fields,
        .field_count = payload->field_count,
    };
    struct etwas_thread_ids ids;
    struct etwas_session_key key;

    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if (record.bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        return ERROR_MORE_DATA;
    }
    ids = etwas_thread_ids();
    header->full.size = (uint16_t)record.bytes;
    header->full.header_type = header_type;
    header->full.marker_flags = ETWAS_ETL_MARKER_FLAGS;
    header->full.thread_id = ids.thread_id;
    header->full.process_id = ids.process_id;
    header->full.kernel_time = 0;
    header->full.user_time = 0;
    return etwas_publish(key.index, key.generation, size, &record);
}

uint32_t TraceEvent(etwas_trace_handle handle, EVENT_TRACE_HEADER *event)
{
    struct etwas_etl_instance_header header;
    struct payload payload;
    uint32_t code;

    if (handle == 0 || event == NULL || event->Size < sizeof *event) {
        return ERROR_INVALID_PARAMETER;
    }
    if ((event->Flags & WNODE_FLAG_TRACED_GUID) == 0) {
        return ERROR_INVALID_FLAG_NUMBER;
    }
    code = find_payload(&payload, event + 1, event->Size - (uint32_t)sizeof *event, event->Flags);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    header.full.type = event->Class.Type;
    header.full.level = event->Class.Level;
    header.full.version = event->Class.Version;
    header.full.guid = event->Guid;
    if ((event->Flags & WNODE_FLAG_USE_GUID_PTR) != 0) {
        if (event->GuidPtr == 0) {
            return ERROR_INVALID_PARAMETER;
        }
        memcpy(&header.full.guid, (const void *)(uintptr_t)event->GuidPtr, sizeof header.full.guid);
    }
    return publish(handle, &header, sizeof header.full, ETWAS_ETL_FULL_HEADER64, event->Size,
                   &payload);
}

/* The general way: every case, and every error with its code. */
static __attribute__((noinline)) uint32_t trace_any_instance(etwas_trace_handle handle,
                                                             EVENT_INSTANCE_HEADER *event,
                                                             EVENT_INSTANCE_INFO *instance,
                                                             EVENT_INSTANCE_INFO *parent)
{
    struct etwas_etl_instance_header header;
    struct payload payload;
    uint32_t code;

    if (handle == 0 || event == NULL || instance == NULL || instance->RegHandle == NULL ||
        instance->InstanceId == 0 || event->Size < sizeof *event) {
        return ERROR_INVALID_PARAMETER;
    }
    if ((event->Flags & WNODE_FLAG_TRACED_GUID) == 0) {
        return ERROR_INVALID_FLAGS;
    }
    code = find_payload(&payload, event + 1, event->Size - (uint32_t)sizeof *event, event->Flags);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* R120: the instance's class is the one of InstInfo. */
    if (!etwas_class_guid(instance->RegHandle, &header.full.guid)) {
        return ERROR_INVALID_HANDLE;
    }
    header.parent_instance_id = 0;
    header.parent_guid = (etwas_guid){0};
    if (parent != NULL) {
        if (!etwas_class_guid(parent->RegHandle, &header.parent_guid)) {
            return ERROR_INVALID_HANDLE;
        }
        header.parent_instance_id = parent->InstanceId;
    }
    header.full.type = event->Class.Type;
    header.full.level = event->Class.Level;
    header.full.version = event->Class.Version;
    header.instance_id = instance->InstanceId;
    return publish(handle, &header, sizeof header, ETWAS_ETL_INSTANCE64, event->Size, &payload);
}

/* Short payloads, which most are, in moves of constant size that may overlap: no call. */
static inline void copy_payload(uint8_t *to, const void *payload, uint32_t bytes)
{
    const uint8_t *from = payload;
    unsigned char first[16];
    unsigned char last[16];

    if (__builtin_expect(bytes - 8 > 64 - 8, 0)) {
        memcpy(to, from, bytes);
        return;
    }
    if (bytes < 16) {
        memcpy(first, from, 8);
        memcpy(last, from + bytes - 8, 8);
        memcpy(to, first, 8);
        memcpy(to + bytes - 8, last, 8);
        return;
    }
    memcpy(first, from, 16);
    memcpy(last, from + bytes - 16, 16);
    memcpy(to, first, 16);
    memcpy(to + bytes - 16, last, 16);
    if (bytes > 32) {
        memcpy(first, from + 16, 16);
        memcpy(last, from + bytes - 32, 16);
        memcpy(to + 16, first, 16);
        memcpy(to + bytes - 32, last, 16);
    }
}

/*
 * Whether the event is of the kind the quick way takes: a payload that is no list of fields, in a
 * record no longer than a record may be. A Size below the header's wraps to a payload far too long.
 * What fits into a buffer also keeps R63, since the record is longer than the Size stated.
 */
static inline bool is_quick(const EVENT_INSTANCE_HEADER *event, uint32_t payload_bytes)
{
    const uint32_t most = ETWAS_ETL_LARGEST_RECORD_BYTES - sizeof(struct etwas_etl_instance_header);
    uint32_t kind = event->Flags & (WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR);

    return (kind == WNODE_FLAG_TRACED_GUID) & (payload_bytes <= most);
}

/* Writes the record into its place, and commits it. */
static inline uint32_t write_quick(const struct etwas_quick *quick,
                                   const EVENT_INSTANCE_HEADER *event, uint32_t instance_id,
                                   const uint64_t guid[2], struct etwas_thread_ids ids)
{
    struct etwas_etl_instance_header *header =
        (struct etwas_etl_instance_header *)(void *)quick->place;
    uint32_t payload_bytes = (uint32_t)event->Size - (uint32_t)sizeof *event;
    uint16_t record_bytes = (uint16_t)(sizeof *header + payload_bytes);
    uint32_t class_word;

    header->full.thread_id = ids.thread_id;
    header->full.process_id = ids.process_id;
    header->full.time_stamp = quick->stamp;
    memcpy(&header->full.guid, guid, sizeof header->full.guid);
    header->full.kernel_time = 0;
    header->full.user_time = 0;
    header->instance_id = instance_id;
    header->parent_instance_id = 0;
    header->parent_guid = (etwas_guid){0};
    copy_payload(quick->place + sizeof *header, event + 1, payload_bytes);
    memcpy(&class_word, &event->Class, sizeof class_word);
    return etwas_quick_commit(
        quick, (uint64_t)class_word << 32 | etwas_etl_marker(ETWAS_ETL_INSTANCE64, record_bytes),
        record_bytes);
}

/*
 * The quick way, for an event without a parent: the record is written from registers and the
 * caller's memory straight to its place, in about half the instructions of the general way.
 * Whatever is not as it should be is left to the general way, which finds out what it is.
 */
uint32_t TraceEventInstance(etwas_trace_handle handle, EVENT_INSTANCE_HEADER *event,
                            EVENT_INSTANCE_INFO *instance, EVENT_INSTANCE_INFO *parent)
{
    struct etwas_session_key key;
    struct etwas_thread_ids ids;
    struct etwas_quick quick;
    enum etwas_quick_begun begun;
    uint32_t payload_bytes;
    uint64_t guid[2];

    if ((event == NULL) | (instance == NULL) | (parent != NULL)) {
        return trace_any_instance(handle, event, instance, parent);
    }
    payload_bytes = (uint32_t)event->Size - (uint32_t)sizeof *event;
    if (!is_quick(event, payload_bytes) || !etwas_session_key_of(handle, &key)) {
        return trace_any_instance(handle, event, instance, parent);
    }
    begun = etwas_quick_begin(&quick, key.index, key.generation);
    if (__builtin_expect(begun != ETWAS_QUICK_RUNS, 0)) {
        if (begun == ETWAS_QUICK_CLOSED && instance->RegHandle != NULL &&
            instance->InstanceId != 0) {
            return ERROR_INVALID_HANDLE;
        }
        return trace_any_instance(handle, event, instance, parent);
    }
    ids = etwas_thread_ids();
    if (instance->InstanceId == 0 || !etwas_class_look_up(instance->RegHandle, guid) ||
        !etwas_quick_reserve(&quick,
                             (uint32_t)sizeof(struct etwas_etl_instance_header) + payload_bytes)) {
        return trace_any_instance(handle, event, instance, parent);
    }
    return write_quick(&quick, event, instance->InstanceId, guid, ids);
}

uint32_t CreateTraceInstanceId(etwas_handle class_handle, EVENT_INSTANCE_INFO *instance)
{
    etwas_guid guid;

    if (instance == NULL || !etwas_class_guid(class_handle, &guid)) {
        return ERROR_INVALID_PARAMETER;
    }
    instance->RegHandle = class_handle;
    instance->InstanceId = etwas_instance_id_next();
    return ERROR_SUCCESS;
}
