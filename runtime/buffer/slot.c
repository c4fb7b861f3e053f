/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/slot.h"

#include <ck_pr.h>
#include <sys/mman.h>

#include "etl/layout.h"
#include "platform/processor.h"

_Static_assert(ETWAS_MOST_PROCESSORS == ETWAS_ETL_PROCESSOR_INDEX_MASK,
               "also the extra slot's index, behind those of the processors, is told on disk");

struct etwas_slot *etwas_slot_table;
uint32_t etwas_slot_count;

bool etwas_slots_prepare(void)
{
    uint32_t count = etwas_processor_count();
    size_t bytes = ((size_t)count + 1) * ETWAS_SLOTS_A_ROW * sizeof(struct etwas_slot);
    void *table;

    if (etwas_slot_table != NULL) {
        return true;
    }
    etwas_processor_prepare();
    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) {
        return false;
    }
    /*
     * A fork's child finds every gate closed. Where the kernel cannot do it, the fork handler does.
     */
    (void)madvise(table, bytes, MADV_WIPEONFORK);
    ck_pr_store_ptr(&etwas_slot_table, table);
    /*
     * Released: who sees a count that is not 0 sees the table. Pairs with the loads in publish.c,
     * quick_shared.h and handle.h.
     */
    ck_pr_fence_release();
    ck_pr_store_32(&etwas_slot_count, count);
    return true;
}
