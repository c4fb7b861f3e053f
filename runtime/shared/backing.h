/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the place of a mapping costs its writers: nothing more than memory does, or, on a disk's file system, a page
 * fault for each page that was written back. Writers measure nothing; the flusher touches pages in their place.
 */
#ifndef ETWAS_SHARED_BACKING_H
#define ETWAS_SHARED_BACKING_H

#include <stdbool.h>
#include <stdint.h>

struct etwas_pool;

struct etwas_shared_backing {
    uint64_t magic; /* of the file system, as statfs says it */
    bool in_memory;

    /* Stored by the owner of the session's role, read by anybody. */
    uint64_t touches;
    uint64_t touch_ns;
    uint64_t longest_touch_ns;
    uint64_t slow_touches; /* of ETWAS_SLOW_TOUCH_NS and more */

    /* The owner's. */
    uint64_t touched_ns;     /* when it touched pages last */
    uint64_t touched_ticket; /* how many buffers had been claimed then */
    uint64_t next_page;
};

enum {
    ETWAS_SLOW_TOUCH_NS = 1000000
};

/* Of an open file. */
void etwas_shared_backing_read(struct etwas_shared_backing *place, int file);

/* "ext4"; of one that is not known its number. `name` has room for 32 bytes. */
void etwas_shared_backing_name(uint64_t magic, char *name);

/*
 * Touches some pages of the pool's region, if it lies on a disk and writers have taken buffers since: no more than they
 * will write to anyway. At most ten times a second. With the role held.
 */
void etwas_shared_backing_touch(struct etwas_shared_backing *place, struct etwas_pool *pool);

/* How much of a file is written back, and is being written back now. False: the kernel does not say (before 6.5). */
bool etwas_shared_backing_clean(int file, uint64_t *clean_bytes, uint64_t *writing_bytes);

#endif
