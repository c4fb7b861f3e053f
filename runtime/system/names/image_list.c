/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/image_list.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROOM = 8,
};

bool etwas_mapping_is_image(const char *path)
{
    return (path[0] == '/' && strncmp(path, "//", 2) != 0) || strcmp(path, "[vdso]") == 0;
}

/* ---- files ----------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *path)
{
    const uint32_t prime = 16777619; /* FNV-1a */
    uint32_t hash = 2166136261;

    for (; *path != 0; path++) {
        hash = (hash ^ (uint8_t)*path) * prime;
    }
    return hash;
}

static uint32_t build_id_bytes_of(const struct etwas_mapping *mapping)
{
    return mapping->build_id_bytes <= ETWAS_IMAGE_BUILD_ID_BYTES ? mapping->build_id_bytes : 0;
}

static bool is_file_of(const struct etwas_image_file *file, const struct etwas_mapping *mapping)
{
    uint32_t bytes = build_id_bytes_of(mapping);

    return file->build_id_bytes == bytes &&
           (bytes == 0 || memcmp(file->build_id, mapping->build_id, bytes) == 0) &&
           strcmp(file->path, mapping->path) == 0;
}

/* Adds a reference. NULL: there is no memory. */
static struct etwas_image_file *file_of(struct etwas_id_map *files,
                                        const struct etwas_mapping *mapping)
{
    uint32_t hash = hash_of(mapping->path);
    struct etwas_id_node *node = etwas_id_map_find(files, hash);
    size_t path_bytes = strlen(mapping->path) + 1;
    struct etwas_image_file *file;

    while (node != NULL && !is_file_of((struct etwas_image_file *)node, mapping)) {
        node = etwas_id_map_find_next(node);
    }
    file = (struct etwas_image_file *)node;
    if (file == NULL) {
        file = calloc(1, sizeof *file + path_bytes);
        if (file == NULL) {
            return NULL;
        }
        file->node.id = hash;
        file->build_id_bytes = build_id_bytes_of(mapping);
        if (file->build_id_bytes != 0) {
            memcpy(file->build_id, mapping->build_id, file->build_id_bytes);
        }
        memcpy(file->path, mapping->path, path_bytes);
        etwas_id_map_add(files, &file->node);
    }
    file->references++;
    return file;
}

static void drop_file(struct etwas_id_map *files, struct etwas_image_file *file)
{
    if (--file->references == 0) {
        etwas_id_map_remove(files, &file->node);
        free(file);
    }
}

/* ---- images ---------------------------------------------------------------------------------- */

static struct etwas_file_image image_of(const struct etwas_mapping *mapping,
                                        struct etwas_image_file *file)
{
    bool has_first_byte = mapping->file_offset <= mapping->address;

    return (struct etwas_file_image){
        .base = has_first_byte ? mapping->address - mapping->file_offset : mapping->address,
        .base_offset = has_first_byte ? 0 : mapping->file_offset,
        .begin = mapping->address,
        .end = mapping->address + mapping->bytes,
        .file = file,
    };
}

static bool is_same_image(const struct etwas_file_image *one, const struct etwas_file_image *other)
{
    return one->file == other->file && one->base == other->base &&
           one->base_offset == other->base_offset;
}

/* The last image takes the place. */
static void remove_at(struct etwas_image_list *list, struct etwas_id_map *files, uint32_t index)
{
    drop_file(files, list->images[index].file);
    list->images[index] = list->images[--list->count];
}

/*
 * Unloads images that are not there any more, and those that become part of the new image, which
 * grows.
 */
static void image_list_make_room(struct etwas_image_list *list, struct etwas_id_map *files,
                                 struct etwas_file_image *image, etwas_image_callback *callback,
                                 void *context)
{
    const struct etwas_file_image added = *image;

    for (uint32_t index = 0; index < list->count;) {
        const struct etwas_file_image *old = &list->images[index];
        bool is_same = is_same_image(old, &added);

        if (!is_same && (old->end <= added.begin || added.end <= old->begin)) {
            index++;
            continue;
        }
        if (is_same) {
            image->begin = old->begin < image->begin ? old->begin : image->begin;
            image->end = old->end > image->end ? old->end : image->end;
        }
        callback(context, false, old);
        remove_at(list, files, index);
    }
}

static bool is_there(const struct etwas_image_list *list, const struct etwas_file_image *image)
{
    for (uint32_t index = 0; index < list->count; index++) {
        const struct etwas_file_image *old = &list->images[index];

        if (is_same_image(old, image) && old->begin <= image->begin && image->end <= old->end) {
            return true;
        }
    }
    return false;
}

static bool image_list_has_room(struct etwas_image_list *list)
{
    uint32_t room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
    struct etwas_file_image *images;

    if (list->count < list->room) {
        return true;
    }
    images = list->count < ETWAS_IMAGE_LIST_MOST ? reallocarray(list->images, room, sizeof *images)
                                                 : NULL;
    if (images == NULL) {
        return false;
    }
    list->images = images;
    list->room = room;
    return true;
}

void etwas_image_list_add(struct etwas_image_list *list, struct etwas_id_map *files,
                          const struct etwas_mapping *mapping, etwas_image_callback *callback,
                          void *context)
{
    struct etwas_file_image image;
    struct etwas_image_file *file;

    if (mapping->bytes == 0 || mapping->address + mapping->bytes < mapping->address) {
        return;
    }
    file = file_of(files, mapping);
    if (file == NULL) {
        return;
    }
    image = image_of(mapping, file);
    if (is_there(list, &image)) {
        drop_file(files, file);
        return;
    }
    image_list_make_room(list, files, &image, callback, context);
    callback(context, true, &image);
    if (image_list_has_room(list)) {
        list->images[list->count++] = image;
    } else {
        drop_file(files, file);
    }
}

void etwas_image_list_copy(struct etwas_image_list *list, const struct etwas_image_list *from)
{
    *list = (struct etwas_image_list){
        .images = from->count != 0 ? calloc(from->count, sizeof *from->images) : NULL};
    if (list->images == NULL) {
        return;
    }
    memcpy(list->images, from->images, from->count * sizeof *from->images);
    list->count = from->count;
    list->room = from->count;
    for (uint32_t index = 0; index < list->count; index++) {
        list->images[index].file->references++;
    }
}

void etwas_image_list_clear(struct etwas_image_list *list, struct etwas_id_map *files)
{
    for (uint32_t index = 0; index < list->count; index++) {
        drop_file(files, list->images[index].file);
    }
    free(list->images);
    *list = (struct etwas_image_list){0};
}
