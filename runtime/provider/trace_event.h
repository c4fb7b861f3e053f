/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Classic events, from the caller's header to a record: what the calls that log them share. */
#ifndef ETWAS_PROVIDER_TRACE_EVENT_H
#define ETWAS_PROVIDER_TRACE_EVENT_H

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "buffer/publish.h"
#include "platform/pair.h"
#include "provider/event_class.h"

/* The contents of an event's header, besides process, thread and stamp. */
struct etwas_classic_event {
    etwas_pair guid;
    etwas_pair parent_guid;
    const void *guid_at; /* where the GUID lies */
    uint32_t class_word; /* type, level, version */
    uint32_t instance_id;
    uint32_t parent_instance_id;
    uint32_t header_bytes; /* of the record: 48, or 72 for an instance */
    uint16_t size;         /* as stated */
    bool takes_general_path;
    uint64_t counted_for; /* the session that has the instance counted; 0: none */
};

/* What follows the caller's header: the payload itself as one field, or up to 16 fields. */
struct etwas_payload_fields {
    const MOF_FIELD *fields;
    uint32_t count;
};

/*
 * Finds the payload. `given` are the bytes after the caller's header (R101), `whole` becomes the
 * payload's field if it has none; `mostly_fields` is a hint for the branch. Returns false for
 * incomplete fields, or too many.
 */
static inline __attribute__((always_inline)) bool etwas_trace_event_find_payload(
    struct etwas_payload_fields *payload, const void *behind_header, uint32_t given, uint32_t flags,
    const bool mostly_fields, MOF_FIELD *whole)
{
    if (__builtin_expect((flags & WNODE_FLAG_USE_MOF_PTR) != 0, mostly_fields)) {
        *payload =
            (struct etwas_payload_fields){behind_header, given / (uint32_t)sizeof(MOF_FIELD)};
        return given % sizeof(MOF_FIELD) == 0 && payload->count <= MAX_MOF_FIELDS;
    }
    whole->DataPtr = (uint64_t)(uintptr_t)behind_header;
    whole->Length = given;
    *payload = (struct etwas_payload_fields){whole, 1};
    return true;
}

/* Returns the caller's Size, read once because it may change meanwhile. 0: there is no event. */
static inline uint16_t etwas_trace_event_size_of(const uint16_t *size)
{
    return size != NULL ? ck_pr_load_16(size) : 0;
}

/* Checks and reads the event of a TraceEvent. Returns the code that TraceEvent returns. */
static inline __attribute__((always_inline)) uint32_t etwas_trace_event_read(
    const EVENT_TRACE_HEADER *event, struct etwas_classic_event *classic,
    struct etwas_payload_fields *payload, MOF_FIELD *whole)
{
    *classic = (struct etwas_classic_event){
        .size = etwas_trace_event_size_of(event != NULL ? &event->Size : NULL),
        .header_bytes = sizeof(struct etwas_etl_full_header),
    };
    if (__builtin_expect(classic->size < sizeof *event, 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (__builtin_expect((event->Flags & WNODE_FLAG_TRACED_GUID) == 0, 0)) {
        return ERROR_INVALID_FLAG_NUMBER;
    }
    if (!etwas_trace_event_find_payload(payload, event + 1, classic->size - (uint32_t)sizeof *event,
                                        event->Flags, false, whole)) {
        return ERROR_INVALID_PARAMETER;
    }
    classic->guid_at = &event->Guid;
    if (__builtin_expect((event->Flags & WNODE_FLAG_USE_GUID_PTR) != 0, 0)) {
        classic->guid_at = (const void *)(uintptr_t)event->GuidPtr;
        if (classic->guid_at == NULL) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    memcpy(&classic->guid, classic->guid_at, sizeof classic->guid);
    memcpy(&classic->class_word, &event->Class, sizeof classic->class_word);
    return ERROR_SUCCESS;
}

/* The GUIDs of an instance whose class, or whose parent's class, is counted. */
struct etwas_counted_instance {
    etwas_pair guid;
    etwas_pair parent_guid;
    uint64_t counted_for; /* the session, or 0 */
};

/* Finds them. Returns false if one of the classes is not registered. */
bool etwas_trace_instance_find_counted(const EVENT_INSTANCE_INFO *instance,
                                       const EVENT_INSTANCE_INFO *parent,
                                       struct etwas_counted_instance *counted);

/*
 * Checks and reads the event of a TraceEventInstance. Returns the code that TraceEventInstance
 * returns. R120: the instance's class is the one of InstInfo.
 */
static inline __attribute__((always_inline)) uint32_t etwas_trace_instance_read(
    const EVENT_INSTANCE_HEADER *event, const EVENT_INSTANCE_INFO *instance,
    const EVENT_INSTANCE_INFO *parent, const bool mostly_fields,
    struct etwas_classic_event *classic, struct etwas_payload_fields *payload, MOF_FIELD *whole)
{
    *classic = (struct etwas_classic_event){
        .size = etwas_trace_event_size_of(event != NULL ? &event->Size : NULL),
        .header_bytes = sizeof(struct etwas_etl_instance_header),
    };
    if (__builtin_expect(instance == NULL, 0) || __builtin_expect(instance->RegHandle == NULL, 0) ||
        __builtin_expect(instance->InstanceId == 0, 0) ||
        __builtin_expect(classic->size < sizeof *event, 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (__builtin_expect((event->Flags & WNODE_FLAG_TRACED_GUID) == 0, 0)) {
        return ERROR_INVALID_FLAGS;
    }
    if (!etwas_trace_event_find_payload(payload, event + 1, classic->size - (uint32_t)sizeof *event,
                                        event->Flags, mostly_fields, whole)) {
        return ERROR_INVALID_PARAMETER;
    }
    classic->guid_at = etwas_class_guid_at(instance->RegHandle);
    classic->instance_id = instance->InstanceId;
    classic->parent_instance_id = __builtin_expect(parent != NULL, 0) ? parent->InstanceId : 0;
    memcpy(&classic->class_word, &event->Class, sizeof classic->class_word);
    if (__builtin_expect(!etwas_class_look_up(instance->RegHandle, &classic->guid), 0) ||
        (__builtin_expect(parent != NULL, 0) &&
         !etwas_class_look_up(parent->RegHandle, &classic->parent_guid))) {
        struct etwas_counted_instance counted;

        /* A struct of its own lets *classic stay in registers. */
        if (!etwas_trace_instance_find_counted(instance, parent, &counted)) {
            return ERROR_INVALID_HANDLE;
        }
        classic->guid = counted.guid;
        classic->parent_guid = counted.parent_guid;
        classic->counted_for = counted.counted_for;
        classic->takes_general_path = true;
    }
    return ERROR_SUCCESS;
}

/* A record of a classic event with all that it points to, besides the caller's data. */
struct etwas_classic_record {
    struct etwas_unstamped_record record;
    struct etwas_etl_instance_header header;
    MOF_FIELD fields[MAX_MOF_FIELDS];
    uint32_t given_bytes; /* the Size that etwas_publish compares */
};

/*
 * Builds the record. The list of fields is copied, because another thread may change the caller's
 * meanwhile. Returns ERROR_INVALID_PARAMETER if a field has no address. Async-signal-safe.
 */
uint32_t etwas_classic_record_build(struct etwas_classic_record *built,
                                    const struct etwas_classic_event *event,
                                    const struct etwas_payload_fields *payload);

/* The general path of TraceEventInstance: every case, and every error with its code. */
uint32_t etwas_trace_instance_general(etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
                                      const EVENT_INSTANCE_INFO *instance,
                                      const EVENT_INSTANCE_INFO *parent);

/* Instance ids: unique in the process, never 0 (R115). CreateTraceInstanceId allocates them. */

/*
 * Makes the next block begin at `first`, for tests of the wrap. No other thread may allocate ids
 * meanwhile.
 */
void etwas_instance_id_restart(uint32_t first);

#endif
