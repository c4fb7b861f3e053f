/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The source that a mapping is read from: the mapping's own file, even while its process is alive,
 * or a core file. Files are read, not mapped: if one is truncated meanwhile, only a read fails.
 */
#ifndef ETWAS_RECOVER_SOURCE_H
#define ETWAS_RECOVER_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/layout.h"

struct etwas_core;

struct etwas_recover_source {
    int file;
    uint64_t file_bytes;
    uint32_t owner; /* user that owns the file */
    bool is_core;
    struct etwas_core *core;
    bool is_alive;         /* a process holds the mapping's lock */
    uint64_t head_address; /* core file: address of the head in the process */
};

/*
 * Opens the `index`th mapping in the file; a mapping's own file has one. ERROR_FILE_NOT_FOUND,
 * ERROR_ACCESS_DENIED (also for a mapping that another user made, and for a symbolic link),
 * ERROR_NO_SYSTEM_RESOURCES (no more files may be open), ERROR_NOT_FOUND (`index` is too large),
 * ERROR_FILE_CORRUPT (neither a mapping nor a core).
 */
uint32_t etwas_recover_source_open(struct etwas_recover_source *source, const char *path,
                                   uint32_t index);
void etwas_recover_source_close(struct etwas_recover_source *source);

/*
 * Opens the log file that the source names for reading. Returns -1 if it does not exist. Also
 * returns -1, without opening it, if it is a symbolic link, or not a regular file of the mapping's
 * owner or of the caller.
 */
int etwas_recover_open_log(const struct etwas_recover_source *source, const char *path);

/* Reads the first bytes of the mapping. Returns false if the source does not have them. */
bool etwas_recover_source_head(const struct etwas_recover_source *source, void *to, size_t bytes);

/* Reads a part of a table. Returns false if the source does not have it. */
bool etwas_recover_source_read(const struct etwas_recover_source *source,
                               const struct etwas_shared_table *table, uint64_t at, void *to,
                               uint64_t bytes);

/*
 * Does the same into zeroed memory, which is not touched where the file has a hole. *has_any is set
 * if anything was read.
 */
bool etwas_recover_source_fill(const struct etwas_recover_source *source,
                               const struct etwas_shared_table *table, uint64_t at, void *zeroed,
                               uint64_t bytes, bool *has_any);

/* Reads a part of a file in the same way. Returns false when the file ends before. */
bool etwas_recover_fill(int file, uint64_t at, void *zeroed, uint64_t bytes, bool *has_any);

/* ---- a core file (core_file.c) ---- */

/*
 * Reads which parts of memory a core has, and finds the address of the `index`th mapping's head in
 * it. The caller closes *core. ERROR_NOT_FOUND, ERROR_FILE_CORRUPT, ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_core_open(int file, uint64_t file_bytes, uint32_t index, struct etwas_core **core,
                         uint64_t *address);
void etwas_core_close(struct etwas_core *core);

/*
 * Reads the process's memory at an address into zeroed memory. Returns false if the core does not
 * contain all of it.
 */
bool etwas_core_fill(const struct etwas_core *core, uint64_t address, void *zeroed, uint64_t bytes,
                     bool *has_any);

#endif
