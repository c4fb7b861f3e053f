/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Direct writes: whole buffers go into a log file past the page cache if the file system supports
 * that, otherwise through it. A direct write costs a tenth of the processor's time, but waits for
 * the device. Only the cache absorbs bursts that a slow device cannot, so it is used for slow ones.
 *
 * Belongs to one log file.
 */
#ifndef ETWAS_FILE_DIRECT_WRITE_H
#define ETWAS_FILE_DIRECT_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

struct etwas_direct_write {
    bool possible;           /* the file supports them, as far as is known */
    bool reserves;           /* space is reserved ahead of them */
    uint64_t reserved_bytes; /* up to here */
    uint64_t limit_bytes;    /* the file's maximum size, 0: none */
    uint64_t ns_a_mb;        /* moving average of direct writes */
    uint64_t wrapped_bytes;  /* circular file: bytes of earlier rounds */
    uint64_t
        cached_until; /* up to here, rounds added, the cache is used: the device was too slow */
    /* for how many bytes the cache is used at a time; 0: the device was fast when last tried */
    uint64_t cached_bytes;
    bool was_cached; /* the previous write used the cache */
};

/*
 * Begins direct writes to an open file into which pieces of `buffer_bytes` will be written,
 * page-aligned. `has_space`: all of its space is reserved already.
 */
void etwas_direct_write_begin(struct etwas_direct_write *direct, int descriptor,
                              uint32_t buffer_bytes, uint64_t limit_bytes, bool has_space);

/* Inherits what is known about the device from a file on it that ended at `position`. */
void etwas_direct_write_inherit(struct etwas_direct_write *direct,
                                const struct etwas_direct_write *before, uint64_t position);

/* Says that the next write is at the start again, after a round of `bytes` bytes. */
void etwas_direct_write_wrap(struct etwas_direct_write *direct, uint64_t bytes);

/* Writes the pieces at `position`, as etwas_file_write does. */
uint64_t etwas_direct_write_write(struct etwas_direct_write *direct, int descriptor,
                                  struct iovec *pieces, uint32_t count, uint64_t position,
                                  int *error);

/* Whether what is written at `position` stays in the page cache because the device is slow. */
static inline bool etwas_direct_write_is_cached(const struct etwas_direct_write *direct,
                                                uint64_t position)
{
    return direct->wrapped_bytes + position < direct->cached_until;
}

/* Says that the file was truncated to `bytes`, so no space after them is reserved any more. */
void etwas_direct_write_truncated(struct etwas_direct_write *direct, uint64_t bytes);

#endif
