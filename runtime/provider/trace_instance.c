/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * TraceEventInstance.
 *
 * The quick paths, one for each protocol, take the form of most events: a payload in one piece. The
 * general path handles everything else, including errors.
 *
 * Claim, checked by the test `straight_path` on the library of the preset `default`: with
 * restartable sequences and the TSC, an event of 16 to 32 bytes without a parent takes 139
 * instructions (gcc 12) from the call to the return, one of them `rdtsc`; no call, no locked
 * instruction, no loop, and one branch taken. The lines it touches are listed in
 * buffer/quick_rseq.h.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/publish.h"
#include "buffer/quick_shared.h"
#include "buffer/retention_class.h"
#include "platform/thread.h"
#include "provider/event_class.h"
#include "provider/quick.h"
#include "provider/trace_event.h"
#include "session/handle.h"

/*
 * A Size below the header's wraps to a payload far too long. It is read once for both check and
 * copy, because another thread may change it meanwhile.
 */
static inline uint32_t instance_payload_bytes(const EVENT_INSTANCE_HEADER *event)
{
    return (uint32_t) * (const volatile uint16_t *)&event->Size - (uint32_t)sizeof *event;
}

/* The quick paths take a payload in one piece. */
static inline bool instance_is_quick_kind(const EVENT_INSTANCE_HEADER *event)
{
    return (event->Flags & (WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_MOF_PTR)) ==
           WNODE_FLAG_TRACED_GUID;
}

/* A record that fits also satisfies R63, because it is longer than the stated Size. */
static inline bool instance_is_quick(const EVENT_INSTANCE_HEADER *event, uint32_t payload_bytes)
{
    const uint32_t most = ETWAS_ETL_LARGEST_RECORD_BYTES - sizeof(struct etwas_etl_instance_header);

    return instance_is_quick_kind(event) && payload_bytes <= most;
}

/* Marker and class: the first 8 bytes of a record that is not too long. */
static inline uint64_t instance_first_word(const EVENT_INSTANCE_HEADER *event,
                                           uint32_t payload_bytes)
{
    uint32_t class_word;

    memcpy(&class_word, &event->Class, sizeof class_word);
    return (uint64_t)class_word << 32 |
           (etwas_etl_marker(ETWAS_ETL_INSTANCE64, 0) +
            (uint32_t)sizeof(struct etwas_etl_instance_header) + payload_bytes);
}

#if ETWAS_RSEQ

/*
 * If this does not return ETWAS_QUICK_COMMITTED, nothing is recorded. The caller reads the stamp
 * early: what follows runs while the processor fetches it.
 */
static inline __attribute__((always_inline)) enum etwas_quick_rseq instance_trace_by_rseq(
    struct etwas_slot *slot, etwas_trace_handle handle, int64_t stamp, uint64_t times,
    const EVENT_INSTANCE_HEADER *event, uint32_t payload_bytes, const EVENT_INSTANCE_INFO *instance)
{
    struct etwas_quick_record record = {
        .stamp = stamp, .before = event, .payload_bytes = payload_bytes};
    uint64_t ids = etwas_thread_ids_word();
    etwas_pair guid;

    if (__builtin_expect((uint32_t)ids == 0, 0) || __builtin_expect(instance->InstanceId == 0, 0) ||
        !etwas_class_look_up(instance->RegHandle, &guid)) {
        return ETWAS_QUICK_OTHER;
    }
    record.start = etwas_pair_of(instance_first_word(event, payload_bytes), ids);
    record.guid = guid;
    record.instances = etwas_pair_of(times, instance->InstanceId);
    record.parent = etwas_pair_of(0, 0);
    return etwas_quick_rseq(slot, etwas_handle_generation(handle), &record);
}

#endif

/*
 * Copies short payloads, which most are, by moves of constant size that may overlap, without a
 * call.
 */
static inline void instance_copy_payload(uint8_t *to, const void *payload, uint32_t bytes)
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

/* Writes the record where its room was reserved, and commits it. */
static inline uint32_t instance_write_shared(const struct etwas_quick *quick,
                                             const EVENT_INSTANCE_HEADER *event,
                                             uint32_t payload_bytes, uint32_t instance_id,
                                             etwas_pair guid, struct etwas_thread_ids ids)
{
    struct etwas_etl_instance_header *header =
        (struct etwas_etl_instance_header *)(void *)quick->record;

    header->full.thread_id = ids.thread_id;
    header->full.process_id = ids.process_id;
    header->full.time_stamp = quick->stamp;
    memcpy(&header->full.guid, &guid, sizeof header->full.guid);
    header->full.kernel_time = 0;
    header->full.user_time = 0;
    header->instance_id = instance_id;
    header->parent_instance_id = 0;
    header->parent_guid = (etwas_guid){0};
    instance_copy_payload(quick->record + sizeof *header, event + 1, payload_bytes);
    return etwas_quick_commit(quick, instance_first_word(event, payload_bytes),
                              (uint32_t)sizeof *header + payload_bytes);
}

/*
 * The quick path of a slot with the shared protocol, for an event without a parent. Returns false
 * if nothing is recorded and the general path has to decide.
 */
static inline bool instance_trace_shared(struct etwas_slot *slot, etwas_trace_handle handle,
                                         const EVENT_INSTANCE_HEADER *event, uint32_t payload_bytes,
                                         const EVENT_INSTANCE_INFO *instance, uint32_t *code)
{
    struct etwas_thread_ids ids;
    struct etwas_quick quick;
    etwas_pair guid;

    if (!etwas_quick_begin(&quick, slot, etwas_handle_generation(handle))) {
        return false;
    }
    ids = etwas_thread_ids();
    if (instance->InstanceId == 0 || !etwas_class_look_up(instance->RegHandle, &guid) ||
        !etwas_quick_reserve(&quick, etwas_handle_attachment(handle),
                             (uint32_t)sizeof(struct etwas_etl_instance_header) + payload_bytes)) {
        return false;
    }
    *code = instance_write_shared(&quick, event, payload_bytes, instance->InstanceId, guid, ids);
    return true;
}

/*
 * Does what instance_trace_general does, in a slot with the shared protocol, once the event is
 * checked.
 */
static __attribute__((noinline)) uint32_t instance_trace_in_shared_slot(
    etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
    const EVENT_INSTANCE_INFO *instance, struct etwas_slot *slot)
{
    uint32_t payload_bytes = instance_payload_bytes(event);
    uint32_t code;

    return instance_is_quick(event, payload_bytes) &&
                   instance_trace_shared(slot, handle, event, payload_bytes, instance, &code)
               ? code
               : etwas_trace_instance_general(handle, event, instance, NULL);
}

/* Logs any event, except the commonest. */
static __attribute__((noinline)) uint32_t instance_trace_general(
    etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
    const EVENT_INSTANCE_INFO *instance, const EVENT_INSTANCE_INFO *parent)
{
    uint32_t generation = etwas_handle_generation(handle);
    struct etwas_slot *slot;
    uint64_t gate;

    if (!etwas_slot_here(handle, &slot) || generation == 0 || event == NULL || instance == NULL) {
        return etwas_trace_instance_general(handle, event, instance, parent);
    }
    gate = ck_pr_load_64(etwas_slot_gate(slot));
    if ((uint32_t)gate != generation) {
        slot = etwas_slot_extra(handle);
        gate = ck_pr_load_64(etwas_slot_gate(slot));
        if ((uint32_t)gate != generation || (gate >> 32 & ETWAS_KIND_ONE_SLOT) == 0) {
            return instance_is_quick(event, instance_payload_bytes(event)) &&
                           instance->RegHandle != NULL && instance->InstanceId != 0 &&
                           etwas_handle_index(handle) <= ETWAS_SESSION_ENTRIES
                       ? ERROR_INVALID_HANDLE
                       : etwas_trace_instance_general(handle, event, instance, parent);
        }
    }
    return etwas_kind_quick_protocol((uint32_t)(gate >> 32)) == ETWAS_PROTOCOL_SHARED &&
                   parent == NULL
               ? instance_trace_in_shared_slot(handle, event, instance, slot)
               : etwas_trace_instance_general(handle, event, instance, parent);
}

#if ETWAS_RSEQ

#define UNLIKELY(condition) __builtin_expect((condition), 0)

/* Logs the instance after its sequence was interrupted. */
static __attribute__((noinline, cold)) uint32_t instance_trace_retry(
    etwas_trace_handle handle, const EVENT_INSTANCE_HEADER *event,
    const EVENT_INSTANCE_INFO *instance)
{
    struct etwas_slot *slot;

    if (etwas_slot_here(handle, &slot)) {
        etwas_slot_count_restart(slot);
    }
    return instance_trace_general(handle, event, instance, NULL);
}

/* Publishes with the given stamp, by any clock, and the given times. */
static __attribute__((noinline)) uint32_t trace_at(int64_t stamp, uint64_t times,
                                                   struct etwas_slot *slot,
                                                   etwas_trace_handle handle,
                                                   const EVENT_INSTANCE_HEADER *event,
                                                   const EVENT_INSTANCE_INFO *instance)
{
    const uint32_t payload_bytes = instance_payload_bytes(event);
    enum etwas_quick_rseq result = ETWAS_QUICK_OTHER;

    if (payload_bytes <= ETWAS_QUICK_PAYLOAD_BYTES) {
        result = instance_trace_by_rseq(slot, handle, stamp, times, event, payload_bytes, instance);
    }
    if (UNLIKELY(result != ETWAS_QUICK_COMMITTED)) {
        return result == ETWAS_QUICK_ABORTED
                   ? instance_trace_retry(handle, event, instance)
                   : instance_trace_general(handle, event, instance, NULL);
    }
    return ERROR_SUCCESS;
}

/*
 * The sequence did not begin to write. Mostly the buffer is full: the slot switches to another, and
 * the sequence runs once more, with the same stamp. An event that would be refused switches no
 * buffer, and is not lost.
 */
static __attribute__((noinline)) uint32_t instance_trace_in_next_buffer(
    struct etwas_slot *slot, etwas_trace_handle handle, int64_t stamp,
    const EVENT_INSTANCE_HEADER *event, const EVENT_INSTANCE_INFO *instance)
{
    const uint64_t gate = ck_pr_load_64(etwas_slot_gate(slot));
    const uint32_t payload_bytes = instance_payload_bytes(event);
    const uint32_t units =
        (uint32_t)etwas_etl_round_up_8(sizeof(struct etwas_etl_instance_header) + payload_bytes) /
        ETWAS_UNIT_BYTES;
    etwas_pair guid;

    if ((uint32_t)gate != etwas_handle_generation(handle) ||
        payload_bytes > ETWAS_QUICK_PAYLOAD_BYTES || instance->InstanceId == 0 ||
        !etwas_class_look_up(instance->RegHandle, &guid)) {
        return instance_trace_general(handle, event, instance, NULL);
    }
    if (!etwas_quick_has_room(slot, units)) {
        uint32_t code = etwas_switch_rseq(etwas_handle_attachment(handle), slot, gate, units, 0, 1);

        /* If the session has ended, the general path finds the code. */
        if (code != ERROR_SUCCESS && code != ERROR_INVALID_HANDLE) {
            return code;
        }
    }
    return trace_at(stamp, 0, slot, handle, event, instance);
}

/*
 * Returns the slot of the event's retention class. `slot` is the processor's slot without a class,
 * which has the kind.
 */
static inline __attribute__((always_inline)) struct etwas_slot *instance_slot_of_class(
    struct etwas_slot *slot, etwas_trace_handle handle, uint32_t kind,
    const EVENT_INSTANCE_HEADER *event, const EVENT_INSTANCE_INFO *instance)
{
    const struct etwas_class_attributes facts = {
        .type_and_level = etwas_class_of_event(event->Class.Type, event->Class.Level),
        .guid = etwas_class_guid_at(instance->RegHandle)};

    return etwas_kind_classes(kind) == 0
               ? slot
               : etwas_class_slot(slot, etwas_class_row(etwas_handle_index(handle), kind, &facts));
}

/* The path for all clocks and protocols except the commonest, and for sessions of other kinds. */
static __attribute__((noinline)) uint32_t instance_trace_by_kind(
    uint64_t gate, struct etwas_slot *slot, etwas_trace_handle handle,
    const EVENT_INSTANCE_HEADER *event, const EVENT_INSTANCE_INFO *instance)
{
    const uint32_t kind = etwas_slot_kind_of(slot);
    const uint32_t protocol = etwas_kind_protocol(kind);
    const bool has_times = (kind & ETWAS_KIND_ANY_TIMES) != 0;

    if ((uint32_t)gate != etwas_handle_generation(handle)) {
        return instance_trace_general(handle, event, instance, NULL);
    }
    slot = instance_slot_of_class(slot, handle, kind, event, instance);
    if (protocol == ETWAS_PROTOCOL_RSEQ) {
        const uint64_t times = has_times ? etwas_publish_times(kind) : 0;

        return trace_at(etwas_clock_now(etwas_kind_clock(kind)), times, slot, handle, event,
                        instance);
    }
    return protocol == ETWAS_PROTOCOL_SHARED && !has_times
               ? instance_trace_in_shared_slot(handle, event, instance, slot)
               : instance_trace_general(handle, event, instance, NULL);
}

uint32_t TraceEventInstance(etwas_trace_handle handle, EVENT_INSTANCE_HEADER *event,
                            EVENT_INSTANCE_INFO *instance, EVENT_INSTANCE_INFO *parent)
{
    const uint32_t tsc_by_sequence = etwas_slot_kind(ETWAS_CLOCK_KIND_TSC, ETWAS_PROTOCOL_RSEQ);
    enum etwas_quick_rseq result;
    struct etwas_slot *slot;
    uint32_t payload_bytes;
    uint32_t generation;
    uint64_t gate;
    int64_t stamp;
    uint32_t row;

    if (UNLIKELY(event == NULL) || UNLIKELY(!instance_is_quick_kind(event)) ||
        UNLIKELY(parent != NULL)) {
        return etwas_trace_instance_general(handle, event, instance, parent);
    }
    payload_bytes = instance_payload_bytes(event);
    generation = etwas_handle_generation(handle);
    if (UNLIKELY(payload_bytes > ETWAS_QUICK_PAYLOAD_BYTES) || UNLIKELY(instance == NULL) ||
        UNLIKELY(!etwas_slot_here(handle, &slot)) || UNLIKELY(generation == 0)) {
        return instance_trace_general(handle, event, instance, NULL);
    }
    gate = ck_pr_load_64(etwas_slot_gate(slot));
    if (UNLIKELY(gate != etwas_slot_gate_word(generation, tsc_by_sequence))) {
        const uint32_t kind = etwas_slot_kind_of(slot);

        if (UNLIKELY(etwas_kind_without_classes(kind) != tsc_by_sequence) ||
            UNLIKELY(kind == tsc_by_sequence) || UNLIKELY((uint32_t)gate != generation)) {
            return instance_trace_by_kind(gate, slot, handle, event, instance);
        }
        row = etwas_class_lookup(etwas_handle_index(handle),
                                 etwas_class_of_event(event->Class.Type, event->Class.Level));
        stamp = etwas_clock_now(ETWAS_CLOCK_KIND_TSC);
        if (UNLIKELY(row > etwas_kind_classes(kind))) {
            return instance_trace_by_kind(gate, slot, handle, event, instance);
        }
        slot = etwas_class_slot(slot, row);
        result = instance_trace_by_rseq(slot, handle, stamp, 0, event, payload_bytes, instance);
        if (__builtin_expect(result == ETWAS_QUICK_COMMITTED, 1)) {
            return ERROR_SUCCESS;
        }
        return result == ETWAS_QUICK_ABORTED
                   ? instance_trace_retry(handle, event, instance)
                   : instance_trace_in_next_buffer(slot, handle, stamp, event, instance);
    }
    stamp = etwas_clock_now(ETWAS_CLOCK_KIND_TSC);
    result = instance_trace_by_rseq(slot, handle, stamp, 0, event, payload_bytes, instance);
    if (UNLIKELY(result != ETWAS_QUICK_COMMITTED)) {
        return result == ETWAS_QUICK_ABORTED
                   ? instance_trace_retry(handle, event, instance)
                   : instance_trace_in_next_buffer(slot, handle, stamp, event, instance);
    }
    return ERROR_SUCCESS;
}

#else

uint32_t TraceEventInstance(etwas_trace_handle handle, EVENT_INSTANCE_HEADER *event,
                            EVENT_INSTANCE_INFO *instance, EVENT_INSTANCE_INFO *parent)
{
    return instance_trace_general(handle, event, instance, parent);
}

#endif
