/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file that lives as long as the process that holds it, by a lock of the file description on byte
 * 0, which the kernel releases however the process ends.
 *
 * The invariant: a file is made under a temporary name (t.NONCE), where it gets its lock and its
 * content, and only then the name by which others know it; and no process locks byte 0 of a file
 * that has such a name. So a file whose byte 0 is not locked is dead for good, and a living one is
 * whole. A process that removes a dead file holds a lock on its byte 1; without it, it could remove
 * a name that has gone to another file.
 *
 * A file is held at one of a few places: names that differ in their end. So two things with the
 * same hash find room, and no process waits for another one that was stopped while it removed a
 * dead file.
 */
#ifndef ETWAS_REGISTRY_HELD_FILE_H
#define ETWAS_REGISTRY_HELD_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registry/registry.h"

enum {
    ETWAS_HELD_BYTES = 1 << 20, /* the most that is in one */
};

struct etwas_held_file {
    int lock; /* -1: none is held */
    char name[ETWAS_REGISTRY_FILE_BYTES];
};

/* Whether a living file with this content is the one that is requested. */
typedef bool (*etwas_held_matches)(const void *bytes, size_t size, void *what);

struct etwas_held_request {
    const char *stem; /* the name at the first place */
    const void *bytes;
    size_t size;
    etwas_held_matches matches; /* NULL: any file at one of the places does */
    void *what;                 /* handed to `matches` */
};

/*
 * Acquires the requested name, which one process at a time has in all folders that it sees. Removes
 * dead files that are in the way. ERROR_ALREADY_EXISTS: a living file is the one that is requested.
 * ERROR_NO_SYSTEM_RESOURCES: other files are at all places, or no more files may be open.
 * ERROR_BUSY: other processes acquired and released it all the while, for some tenths of a second.
 * ERROR_DISK_FULL; errors of etwas_registry_open.
 */
uint32_t etwas_held_acquire(struct etwas_held_file *held, const struct etwas_held_request *request);

/* Replaces the content, in one step. On failure it is unchanged. One thread at a time. */
uint32_t etwas_held_replace(struct etwas_held_file *held, const void *bytes, size_t size);

/*
 * Whether other processes still find it. True also for one that the program has closed, and for
 * none.
 */
bool etwas_held_is_there(const struct etwas_held_file *held);

/* Removes the file, if one is held. */
void etwas_held_release(struct etwas_held_file *held);

/* In a fork's child: the file stays with the parent. Async-signal-safe. */
void etwas_held_forget(struct etwas_held_file *held);

/*
 * Reads the living file that is requested by stem, matches and what. *bytes is freed by the caller;
 * NULL on failure. ERROR_NOT_FOUND: there is none. ERROR_INVALID_DATA: one is longer than
 * ETWAS_HELD_BYTES, or no file. ERROR_NOT_ENOUGH_MEMORY; ERROR_NO_SYSTEM_RESOURCES; errors of
 * etwas_registry_open.
 */
uint32_t etwas_held_read(const struct etwas_held_request *request, void **bytes, size_t *size);

/* The same in one folder. */
uint32_t etwas_held_read_in(int folder, const struct etwas_held_request *request, void **bytes,
                            size_t *size);

/*
 * Removes the file in that folder if it is dead and no other process is removing it. Returns
 * whether it did.
 */
bool etwas_held_clear(int folder, const char *name);

#endif
