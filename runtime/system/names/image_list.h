/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of a process: which files it can run code from, and where. Linux tells what is mapped and
 * not what is unmapped: what lies where something else is mapped now is unloaded. What is told twice
 * is there once.
 *
 *     base    where the file's first byte would be, so that an address minus it is an offset in the file
 *
 * The parts of a file with one base are one image, from its first byte to the end of the last part.
 * Where that byte would have no address the base is the part's own, and the file's offset there is said.
 */
#ifndef ETWAS_SYSTEM_NAMES_IMAGE_LIST_H
#define ETWAS_SYSTEM_NAMES_IMAGE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "system/names/id_map.h"

enum {
    ETWAS_IMAGE_BUILD_ID_BYTES = 20,
    ETWAS_IMAGE_LIST_MOST = 4096, /* others are told and not kept: their end is not told */
};

/* A part of a file that is mapped to be run. */
struct etwas_mapping {
    uint64_t address;
    uint64_t bytes;
    uint64_t file_offset;
    uint32_t build_id_bytes; /* 0: not known */
    const uint8_t *build_id;
    const char *path;
};

/* Shared by all images of it. */
struct etwas_image_file {
    struct etwas_id_node node;
    uint32_t references;
    uint32_t build_id_bytes;
    uint8_t build_id[ETWAS_IMAGE_BUILD_ID_BYTES];
    char path[];
};

struct etwas_file_image {
    uint64_t base;
    uint64_t base_offset; /* in the file; 0 unless its first byte would have no address */
    uint64_t begin;       /* what of it is mapped */
    uint64_t end;
    struct etwas_image_file *file;
};

struct etwas_image_list {
    struct etwas_file_image *images;
    uint32_t count;
    uint32_t room;
};

typedef void etwas_image_callback(void *context, bool is_loaded,
                                  const struct etwas_file_image *image);

/* Whether images are made of it: a file, or the code that the kernel gives to each process. */
bool etwas_mapping_is_image(const char *path);

/*
 * Tells which images this unloads and which it loads. `files`: whose nodes are image files. Without
 * memory it tells what it can.
 */
void etwas_image_list_add(struct etwas_image_list *list, struct etwas_id_map *files,
                          const struct etwas_mapping *mapping, etwas_image_callback *callback,
                          void *context);

/* What a fork's child has; nothing where there is no memory. */
void etwas_image_list_copy(struct etwas_image_list *list, const struct etwas_image_list *from);

void etwas_image_list_clear(struct etwas_image_list *list, struct etwas_id_map *files);

#endif
