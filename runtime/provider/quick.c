/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/quick.h"

#if ETWAS_QUICK_RSEQ

bool etwas_quick_settle(enum etwas_quick_rseq result, struct etwas_slot *slot, uint64_t gate,
                        uint32_t units, uint32_t *code)
{
    const struct etwas_quick_target target = {.slot = slot};

    if (result == ETWAS_QUICK_ABORTED) {
        etwas_quick_count_restart(slot);
        return false;
    }
    if (etwas_quick_has_room(&target, units)) {
        return false;
    }
    *code = etwas_switch_rseq(slot, ck_pr_load_32(&slot->index), gate, units, 0);
    /* If the session has ended, the caller knows what that means. */
    return *code != ERROR_SUCCESS && *code != ERROR_INVALID_HANDLE;
}

#endif
