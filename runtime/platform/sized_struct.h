/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Structs of the public interface that grow at their end. The caller passes the number of bytes
 * that it knows; `ours` is the struct as this library knows it. A new member begins where the
 * struct ended. Members added to options leave no padding: callers do not set padding, and it would
 * be read here as a request.
 */
#ifndef ETWAS_PLATFORM_SIZED_STRUCT_H
#define ETWAS_PLATFORM_SIZED_STRUCT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Copies the caller's struct. Members that the caller does not know are 0, as are all for NULL.
 * Returns false if a member that this library does not know is not 0.
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

/* Fills the caller's struct: members that this library does not know are 0. */
static inline void etwas_sized_write(void *theirs, size_t their_bytes, const void *ours,
                                     size_t bytes)
{
    memset(theirs, 0, their_bytes);
    memcpy(theirs, ours, bytes < their_bytes ? bytes : their_bytes);
}

#endif
