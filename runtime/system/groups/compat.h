/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether a system call was made as a 32-bit program makes it: then its number means another call.
 * Tracepoints do not say so; the registers of their samples (PERF_SAMPLE_REGS_USER) do:
 *
 *     the program's code is 32-bit
 *     on x86 a 64-bit program may make such a call by `int 0x80`; its arguments are then in other
 *     registers, from which the tracepoint takes them
 *
 * If the arguments are the same either way, the two cannot be distinguished, and the call counts as
 * a 64-bit one.
 */
#ifndef ETWAS_SYSTEM_GROUPS_COMPAT_H
#define ETWAS_SYSTEM_GROUPS_COMPAT_H

#include <string.h>

#include "system/stream/sample.h"

/* `arguments`: those of raw_syscalls/sys_enter; NULL for sys_exit, which has none. */
static inline bool etwas_call_is_32_bit(const struct etwas_sample *sample, const uint8_t *arguments)
{
#if defined(__x86_64__)
    uint64_t first_and_second[2];
    uint64_t second_and_first[2]; /* si, di */

    if (arguments != NULL && sample->call_registers != NULL) {
        memcpy(first_and_second, arguments, sizeof first_and_second);
        memcpy(second_and_first, sample->call_registers, sizeof second_and_first);
        return first_and_second[0] != second_and_first[1] ||
               first_and_second[1] != second_and_first[0];
    }
#else
    (void)arguments;
#endif
    return sample->is_32_bit;
}

#endif
