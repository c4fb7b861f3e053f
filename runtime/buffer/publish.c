/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which slot, and with it which protocol, takes a record.
 */
#include "buffer/publish.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdbool.h>

#include "platform/processor.h"

/*
 * R63: Size < BufferSize - 72, strictly, whatever the record takes on disk. A limit read while the
 * session ends may be another session's; then the gate decides.
 */
static bool fits_stated_limit(const struct etwas_slot *slot, uint32_t given_bytes)
{
    uint32_t limit_bytes = ck_pr_load_32(&slot->limit_units) * ETWAS_UNIT_BYTES;

    return given_bytes < limit_bytes - ETWAS_ETL_BUFFER_HEADER_BYTES;
}

uint32_t etwas_publish(uint32_t session, uint32_t generation, uint32_t given_bytes,
                       const struct etwas_record *record)
{
    struct etwas_slot *slot;

    /* 0 until the first session starts. Pairs with the release in etwas_slots_prepare. */
    if (ck_pr_load_32(&etwas_slot_count) == 0) {
        return ERROR_INVALID_HANDLE;
    }
    ck_pr_fence_acquire();
    slot = etwas_slot_of(session, 0);
    if (ck_pr_load_32(&slot->gate) != generation) {
        return ERROR_INVALID_HANDLE;
    }
    if (!fits_stated_limit(slot, given_bytes)) {
        return ck_pr_load_32(&slot->gate) != generation ? ERROR_INVALID_HANDLE : ERROR_MORE_DATA;
    }
    if (etwas_kind_protocol(ck_pr_load_32(&slot->kind)) == ETWAS_PROTOCOL_RSEQ) {
        uint32_t result = etwas_publish_sequence(session, generation, record);

        return result != ETWAS_PUBLISH_ELSEWHERE
                   ? result
                   : etwas_publish_shared(etwas_slot_of(session, etwas_slot_count), generation,
                                          record);
    }
    return etwas_publish_shared(etwas_slot_folded(session, etwas_processor_current()), generation,
                                record);
}
