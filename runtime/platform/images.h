/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which programs and libraries are in the process's memory, where, and which build of each.
 *
 * The loader's lock is taken for moments: not for writers, and not for signal handlers.
 */
#ifndef ETWAS_PLATFORM_IMAGES_H
#define ETWAS_PLATFORM_IMAGES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_BUILD_ID_BYTES = 32, /* the longest there is; most have 20 */
};

struct etwas_loaded_image {
    uint64_t base; /* where its first byte is */
    uint64_t bytes;
    uint64_t linked_base;    /* where it would be by its program headers */
    uint32_t build_id_bytes; /* 0: it has none */
    uint8_t build_id[ETWAS_BUILD_ID_BYTES];
    char path[PATH_MAX]; /* UTF-8, as far as the system's is */
};

/* Differs from the last answer once anything has been loaded or unloaded since. */
uint64_t etwas_images_changes(void);

/* All of them, for the caller to free; NULL: no memory. */
struct etwas_loaded_image *etwas_images_read(uint32_t *count);

#endif
