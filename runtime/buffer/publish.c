/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* Selects the slot, and with it the protocol, for a record. */
#include "buffer/publish.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/publish_batch.h"
#include "buffer/retention_class.h"
#include "buffer/unattached.h"
#include "platform/processor.h"
#include "platform/thread.h"

enum {
    TICK_US = ETWAS_ETL_TIMES_TICK_100NS / 10
};

/*
 * R63: Size < BufferSize - 72, strictly, whatever the record takes on disk. A limit read while the
 * session ends may be another session's; then the gate decides.
 */
static bool publish_fits_stated_limit(const struct etwas_slot *slot, uint32_t given_bytes)
{
    uint32_t limit_bytes = etwas_slot_limit_units(slot) * ETWAS_UNIT_BYTES;

    return given_bytes < limit_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES;
}

/*
 * Returns the processor's slot 0 of a session, or its only one; NULL: it does not run. *kind is
 * read from the slot's process-local data. If the session ends meanwhile, and the data are another
 * session's, the gate of the selected slot shows it.
 */
static struct etwas_slot *publish_open_slot(uint32_t session, uint32_t generation, uint32_t *kind)
{
    struct etwas_slot *slot;

    if (!etwas_slots_are_attached()) {
        return NULL;
    }
    slot = etwas_slot_of(session, 0);
    if (__builtin_expect(ck_pr_load_32(&slot->gate) == generation, 1)) {
        /* its process-local data: pairs with the release before the gate was opened */
        ck_pr_fence_acquire();
        *kind = etwas_slot_kind_of(slot);
        return slot;
    }
    slot = etwas_slot_of(session, etwas_slot_count);
    if (ck_pr_load_32(&slot->gate) != generation) {
        return NULL;
    }
    ck_pr_fence_acquire(); /* likewise */
    *kind = etwas_slot_kind_of(slot);
    if ((*kind & ETWAS_KIND_ONE_SLOT) == 0) {
        *kind = etwas_slot_kind_of(etwas_slot_of(session, 0)); /* its slot 0 is quarantined */
    }
    return slot;
}

/*
 * Whether records that no sequence takes go to the extra slot; otherwise they go to the
 * processor's.
 */
static bool publish_takes_extra_slot(uint32_t kind)
{
    return etwas_kind_protocol(kind) == ETWAS_PROTOCOL_RSEQ || (kind & ETWAS_KIND_ONE_SLOT) != 0;
}

__attribute__((noinline)) uint64_t etwas_publish_times(uint32_t kind)
{
    struct etwas_thread_times times = etwas_thread_times();
    uint64_t user = times.user_us / TICK_US;

    return (kind & ETWAS_KIND_PROCESSOR_TIME) != 0
               ? user
               : user << 32 | (uint32_t)(times.kernel_us / TICK_US);
}

static __attribute__((noinline)) void publish_fill_times(
    const struct etwas_unstamped_record *record, uint32_t kind)
{
    uint64_t times = etwas_publish_times(kind);

    if (record->batch != NULL) {
        record->batch->has_times = true;
        record->batch->times = times;
    } else if (etwas_record_is_event(record)) {
        record->event->kernel_time = (uint32_t)times;
        record->event->user_time = (uint32_t)(times >> 32);
    } else {
        record->header->full.kernel_time = (uint32_t)times;
        record->header->full.user_time = (uint32_t)(times >> 32);
    }
}

/* Returns the slot for a record that no sequence takes. */
static inline __attribute__((always_inline)) struct etwas_slot *publish_shared_slot(
    uint32_t session, uint32_t kind, uint32_t row)
{
    uint32_t index = row * etwas_slot_count;

    if (publish_takes_extra_slot(kind)) {
        uint32_t rows = (kind & ETWAS_KIND_ONE_SLOT) != 0 ? 1 : etwas_kind_class_rows(kind);

        index = ck_pr_load_32(&etwas_attachment_of(session)->extra) +
                (rows - 1) * etwas_slot_count + row;
        return etwas_slot_of(session, index);
    }
    return etwas_slot_folded(session, etwas_processor_current()) + index;
}

/* Messages have at most a GUID. */
static void publish_message_attributes(struct etwas_class_attributes *attributes,
                                       const struct etwas_unstamped_record *record)
{
    const uint8_t *bytes = (const uint8_t *)record->header;
    struct etwas_etl_message_header header;

    memcpy(&header, bytes, sizeof header);
    attributes->type_and_level = ETWAS_CLASS_MESSAGE;
    if ((header.option_flags & TRACE_MESSAGE_GUID) != 0) {
        attributes->guid =
            bytes + sizeof header +
            ((header.option_flags & TRACE_MESSAGE_SEQUENCE) != 0 ? sizeof(uint32_t) : 0);
    }
}

/* Returns the row of slots of the record's retention class. `kind` is the session's. */
static __attribute__((noinline)) uint32_t publish_find_class_row(
    uint32_t kind, const struct etwas_unstamped_record *record)
{
    static const etwas_guid no_guid;
    struct etwas_class_attributes attributes = {.guid = &no_guid};

    if (etwas_record_is_message(record)) {
        publish_message_attributes(&attributes, record);
    } else if (etwas_record_is_event(record)) {
        attributes.type_and_level =
            etwas_class_of_event(record->event->opcode, record->event->level);
        attributes.keywords = record->event->keyword;
        attributes.guid = &record->event->provider_id;
    } else {
        attributes.type_and_level =
            etwas_class_of_event(record->header->full.type, record->header->full.level);
        attributes.guid = &record->header->full.guid;
    }
    return etwas_class_row(etwas_kind_table(kind), kind, &attributes);
}

static inline uint32_t publish_class_row(uint32_t kind, const struct etwas_unstamped_record *record)
{
    return __builtin_expect(etwas_kind_classes(kind) != 0, 0) ? publish_find_class_row(kind, record)
                                                              : 0;
}

static inline __attribute__((always_inline)) uint32_t publish_in_row(
    uint32_t kind, uint32_t session, uint32_t generation, uint32_t row,
    const struct etwas_unstamped_record *record)
{
    if (etwas_kind_protocol(kind) == ETWAS_PROTOCOL_RSEQ) {
        uint32_t result =
            __builtin_expect(record->batch != NULL, 0)
                ? etwas_publish_batch_rseq(session, generation, row * etwas_slot_count, record)
                : etwas_publish_rseq(session, generation, row * etwas_slot_count, record);

        if (result != ETWAS_PUBLISH_FALLBACK) {
            return result;
        }
    }
    return etwas_publish_shared(etwas_attachment_of(session),
                                publish_shared_slot(session, kind, row), generation, record);
}

static __attribute__((noinline)) uint32_t publish_in_class(
    uint32_t kind, uint32_t session, uint32_t generation,
    const struct etwas_unstamped_record *record)
{
    return publish_in_row(kind, session, generation, publish_find_class_row(kind, record), record);
}

/*
 * Publishes into an open session. ERROR_MORE_DATA: the record does not fit, and is not counted yet.
 */
static inline __attribute__((always_inline)) uint32_t publish_open(
    const struct etwas_slot *open, uint32_t kind, uint32_t session, uint32_t generation,
    uint32_t given_bytes, const struct etwas_unstamped_record *record)
{
    if (__builtin_expect(!publish_fits_stated_limit(open, given_bytes), 0)) {
        return ck_pr_load_32(&open->gate) != generation ? ERROR_INVALID_HANDLE : ERROR_MORE_DATA;
    }
    /* A message has no room for times. */
    if (__builtin_expect((kind & ETWAS_KIND_ANY_TIMES) != 0, 0) &&
        !etwas_record_is_message(record)) {
        publish_fill_times(record, kind);
    }
    /* Without classes the row is a constant. */
    return __builtin_expect(etwas_kind_classes(kind) != 0, 0)
               ? publish_in_class(kind, session, generation, record)
               : publish_in_row(kind, session, generation, 0, record);
}

static __attribute__((noinline, cold)) bool publish_refuse_open(
    uint32_t kind, uint32_t session, uint32_t generation, enum etwas_slot_loss cause,
    const struct etwas_unstamped_record *record)
{
    uint32_t row = publish_class_row(kind, record);
    uint32_t events = etwas_record_count(record);

    return (etwas_kind_protocol(kind) == ETWAS_PROTOCOL_RSEQ &&
            etwas_refuse_rseq(session, generation, row * etwas_slot_count, cause, events)) ||
           etwas_refuse_shared(etwas_attachment_of(session),
                               publish_shared_slot(session, kind, row), generation, cause, events);
}

bool etwas_publish_refuse(uint32_t session, uint32_t generation, enum etwas_slot_loss cause,
                          const struct etwas_unstamped_record *record)
{
    uint32_t kind;

    return (publish_open_slot(session, generation, &kind) != NULL &&
            publish_refuse_open(kind, session, generation, cause, record)) ||
           etwas_unattached_count(session, generation, etwas_record_count(record));
}

/*
 * Handles records that no open session has accepted. The record is too large, or no gate is open,
 * because this process is not attached to the session, or the session does not run. The gate may
 * open and close meanwhile, so each turn reads both.
 */
static __attribute__((noinline, cold)) uint32_t publish_otherwise(
    uint32_t code, uint32_t session, uint32_t generation, uint32_t given_bytes,
    const struct etwas_unstamped_record *record)
{
    for (int turn = 0; code == ERROR_INVALID_HANDLE; turn++) {
        const struct etwas_slot *open;
        uint32_t kind;

        if (etwas_unattached_count(session, generation, etwas_record_count(record))) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        open = publish_open_slot(session, generation, &kind);
        if (open == NULL) {
            return ERROR_INVALID_HANDLE;
        }
        if (turn == ETWAS_MAXIMUM_ATTEMPTS) {
            return publish_refuse_open(kind, session, generation, ETWAS_SLOT_NO_BUFFER, record) ||
                           etwas_unattached_count_unresolved(session, etwas_record_count(record))
                       ? ERROR_NOT_ENOUGH_MEMORY
                       : ERROR_INVALID_HANDLE;
        }
        code = publish_open(open, kind, session, generation, given_bytes, record);
    }
    if (code == ERROR_MORE_DATA &&
        !etwas_publish_refuse(session, generation, ETWAS_SLOT_TOO_LARGE, record)) {
        return ERROR_INVALID_HANDLE;
    }
    return code;
}

uint32_t etwas_publish(uint32_t session, uint32_t generation, uint32_t given_bytes,
                       const struct etwas_unstamped_record *record)
{
    uint32_t code = ERROR_INVALID_HANDLE;
    const struct etwas_slot *open;
    uint32_t kind;

    open = publish_open_slot(session, generation, &kind);
    if (__builtin_expect(open != NULL, 1)) {
        code = publish_open(open, kind, session, generation, given_bytes, record);
    }
    return __builtin_expect(code == ERROR_SUCCESS, 1)
               ? code
               : publish_otherwise(code, session, generation, given_bytes, record);
}

bool etwas_publish_has_room(uint32_t session, uint32_t generation,
                            const struct etwas_unstamped_record *record)
{
    uint32_t units = etwas_record_room_units(record);
    const struct etwas_slot *slot;
    uint32_t processor;
    uint32_t kind;
    uint32_t row;

    if (publish_open_slot(session, generation, &kind) == NULL) {
        return false;
    }
    row = publish_class_row(kind, record);
    processor = etwas_processor_of_rseq();
    slot = etwas_kind_protocol(kind) == ETWAS_PROTOCOL_RSEQ && processor < etwas_slot_count
               ? etwas_slot_of(session, row * etwas_slot_count + processor)
               : publish_shared_slot(session, kind, row);
    return etwas_word_units(ck_pr_load_64(&slot->word)) + units <= etwas_slot_limit_units(slot);
}

uint32_t etwas_publish_check(uint32_t session, uint32_t generation, uint32_t given_bytes,
                             const struct etwas_unstamped_record *record)
{
    uint32_t units = etwas_record_room_units(record);
    const struct etwas_slot *open;
    uint32_t kind;
    bool fits;

    open = publish_open_slot(session, generation, &kind);
    if (open == NULL) {
        return ERROR_INVALID_HANDLE;
    }
    fits = publish_fits_stated_limit(open, given_bytes) &&
           units <= etwas_slot_limit_units(open) - ETWAS_FIRST_UNIT;
    /* The gate is read once more: if it is unchanged, the limit was this session's. */
    ck_pr_fence_acquire();
    if (ck_pr_load_32(&open->gate) != generation) {
        return ERROR_INVALID_HANDLE;
    }
    return fits ? ERROR_SUCCESS : ERROR_MORE_DATA;
}
