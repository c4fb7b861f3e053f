/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * The shared protocol (publish_shared.c) for one writer with its own stamps. L1, X1, X2, S1 and A1
 * are as defined there. No other thread moves the slot's newest stamp or reserves, but the flusher
 * takes the buffer away at any time, and then reads both.
 */
#include "buffer/publish.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <string.h>

#include "buffer/pool.h"
#include "buffer/switch.h"
#include "etl/layout.h"

static void write_stamped_record(uint8_t *place, const struct etwas_stamped_record *record,
                                 int64_t stamp)
{
    const uint8_t *bytes = record->bytes;
    uint32_t marker;

    memcpy(place + sizeof marker, bytes + sizeof marker, record->size - sizeof marker);
    memcpy(place + record->stamp_at, &stamp, sizeof stamp);
    memcpy(&marker, bytes, sizeof marker);
    ck_pr_fence_release();
    ck_pr_store_32((uint32_t *)(void *)place, marker); /* S1 */
}

uint32_t etwas_publish_stamped(const struct etwas_attachment *attachment, uint32_t index,
                               uint32_t gate, const struct etwas_stamped_record *record)
{
    uint32_t rounded = (uint32_t)etwas_etl_round_up_8(record->size);
    uint32_t units = rounded / ETWAS_UNIT_BYTES;
    struct etwas_slot *slot = &attachment->slots[index];

    for (;;) {
        uint64_t word = ck_pr_load_64(&slot->word); /* L1 */
        uint32_t buffer;
        uint32_t first = etwas_word_units(word);
        uint64_t newest;
        uint32_t limit;
        uint8_t *place;

        ck_pr_fence_acquire();
        if (ck_pr_load_32(&slot->gate) != gate) {
            return ERROR_INVALID_HANDLE;
        }
        limit = etwas_slot_limit_units(slot);
        buffer = etwas_slot_buffer(slot, word);
        if (first + units > limit) {
            uint32_t result = etwas_switch_shared(attachment, slot, gate, units, 0, 1);

            if (result == ERROR_MORE_DATA &&
                !etwas_refuse_shared(attachment, slot, gate, ETWAS_SLOT_TOO_LARGE, 1)) {
                return ERROR_INVALID_HANDLE;
            }
            if (result != ERROR_SUCCESS) {
                return result;
            }
            continue;
        }
        newest = ck_pr_load_64(&slot->newest);
        if (record->stamp > (int64_t)newest) {
            (void)ck_pr_cas_64(&slot->newest, newest, (uint64_t)record->stamp); /* X1 */
            newest = (uint64_t)record->stamp;
        }
        place = etwas_slot_region(slot) + ((size_t)buffer * limit + first) * ETWAS_UNIT_BYTES;
        if (ck_pr_cas_64(&slot->word, word, word + units)) { /* X2 */
            struct etwas_buffer_control *buffers = ck_pr_load_ptr(&attachment->buffers);

            write_stamped_record(place, record, (int64_t)newest);
            if (record->recorded_stamp != NULL) {
                *record->recorded_stamp = (int64_t)newest;
            }
            return etwas_commit_records(&buffers[buffer].commit, 1, rounded); /* A1 */
        }
    }
}
