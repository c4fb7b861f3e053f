/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/images.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "platform/fork.h"

static int image_add_changes(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    uint64_t *changes = argument;

    (void)bytes;
    *changes = info->dlpi_adds + info->dlpi_subs;
    return 1; /* of no other */
}

uint64_t etwas_images_changes(void)
{
    uint64_t changes = 0;

    /* A child would inherit the state of the loader's lock. */
    etwas_fork_forbid();
    (void)dl_iterate_phdr(image_add_changes, &changes);
    etwas_fork_allow();
    return changes;
}

/* ---- one image ------------------------------------------------------------------------------- */

/* Finds the first and the last loaded byte. Returns false if nothing is loaded. */
static bool image_find_extent(const struct dl_phdr_info *info, struct etwas_loaded_image *image)
{
    uint64_t low = UINT64_MAX;
    uint64_t high = 0;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];

        if (header->p_type == PT_LOAD) {
            low = header->p_vaddr < low ? header->p_vaddr : low;
            high =
                header->p_vaddr + header->p_memsz > high ? header->p_vaddr + header->p_memsz : high;
        }
    }
    if (low >= high) {
        return false;
    }
    image->linked_base = low & ~(page - 1);
    image->base = info->dlpi_addr + image->linked_base;
    image->bytes = ((high + page - 1) & ~(page - 1)) - image->linked_base;
    return true;
}

/* Whether a segment's bytes are loaded: a note that is not loaded cannot be read. */
static bool image_is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * note)
{
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];

        if (header->p_type == PT_LOAD && (header->p_flags & PF_R) != 0 &&
            note->p_vaddr >= header->p_vaddr && note->p_filesz <= header->p_filesz &&
            note->p_vaddr - header->p_vaddr <= header->p_filesz - note->p_filesz) {
            return true;
        }
    }
    return false;
}

/* The notes follow each other: a head, a name and a description, both in multiples of 4 bytes. */
static void image_find_build_id(const uint8_t *notes, uint64_t bytes,
                                struct etwas_loaded_image *image)
{
    ElfW(Nhdr) note;

    while (bytes >= sizeof note) {
        uint64_t name_bytes;
        uint64_t description_bytes;

        memcpy(&note, notes, sizeof note);
        name_bytes = ((uint64_t)note.n_namesz + 3) & ~UINT64_C(3);
        description_bytes = ((uint64_t)note.n_descsz + 3) & ~UINT64_C(3);
        notes += sizeof note;
        bytes -= sizeof note;
        if (name_bytes + description_bytes > bytes) {
            return;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes, "GNU", sizeof "GNU") == 0 && note.n_descsz <= ETWAS_BUILD_ID_BYTES) {
            memcpy(image->build_id, notes + name_bytes, note.n_descsz);
            image->build_id_bytes = note.n_descsz;
            return;
        }
        notes += name_bytes + description_bytes;
        bytes -= name_bytes + description_bytes;
    }
}

static void image_fill(const struct dl_phdr_info *info, struct etwas_loaded_image *image)
{
    size_t path_bytes = strnlen(info->dlpi_name, sizeof image->path - 1);

    memcpy(image->path, info->dlpi_name, path_bytes);
    image->path[path_bytes] = '\0';
    image->build_id_bytes = 0;
    for (int index = 0; index < info->dlpi_phnum && image->build_id_bytes == 0; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];

        if (header->p_type == PT_NOTE && image_is_loaded(info, header)) {
            image_find_build_id((const uint8_t *)(info->dlpi_addr + header->p_vaddr),
                                header->p_filesz, image);
        }
    }
}

/* ---- all images ------------------------------------------------------------------------------ */

struct image_list {
    struct etwas_loaded_image *images;
    uint32_t count;
    uint32_t room;
    bool failed;
};

static int image_list_add(struct dl_phdr_info *info, size_t bytes, void *argument)
{
    struct image_list *list = argument;

    (void)bytes;
    if (list->count == list->room) {
        uint32_t room = list->room == 0 ? 64 : 2 * list->room;
        struct etwas_loaded_image *images = reallocarray(list->images, room, sizeof *images);

        if (images == NULL) {
            list->failed = true;
            return 1;
        }
        list->images = images;
        list->room = room;
    }
    if (image_find_extent(info, &list->images[list->count])) {
        image_fill(info, &list->images[list->count]);
        list->count++;
    }
    return 0;
}

/*
 * Completes a path: the loader has no name for the program, and a library's may be relative. The
 * vdso is no file.
 */
static void image_complete_path(struct etwas_loaded_image *image)
{
    char path[PATH_MAX];
    const char *name = image->path[0] != '\0' ? image->path : "/proc/self/exe";

    if (strchr(name, '/') != NULL && realpath(name, path) != NULL) {
        memcpy(image->path, path, strlen(path) + 1);
    }
}

struct etwas_loaded_image *etwas_images_read(uint32_t *count)
{
    struct image_list list = {0};

    etwas_fork_forbid();
    (void)dl_iterate_phdr(image_list_add, &list);
    etwas_fork_allow();
    if (list.failed) {
        free(list.images);
        return NULL;
    }
    for (uint32_t index = 0; index < list.count; index++) {
        if (list.images[index].path[0] != '/') {
            image_complete_path(&list.images[index]);
        }
    }
    *count = list.count;
    return list.images;
}
