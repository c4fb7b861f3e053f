/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A core file of a process with a crash-safe session, after anybody has written to it: each mapping
 * that is found in it. The mutator is pool_mutate.c.
 */
#include "recover_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    MOST_MAPPINGS = 3
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t index = 0;

    while (index < MOST_MAPPINGS && recover_source(data, size, index)) {
        index++;
    }
    return 0;
}
