/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ADDRESS_IMAGES_H
#define ETWAS_TOOLS_ADDRESS_IMAGES_H

/*
 * The images (programs, libraries and parts of the kernel) that a trace had in memory, from its
 * events of the class Image: where each was mapped, when, and which build it was. All records of
 * the trace are added before the first lookup: the last event may describe an image that was mapped
 * before the trace began.
 *
 * Process 0 has the images of the kernel.
 */

#include "math/hash_index.h"

#include <etwas/decode.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_IMAGES = 1 << 20,       /* limit of Image events of a trace; further ones are left out */
    ETWAS_IMAGES_FILES = 1 << 16, /* limit of files; likewise */
    ETWAS_IMAGES_BUILD_ID_BYTES = 32,
    ETWAS_IMAGES_PATH_BYTES = 4096,
};

struct etwas_symbols;

/* One build of an image. */
struct etwas_image_build {
    char *path; /* UTF-8, any characters */
    uint32_t build_id_bytes;
    uint8_t build_id[ETWAS_IMAGES_BUILD_ID_BYTES];
    /* The rest is used by the symbol lookup. */
    bool is_asked;
    bool has_changed;
    struct etwas_symbols *symbols;
};

/* The meaning of `address - base + first`. */
enum etwas_image_kind {
    ETWAS_IMAGE_OF_FILE,   /* an offset in the file */
    ETWAS_IMAGE_OF_LINKER, /* an address of the file's symbols */
};

struct etwas_image {
    uint64_t base;
    uint64_t bytes;
    uint64_t first;
    int64_t from; /* in the trace's clock */
    int64_t to;
    enum etwas_image_kind kind;
    uint32_t process;
    uint32_t file; /* in etwas_images.files */
    uint32_t order;
    uint8_t type;    /* of the event */
    bool may_be_old; /* may have been mapped before `from` */
};

struct etwas_images {
    struct etwas_image *entries;
    uint32_t count;
    size_t capacity;
    bool is_sorted;
    struct etwas_image_build *files;
    uint32_t file_count;
    size_t file_capacity;
    struct etwas_hash_index file_places;
    /* The last build id; the event of its image follows. */
    uint64_t build_base;
    uint32_t build_process;
    uint32_t build_id_bytes; /* 0: none */
    uint8_t build_id[ETWAS_IMAGES_BUILD_ID_BYTES];
    uint64_t left_out;
    bool out_of_memory;
};

/* Adds a record about an image (etwas_event_is_image). */
void etwas_images_add_record(struct etwas_images *images, etwas_decoder *decoder,
                             const EVENT_RECORD *record);

/*
 * Returns the image that was mapped at an address of a process at that time; NULL if none is known.
 */
const struct etwas_image *etwas_images_find(struct etwas_images *images, uint32_t process,
                                            int64_t time, uint64_t address);

/* Returns the index of the first entry of a process. Entries of other processes may follow. */
uint32_t etwas_images_first(struct etwas_images *images, uint32_t process);

/* Returns the symbols of a file, or NULL if there are none. They are looked up once. */
struct etwas_symbols *etwas_images_symbols(struct etwas_image_build *file);

/* Frees everything, including the symbols of the files. */
void etwas_images_free(struct etwas_images *images);

#endif
