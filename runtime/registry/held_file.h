/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file that lives as long as the process that holds it. The process has a lock of the open file
 * description on byte 0, which the kernel releases however the process ends.
 *
 * The invariant: a file is made under a temporary name (t.NONCE), where it gets its lock and its
 * content. Only then does it get the name by which other processes know it, and no process locks
 * byte 0 of a file that has such a name. So a file whose byte 0 is not locked is dead for good, and
 * a living one is complete. A process that removes a dead file holds a lock on its byte 1. Without
 * that lock it could remove a name that has gone to another file.
 *
 * A file is held at one of a few places: names that differ in their end. So two things with the
 * same hash find room, and no process waits for one that was stopped while it removed a dead file.
 */
#ifndef ETWAS_REGISTRY_HELD_FILE_H
#define ETWAS_REGISTRY_HELD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

enum {
    ETWAS_HELD_BYTES = 1 << 20, /* the most in one file */
};

struct etwas_held_file {
    int lock; /* -1: none is held */
    char name[ETWAS_REGISTRY_FILE_BYTES];
};

/* Returns whether a living file with this content is the one that is requested. */
typedef bool (*etwas_held_matches)(const void *bytes, size_t size, void *what);

struct etwas_held_request {
    const char *stem; /* the name at the first place */
    const void *bytes;
    size_t size;
    etwas_held_matches matches; /* NULL: any file at one of the places matches */
    void *what;                 /* passed to `matches` */
};

/*
 * Acquires the requested name, which only one process at a time has in all folders that it sees.
 * Removes dead files that are in the way. ERROR_ALREADY_EXISTS: a living process has it.
 * ERROR_NO_SYSTEM_RESOURCES: other files are at all places, or no more files may be open.
 * ERROR_BUSY: for some tenths of a second, other processes kept acquiring and releasing it.
 * ERROR_DISK_FULL; errors of etwas_registry_open.
 */
uint32_t etwas_held_acquire(struct etwas_held_file *held, const struct etwas_held_request *request);

/* Replaces the content, in one step. On failure it is unchanged. One thread at a time. */
uint32_t etwas_held_replace(struct etwas_held_file *held, const void *bytes, size_t size);

/*
 * Whether other processes still find the file. Also true if no file is held, or if the program has
 * closed its descriptor.
 */
bool etwas_held_is_there(const struct etwas_held_file *held);

/* Removes the file, if one is held. */
void etwas_held_release(struct etwas_held_file *held);

/* In a fork's child: forgets the file, which stays the parent's. Async-signal-safe. */
void etwas_held_forget(struct etwas_held_file *held);

/*
 * Reads the living file that is requested by stem, matches and what. The caller frees *bytes, which
 * is NULL on failure. ERROR_NOT_FOUND: there is none. ERROR_INVALID_DATA: one is longer than
 * ETWAS_HELD_BYTES, or not a regular file. ERROR_NOT_ENOUGH_MEMORY; ERROR_NO_SYSTEM_RESOURCES;
 * errors of etwas_registry_open.
 */
uint32_t etwas_held_read(const struct etwas_held_request *request, void **bytes, size_t *size);

/* Does the same in one folder. */
uint32_t etwas_held_read_in(int folder, const struct etwas_held_request *request, void **bytes,
                            size_t *size);

/*
 * Removes the file in that folder if it is dead and no other process is removing it. Returns
 * whether it was removed.
 */
bool etwas_held_clear(int folder, const char *name);

#endif
