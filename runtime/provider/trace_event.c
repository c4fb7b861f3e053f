/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceEvent, and TraceEventInstance but for the commonest of its events: from the caller's header
 * to a record on its way into a buffer.
 *
 * No lock, no allocation, no system call. Everything is checked before the record is published, so
 * a refused event changes nothing.
 */
#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/publish.h"
#include "platform/thread.h"
#include "provider/event_class.h"
#include "provider/quick.h"
#include "provider/trace_event.h"
#include "session/handle.h"

/*
 * What follows the caller's header: the payload itself as one field, or up to 16 fields. They are
 * copied, and each length read once: another thread may change them meanwhile.
 */
struct payload {
    MOF_FIELD fields[MAX_MOF_FIELDS];
    uint32_t field_count;
    uint32_t bytes;
};

/* What an event says of itself in its header, besides who logs and when. */
struct classic {
    uint64_t guid[2];
    uint64_t parent_guid[2];
    uint32_t class_word; /* type, level, version */
    uint32_t instance_id;
    uint32_t parent_instance_id;
    uint16_t size; /* as stated */
};

/* `given` are the bytes behind a header (R101). False: not whole fields, too many, or too long. */
static inline uint32_t find_payload(struct payload *payload, const void *behind_header,
                                    uint32_t given, uint32_t flags)
{
    const MOF_FIELD *fields = behind_header;
    uint64_t bytes = 0;

    if ((flags & WNODE_FLAG_USE_MOF_PTR) == 0) {
        payload->fields[0].DataPtr = (uint64_t)(uintptr_t)behind_header;
        payload->fields[0].Length = given;
        payload->field_count = 1;
        payload->bytes = given;
        return ERROR_SUCCESS;
    }
    if (given % sizeof(MOF_FIELD) != 0 || given / sizeof(MOF_FIELD) > MAX_MOF_FIELDS) {
        return ERROR_INVALID_PARAMETER;
    }
    payload->field_count = given / (uint32_t)sizeof(MOF_FIELD);
    for (uint32_t index = 0; index < payload->field_count; index++) {
        uint64_t address = ck_pr_load_64(&fields[index].DataPtr);
        uint32_t length = ck_pr_load_32(&fields[index].Length);

        if (__builtin_expect(address == 0, 0) && length != 0) {
            return ERROR_INVALID_PARAMETER;
        }
        payload->fields[index].DataPtr = address;
        payload->fields[index].Length = length;
        bytes += length;
    }
    if (bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        return ERROR_MORE_DATA;
    }
    payload->bytes = (uint32_t)bytes;
    return ERROR_SUCCESS;
}

/* The general way. */
static __attribute__((noinline)) uint32_t publish_anyhow(uint64_t handle, uint32_t header_bytes,
                                                         struct classic event,
                                                         const struct payload *payload)
{
    const struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_etl_instance_header header = {
        .full.size = (uint16_t)(header_bytes + payload->bytes),
        .full.header_type = header_bytes == sizeof header ? (uint8_t)ETWAS_ETL_INSTANCE64
                                                          : (uint8_t)ETWAS_ETL_FULL_HEADER64,
        .full.marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .full.thread_id = ids.thread_id,
        .full.process_id = ids.process_id,
        .instance_id = event.instance_id,
        .parent_instance_id = event.parent_instance_id,
    };
    const struct etwas_record record = {
        .header = &header,
        .header_bytes = header_bytes,
        .bytes = header_bytes + payload->bytes,
        .fields = payload->fields,
        .field_count = payload->field_count,
    };
    struct etwas_session_key key;

    memcpy(&header.full.type, &event.class_word, sizeof event.class_word);
    memcpy(&header.full.guid, event.guid, sizeof header.full.guid);
    memcpy(&header.parent_guid, event.parent_guid, sizeof header.parent_guid);
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    return etwas_publish(key.index, key.generation, event.size, &record);
}

#if ETWAS_QUICK_RSEQ

static inline __attribute__((always_inline)) bool publish_quickly(uint64_t handle,
                                                                  const uint32_t header_bytes,
                                                                  const struct classic *event,
                                                                  const struct payload *payload,
                                                                  uint32_t *code)
{
    const uint8_t type = header_bytes == sizeof(struct etwas_etl_instance_header)
                             ? (uint8_t)ETWAS_ETL_INSTANCE64
                             : (uint8_t)ETWAS_ETL_FULL_HEADER64;
    const uint32_t bytes = header_bytes + payload->bytes;
    struct etwas_quick_target target;
    struct etwas_quick_header header;
    int64_t stamp;

    if (etwas_handle_generation(handle) == 0 || !etwas_quick_find(&target, handle)) {
        return false;
    }
    stamp = etwas_clock_now(target.clock);
    header.start = etwas_quick_pair((uint64_t)event->class_word << 32 |
                                        etwas_etl_marker(type, (uint16_t)bytes),
                                    etwas_quick_ids());
    header.second = etwas_quick_pair(event->guid[0], event->guid[1]);
    header.third =
        etwas_quick_pair(0, (uint64_t)event->parent_instance_id << 32 | event->instance_id);
    header.fourth = etwas_quick_pair(event->parent_guid[0], event->parent_guid[1]);
    return etwas_quick_publish(
        header_bytes == sizeof(struct etwas_etl_instance_header) ? etwas_quick_instance
                                                                 : etwas_quick_event,
        &target, &header, stamp, payload->fields, payload->field_count, bytes, code);
}

#else

static inline bool publish_quickly(uint64_t handle, uint32_t header_bytes,
                                   const struct classic *event, const struct payload *payload,
                                   uint32_t *code)
{
    (void)handle;
    (void)header_bytes;
    (void)event;
    (void)payload;
    (void)code;
    return false;
}

#endif

/* Adds the marker and who logs (R62, R63, R103). */
static inline __attribute__((always_inline)) uint32_t publish(uint64_t handle,
                                                              const uint32_t header_bytes,
                                                              const struct classic *event,
                                                              const struct payload *payload)
{
    uint32_t code;

    if (header_bytes + payload->bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        struct etwas_session_key key;

        return etwas_session_key_of(handle, &key) ? ERROR_MORE_DATA : ERROR_INVALID_HANDLE;
    }
    return publish_quickly(handle, header_bytes, event, payload, &code)
               ? code
               : publish_anyhow(handle, header_bytes, *event, payload);
}

/* The caller's, which may change meanwhile: read once. 0: there is no event. */
static uint16_t size_of(const uint16_t *size)
{
    return size != NULL ? ck_pr_load_16(size) : 0;
}

uint32_t TraceEvent(etwas_trace_handle handle, EVENT_TRACE_HEADER *event)
{
    const uint16_t size = size_of(event != NULL ? &event->Size : NULL);
    struct classic classic = {.size = size};
    struct payload payload;
    const void *guid;
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
    guid = &event->Guid;
    if ((event->Flags & WNODE_FLAG_USE_GUID_PTR) != 0) {
        if (event->GuidPtr == 0) {
            return ERROR_INVALID_PARAMETER;
        }
        guid = (const void *)(uintptr_t)event->GuidPtr;
    }
    memcpy(classic.guid, guid, sizeof classic.guid);
    memcpy(&classic.class_word, &event->Class, sizeof classic.class_word);
    return publish(handle, sizeof(struct etwas_etl_full_header), &classic, &payload);
}

uint32_t etwas_trace_any_instance(etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
                                  const EVENT_INSTANCE_INFO *instance,
                                  const EVENT_INSTANCE_INFO *parent)
{
    const uint16_t size = size_of(event != NULL ? &event->Size : NULL);
    struct classic classic = {.size = size};
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
    if (!etwas_class_look_up(instance->RegHandle, classic.guid)) {
        return ERROR_INVALID_HANDLE;
    }
    if (parent != NULL) {
        if (!etwas_class_look_up(parent->RegHandle, classic.parent_guid)) {
            return ERROR_INVALID_HANDLE;
        }
        classic.parent_instance_id = parent->InstanceId;
    }
    classic.instance_id = instance->InstanceId;
    memcpy(&classic.class_word, &event->Class, sizeof classic.class_word);
    return publish(handle, sizeof(struct etwas_etl_instance_header), &classic, &payload);
}
