/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/rseq.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/processor.h"

#ifdef ETWAS_TESTPOINTS
uint32_t etwas_rseq_trap;
bool etwas_rseq_fence_fails;
bool etwas_quick_is_off;
#endif

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

bool etwas_rseq_prepare(void)
{
    int supported;

    if (!ETWAS_RSEQ || !etwas_processor_is_registered()) {
        return false;
    }
    supported = membarrier(MEMBARRIER_CMD_QUERY);
    return supported > 0 && (supported & MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) != 0 &&
           membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ) == 0;
}

bool etwas_rseq_fence(void)
{
#ifdef ETWAS_TESTPOINTS
    if (etwas_rseq_fence_fails) {
        return false;
    }
#endif
    return membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) == 0;
}
