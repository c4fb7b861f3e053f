/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/slot.h"

#include <ck_pr.h>
#include <sys/mman.h>

#include "etl/layout.h"
#include "platform/memory.h"
#include "platform/processor.h"

_Static_assert(ETWAS_MOST_PROCESSORS == ETWAS_ETL_PROCESSOR_INDEX_MASK,
               "also the extra slot's index, behind those of the processors, is told on disk");

struct etwas_attachments etwas_attachments;
uint32_t etwas_slot_count;
size_t etwas_slot_class_row_bytes;

/* Closed slots, which belong to no session. */
static struct etwas_slot *closed;

/* Allocates the closed slots, with their process-local data before them, all zeroes. */
static struct etwas_slot *slots_keep_closed(void)
{
    size_t bytes = ETWAS_CLASS_ROWS * ((size_t)etwas_slot_count + 1) * sizeof *closed;
    char *start = etwas_memory_allocate_permanent(ETWAS_SLOT_LOCAL_BYTES + bytes);

    return start != NULL ? (struct etwas_slot *)(void *)(start + ETWAS_SLOT_LOCAL_BYTES) : NULL;
}

void etwas_slots_forget(void)
{
    for (uint32_t index = 0; index < ETWAS_ATTACHMENTS; index++) {
        struct etwas_attachment *attachment = &etwas_attachments.of[index];

        ck_pr_store_32(&attachment->slot_count, 0);
        ck_pr_store_32(&attachment->extra, etwas_slot_count);
        ck_pr_store_ptr(&attachment->slots, closed);
        ck_pr_store_ptr(&attachment->pool, NULL);
    }
}

bool etwas_slots_prepare(void)
{
    if (etwas_slots_are_attached()) {
        return true;
    }
    if (closed == NULL) {
        etwas_processor_prepare();
        etwas_slot_count = etwas_processor_count();
        etwas_slot_class_row_bytes = etwas_slot_count * sizeof(struct etwas_slot);
        closed = slots_keep_closed();
    }
    if (closed == NULL) {
        return false;
    }
    etwas_slots_forget();
    /* If the kernel cannot do it, the fork handler does. */
    if (etwas_memory_page_bytes() <= ETWAS_LARGEST_PAGE_BYTES) {
        (void)madvise(&etwas_attachments, sizeof etwas_attachments, MADV_WIPEONFORK);
    }
    /*
     * Released: a thread that sees a nonzero count sees slots. The first one's is stored last: it
     * stands for all. Pairs with etwas_slots_are_attached and with handle.h.
     */
    ck_pr_fence_release();
    for (uint32_t index = ETWAS_ATTACHMENTS; index > 0; index--) {
        ck_pr_store_32(&etwas_attachments.of[index - 1].slot_count, etwas_slot_count);
    }
    return true;
}
