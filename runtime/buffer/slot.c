/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/slot.h"

#include <ck_pr.h>
#include <sys/mman.h>

#include "platform/processor.h"

struct etwas_slot *etwas_slot_table;
uint32_t etwas_slot_count;

bool etwas_slots_prepare(void)
{
    size_t bytes;
    void *table;

    if (etwas_slot_table != NULL) {
        return true;
    }
    etwas_processor_prepare();
    etwas_slot_count = etwas_processor_count();
    bytes = (size_t)ETWAS_SESSIONS * etwas_slot_count * sizeof(struct etwas_slot);
    table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED) {
        return false;
    }
    /*
     * A fork's child finds every gate closed. Where the kernel cannot do it, the fork handler does.
     */
    (void)madvise(table, bytes, MADV_WIPEONFORK);
    /*
     * Released: who sees the table sees the counts it is indexed with. Pairs with the load in
     * publish.
     */
    ck_pr_fence_release();
    ck_pr_store_ptr(&etwas_slot_table, table);
    return true;
}
