/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the file system of a mapping costs writers: nothing more than memory, or, on a disk, a page
 * fault for each page that was written back. Writers measure nothing; the flusher touches pages
 * before they do, and measures that.
 */
#ifndef ETWAS_SHARED_BACKING_H
#define ETWAS_SHARED_BACKING_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_pool;

struct etwas_shared_backing {
    uint64_t magic; /* of the file system, as statfs says */
    bool in_memory;

    /* Stored by the owner of the session's role, read by anybody. */
    uint64_t touches;
    uint64_t touch_ns;
    uint64_t longest_touch_ns;
    uint64_t slow_touches; /* of ETWAS_SLOW_TOUCH_NS and more */

    /* Used by the owner of the session's role alone. */
    uint64_t touched_ns;     /* when pages were touched last */
    uint64_t touched_ticket; /* how many buffers had been claimed then */
    uint64_t next_page;
};

enum {
    ETWAS_SLOW_TOUCH_NS = 1000000
};

/* Reads the file system of an open file. */
void etwas_shared_backing_read(struct etwas_shared_backing *place, int file);

/*
 * The name of a file system, as "ext4"; its number if it is not known. `name` has room for 32
 * bytes.
 */
void etwas_shared_backing_name(uint64_t magic, char *name);

/*
 * Touches some pages of the pool's region if it lies on a disk and writers have taken buffers
 * since: no more than they will write to anyway, at most ten times a second. Called with the role
 * held.
 */
void etwas_shared_backing_touch(struct etwas_shared_backing *place, struct etwas_pool *pool);

/*
 * How much of a file has been written back, and is being written back now. False: the kernel does
 * not say (before 6.5).
 */
bool etwas_shared_backing_clean(int file, uint64_t *clean_bytes, uint64_t *writing_bytes);

#endif
