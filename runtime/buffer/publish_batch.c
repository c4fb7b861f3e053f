/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/publish_batch.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdbool.h>
#include <string.h>

#include "buffer/record_walk.h"
#include "buffer/switch.h"
#include "clock/clock.h"
#include "platform/processor.h"

#if ETWAS_RSEQ

/*
 * Reads a stamp that is not older than the slot's newest. Returns false if the system time was set
 * back.
 */
static bool batch_take_stamp(const struct etwas_slot *slot, int64_t *stamp)
{
    const uint32_t clock = etwas_kind_clock(etwas_slot_kind_of(slot));
    const int64_t newest = (int64_t)ck_pr_load_64(&slot->newest);

    *stamp = etwas_clock_now(clock);
    if (*stamp >= newest) {
        return true;
    }
    *stamp = newest;
    return clock != ETWAS_CLOCK_KIND_SYSTEM;
}

static void image_store_stamp(struct etwas_batch_image *image, int64_t stamp)
{
    uint8_t *record = image->data;

    for (uint32_t index = 0; index < image->records; index++) {
        memcpy(record + offsetof(struct etwas_etl_full_header, time_stamp), &stamp, sizeof stamp);
        record +=
            (size_t)etwas_record_units(record, etwas_record_marker(record)) * ETWAS_UNIT_BYTES;
    }
}

uint32_t etwas_publish_image(uint32_t session, uint32_t generation, uint32_t first,
                             struct etwas_batch_image *image)
{
    const uint32_t units = image->bytes / ETWAS_UNIT_BYTES;

    for (int attempt = 0; attempt < ETWAS_MAXIMUM_ATTEMPTS; attempt++) {
        uint32_t processor = etwas_processor_of_rseq();
        enum etwas_quick_rseq result;
        struct etwas_slot *slot;
        uint64_t gate;
        int64_t stamp;

        if (processor >= etwas_slot_count) {
            return ETWAS_PUBLISH_FALLBACK;
        }
        slot = etwas_slot_of(session, first + processor);
        gate = ck_pr_load_64(etwas_slot_gate(slot));
        if ((uint32_t)gate != generation) {
            return ETWAS_PUBLISH_FALLBACK;
        }
        ck_pr_fence_acquire();
        if (etwas_word_units(ck_pr_load_64(&slot->word)) + units > etwas_slot_limit_units(slot)) {
            uint32_t code = etwas_switch_rseq(etwas_attachment_of(session), slot, gate, units, 0,
                                              image->records);

            if (code != ERROR_SUCCESS) {
                return code;
            }
            continue;
        }
        if (!batch_take_stamp(slot, &stamp)) {
            return ETWAS_PUBLISH_FALLBACK;
        }
        image_store_stamp(image, stamp);
        result = etwas_quick_image(slot, generation, stamp, image);
        if (result == ETWAS_QUICK_COMMITTED) {
            return ERROR_SUCCESS;
        }
        if (result == ETWAS_QUICK_ABORTED) {
            etwas_slot_count_restart(slot);
        }
    }
    return ETWAS_PUBLISH_FALLBACK;
}

/* Appends a record without its stamp. The caller has checked that there is room. */
static void image_append(struct etwas_batch_image *image, const struct etwas_record_batch *batch,
                         const struct etwas_unstamped_record *record)
{
    static const uint64_t zeroes;
    uint8_t *start = image->data + image->bytes;
    uint8_t *next = start + record->header_bytes;
    uint32_t left = record->bytes - record->header_bytes;

    image->bytes += (uint32_t)etwas_etl_round_up_8(record->bytes);
    memcpy(image->data + image->bytes - sizeof zeroes, &zeroes, sizeof zeroes);
    memcpy(start, record->header, record->header_bytes);
    if (batch->has_times) {
        memcpy(start + etwas_record_times_at(record), &batch->times, sizeof batch->times);
    }
    for (uint32_t index = 0; index < record->field_count; index++) {
        uint32_t bytes = etwas_record_field_bytes(&record->fields[index], left);

        if (bytes != 0) {
            memcpy(next, (const void *)(uintptr_t)record->fields[index].DataPtr, bytes);
            next += bytes;
            left -= bytes;
        }
    }
    memset(next, 0, left);
}

uint32_t etwas_publish_batch_rseq(uint32_t session, uint32_t generation, uint32_t first,
                                  const struct etwas_unstamped_record *record)
{
    struct etwas_record_batch *batch = record->batch;
    const uint64_t bytes = (uint64_t)batch->units * ETWAS_UNIT_BYTES;
    struct etwas_batch_image image;

    if (bytes < ETWAS_QUICK_BLOCK_BYTES || bytes > ETWAS_BATCH_IMAGE_BYTES) {
        return ETWAS_PUBLISH_FALLBACK;
    }
    image.bytes = 0;
    image.records = batch->records;
    for (uint32_t index = 0; index < batch->records; index++) {
        image_append(&image, batch, batch->build(batch, index));
    }
    return etwas_publish_image(session, generation, first, &image);
}

#else

uint32_t etwas_publish_batch_rseq(uint32_t session, uint32_t generation, uint32_t first,
                                  const struct etwas_unstamped_record *record)
{
    (void)session;
    (void)generation;
    (void)first;
    (void)record;
    return ETWAS_PUBLISH_FALLBACK;
}

#endif
