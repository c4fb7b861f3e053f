/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reads core files, as far as recovery needs them. The memory of the process lies in segments.
 */
#include <elf.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "recover/source.h"

enum {
    MOST_SEGMENTS = 1 << 20, /* a process has 65,530 mappings at most, unless more are permitted */
    HEADERS = 512,           /* read at once */
};

struct segment {
    uint64_t address;
    uint64_t bytes; /* present in the file */
    uint64_t at;
};

struct etwas_core {
    int file;
    uint32_t count;
    struct segment segments[]; /* in order of address */
};

/* A core that was cut short contains only the first bytes of a segment. */
static uint64_t segment_bytes_in_file(const Elf64_Phdr *segment, uint64_t file_bytes)
{
    uint64_t left = segment->p_offset < file_bytes ? file_bytes - segment->p_offset : 0;

    return segment->p_type != PT_LOAD ? 0 : segment->p_filesz < left ? segment->p_filesz : left;
}

static bool core_read_exactly(int file, void *to, size_t bytes, uint64_t at)
{
    return etwas_file_read(file, to, bytes, at) == bytes;
}

/* A count of segments that does not fit in the ELF header is in the first section header. */
static bool core_find_segments(int file, uint64_t *at, uint32_t *count)
{
    Elf64_Ehdr head;
    Elf64_Shdr section;

    if (!core_read_exactly(file, &head, sizeof head, 0) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_type != ET_CORE || head.e_phentsize != sizeof(Elf64_Phdr)) {
        return false;
    }
    *at = head.e_phoff;
    *count = head.e_phnum;
    if (head.e_phnum == PN_XNUM) {
        if (!core_read_exactly(file, &section, sizeof section, head.e_shoff)) {
            return false;
        }
        *count = section.sh_info;
    }
    return *count <= MOST_SEGMENTS;
}

static int segment_by_address(const void *left, const void *right)
{
    const struct segment *one = left;
    const struct segment *other = right;

    return one->address < other->address ? -1 : one->address > other->address;
}

/*
 * Returns false if the segments together are larger than the file. Segments that overlap could make
 * a small file stand for more memory than the machine has.
 */
static bool core_read_segments(struct etwas_core *core, uint64_t at, uint32_t count,
                               uint64_t file_bytes)
{
    uint64_t left = file_bytes;

    for (uint32_t first = 0; first < count; first += HEADERS) {
        Elf64_Phdr headers[HEADERS];
        uint32_t some = count - first < HEADERS ? count - first : HEADERS;
        size_t bytes = etwas_file_read(core->file, headers, some * sizeof headers[0],
                                       at + first * sizeof headers[0]);

        for (uint32_t index = 0; index < bytes / sizeof headers[0]; index++) {
            const Elf64_Phdr *header = &headers[index];
            uint64_t present = segment_bytes_in_file(header, file_bytes);

            if (present > left) {
                return false;
            }
            if (present != 0) {
                left -= present;
                core->segments[core->count++] =
                    (struct segment){header->p_vaddr, present, header->p_offset};
            }
        }
    }
    qsort(core->segments, core->count, sizeof core->segments[0], segment_by_address);
    return true;
}

static uint32_t core_find_mapping(const struct etwas_core *core, uint32_t index, uint64_t *address)
{
    for (uint32_t at = 0; at < core->count; at++) {
        char magic[sizeof ETWAS_SHARED_MAGIC - 1];
        const struct segment *segment = &core->segments[at];

        if (segment->bytes >= sizeof(struct etwas_shared_head) &&
            core_read_exactly(core->file, magic, sizeof magic, segment->at) &&
            memcmp(magic, ETWAS_SHARED_MAGIC, sizeof magic) == 0 && index-- == 0) {
            *address = segment->address;
            return ERROR_SUCCESS;
        }
    }
    return ERROR_NOT_FOUND;
}

uint32_t etwas_core_open(int file, uint64_t file_bytes, uint32_t index, struct etwas_core **core,
                         uint64_t *address)
{
    uint64_t at;
    uint32_t count;

    if (!core_find_segments(file, &at, &count)) {
        return ERROR_FILE_CORRUPT;
    }
    *core = calloc(1, sizeof **core + count * sizeof(*core)->segments[0]);
    if (*core == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    (*core)->file = file;
    return core_read_segments(*core, at, count, file_bytes)
               ? core_find_mapping(*core, index, address)
               : ERROR_FILE_CORRUPT;
}

void etwas_core_close(struct etwas_core *core)
{
    free(core);
}

/* Returns the segment that holds an address; NULL: there is none. */
static const struct segment *core_find_segment(const struct etwas_core *core, uint64_t address)
{
    uint32_t low = 0;
    uint32_t high = core->count;

    while (low < high) { /* segments before `low` begin at or below the address */
        uint32_t middle = low + (high - low) / 2;

        if (core->segments[middle].address <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low != 0 && address - core->segments[low - 1].address < core->segments[low - 1].bytes
               ? &core->segments[low - 1]
               : NULL;
}

bool etwas_core_fill(const struct etwas_core *core, uint64_t address, void *zeroed, uint64_t bytes,
                     bool *has_any)
{
    uint8_t *next = zeroed;

    while (bytes != 0) {
        const struct segment *segment = core_find_segment(core, address);
        uint64_t within = segment != NULL ? address - segment->address : 0;
        uint64_t part = segment != NULL ? segment->bytes - within : 0;

        part = part < bytes ? part : bytes;
        if (part == 0 ||
            !etwas_recover_fill(core->file, segment->at + within, next, part, has_any)) {
            return false;
        }
        next += part;
        address += part;
        bytes -= part;
    }
    return true;
}
