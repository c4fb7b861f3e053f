/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Included ahead of each source of the command, which is written to run once: what it keeps is in
 * two sections, from which the fuzz target makes it as it was.
 */
#pragma clang section data = "tool_data" bss = "tool_bss"

/*
 * Memory for its texts it keeps until it ends, and the fuzz target forgets where: that is no leak.
 */
#ifdef ETWAS_FUZZ_TEXTS
#include <stdlib.h>

__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

static inline void *etwas_fuzz_keep(void *memory, size_t bytes)
{
    void *kept;

    if (__lsan_disable == NULL) {
        return realloc(memory, bytes);
    }
    __lsan_disable();
    kept = realloc(memory, bytes);
    __lsan_enable();
    return kept;
}

#define realloc etwas_fuzz_keep
#endif
