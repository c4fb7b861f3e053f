/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What `stacks` opens: two libraries of this, one after the other. */

#include <stddef.h>
#include <stdlib.h>

__attribute__((visibility("default"), noinline)) void *library_allocate(size_t bytes);

void *library_allocate(size_t bytes)
{
    void *volatile address = malloc(bytes);

    return address;
}
