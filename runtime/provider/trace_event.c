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

uint32_t etwas_classic_record_build(struct etwas_classic_record *built,
                                    const struct etwas_classic_event *event,
                                    const struct etwas_payload_fields *payload)
{
    const struct etwas_thread_ids ids = etwas_thread_ids();
    uint64_t bytes = event->header_bytes;

    for (uint32_t index = 0; index < payload->count; index++) {
        MOF_FIELD *field = &built->fields[index];

        field->DataPtr = ck_pr_load_64(&payload->fields[index].DataPtr);
        field->Length = ck_pr_load_32(&payload->fields[index].Length);
        if (field->DataPtr == 0 && field->Length != 0) {
            return ERROR_INVALID_PARAMETER;
        }
        bytes += field->Length;
    }
    built->given_bytes =
        bytes > ETWAS_ETL_LARGEST_RECORD_BYTES ? ETWAS_PUBLISH_TOO_LARGE : event->size;
    built->header = (struct etwas_etl_instance_header){
        .full.header_type = event->header_bytes == sizeof built->header
                                ? (uint8_t)ETWAS_ETL_INSTANCE64
                                : (uint8_t)ETWAS_ETL_FULL_HEADER64,
        .full.marker_flags = ETWAS_ETL_MARKER_FLAGS,
        .full.size = (uint16_t)bytes,
        .full.thread_id = ids.thread_id,
        .full.process_id = ids.process_id,
        .instance_id = event->instance_id,
        .parent_instance_id = event->parent_instance_id,
    };
    memcpy(&built->header.full.type, &event->class_word, sizeof event->class_word);
    memcpy(&built->header.full.guid, &event->guid, sizeof built->header.full.guid);
    memcpy(&built->header.parent_guid, &event->parent_guid, sizeof built->header.parent_guid);
    built->record = (struct etwas_unstamped_record){
        .header = &built->header,
        .header_bytes = event->header_bytes,
        .bytes =
            (uint32_t)(bytes < ETWAS_ETL_LARGEST_BUFFER_BYTES ? bytes
                                                              : ETWAS_ETL_LARGEST_BUFFER_BYTES),
        .fields = built->fields,
        .field_count = payload->count,
    };
    return ERROR_SUCCESS;
}

/* The general path. */
static __attribute__((noinline)) uint32_t trace_event_publish_general(
    uint64_t handle, struct etwas_classic_event event, struct etwas_payload_fields payload)
{
    struct etwas_classic_record built;
    struct etwas_session_key key;
    uint32_t code = etwas_classic_record_build(&built, &event, &payload);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!etwas_writer_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    return etwas_publisher_for(event.counted_for == etwas_session_handle(key))(
        key.index, key.generation, built.given_bytes, &built.record);
}

#if ETWAS_RSEQ

/* Adds the marker, process and thread (R62, R63, R103). */
static inline __attribute__((always_inline)) uint32_t trace_event_publish_quickly(
    const struct etwas_quick_target *target, int64_t stamp, uint64_t ids,
    const uint32_t header_bytes, const struct etwas_classic_event *event,
    const struct etwas_payload_fields *payload)
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
    uint64_t handle, const uint32_t header_bytes, const struct etwas_classic_event *event,
    const struct etwas_payload_fields *payload)
{
    const uint64_t ids = etwas_thread_ids_word();
    uint32_t code = ETWAS_QUICK_NOT;
    struct etwas_quick_target target;
    int64_t stamp;

    if (__builtin_expect((uint32_t)ids == 0, 0)) {
        return trace_event_publish_general(handle, *event, *payload);
    }
    if (__builtin_expect(etwas_quick_find(&target, handle), 1)) {
        stamp = etwas_clock_now(target.clock);
        code = trace_event_publish_quickly(&target, stamp, ids, header_bytes, event, payload);
    } else {
        const struct etwas_class_attributes facts = {.type_and_level = event->class_word & 0xFFFF,
                                                     .guid = event->guid_at};

        if (etwas_quick_find_class(&target, etwas_handle_index(handle), &facts, &stamp)) {
            code = trace_event_publish_quickly(&target, stamp, ids, header_bytes, event, payload);
        }
    }
    return __builtin_expect(code != ETWAS_QUICK_NOT, 1)
               ? code
               : trace_event_publish_general(handle, *event, *payload);
}

#else

static inline uint32_t trace_event_publish(uint64_t handle, uint32_t header_bytes,
                                           const struct etwas_classic_event *event,
                                           const struct etwas_payload_fields *payload)
{
    (void)header_bytes;
    return trace_event_publish_general(handle, *event, *payload);
}

#endif

uint32_t TraceEvent(etwas_trace_handle handle, EVENT_TRACE_HEADER *event)
{
    struct etwas_classic_event classic;
    struct etwas_payload_fields payload;
    MOF_FIELD whole;
    uint32_t code;

    if (__builtin_expect(handle == 0, 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_trace_event_read(event, &classic, &payload, &whole);
    return __builtin_expect(code == ERROR_SUCCESS, 1)
               ? trace_event_publish(handle, sizeof(struct etwas_etl_full_header), &classic,
                                     &payload)
               : code;
}

__attribute__((noinline)) bool etwas_trace_instance_find_counted(
    const EVENT_INSTANCE_INFO *instance, const EVENT_INSTANCE_INFO *parent,
    struct etwas_counted_instance *counted)
{
    uint64_t parents;

    counted->parent_guid = etwas_pair_of(0, 0);
    return etwas_counted_class_find(instance->RegHandle, &counted->guid, &counted->counted_for) &&
           (parent == NULL ||
            etwas_counted_class_find(parent->RegHandle, &counted->parent_guid, &parents));
}

uint32_t etwas_trace_instance_general(etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
                                      const EVENT_INSTANCE_INFO *instance,
                                      const EVENT_INSTANCE_INFO *parent)
{
    struct etwas_classic_event classic;
    struct etwas_payload_fields payload;
    MOF_FIELD whole;
    uint32_t code;

    if (__builtin_expect(handle == 0, 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_trace_instance_read(event, instance, parent, true, &classic, &payload, &whole);
    if (__builtin_expect(code != ERROR_SUCCESS, 0)) {
        return code;
    }
    return __builtin_expect(classic.takes_general_path, 0)
               ? trace_event_publish_general(handle, classic, payload)
               : trace_event_publish(handle, sizeof(struct etwas_etl_instance_header), &classic,
                                     &payload);
}
