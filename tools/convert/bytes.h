/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CONVERT_BYTES_H
#define ETWAS_TOOLS_CONVERT_BYTES_H

/*
 * A byte buffer that grows. If memory runs out, what does not fit is left out and `failed` is set;
 * check it when it matters.
 */

#include "math/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct etwas_bytes {
    uint8_t *data;
    size_t used;
    size_t capacity;
    bool failed;
};

/* Returns false and sets `failed` if there is no memory for `more` bytes. */
static inline bool etwas_bytes_reserve(struct etwas_bytes *bytes, size_t more)
{
    if (!etwas_array_reserve(&bytes->data, &bytes->capacity, bytes->used + more, 1)) {
        bytes->failed = true;
        return false;
    }
    return true;
}

static inline void etwas_bytes_put(struct etwas_bytes *bytes, const void *data, size_t count)
{
    if (count > 0 && etwas_bytes_reserve(bytes, count)) {
        memcpy(bytes->data + bytes->used, data, count);
        bytes->used += count;
    }
}

static inline void etwas_bytes_put_u8(struct etwas_bytes *bytes, uint8_t value)
{
    etwas_bytes_put(bytes, &value, sizeof value);
}

static inline void etwas_bytes_put_u32(struct etwas_bytes *bytes, uint32_t value)
{
    etwas_bytes_put(bytes, &value, sizeof value);
}

static inline void etwas_bytes_put_u64(struct etwas_bytes *bytes, uint64_t value)
{
    etwas_bytes_put(bytes, &value, sizeof value);
}

static inline void etwas_bytes_free(struct etwas_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct etwas_bytes){.failed = bytes->failed};
}

#endif
