/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The mapping of a crash-safe session (layout.h), as the process that logs has it: a file in a
 * folder of the user's, or one without a name, with all its space allocated. The process that holds
 * the lock on its first byte lives; the kernel releases the lock however a process ends.
 *
 * It is made, opened and closed by the thread that has the session's entry; what changes meanwhile
 * is guarded as below.
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
 * What the file system of a mapping costs writers: nothing more than memory, or, on a disk, a page
 * fault for each page that was written back. Writers measure nothing; the flusher touches pages
 * before they do, and measures that.
 */

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

struct etwas_shared_mapping {
    /* NULL: not mapped yet. It is written and never read, since a guest may write there, too */
    struct etwas_shared_head *head;
    struct etwas_shared_table tables[ETWAS_SHARED_TABLES];
    bool is_open;
    uint32_t newest_path;
    uint32_t newest_clock_snapshots;
    uint64_t schema_bytes;
    uint64_t schemas_left_out;
    size_t own_bytes; /* mapped here: all that is before the pool */
    uint64_t total_bytes;
    uint64_t taken_bytes; /* as much of it gets space at once */
    struct etwas_pool_file file;
    bool is_linked;
    char path[ETWAS_FOLDER_BYTES]; /* of a linked one */
    struct etwas_shared_backing place;
};

struct etwas_shared_request {
    bool is_linked;     /* else it is a memfd */
    const char *folder; /* empty: the user's own */
    const etwas_guid *session;
    const struct etwas_pool_layout *block;
    uint32_t slots;
    uint32_t buffers; /* of the region */
    uint32_t taken;   /* of these get space at once, the others when they are touched */
    uint32_t buffer_bytes;
    uint64_t
        stripe_bytes; /* of the region, on each memory node in turn; 0: wherever they are touched */
};

/* Why there is none: what was asked for, and where. */
struct etwas_shared_refusal {
    uint32_t code;
    uint64_t bytes;
    char path[ETWAS_FOLDER_BYTES];
};

/*
 * A mapping is made in three steps. The second takes time, so a fork waits for the others alone.
 * First its file, empty, and the lock. NULL, and why: ERROR_PATH_NOT_FOUND, ERROR_ACCESS_DENIED,
 * ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_SUPPORTED (a system without memfd).
 */
struct etwas_shared_mapping *etwas_shared_create(const struct etwas_shared_request *request,
                                                 struct etwas_shared_refusal *refusal);

/*
 * Second, its space, zeroed: of the buffers that are taken, and all that lies before them.
 * ERROR_DISK_FULL, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_shared_give_space(struct etwas_shared_mapping *mapping,
                                 struct etwas_shared_refusal *refusal);

/* Third, with the same request, mapping it: its state is MADE. ERROR_NOT_ENOUGH_MEMORY. */
uint32_t etwas_shared_map(struct etwas_shared_mapping *mapping,
                          const struct etwas_shared_request *request);

/* The head and all tables are whole from here on. */
void etwas_shared_open(struct etwas_shared_mapping *mapping);

/*
 * Removes the file and frees the mapping. The session has ended, and no memory that a pool has in
 * it is mapped any more, or that memory is leaked.
 */
void etwas_shared_close(struct etwas_shared_mapping *mapping);

/* In a fork's child, at any step: lets go of the parent's file and lock. Async-signal-safe. */
void etwas_shared_forget(struct etwas_shared_mapping *mapping);

/* The machine's boot; zeroes where it does not say. */
void etwas_shared_boot_id(uint8_t id[16]);

static inline void etwas_shared_set_address(struct etwas_shared_head *head,
                                            enum etwas_shared_table_name name, const void *address)
{
    head->tables[name].address = (uintptr_t)address;
}

/*
 * Gives space to so many buffers of the region, the first ones, before they come into use. They are
 * within the region. ERROR_DISK_FULL, ERROR_NOT_ENOUGH_MEMORY: then they may not come into use.
 */
uint32_t etwas_shared_give_buffers_space(struct etwas_shared_mapping *mapping, uint32_t buffers,
                                         uint32_t buffer_bytes);

/* A part of it that lies before the pool, as long as its table says. */
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
 * Touches some pages (mapping.h), and stores what that took. Called with the session's role held.
 */
void etwas_shared_touch(struct etwas_shared_mapping *mapping, struct etwas_pool *pool);

/*
 * The first returns where the next records of descriptions go, and how much room there is. The
 * second adds as many bytes, each record rounded up to 8; the third counts one without room. Called
 * with the control lock held.
 */
void *etwas_shared_schema_room(const struct etwas_shared_mapping *mapping, uint32_t *room);
void etwas_shared_add_schemas(struct etwas_shared_mapping *mapping, uint32_t bytes);
void etwas_shared_leave_schema_out(struct etwas_shared_mapping *mapping);

#endif
