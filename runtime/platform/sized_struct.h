/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Structs of the public interface that grow at their end. The caller says how many bytes of one it
 * knows; `ours` is the struct as this library knows it. A new member begins where the struct ended,
 * and what options grow by leaves no padding: callers do not set it, and here it would be a wish.
 */
#ifndef ETWAS_PLATFORM_SIZED_STRUCT_H
#define ETWAS_PLATFORM_SIZED_STRUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Takes the caller's struct: what it does not know is 0, as is all of it for NULL. False when it
 * asks for something, not 0, that this library does not know.
 */
static inline bool etwas_sized_read(void *ours, size_t bytes, const void *theirs,
                                    size_t their_bytes)
{
    const unsigned char *byte = theirs;

    memset(ours, 0, bytes);
    if (theirs == NULL) {
        return true;
    }
    memcpy(ours, theirs, bytes < their_bytes ? bytes : their_bytes);
    for (size_t index = bytes; index < their_bytes; index++) {
        if (byte[index] != 0) {
            return false;
        }
    }
    return true;
}

/* Fills the caller's struct: what this library does not know is 0. */
static inline void etwas_sized_write(void *theirs, size_t their_bytes, const void *ours,
                                     size_t bytes)
{
    memset(theirs, 0, their_bytes);
    memcpy(theirs, ours, bytes < their_bytes ? bytes : their_bytes);
}

#endif
