/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The mapping of a crash-safe session (layout.h), as the process that logs has it. It is a file in
 * a folder of the user, or one without a name, with all its space allocated. The process that holds
 * the lock on its first byte lives; the kernel releases the lock however a process ends.
 *
 * It is made, opened and closed by the thread that owns the session's entry; locks guard changes in
 * between, as said below.
 */
#ifndef ETWAS_SHARED_MAPPING_H
#define ETWAS_SHARED_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer/pool.h"
#include "shared/folder.h"
#include "shared/layout.h"

struct etwas_pool;

/*
 * The cost for writers of the mapping's file system: the same as memory, or, on a disk, a page
 * fault for each page that was written back. Writers measure nothing; the flusher touches pages
 * before they do, and measures that.
 */

struct etwas_shared_backing {
    uint64_t magic; /* of the file system, as statfs says */
    bool in_memory;

    /* Stored by the owner of the session's role, read by any thread. */
    uint64_t touches;
    uint64_t touch_ns;
    uint64_t longest_touch_ns;
    uint64_t slow_touches; /* those that took ETWAS_SLOW_TOUCH_NS or more */

    /* Used only by the owner of the session's role. */
    uint64_t touched_ns;     /* when pages were touched last */
    uint64_t touched_ticket; /* number of buffers claimed by then */
    uint64_t next_page;
};

enum {
    ETWAS_SLOW_TOUCH_NS = 1000000
};

/* Reads the file system of an open file. */
void etwas_shared_backing_read(struct etwas_shared_backing *place, int file);

/*
 * Writes the name of a file system, such as "ext4", or its number if it is not known. `name` has
 * room for 32 bytes.
 */
void etwas_shared_backing_name(uint64_t magic, char *name);

/*
 * Touches some pages of the pool's region if it lies on a disk and writers have taken buffers since
 * the last call. It touches only pages that they will write to anyway, at most ten times a second.
 * Called with the role held.
 */
void etwas_shared_backing_touch(struct etwas_shared_backing *place, struct etwas_pool *pool);

/*
 * Reads how much of a file has been written back, and is being written back now. Returns false if
 * the kernel does not report it (before 6.5).
 */
bool etwas_shared_backing_clean(int file, uint64_t *clean_bytes, uint64_t *writing_bytes);

struct etwas_shared_mapping {
    /* NULL: not mapped yet. It is written and never read, since a guest may write to it, too. */
    struct etwas_shared_head *head;
    struct etwas_shared_table tables[ETWAS_SHARED_TABLES];
    bool is_open;
    uint32_t newest_path;
    uint32_t newest_clock_snapshots;
    uint64_t schema_bytes;
    uint64_t schemas_left_out;
    size_t own_bytes; /* mapped here: everything before the pool */
    uint64_t total_bytes;
    uint64_t taken_bytes; /* this much of it gets space at once */
    struct etwas_pool_file file;
    bool is_linked;
    char path[ETWAS_FOLDER_BYTES]; /* set if it is linked */
    struct etwas_shared_backing place;
};

struct etwas_shared_request {
    bool is_linked;     /* otherwise it is a memfd */
    const char *folder; /* empty: the user's own */
    const etwas_guid *session;
    const struct etwas_pool_layout *block;
    uint32_t slots;
    uint32_t buffers; /* of the region */
    uint32_t taken;   /* this many get space at once, the others when they are touched */
    uint32_t buffer_bytes;
    uint64_t
        stripe_bytes; /* of the region, on each memory node in turn; 0: wherever they are touched */
};

/* Why there is none: the error, the bytes requested, and the path. */
struct etwas_shared_refusal {
    uint32_t code;
    uint64_t bytes;
    char path[ETWAS_FOLDER_BYTES];
};

/*
 * A mapping is made in three steps. The second takes time, so a fork waits only for the others. The
 * first makes its file, empty, and takes the lock. Returns NULL, and the reason:
 * ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED, ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_SUPPORTED (a system
 * without memfd).
 */
struct etwas_shared_mapping *etwas_shared_create(const struct etwas_shared_request *request,
                                                 struct etwas_shared_refusal *refusal);

/*
 * The second step allocates its space, zeroed, for the buffers taken and everything before them.
 * ERROR_DISK_FULL, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_shared_give_space(struct etwas_shared_mapping *mapping,
                                 struct etwas_shared_refusal *refusal);

/* The third step, with the same request, maps it: its state is MADE. ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_shared_map(struct etwas_shared_mapping *mapping,
                          const struct etwas_shared_request *request);

/* The head and all tables are complete from here on. */
void etwas_shared_open(struct etwas_shared_mapping *mapping);

/*
 * Removes the file and frees the mapping. The session has ended, and no memory of a pool in it is
 * still mapped, unless that memory is leaked.
 */
void etwas_shared_close(struct etwas_shared_mapping *mapping);

/* Called in a fork's child, at any step: releases the parent's file and lock. Async-signal-safe. */
void etwas_shared_forget(struct etwas_shared_mapping *mapping);

/* Reads the id of the machine's boot; zeroes if the system does not report it. */
void etwas_shared_boot_id(uint8_t id[16]);

static inline void etwas_shared_set_address(struct etwas_shared_head *head,
                                            enum etwas_shared_table_name name, const void *address)
{
    head->tables[name].address = (uintptr_t)address;
}

/*
 * Allocates space for the first `buffers` buffers of the region, before they come into use. On
 * ERROR_DISK_FULL and ERROR_NOT_ENOUGH_MEMORY they may not come into use.
 */
uint32_t etwas_shared_give_buffers_space(struct etwas_shared_mapping *mapping, uint32_t buffers,
                                         uint32_t buffer_bytes);

/* Returns a part of it that lies before the pool, with the length that its table says. */
void *etwas_shared_table(const struct etwas_shared_mapping *mapping,
                         enum etwas_shared_table_name name);

/* ---- what changes while the session runs ---- */

/* Stores the session's clock snapshots. Called with the session's role held. */
void etwas_shared_set_history(struct etwas_shared_mapping *mapping,
                              const struct etwas_clock_history *history);

/*
 * Stores the absolute path of the file that is written from here on; empty: none. Called with the
 * control lock held.
 */
void etwas_shared_set_file(struct etwas_shared_mapping *mapping, const char *path);

/*
 * Touches some pages (mapping.h), and stores how long that took. Called with the session's role
 * held.
 */
void etwas_shared_touch(struct etwas_shared_mapping *mapping, struct etwas_pool *pool);

/*
 * The first returns where the next records of descriptions go, and how much room there is. The
 * second adds a number of bytes, each record rounded up to 8; the third counts one for which there
 * was no room. Called with the control lock held.
 */
void *etwas_shared_schema_room(const struct etwas_shared_mapping *mapping, uint32_t *room);
void etwas_shared_add_schemas(struct etwas_shared_mapping *mapping, uint32_t bytes);
void etwas_shared_leave_schema_out(struct etwas_shared_mapping *mapping);

#endif
