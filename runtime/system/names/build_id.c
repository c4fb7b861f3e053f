/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/names/image_list.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MOST_HEADERS = 64,
    MOST_NOTE_BYTES = 4096,
    LONGEST_PATH = 64,
};

static uint64_t padded(uint32_t bytes)
{
    return ((uint64_t)bytes + 3) & ~UINT64_C(3);
}

uint32_t etwas_build_id_of_notes(const uint8_t *notes, size_t bytes,
                                 uint8_t build_id[ETWAS_BUILD_ID_ROOM])
{
    Elf64_Nhdr note; /* the same in 32-bit files */

    while (bytes >= sizeof note) {
        uint64_t body;

        memcpy(&note, notes, sizeof note);
        notes += sizeof note;
        bytes -= sizeof note;
        body = padded(note.n_namesz) + padded(note.n_descsz);
        if (body > bytes) {
            return 0;
        }
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(notes, "GNU", sizeof "GNU") == 0 && note.n_descsz <= ETWAS_BUILD_ID_ROOM) {
            memcpy(build_id, notes + sizeof "GNU", note.n_descsz);
            return note.n_descsz;
        }
        notes += body;
        bytes -= (size_t)body;
    }
    return 0;
}

static uint32_t build_id_read_notes(int file, uint64_t offset, uint64_t bytes,
                                    uint8_t build_id[ETWAS_BUILD_ID_ROOM])
{
    uint8_t notes[MOST_NOTE_BYTES];
    ssize_t got;

    if (offset > INT64_MAX) {
        return 0;
    }
    got = pread(file, notes, bytes < sizeof notes ? (size_t)bytes : sizeof notes, (off_t)offset);
    return got > 0 ? etwas_build_id_of_notes(notes, (size_t)got, build_id) : 0;
}

uint32_t etwas_build_id_of_file(int file, uint8_t build_id[ETWAS_BUILD_ID_ROOM])
{
    Elf64_Ehdr head;
    Elf64_Phdr headers[MOST_HEADERS];
    uint32_t found = 0;
    ssize_t got;

    if (pread(file, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_phentsize != sizeof headers[0] || head.e_phoff > INT64_MAX) {
        return 0;
    }
    got = pread(file, headers, sizeof headers, (off_t)head.e_phoff);
    for (ssize_t index = 0;
         index < head.e_phnum && found == 0 && (index + 1) * (ssize_t)sizeof headers[0] <= got;
         index++) {
        if (headers[index].p_type == PT_NOTE) {
            found = build_id_read_notes(file, headers[index].p_offset, headers[index].p_filesz,
                                        build_id);
        }
    }
    return found;
}

/*
 * The type is checked before the file is opened: opening a device may have effects, and opening a
 * pipe may wait.
 */
uint32_t etwas_build_id_of_path_file(int place, uint8_t build_id[ETWAS_BUILD_ID_ROOM])
{
    char opened[LONGEST_PATH];
    struct stat status;
    uint32_t found = 0;
    int file = -1;

    if (fstat(place, &status) == 0 && S_ISREG(status.st_mode)) {
        (void)snprintf(opened, sizeof opened, "/proc/self/fd/%d", place);
        file = open(opened, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (file >= 0) {
        found = etwas_build_id_of_file(file, build_id);
        (void)close(file);
    }
    return found;
}
