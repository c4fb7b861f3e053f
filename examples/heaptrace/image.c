/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Finds the image of an address and logs it; the interface is in the header. */

#include "image.h"

#include "heaptrace.h"
#include "real.h"

#include <ck_pr.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum {
    IMAGES = 1024, /* logged once; further images are logged with each new address in them */
    PAGE_BYTES = 4096,
    NOTE_ALIGNMENT = 4
};

static const struct link_map *seen[IMAGES];

/* Claims a place for the image. Returns false if it has one. */
static bool is_new(const struct link_map *map)
{
    for (int i = 0; i < IMAGES; i++) {
        const struct link_map *at = ck_pr_load_ptr(&seen[i]);

        if (at == NULL && ck_pr_cas_ptr_value(&seen[i], NULL, (void *)(uintptr_t)map, &at)) {
            return true;
        }
        if (at == map) {
            return false;
        }
    }
    return true;
}

void heaptrace_images_forget(void)
{
    for (int i = 0; i < IMAGES; i++) {
        ck_pr_store_ptr(&seen[i], NULL);
    }
}

/* ---- the build id ---- */

/* Finds the build id among the notes of an image. */
static void find_in_notes(struct heaptrace_image *image, const uint8_t *notes, uint64_t bytes)
{
    ElfW(Nhdr) note;
    uint64_t name_bytes;
    uint64_t data_bytes;

    while (bytes >= sizeof note) {
        memcpy(&note, notes, sizeof note);
        name_bytes = (note.n_namesz + (uint64_t)NOTE_ALIGNMENT - 1) & ~(uint64_t)3;
        data_bytes = (note.n_descsz + (uint64_t)NOTE_ALIGNMENT - 1) & ~(uint64_t)3;
        if (name_bytes + data_bytes > bytes - sizeof note) {
            return;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            note.n_descsz <= UINT8_MAX &&
            memcmp(notes + sizeof note, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
            image->build_id = notes + sizeof note + name_bytes;
            image->build_id_bytes = (uint8_t)note.n_descsz;
            return;
        }
        notes += sizeof note + name_bytes + data_bytes;
        bytes -= sizeof note + name_bytes + data_bytes;
    }
}

/* The mapping begins with the first page of the file, which begins with the ELF headers. */
static void find_build_id(struct heaptrace_image *image, const struct dl_find_object *object)
{
    const uint8_t *start = object->dlfo_map_start;
    uint64_t bytes = (uint64_t)((const uint8_t *)object->dlfo_map_end - start);
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(uintptr_t)start;
    const ElfW(Phdr) * parts;

    if (bytes < PAGE_BYTES || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_phentsize != sizeof *parts || header->e_phoff % 8 != 0 ||
        header->e_phoff > PAGE_BYTES ||
        header->e_phnum * sizeof *parts > PAGE_BYTES - header->e_phoff) {
        return;
    }
    parts = (const ElfW(Phdr) *)(uintptr_t)(start + header->e_phoff);
    for (unsigned int i = 0; i < header->e_phnum && image->build_id_bytes == 0; i++) {
        uint64_t offset =
            object->dlfo_link_map->l_addr + parts[i].p_vaddr - (uint64_t)(uintptr_t)start;

        if (parts[i].p_type == PT_NOTE && offset < bytes && parts[i].p_memsz <= bytes - offset) {
            find_in_notes(image, start + offset, parts[i].p_memsz);
        }
    }
}

/* ---- one image ---- */

static void tell(const struct dl_find_object *object)
{
    const struct link_map *map = object->dlfo_link_map;
    struct heaptrace_image image = {
        .base = (uint64_t)(uintptr_t)object->dlfo_map_start,
        .bytes =
            (uint64_t)((const char *)object->dlfo_map_end - (const char *)object->dlfo_map_start),
        .path = map->l_name,
    };

    /* The dynamic linker has no name for the program itself. */
    if (map->l_name == NULL || map->l_name[0] == '\0') {
        image.path = heaptrace_program_path();
    }
    find_build_id(&image, object);
    heaptrace_log_image(&image);
}

bool heaptrace_image_find(uint64_t address, struct heaptrace_mapping *mapping)
{
    struct dl_find_object object;

    if (_dl_find_object((void *)(uintptr_t)address, &object) != 0) {
        return false;
    }
    if (is_new(object.dlfo_link_map)) {
        tell(&object);
    }
    mapping->start = object.dlfo_map_start;
    mapping->end = object.dlfo_map_end;
    mapping->index = object.dlfo_eh_frame;
    return true;
}

HEAPTRACE_EXPORT int dlclose(void *library)
{
    const struct heaptrace_real *real = heaptrace_real();
    int result;

    if (real == NULL) {
        __builtin_trap();
    }
    result = real->dlclose(library);
    heaptrace_image_closed();
    return result;
}
