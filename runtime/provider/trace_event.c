/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * TraceEvent, and the general path of TraceEventInstance: from the caller's header to a record on
 * its way into a buffer.
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
#include "provider/counted_class.h"
#include "provider/event_class.h"
#include "provider/quick.h"
#include "provider/trace_event.h"
#include "session/handle.h"

/* The contents of an event's header, besides process, thread and stamp. */
struct classic_event {
    etwas_pair guid;
    etwas_pair parent_guid;
    uint32_t class_word; /* type, level, version */
    uint32_t instance_id;
    uint32_t parent_instance_id;
    uint16_t size; /* as stated */
};

/* What follows the caller's header: the payload itself as one field, or up to 16 fields. */
struct payload_fields {
    const MOF_FIELD *fields;
    uint32_t count;
};

/*
 * Finds the payload. `given` are the bytes after the caller's header (R101), `whole` becomes the
 * payload's field if it has none; `mostly_fields` is a hint for the branch. Returns false for
 * incomplete fields, or too many.
 */
static inline __attribute__((always_inline)) bool trace_event_find_payload(
    struct payload_fields *payload, const void *behind_header, uint32_t given, uint32_t flags,
    const bool mostly_fields, MOF_FIELD *whole)
{
    if (__builtin_expect((flags & WNODE_FLAG_USE_MOF_PTR) != 0, mostly_fields)) {
        *payload = (struct payload_fields){behind_header, given / (uint32_t)sizeof(MOF_FIELD)};
        return given % sizeof(MOF_FIELD) == 0 && payload->count <= MAX_MOF_FIELDS;
    }
    whole->DataPtr = (uint64_t)(uintptr_t)behind_header;
    whole->Length = given;
    *payload = (struct payload_fields){whole, 1};
    return true;
}

/*
 * The general path. It copies the list, because another thread may change the caller's meanwhile.
 * `counted_for` is the session that has instances counted, 0: none.
 */
static __attribute__((noinline)) uint32_t trace_event_publish_general(uint64_t handle,
                                                                      uint32_t header_bytes,
                                                                      struct classic_event event,
                                                                      struct payload_fields payload,
                                                                      uint64_t counted_for)
{
    const struct etwas_thread_ids ids = etwas_thread_ids();
    struct etwas_etl_instance_header header = {
        .full.header_type = header_bytes == sizeof header ? (uint8_t)ETWAS_ETL_INSTANCE64
                                                          : (uint8_t)ETWAS_ETL_FULL_HEADER64,
        .full.marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .full.thread_id = ids.thread_id,
        .full.process_id = ids.process_id,
        .instance_id = event.instance_id,
        .parent_instance_id = event.parent_instance_id,
    };
    MOF_FIELD fields[MAX_MOF_FIELDS];
    struct etwas_unstamped_record record = {
        .header = &header,
        .header_bytes = header_bytes,
        .fields = fields,
        .field_count = payload.count,
    };
    struct etwas_session_key key;
    uint32_t given_bytes = event.size;
    uint64_t bytes = header_bytes;

    for (uint32_t index = 0; index < payload.count; index++) {
        fields[index].DataPtr = ck_pr_load_64(&payload.fields[index].DataPtr);
        fields[index].Length = ck_pr_load_32(&payload.fields[index].Length);
        if (fields[index].DataPtr == 0 && fields[index].Length != 0) {
            return ERROR_INVALID_PARAMETER;
        }
        bytes += fields[index].Length;
    }
    if (!etwas_writer_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    if (bytes > ETWAS_ETL_LARGEST_RECORD_BYTES) {
        given_bytes = ETWAS_PUBLISH_TOO_LARGE;
    }
    record.bytes = (uint32_t)bytes;
    header.full.size = (uint16_t)record.bytes;
    memcpy(&header.full.type, &event.class_word, sizeof event.class_word);
    memcpy(&header.full.guid, &event.guid, sizeof header.full.guid);
    memcpy(&header.parent_guid, &event.parent_guid, sizeof header.parent_guid);
    return etwas_publisher_for(counted_for == etwas_session_handle(key))(key.index, key.generation,
                                                                         given_bytes, &record);
}

/*
 * Adds the marker, process and thread (R62, R63, R103). `guid` is the address of the class's GUID.
 */
#if ETWAS_RSEQ

static inline __attribute__((always_inline)) uint32_t trace_event_publish_quickly(
    const struct etwas_quick_target *target, int64_t stamp, uint64_t ids,
    const uint32_t header_bytes, const struct classic_event *event,
    const struct payload_fields *payload)
{
    const bool has_instance = header_bytes == sizeof(struct etwas_etl_instance_header);
    const uint32_t marker = etwas_etl_marker(
        has_instance ? (uint8_t)ETWAS_ETL_INSTANCE64 : (uint8_t)ETWAS_ETL_FULL_HEADER64, 0);
    struct etwas_quick_header header;

    header.ids = ids;
    header.start = (uint64_t)event->class_word << 32 | marker;
    header.second = event->guid;
    header.third = etwas_pair_of(0, (uint64_t)event->parent_instance_id << 32 | event->instance_id);
    header.fourth = event->parent_guid;
    return etwas_quick_publish(has_instance ? etwas_quick_instance : etwas_quick_event, target,
                               &header, stamp, payload->fields, payload->count);
}

static inline __attribute__((always_inline)) uint32_t trace_event_publish(
    uint64_t handle, const uint32_t header_bytes, const struct classic_event *event,
    const void *guid, const struct payload_fields *payload)
{
    const uint64_t ids = etwas_thread_ids_word();
    uint32_t code = ETWAS_QUICK_NOT;
    struct etwas_quick_target target;
    int64_t stamp;

    if (__builtin_expect((uint32_t)ids == 0, 0)) {
        return trace_event_publish_general(handle, header_bytes, *event, *payload, 0);
    }
    if (__builtin_expect(etwas_quick_find(&target, handle), 1)) {
        stamp = etwas_clock_now(target.clock);
        code = trace_event_publish_quickly(&target, stamp, ids, header_bytes, event, payload);
    } else {
        const struct etwas_class_attributes facts = {.type_and_level = event->class_word & 0xFFFF,
                                                     .guid = guid};

        if (etwas_quick_find_class(&target, etwas_handle_index(handle), &facts, &stamp)) {
            code = trace_event_publish_quickly(&target, stamp, ids, header_bytes, event, payload);
        }
    }
    return __builtin_expect(code != ETWAS_QUICK_NOT, 1)
               ? code
               : trace_event_publish_general(handle, header_bytes, *event, *payload, 0);
}

#else

static inline uint32_t trace_event_publish(uint64_t handle, uint32_t header_bytes,
                                           const struct classic_event *event, const void *guid,
                                           const struct payload_fields *payload)
{
    (void)guid;
    return trace_event_publish_general(handle, header_bytes, *event, *payload, 0);
}

#endif

/* Returns the caller's Size, read once because it may change meanwhile. 0: there is no event. */
static uint16_t trace_event_size_of(const uint16_t *size)
{
    return size != NULL ? ck_pr_load_16(size) : 0;
}

uint32_t TraceEvent(etwas_trace_handle handle, EVENT_TRACE_HEADER *event)
{
    struct classic_event classic = {.size =
                                        trace_event_size_of(event != NULL ? &event->Size : NULL)};
    struct payload_fields payload;
    MOF_FIELD whole;
    const void *guid;

    if (__builtin_expect(handle == 0, 0) || __builtin_expect(classic.size < sizeof *event, 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (__builtin_expect((event->Flags & WNODE_FLAG_TRACED_GUID) == 0, 0)) {
        return ERROR_INVALID_FLAG_NUMBER;
    }
    if (!trace_event_find_payload(&payload, event + 1, classic.size - (uint32_t)sizeof *event,
                                  event->Flags, false, &whole)) {
        return ERROR_INVALID_PARAMETER;
    }
    guid = &event->Guid;
    if (__builtin_expect((event->Flags & WNODE_FLAG_USE_GUID_PTR) != 0, 0)) {
        guid = (const void *)(uintptr_t)event->GuidPtr;
        if (guid == NULL) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    memcpy(&classic.guid, guid, sizeof classic.guid);
    memcpy(&classic.class_word, &event->Class, sizeof classic.class_word);
    return trace_event_publish(handle, sizeof(struct etwas_etl_full_header), &classic, guid,
                               &payload);
}

/* Logs an instance whose class, or whose parent's class, is counted or not registered. */
static __attribute__((noinline)) uint32_t trace_event_counted(etwas_trace_handle handle,
                                                              const EVENT_INSTANCE_HEADER *event,
                                                              const EVENT_INSTANCE_INFO *instance,
                                                              const EVENT_INSTANCE_INFO *parent,
                                                              uint16_t size,
                                                              struct payload_fields payload)
{
    struct classic_event classic = {.size = size, .instance_id = instance->InstanceId};
    uint64_t counted_for;
    uint64_t parents;

    if (!etwas_counted_class_find(instance->RegHandle, &classic.guid, &counted_for)) {
        return ERROR_INVALID_HANDLE;
    }
    if (parent != NULL) {
        if (!etwas_counted_class_find(parent->RegHandle, &classic.parent_guid, &parents)) {
            return ERROR_INVALID_HANDLE;
        }
        classic.parent_instance_id = parent->InstanceId;
    }
    memcpy(&classic.class_word, &event->Class, sizeof classic.class_word);
    return trace_event_publish_general(handle, sizeof(struct etwas_etl_instance_header), classic,
                                       payload, counted_for);
}

uint32_t etwas_trace_instance_general(etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
                                      const EVENT_INSTANCE_INFO *instance,
                                      const EVENT_INSTANCE_INFO *parent)
{
    struct classic_event classic = {.size =
                                        trace_event_size_of(event != NULL ? &event->Size : NULL)};
    struct payload_fields payload;
    MOF_FIELD whole;

    if (__builtin_expect(handle == 0, 0) || __builtin_expect(instance == NULL, 0) ||
        __builtin_expect(instance->RegHandle == NULL, 0) ||
        __builtin_expect(instance->InstanceId == 0, 0) ||
        __builtin_expect(classic.size < sizeof *event, 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (__builtin_expect((event->Flags & WNODE_FLAG_TRACED_GUID) == 0, 0)) {
        return ERROR_INVALID_FLAGS;
    }
    if (!trace_event_find_payload(&payload, event + 1, classic.size - (uint32_t)sizeof *event,
                                  event->Flags, true, &whole)) {
        return ERROR_INVALID_PARAMETER;
    }
    /* R120: the instance's class is the one of InstInfo. */
    if (!etwas_class_look_up(instance->RegHandle, &classic.guid)) {
        return trace_event_counted(handle, event, instance, parent, classic.size, payload);
    }
    if (__builtin_expect(parent != NULL, 0)) {
        if (!etwas_class_look_up(parent->RegHandle, &classic.parent_guid)) {
            return trace_event_counted(handle, event, instance, parent, classic.size, payload);
        }
        classic.parent_instance_id = parent->InstanceId;
    }
    classic.instance_id = instance->InstanceId;
    memcpy(&classic.class_word, &event->Class, sizeof classic.class_word);
    return trace_event_publish(handle, sizeof(struct etwas_etl_instance_header), &classic,
                               etwas_class_guid_at(instance->RegHandle), &payload);
}
