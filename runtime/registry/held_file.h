/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A file that lives as long as the process that holds it: that has a lock (of the file description) on its byte 0,
 * which the kernel releases, however the process ends.
 *
 * The invariant: a file is made under a name of its own (t.NONCE), where it gets its lock and its content, and only
 * then the name by which others know it; and nobody locks byte 0 of a file that has such a name. So one whose byte 0 is
 * free is dead for good, and a living one is whole. Whoever removes a dead one has a lock on its byte 1: else a
 * name could be removed that has gone to another file.
 *
 * A file is held at one of a few places: names that differ in their end. So two things whose names are the same, being
 * hashes, find room; and nobody waits for a process that was stopped while it removed a dead file.
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

/* Whether a living file with this content is what is wished for. */
typedef bool (*etwas_held_matches)(const void *bytes, size_t size, void *what);

struct etwas_held_request {
    const char *stem; /* the name at the first place */
    const void *bytes;
    size_t size;
    etwas_held_matches matches; /* NULL: whatever lies at one of the places does */
    void *what;                 /* handed to `matches` */
};

/*
 * Takes what is wished for, which one process at a time has in all folders that it sees. Dead files in the way are removed.
 * ERROR_ALREADY_EXISTS: a living one is it. ERROR_NO_SYSTEM_RESOURCES: others are at all places, or no more files
 * may be open. ERROR_BUSY: others took and left it all the while, for some tenths of a second. ERROR_DISK_FULL;
 * errors of etwas_registry_open.
 */
uint32_t etwas_held_acquire(struct etwas_held_file *held, const struct etwas_held_request *request);

/* Its content is another from here on, in one step. On failure it is what it was. One thread at a time. */
uint32_t etwas_held_replace(struct etwas_held_file *held, const void *bytes, size_t size);

/* Whether others find it still. True too of one that the program has closed, or of none. */
bool etwas_held_is_there(const struct etwas_held_file *held);

/* Removes it. Nothing is done where none is held. */
void etwas_held_release(struct etwas_held_file *held);

/* In a fork's child: the file stays with the parent. Async-signal-safe. */
void etwas_held_forget(struct etwas_held_file *held);

/*
 * Reads the living file that is wished for: stem, matches, what. *bytes is the caller's to free; NULL on failure.
 * ERROR_NOT_FOUND: there is none. ERROR_INVALID_DATA: one is longer than ETWAS_HELD_BYTES, or no file.
 * ERROR_NOT_ENOUGH_MEMORY; ERROR_NO_SYSTEM_RESOURCES; errors of etwas_registry_open.
 */
uint32_t etwas_held_read(const struct etwas_held_request *request, void **bytes, size_t *size);

/* The same of one folder. */
uint32_t etwas_held_read_in(int folder, const struct etwas_held_request *request, void **bytes,
                            size_t *size);

/* Removes the file in that folder if it is dead, and nobody else is about to. Whether it did. */
bool etwas_held_clear(int folder, const char *name);

#endif
