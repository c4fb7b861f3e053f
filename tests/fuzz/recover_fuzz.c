/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a crash-safe session left, after anybody has written to it. The mutator is pool_mutate.c.
 */
#include "recover_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recover_source(data, size, 0);
    return 0;
}
