/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files that say what they are: the bytes as an ELF file, as its notes, and as the kernel's
 * description of its types.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "system/names/image_list.h"
#include "system/stream/probe.h"
#include "walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"", "x", "vfs_read"};
    uint32_t numbers[sizeof names / sizeof *names];
    uint8_t build_id[ETWAS_BUILD_ID_ROOM];
    uint8_t *bytes = malloc(size + 1);
    int file = memfd_create("image", MFD_CLOEXEC);

    MUST(file >= 0 && bytes != NULL && write(file, data, size) == (ssize_t)size);
    MUST(etwas_build_id_of_file(file, build_id) <= sizeof build_id);
    (void)close(file);
    memcpy(bytes, data, size);
    MUST(etwas_build_id_of_notes(bytes, size, build_id) <= sizeof build_id);
    etwas_btf_find(bytes, size, names, sizeof names / sizeof *names, numbers);
    free(bytes);
    return 0;
}
