/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Whether a system call was made as a program of 32 bits makes it: then its number means another call. No tracepoint says so.
 * What does is the sample's registers (PERF_SAMPLE_REGS_USER):
 *
 *     the program's code is of 32 bits
 *     on x86, what is of 64 may make such a call by `int 0x80`; its arguments are in other registers than
 *     those of a call of its own, and the tracepoint has each from where it is
 *
 * A call whose arguments are the same in both is taken for one of 64 bits, which nobody can tell from it.
 */
#ifndef ETWAS_SYSTEM_GROUPS_COMPAT_H
#define ETWAS_SYSTEM_GROUPS_COMPAT_H

#include <string.h>

#include "system/stream/sample.h"

/* `arguments`: as raw_syscalls/sys_enter has them; NULL: of sys_exit, which has none. */
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
