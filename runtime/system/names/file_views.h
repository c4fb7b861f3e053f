/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The files that processes have mapped, as /proc shows them, and the keys of files. A key is made
 * of the device and the inode, and identifies a file that has no descriptor.
 */
#ifndef ETWAS_SYSTEM_NAMES_FILE_VIEWS_H
#define ETWAS_SYSTEM_NAMES_FILE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"

struct etwas_file_view {
    uint64_t begin;
    uint64_t bytes;
    uint64_t offset; /* in the file */
    uint64_t key;
    const char *path;
};

/* `device`: major << 20 | minor, as in the kernel's events. Keys are less than 2^63. */
static inline uint64_t etwas_file_key(uint32_t device, uint64_t inode)
{
    const uint32_t device_at = 31;

    return ((uint64_t)device << device_at ^ inode) & INT64_MAX;
}

/*
 * Parses a line of `maps`, whose memory the path then uses. Returns false if it is not a mapping of
 * a file.
 */
bool etwas_file_view_parse(char *line, struct etwas_file_view *view);

/* Calls `each` for every mapping of a file that the process has. */
void etwas_file_views_read(uint32_t process_id,
                           void (*each)(void *context, const struct etwas_file_view *view),
                           void *context);

/* ---- keys whose names are emitted ------------------------------------------------------------ */

struct etwas_file_keys {
    struct etwas_id_map map;
};

/* Returns false if there is no memory; nothing has to be freed then. */
bool etwas_file_keys_init(struct etwas_file_keys *keys);
void etwas_file_keys_free(struct etwas_file_keys *keys);

bool etwas_file_keys_has(const struct etwas_file_keys *keys, uint64_t key);

/* Returns false if the key is known already, there is no memory, or there are too many keys. */
bool etwas_file_keys_add(struct etwas_file_keys *keys, uint64_t key);

#endif
