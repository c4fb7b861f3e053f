/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/image_list.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NOTES_BYTES = 4096,
    LONGEST_PATH = 256,
    TYPE_BYTES = 3, /* between address and name, with its blanks */
    HEXADECIMAL = 16,
};

/* ffffffff81000000 T _text */
bool etwas_kernel_parse_symbol(const char *line, const char *name, uint64_t *address)
{
    const char *symbol = line + strcspn(line, " ");
    size_t length = strlen(name);

    if (strlen(symbol) < TYPE_BYTES + length || strncmp(symbol + TYPE_BYTES, name, length) != 0 ||
        strcspn(symbol + TYPE_BYTES, "\n") != length) {
        return false;
    }
    *address = strtoull(line, NULL, HEXADECIMAL);
    return true;
}

/* nf_tables 262144 0 - Live 0xffffffffc0000000 */
bool etwas_kernel_parse_module(char *line, struct etwas_mapping *mapping)
{
    *mapping = (struct etwas_mapping){.path = line};
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%*s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, &mapping->bytes,
               &mapping->address) != 2 ||
        mapping->address == 0) {
        return false;
    }
    line[strcspn(line, " ")] = 0;
    return true;
}

/* Notes as the kernel shows them of itself and of each module. */
static uint32_t kernel_images_read_notes(const char *path, uint8_t build_id[ETWAS_BUILD_ID_ROOM])
{
    uint8_t notes[NOTES_BYTES];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = -1;

    if (file >= 0) {
        bytes = read(file, notes, sizeof notes);
        (void)close(file);
    }
    return bytes > 0 ? etwas_build_id_of_notes(notes, (size_t)bytes, build_id) : 0;
}

/* The symbol depends on the machine: aarch64 has no _text. */
static bool is_begin(const char *line, uint64_t *address)
{
    return etwas_kernel_parse_symbol(line, "_text", address) ||
           etwas_kernel_parse_symbol(line, "_stext", address);
}

static void list_kernel_image(etwas_mapping_callback *each, void *context)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    uint8_t build_id[ETWAS_BUILD_ID_ROOM];
    uint64_t begin = 0;
    uint64_t end = 0;
    char *line = NULL;
    size_t room = 0;

    while (file != NULL && end == 0 && getline(&line, &room, file) > 0) {
        (void)((begin == 0 && is_begin(line, &begin)) ||
               etwas_kernel_parse_symbol(line, "_etext", &end));
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (begin != 0 && end > begin) {
        const struct etwas_mapping mapping = {
            .address = begin,
            .bytes = end - begin,
            .path = "vmlinux",
            .build_id = build_id,
            .build_id_bytes = kernel_images_read_notes("/sys/kernel/notes", build_id),
        };

        each(context, &mapping);
    }
}

static void list_modules(etwas_mapping_callback *each, void *context)
{
    FILE *file = fopen("/proc/modules", "re");
    uint8_t build_id[ETWAS_BUILD_ID_ROOM];
    struct etwas_mapping mapping;
    char *line = NULL;
    size_t room = 0;

    while (file != NULL && getline(&line, &room, file) > 0) {
        if (etwas_kernel_parse_module(line, &mapping)) {
            char path[LONGEST_PATH];

            (void)snprintf(path, sizeof path, "/sys/module/%s/notes/.note.gnu.build-id",
                           mapping.path);
            mapping.build_id = build_id;
            mapping.build_id_bytes = kernel_images_read_notes(path, build_id);
            (void)snprintf(path, sizeof path, "%s.ko", mapping.path);
            mapping.path = path;
            each(context, &mapping);
        }
    }
    free(line);
    if (file != NULL) {
        (void)fclose(file);
    }
}

void etwas_kernel_images(etwas_mapping_callback *each, void *context)
{
    list_kernel_image(each, context);
    list_modules(each, context);
}
