/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/quick.h"

#if ETWAS_RSEQ

uint32_t etwas_quick_fail(enum etwas_quick_rseq result, uint64_t session)
{
    struct etwas_quick_target target;

    if (result == ETWAS_QUICK_ABORTED && etwas_quick_find(&target, session)) {
        etwas_quick_count_restart(target.slot);
    }
    return ETWAS_QUICK_NOT;
}

#endif
