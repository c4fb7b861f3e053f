/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * The protocol of rseq slots: one sequence builds a record in its place and commits it with one
 * store. The code here handles every record. quick_rseq.h has the same sequence, made of fewer
 * instructions, which is tried first.
 *
 *     PUBLISH   p ← processor; unregistered → FALLBACK
 *               gate ≠ generation → FALLBACK
 *               w ← slot.word; no room → switch_rseq, again
 *               n ← slot.newest; t ← clock; t < n → restamp, clamp or another buffer
 *               [gate, word = w, newest = n;  record at w's place;  newest ← t;
 *                commit: word ← w + {1 record, 0, units}]             else again
 *
 * The part in brackets is one sequence on p (platform/rseq.h, which numbers its abort and exit
 * points). It is aborted by preemption, migration and signals, and by stop's fence. So nothing else
 * of p happens between its checks and its commit: no other record gets the place, and the buffer
 * does not change hands. The bytes that an aborted one has written lie beyond the committed ones,
 * where no thread reads. It may have raised `newest`, to a time that has been.
 *
 * The clock is read before the sequence: some clocks are a call. Another record of p may get a
 * later stamp meanwhile; `newest` shows that, and the stamp is taken again. So stamps do not
 * decrease in a buffer (I2).
 *
 * The commit is a release: a thread that acquires the word sees the records it counts (I1). No
 * other thread writes the word while the gate is open. The thread that stops the session closes the
 * gate and then fences: afterwards no sequence commits, and the region may be freed.
 *
 * Progress: a sequence fails only when p did something else meanwhile. A writer that is interrupted
 * ETWAS_MAXIMUM_ATTEMPTS times in a row, under a storm of signals or a debugger's single steps,
 * gives its event to the session's extra slot, where an interruption costs nothing.
 *
 * Records of any size go this way, in one sequence. The largest, 64 KB, is copied in 1.5
 * microseconds from and to a cache and in 4.5 from and to memory (Zen 4). Only a signal every few
 * microseconds, more than a thread can take, could keep it from its commit. Only a message above
 * SMALL_BYTES with more than MAX_MOF_FIELDS arguments has more pieces than a sequence copies; it
 * goes to the extra slot, so that events need no more stack. So does one whose fields another
 * thread made shorter meanwhile: there nothing old lies between them and the record's end.
 */
#include "buffer/pool_count.h"
#include "buffer/publish.h"

#include <ck_pr.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/pool.h"
#include "buffer/switch.h"
#include "clock/clock.h"
#include "platform/processor.h"
#include "platform/rseq.h"

#if ETWAS_RSEQ

enum {
    MOST_COPIES = 3 + MAX_MOF_FIELDS, /* zeroes, header, fields, newest stamp */
    /*
     * Up to this size a record is assembled on the stack and copied in one piece: fewer, and more
     * predictable, branches in the sequence are worth copying twice.
     */
    SMALL_BYTES = 512,
};

enum attempt_result {
    ATTEMPT_COMMITTED,
    ATTEMPT_RETRY,
    ATTEMPT_OTHER_BUFFER, /* the system time was set back */
    ATTEMPT_FALLBACK,     /* the fields do not fill the record */
};

/*
 * Takes a stamp not older than `newest`. If the system time was set back the buffer ends, since
 * stamps must not decrease inside one; an empty buffer begins at the earlier time.
 */
static bool publish_take_stamp(uint32_t clock, uint64_t word, int64_t newest, int64_t *stamp)
{
    *stamp = etwas_clock_now(clock);
    if (__builtin_expect(*stamp >= newest, 1)) {
        return true;
    }
    *stamp = etwas_clock_now(clock);
    if (*stamp >= newest) {
        return true;
    }
    if (clock == ETWAS_CLOCK_KIND_SYSTEM) {
        return etwas_word_units(word) == ETWAS_FIRST_UNIT;
    }
    *stamp = newest;
    return true;
}

static inline void publish_store_stamp(uint8_t *header, const struct etwas_unstamped_record *record,
                                       int64_t stamp)
{
    uint32_t at = etwas_record_stamp_at(record);

    if (at != 0) {
        memcpy(header + at, &stamp, sizeof stamp);
    }
}

/*
 * Lists the pieces of a record, in the order of their places. Returns 0 if the fields do not fill
 * it.
 */
static uint64_t publish_list_copies(struct etwas_rseq_copy *copies, uint8_t *place,
                                    const void *header, const struct etwas_unstamped_record *record)
{
    static const uint64_t zeroes;
    uint32_t left = record->bytes - record->header_bytes;
    uint64_t count = 2;

    /* The gap after a record that ends inside a unit. */
    copies[0] = (struct etwas_rseq_copy){
        place + etwas_etl_round_up_8(record->bytes) - sizeof zeroes, &zeroes, sizeof zeroes};
    copies[1] = (struct etwas_rseq_copy){place, header, record->header_bytes};
    place += record->header_bytes;
    for (uint32_t index = 0; index < record->field_count; index++) {
        const MOF_FIELD *field = &record->fields[index];
        uint32_t bytes = etwas_record_field_bytes(field, left);

        if (bytes != 0) {
            copies[count++] =
                (struct etwas_rseq_copy){place, (const void *)(uintptr_t)field->DataPtr, bytes};
            place += bytes;
            left -= bytes;
        }
    }
    return left == 0 ? count : 0;
}

/* Assembles the whole record, with its gap, in one piece. */
static void publish_assemble(uint8_t image[SMALL_BYTES],
                             const struct etwas_unstamped_record *record, int64_t stamp)
{
    static const uint64_t zeroes;
    uint32_t left = record->bytes - record->header_bytes;
    uint8_t *next = image + record->header_bytes;

    memcpy(image + etwas_etl_round_up_8(record->bytes) - sizeof zeroes, &zeroes, sizeof zeroes);
    if (__builtin_expect(etwas_record_is_message(record), 0)) {
        memcpy(image, record->header, record->header_bytes);
    } else {
        /* Constant sizes: plain moves. */
        memcpy(image, record->header, sizeof record->header->full);
        if (record->header_bytes == sizeof *record->header) {
            memcpy(image + sizeof record->header->full,
                   (const uint8_t *)record->header + sizeof record->header->full,
                   sizeof *record->header - sizeof record->header->full);
        } else if (etwas_record_is_event(record)) {
            memcpy(image + sizeof record->header->full,
                   (const uint8_t *)record->event + sizeof record->header->full,
                   sizeof *record->event - sizeof record->header->full);
        }
    }
    publish_store_stamp(image, record, stamp);
    for (uint32_t index = 0; index < record->field_count; index++) {
        const MOF_FIELD *field = &record->fields[index];
        uint32_t bytes = etwas_record_field_bytes(field, left);

        if (bytes != 0) {
            memcpy(next, (const void *)(uintptr_t)field->DataPtr, bytes);
            next += bytes;
            left -= bytes;
        }
    }
    memset(next, 0, left);
}

static enum attempt_result publish_attempt(struct etwas_slot *slot, uint32_t processor,
                                           uint64_t gate, uint64_t word,
                                           const struct etwas_unstamped_record *record)
{
    uint64_t newest = ck_pr_load_64(&slot->newest);
    uint32_t limit = etwas_slot_limit_units(slot);
    uint8_t *place =
        etwas_slot_region(slot) +
        ((size_t)etwas_slot_buffer(slot, word) * limit + etwas_word_units(word)) * ETWAS_UNIT_BYTES;
    uint32_t units = (uint32_t)etwas_etl_round_up_8(record->bytes) / ETWAS_UNIT_BYTES;
    struct etwas_rseq_copy copies[MOST_COPIES];
    struct etwas_etl_event_header header; /* the longest header */
    uint64_t image[SMALL_BYTES / sizeof(uint64_t)];
    int64_t stamp;
    const struct etwas_rseq_check checks[] = {
        {etwas_slot_gate(slot), gate},
        {&slot->word, word},
        {&slot->newest, newest},
    };
    struct etwas_rseq_sequence sequence = {
        .checks = checks,
        .check_count = sizeof checks / sizeof checks[0],
        .copies = copies,
        .target = &slot->word,
        .value = word + etwas_word_record(units),
        .processor = processor,
    };
    enum etwas_rseq_result result;

    if (!publish_take_stamp(etwas_kind_clock(etwas_slot_kind_of(slot)), word, (int64_t)newest,
                            &stamp)) {
        return ATTEMPT_OTHER_BUFFER;
    }
    if (record->bytes <= SMALL_BYTES) {
        publish_assemble((uint8_t *)image, record, stamp);
        copies[0] = (struct etwas_rseq_copy){place, image, (uint64_t)units * ETWAS_UNIT_BYTES};
        sequence.copy_count = 1;
    } else {
        memcpy(&header, record->header, record->header_bytes);
        publish_store_stamp((uint8_t *)&header, record, stamp);
        sequence.copy_count = publish_list_copies(copies, place, &header, record);
        if (sequence.copy_count == 0) {
            return ATTEMPT_FALLBACK;
        }
    }
    copies[sequence.copy_count++] = (struct etwas_rseq_copy){&slot->newest, &stamp, sizeof stamp};
    result = etwas_rseq_run(&sequence);
    if (result == ETWAS_RSEQ_ABORTED) {
        etwas_slot_count_restart(slot);
    }
    return result == ETWAS_RSEQ_COMMITTED ? ATTEMPT_COMMITTED : ATTEMPT_RETRY;
}

uint32_t etwas_publish_rseq(uint32_t session, uint32_t generation, uint32_t first,
                            const struct etwas_unstamped_record *record)
{
    uint32_t units = (uint32_t)etwas_etl_round_up_8(record->bytes) / ETWAS_UNIT_BYTES;
    const struct etwas_attachment *attachment = etwas_attachment_of(session);
    uint64_t close_word = 0;

    if (__builtin_expect(record->field_count > MAX_MOF_FIELDS, 0) && record->bytes > SMALL_BYTES) {
        return ETWAS_PUBLISH_FALLBACK;
    }
    for (int attempt = 0; attempt < ETWAS_MAXIMUM_ATTEMPTS; attempt++) {
        uint32_t processor = etwas_processor_of_rseq();
        struct etwas_slot *slot;
        uint64_t gate;
        uint64_t word;

        if (processor >= etwas_slot_count) {
            return ETWAS_PUBLISH_FALLBACK;
        }
        slot = etwas_slot_of(session, first + processor);
        gate = ck_pr_load_64(etwas_slot_gate(slot));
        if ((uint32_t)gate != generation) {
            /* The session has ended, or its host has quarantined the slot. */
            return ETWAS_PUBLISH_FALLBACK;
        }
        ck_pr_fence_acquire();
        word = ck_pr_load_64(&slot->word);
        ck_pr_fence_acquire();
        if (etwas_word_units(word) + units > etwas_slot_limit_units(slot) || word == close_word) {
            uint32_t result = etwas_switch_rseq(attachment, slot, gate, units, close_word, 1);

            if (result != ERROR_SUCCESS) {
                return result;
            }
            continue;
        }
        switch (publish_attempt(slot, processor, gate, word, record)) {
        case ATTEMPT_COMMITTED:
            return ERROR_SUCCESS;
        case ATTEMPT_OTHER_BUFFER:
            close_word = word;
            break;
        case ATTEMPT_FALLBACK:
            return ETWAS_PUBLISH_FALLBACK;
        case ATTEMPT_RETRY:
            break;
        }
    }
    return ETWAS_PUBLISH_FALLBACK;
}

#else

uint32_t etwas_publish_rseq(uint32_t session, uint32_t generation, uint32_t first,
                            const struct etwas_unstamped_record *record)
{
    (void)session;
    (void)generation;
    (void)first;
    (void)record;
    return ETWAS_PUBLISH_FALLBACK;
}

#endif
