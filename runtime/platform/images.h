/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The programs and libraries in the process's memory: where each is, and its build id.
 *
 * The loader's lock is taken for moments: not for writers, and not for signal handlers.
 */
#ifndef ETWAS_PLATFORM_IMAGES_H
#define ETWAS_PLATFORM_IMAGES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_BUILD_ID_BYTES = 32, /* the longest id; most have 20 bytes */
};

struct etwas_loaded_image {
    uint64_t base; /* address of its first byte */
    uint64_t bytes;
    uint64_t linked_base;    /* its address by its program headers */
    uint32_t build_id_bytes; /* 0: it has none */
    uint8_t build_id[ETWAS_BUILD_ID_BYTES];
    char path[PATH_MAX]; /* UTF-8 if the system's is */
};

/* Returns a counter of the loader, which changes whenever an image was loaded or unloaded. */
uint64_t etwas_images_changes(void);

/* Lists all images, in an array that the caller frees. Returns NULL if there is no memory. */
struct etwas_loaded_image *etwas_images_read(uint32_t *count);

#endif
