/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/memory.h"

#include <ck_pr.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef ETWAS_ADDRESS_SANITIZER
#include <sanitizer/lsan_interface.h>
#endif

enum {
    MINCORE_BATCH_PAGES = 4096,
    HUGE_PAGE_BYTES = ETWAS_HUGE_PAGE_BYTES,
    PIECE_BYTES = 4 * HUGE_PAGE_BYTES,
    MAPPINGS_MOST = 16, /* of an arena: its bookkeeping, the region and earlier attempts */
};

size_t etwas_memory_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Maps small pages, even if the system makes pages huge by default. */
static void *memory_map(size_t bytes)
{
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (address == MAP_FAILED) {
        return NULL;
    }
    (void)madvise(address, bytes, MADV_NOHUGEPAGE);
    return address;
}

#ifdef ETWAS_WITH_JEMALLOC

#include <jemalloc/jemalloc.h>

/*
 * An arena's memory comes from here, and is returned when the arena is destroyed, each mapping as a
 * whole. jemalloc's own method keeps address space for ever, 2 MB of each arena. Parts cannot be
 * returned either, because jemalloc merges adjacent extents unless the upper one begins a mapping.
 * The program's own arenas may map memory in the gap of a returned part, and merge it with the rest
 * of ours, which another arena's lock guards.
 */
struct mappings {
    extent_hooks_t hooks; /* the first member: jemalloc hands it to the hooks */
    uint32_t count;
    struct {
        void *address;
        size_t bytes;
    } list[MAPPINGS_MOST];
};

/* Called by the only owner of the region. */
static void *arena_map_extent(extent_hooks_t *hooks, void *requested_address, size_t bytes,
                              size_t alignment, bool *zero, bool *commit, unsigned arena)
{
    struct mappings *mappings = (struct mappings *)hooks;
    char *address;
    size_t before;

    (void)arena;
    if (requested_address != NULL || mappings->count == MAPPINGS_MOST) {
        return NULL;
    }
    address = memory_map(bytes + alignment);
    if (address == NULL) {
        return NULL;
    }
    before = (alignment - (uintptr_t)address % alignment) % alignment;
    if (before != 0) {
        (void)munmap(address, before);
    }
    (void)munmap(address + before + bytes, alignment - before);
    mappings->list[mappings->count].address = address + before;
    mappings->list[mappings->count++].bytes = bytes;
    *zero = true;
    *commit = true;
    return address + before;
}

static bool arena_split_extent(extent_hooks_t *hooks, void *address, size_t bytes, size_t first,
                               size_t second, bool committed, unsigned arena)
{
    (void)hooks;
    (void)address;
    (void)bytes;
    (void)first;
    (void)second;
    (void)committed;
    (void)arena;
    return false;
}

static void arena_unmap_all(struct mappings *mappings)
{
    for (uint32_t index = 0; index < mappings->count; index++) {
        (void)munmap(mappings->list[index].address, mappings->list[index].bytes);
    }
    free(mappings);
}

static void arena_destroy(unsigned arena)
{
    char name[48];

    (void)snprintf(name, sizeof name, "arena.%u.destroy", arena);
    (void)mallctl(name, NULL, NULL, NULL, 0);
}

static size_t memory_region_alignment(size_t bytes)
{
    return bytes >= HUGE_PAGE_BYTES ? HUGE_PAGE_BYTES : etwas_memory_page_bytes();
}

static bool memory_map_region(struct etwas_memory *memory)
{
    struct mappings *mappings = calloc(1, sizeof *mappings);
    extent_hooks_t *hooks = &mappings->hooks;
    size_t length = sizeof memory->arena;
    int flags;

    if (mappings == NULL) {
        return false;
    }
    *hooks = (extent_hooks_t){.alloc = arena_map_extent, .split = arena_split_extent};
    if (mallctl("arenas.create", &memory->arena, &length, &hooks, sizeof hooks) != 0) {
        arena_unmap_all(mappings);
        return false;
    }
    flags = MALLOCX_ARENA(memory->arena) | MALLOCX_TCACHE_NONE | MALLOCX_ZERO;
    memory->region = mallocx(memory->region_bytes,
                             flags | MALLOCX_ALIGN(memory_region_alignment(memory->region_bytes)));
    memory->allocation = mappings;
    if (memory->region == NULL) {
        arena_destroy(memory->arena);
        arena_unmap_all(mappings);
        return false;
    }
    return true;
}

static void memory_unmap_region(struct etwas_memory *memory)
{
    int flags = MALLOCX_ARENA(memory->arena) | MALLOCX_TCACHE_NONE;

    dallocx(memory->region, flags);
    arena_destroy(memory->arena);
    arena_unmap_all(memory->allocation);
}

static uint64_t arena_statistic(unsigned arena, const char *statistic)
{
    char name[64];
    size_t value = 0;
    size_t length = sizeof value;

    (void)snprintf(name, sizeof name, "stats.arenas.%u.%s", arena, statistic);
    return mallctl(name, &value, &length, NULL, 0) == 0 ? value : 0;
}

void etwas_memory_arena_bytes(const struct etwas_memory *memory, uint64_t *mapped,
                              uint64_t *resident)
{
    uint64_t epoch = 1;
    size_t length = sizeof epoch;

    /* jemalloc renews its statistics when the epoch is written. */
    (void)mallctl("epoch", &epoch, &length, &epoch, length);
    *mapped = arena_statistic(memory->arena, "mapped");
    *resident = arena_statistic(memory->arena, "resident");
}

#else

/*
 * AddressSanitizer gets an inaccessible page on either side of a region, and one allocation of
 * malloc for each region: a leaked region is reported as that allocation.
 */
#ifdef ETWAS_ADDRESS_SANITIZER
enum {
    GUARD_PAGES = 1
};
#else
enum {
    GUARD_PAGES = 0
};
#endif

static bool memory_map_region(struct etwas_memory *memory)
{
    size_t guard = GUARD_PAGES * etwas_memory_page_bytes();
    uint8_t *mapping = memory_map(memory->region_bytes + 2 * guard);

    if (mapping == NULL) {
        return false;
    }
    memory->region = mapping + guard;
    if (guard != 0) {
        (void)mprotect(mapping, guard, PROT_NONE);
        (void)mprotect(memory->region + memory->region_bytes, guard, PROT_NONE);
        memory->allocation = malloc(1);
    }
    return true;
}

static void memory_unmap_region(struct etwas_memory *memory)
{
    size_t guard = GUARD_PAGES * etwas_memory_page_bytes();

    (void)munmap(memory->region - guard, memory->region_bytes + 2 * guard);
    free(memory->allocation);
}

void etwas_memory_arena_bytes(const struct etwas_memory *memory, uint64_t *mapped,
                              uint64_t *resident)
{
    (void)memory;
    *mapped = 0;
    *resident = 0;
}

#endif

static size_t memory_round_up(size_t bytes, size_t multiple)
{
    return (bytes + multiple - 1) / multiple * multiple;
}

/*
 * Requests huge pages if the system has them. A device takes the data in them in a few pieces
 * instead of hundreds, which makes direct writes two to three times as fast. The beginning has
 * none, unless they are requested: a session that needs little memory shall not take much.
 */
static void memory_advise_huge_pages(const struct etwas_memory *memory, size_t from)
{
    if (memory->region_bytes > from) {
        (void)madvise(memory->region + from, memory->region_bytes - from, MADV_HUGEPAGE);
    }
}

/*
 * A fork's child does not need the buffers' contents, but a writer that forked in a signal handler
 * continues its record there: it finds zeroes, and no pages are copied. Old kernels may refuse;
 * then pages are copied when touched.
 */
static void memory_advise(const struct etwas_memory *memory, size_t huge_from)
{
    size_t from = memory->explicit_bytes; /* huge_memory.c has already advised the pages before */

    (void)madvise(memory->region + from, memory->region_bytes - from, MADV_WIPEONFORK);
    memory_advise_huge_pages(memory, huge_from);
}

bool etwas_memory_create(struct etwas_memory *memory, size_t region_bytes)
{
    *memory = (struct etwas_memory){.region_bytes =
                                        memory_round_up(region_bytes, etwas_memory_page_bytes())};
    if (!memory_map_region(memory)) {
        return false;
    }
    memory_advise(memory, HUGE_PAGE_BYTES);
    return true;
}

bool etwas_memory_create_huge(struct etwas_memory *memory, size_t region_bytes, size_t most_bytes,
                              size_t least_bytes)
{
    *memory = (struct etwas_memory){.region_bytes = memory_round_up(region_bytes, HUGE_PAGE_BYTES)};
    if (etwas_huge_memory_map(memory, memory_round_up(most_bytes, HUGE_PAGE_BYTES)) ||
        etwas_huge_memory_map(memory, memory_round_up(least_bytes, HUGE_PAGE_BYTES))) {
        memory_advise(memory, memory->explicit_bytes);
        return true;
    }
    if (!memory_map_region(memory)) {
        return false;
    }
    memory_advise(memory, 0);
    return true;
}

/*
 * Requests huge pages if the system has them for such files; etwas_memory_forget handles a fork's
 * child.
 */
bool etwas_memory_create_in_file(struct etwas_memory *memory, size_t region_bytes, int file,
                                 uint64_t at, void *place)
{
    void *region = mmap(place, region_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (place != NULL ? MAP_FIXED : 0), file, (off_t)at);

    if (region == MAP_FAILED) {
        return false;
    }
    *memory = (struct etwas_memory){
        .region = region, .region_bytes = region_bytes, .is_file = true, .is_kept = place != NULL};
    memory_advise_huge_pages(memory, 0);
    return true;
}

void etwas_memory_forget(const struct etwas_memory *memory)
{
    if (memory->is_file) {
        etwas_memory_map_zeroes(memory->region, memory->region_bytes);
    }
    if (memory->explicit_bytes != 0) {
        etwas_huge_memory_forget(memory);
    }
}

void etwas_memory_destroy(struct etwas_memory *memory)
{
    if (memory->is_kept) {
        etwas_memory_map_zeroes(memory->region, memory->region_bytes);
    } else if (memory->explicit_bytes != 0 || memory->is_file) {
        (void)munmap(memory->region, memory->region_bytes);
    } else {
        (void)madvise(memory->region, memory->region_bytes, MADV_KEEPONFORK);
        memory_unmap_region(memory);
    }
    *memory = (struct etwas_memory){0};
}

void etwas_memory_leak(const struct etwas_memory *memory)
{
#ifdef ETWAS_ADDRESS_SANITIZER
    __lsan_ignore_object(memory->allocation);
#endif
    etwas_huge_memory_leak(memory);
}

void *etwas_memory_allocate_permanent(size_t bytes)
{
    return memory_map(bytes);
}

void etwas_memory_clear_permanent(void *start, size_t bytes)
{
    if (madvise(start, memory_round_up(bytes, etwas_memory_page_bytes()), MADV_DONTNEED) != 0) {
        memset(start, 0, bytes);
    }
}

bool etwas_memory_map_file(void *start, size_t bytes, int file, uint64_t at)
{
    return mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, (off_t)at) !=
           MAP_FAILED;
}

/* Maps over an existing mapping: the system needs no memory for that, and does not refuse it. */
void etwas_memory_map_zeroes(void *start, size_t bytes)
{
    (void)mmap(start, bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    (void)madvise(start, bytes, MADV_NOHUGEPAGE); /* like the memory around it */
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/*
 * The kernel blocks forks and other mappings while it finds pages; between two pieces it lets them
 * proceed.
 */
static bool memory_populate_in_pieces(uint8_t *start, size_t bytes)
{
    for (size_t at = 0; at < bytes; at += PIECE_BYTES) {
        size_t rest = bytes - at;

        if (madvise(start + at, rest < PIECE_BYTES ? rest : PIECE_BYTES, MADV_POPULATE_WRITE) !=
            0) {
            return false;
        }
    }
    return true;
}

bool etwas_memory_populate(void *start, size_t bytes)
{
    size_t page = etwas_memory_page_bytes();
    uint8_t *byte = start;

    if (memory_populate_in_pieces(start, bytes)) {
        return true;
    }
    if (errno != EINVAL) {
        return false;
    }
    /*
     * Kernels before 5.14: a write that changes nothing makes each page ours. It is atomic, without
     * an order: a writer may already have the buffer, and its stores must survive.
     */
    for (size_t offset = 0; offset < bytes; offset += page) {
        ck_pr_or_64((uint64_t *)(void *)(byte + offset), 0);
    }
    return true;
}

uint64_t etwas_memory_resident_bytes(const struct etwas_memory *memory)
{
    unsigned char pages[MINCORE_BATCH_PAGES];
    size_t page = etwas_memory_page_bytes();
    uint64_t resident = 0;

    for (size_t offset = 0; offset < memory->region_bytes;) {
        size_t bytes = memory->region_bytes - offset;

        if (bytes > page * MINCORE_BATCH_PAGES) {
            bytes = page * MINCORE_BATCH_PAGES;
        }
        if (mincore(memory->region + offset, bytes, pages) != 0) {
            return resident;
        }
        for (size_t index = 0; index < bytes / page; index++) {
            resident += (pages[index] & 1) != 0 ? page : 0;
        }
        offset += bytes;
    }
    return resident;
}
