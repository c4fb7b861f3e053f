/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceEvent, and the general way of TraceEventInstance: from the caller's header to a record on
 * its way into a buffer.
 *
 * No lock, no allocation, no system call. Everything is checked before the record is published, so
 * a refused event changes nothing.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/publish.h"
#include "platform/thread.h"
#include "provider/event_class.h"
#include "provider/trace_event.h"
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

/* The caller's, which may change meanwhile: read once. 0: there is no event. */
static uint16_t size_of(const uint16_t *size)
{
    return size != NULL ? *(const volatile uint16_t *)size : 0;
}

uint32_t TraceEvent(etwas_trace_handle handle, EVENT_TRACE_HEADER *event)
{
    const uint16_t size = size_of(event != NULL ? &event->Size : NULL);
    struct etwas_etl_instance_header header;
    struct payload payload;
    uint32_t code;

    if (handle == 0 || size < sizeof *event) {
        return ERROR_INVALID_PARAMETER;
    }
    if ((event->Flags & WNODE_FLAG_TRACED_GUID) == 0) {
        return ERROR_INVALID_FLAG_NUMBER;
    }
    code = find_payload(&payload, event + 1, size - (uint32_t)sizeof *event, event->Flags);
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
    return publish(handle, &header, sizeof header.full, ETWAS_ETL_FULL_HEADER64, size, &payload);
}

uint32_t etwas_trace_any_instance(etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
                                  const EVENT_INSTANCE_INFO *instance,
                                  const EVENT_INSTANCE_INFO *parent)
{
    const uint16_t size = size_of(event != NULL ? &event->Size : NULL);
    struct etwas_etl_instance_header header;
    struct payload payload;
    uint32_t code;

    if (handle == 0 || instance == NULL || instance->RegHandle == NULL ||
        instance->InstanceId == 0 || size < sizeof *event) {
        return ERROR_INVALID_PARAMETER;
    }
    if ((event->Flags & WNODE_FLAG_TRACED_GUID) == 0) {
        return ERROR_INVALID_FLAGS;
    }
    code = find_payload(&payload, event + 1, size - (uint32_t)sizeof *event, event->Flags);
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
    return publish(handle, &header, sizeof header, ETWAS_ETL_INSTANCE64, size, &payload);
}
