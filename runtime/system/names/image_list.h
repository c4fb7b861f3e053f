/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The images of a process: the files that it can run code from, and where. Linux reports what is
 * mapped and not what is unmapped, so an image is unloaded where something else is mapped over it.
 * A mapping that is reported twice is added once.
 *
 *     base    the address of the file's first byte, so that an address minus the base is an
 *             offset in the file
 *
 * The mapped parts of a file with the same base are one image, from its first byte to the end of
 * the last part. If the first byte would have no address, the base is the part's own address, with
 * its offset in the file.
 */
#ifndef ETWAS_SYSTEM_NAMES_IMAGE_LIST_H
#define ETWAS_SYSTEM_NAMES_IMAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/names/id_map.h"

enum {
    ETWAS_IMAGE_BUILD_ID_BYTES = 20,
    /* Further images are reported and not kept, so their unload is not reported. */
    ETWAS_IMAGE_LIST_MOST = 4096,
};

/* A part of a file that is mapped executable. */
struct etwas_mapping {
    uint64_t address;
    uint64_t bytes;
    uint64_t file_offset;
    uint32_t build_id_bytes; /* 0: the build id is not known */
    const uint8_t *build_id;
    const char *path;
};

/* A file; all images of it share this. */
struct etwas_image_file {
    struct etwas_id_node node;
    uint32_t references;
    uint32_t build_id_bytes;
    uint8_t build_id[ETWAS_IMAGE_BUILD_ID_BYTES];
    char path[];
};

struct etwas_file_image {
    uint64_t base;
    uint64_t base_offset; /* in the file; 0 unless the first byte would have no address */
    uint64_t begin;       /* the part of it that is mapped */
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

/*
 * Whether the mapping is part of an image: of a file, or of the code that the kernel gives to every
 * process.
 */
bool etwas_mapping_is_image(const char *path);

/*
 * Adds a mapping, and calls `callback` for each image that is unloaded and for the one that is
 * loaded. `files`: the image files of all processes. Without memory it reports what it can.
 */
void etwas_image_list_add(struct etwas_image_list *list, struct etwas_id_map *files,
                          const struct etwas_mapping *mapping, etwas_image_callback *callback,
                          void *context);

/* Copies the images of the parent to a forked child; without memory, nothing. */
void etwas_image_list_copy(struct etwas_image_list *list, const struct etwas_image_list *from);

void etwas_image_list_clear(struct etwas_image_list *list, struct etwas_id_map *files);

/*
 * The kernel and its modules as images of process 0: the kernel's code from _text to _etext in
 * /proc/kallsyms, and the modules in /proc/modules. A process that may not see addresses reads
 * zeros there, and finds no images.
 */

typedef void etwas_mapping_callback(void *context, const struct etwas_mapping *mapping);

void etwas_kernel_images(etwas_mapping_callback *each, void *context);

/* Parses a line of kallsyms. Returns false if it is another symbol. */
bool etwas_kernel_parse_symbol(const char *line, const char *name, uint64_t *address);

/* Parses a line of modules, whose memory the path then uses. Returns false if it has no address. */
bool etwas_kernel_parse_module(char *line, struct etwas_mapping *mapping);

/*
 * Reads the build id of an ELF file, from its GNU note. The file is not trusted, neither are its
 * offsets and sizes, and only a little of it is read.
 */

enum {
    ETWAS_BUILD_ID_ROOM = 20
};

/*
 * Finds the build id in notes that follow each other, as the kernel shows its own. Returns its
 * bytes; 0: there is none.
 */
uint32_t etwas_build_id_of_notes(const uint8_t *notes, size_t bytes,
                                 uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

/* Does the same for an open file. */
uint32_t etwas_build_id_of_file(int file, uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

/*
 * Does the same for a file that is open with O_PATH, if it is a regular file. Others are not opened
 * for reading.
 */
uint32_t etwas_build_id_of_path_file(int place, uint8_t build_id[ETWAS_BUILD_ID_ROOM]);

#endif
