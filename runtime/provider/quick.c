/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/quick.h"

#if ETWAS_RSEQ

uint32_t etwas_quick_fail(enum etwas_quick_rseq result, struct etwas_slot *slot)
{
    if (result == ETWAS_QUICK_ABORTED) {
        etwas_slot_count_restart(slot);
    }
    return ETWAS_QUICK_NOT;
}

#endif
