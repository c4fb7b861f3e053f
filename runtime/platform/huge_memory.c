/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum {
    HUGE_PAGE_SHIFT = 21,
    LINE_BYTES = 512,
    BYTES_A_KB = 1024,
};
_Static_assert(1 << HUGE_PAGE_SHIFT == ETWAS_HUGE_PAGE_BYTES, "one size");

/* Finds `bytes` of free address space, on a huge page's boundary. Returns NULL if there is none. */
static uint8_t *huge_find_address(size_t bytes)
{
    size_t room = bytes + ETWAS_HUGE_PAGE_BYTES;
    void *found = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (found == MAP_FAILED) {
        return NULL;
    }
    (void)munmap(found, room);
    return (uint8_t *)(((uintptr_t)found + ETWAS_HUGE_PAGE_BYTES - 1) / ETWAS_HUGE_PAGE_BYTES *
                       ETWAS_HUGE_PAGE_BYTES);
}

/*
 * Maps at this address, and only if nothing is mapped there by now. Kernels before 4.17 take the
 * address as a hint.
 */
static bool huge_map_at(uint8_t *address, size_t bytes, int flags)
{
    void *mapped = mmap(address, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags, -1, 0);

    if (mapped != MAP_FAILED && mapped != address) {
        (void)munmap(mapped, bytes);
        return false;
    }
    return mapped == address;
}

/*
 * Maps all pages now, or none: a promised page that a control group withholds would be a SIGBUS in
 * a writer. Kernels before 5.14 do not support this, and so get no explicit huge pages.
 */
static bool huge_map_explicit(uint8_t *address, size_t bytes)
{
    if (!huge_map_at(address, bytes, MAP_HUGETLB | HUGE_PAGE_SHIFT << MAP_HUGE_SHIFT)) {
        return false;
    }
    if (madvise(address, bytes, MADV_POPULATE_WRITE) != 0) {
        (void)munmap(address, bytes);
        return false;
    }
    /*
     * Such pages cannot be wiped on fork. A child that had them would find no page for the copy
     * when the child or its parent writes. So the child has a hole there, until it forgets the
     * region.
     */
    (void)madvise(address, bytes, MADV_DONTFORK);
    return true;
}

bool etwas_huge_memory_map(struct etwas_memory *memory, size_t explicit_bytes)
{
    size_t rest_bytes = memory->region_bytes - explicit_bytes;
    uint8_t *address = explicit_bytes != 0 ? huge_find_address(memory->region_bytes) : NULL;

    if (address == NULL || !huge_map_explicit(address, explicit_bytes)) {
        return false;
    }
    if (rest_bytes != 0 && !huge_map_at(address + explicit_bytes, rest_bytes, MAP_NORESERVE)) {
        (void)munmap(address, explicit_bytes);
        return false;
    }
    memory->region = address;
    memory->explicit_bytes = explicit_bytes;
    return true;
}

void etwas_huge_memory_forget(const struct etwas_memory *memory)
{
    (void)mmap(memory->region, memory->explicit_bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void etwas_huge_memory_leak(const struct etwas_memory *memory)
{
    if (memory->explicit_bytes != 0) {
        (void)madvise(memory->region, memory->explicit_bytes, MADV_DOFORK);
    }
}

/* ---- counting huge pages --------------------------------------------------------------------- */

/* The part of a mapping that lies between two addresses. */
struct huge_part {
    uintptr_t start;
    uintptr_t end;
    uint64_t overlap;
};

/* Parses the first line of a mapping: "7f0c8a000000-7f0c8c000000 rw-p …". */
static bool smaps_line_begins_mapping(const char *line, struct huge_part *part)
{
    unsigned long start;
    unsigned long end;

    if (sscanf(line, "%lx-%lx ", &start, &end) != 2) {
        return false;
    }
    start = start < part->start ? part->start : start;
    end = end > part->end ? part->end : end;
    part->overlap = start < end ? end - start : 0;
    return true;
}

static uint64_t smaps_line_huge_kb(const char *line)
{
    unsigned long kb;

    if (sscanf(line, "AnonHugePages: %lu kB", &kb) == 1 ||
        sscanf(line, "ShmemPmdMapped: %lu kB", &kb) == 1 ||
        sscanf(line, "FilePmdMapped: %lu kB", &kb) == 1 ||
        sscanf(line, "Private_Hugetlb: %lu kB", &kb) == 1) {
        return kb;
    }
    return 0;
}

/*
 * The kernel reports whole mappings. One that reaches beyond the region, because its neighbour has
 * the same attributes, may have more huge pages than lie in the region; at most the size of the
 * region is counted.
 */
uint64_t etwas_memory_huge_bytes(const struct etwas_memory *memory)
{
    struct huge_part region = {.start = (uintptr_t)memory->region,
                               .end = (uintptr_t)memory->region + memory->region_bytes};
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[LINE_BYTES];
    uint64_t huge = 0;

    if (file == NULL) {
        return memory->explicit_bytes;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (!smaps_line_begins_mapping(line, &region) && region.overlap != 0) {
            uint64_t bytes = smaps_line_huge_kb(line) * BYTES_A_KB;

            huge += bytes < region.overlap ? bytes : region.overlap;
        }
    }
    (void)fclose(file);
    return huge;
}
