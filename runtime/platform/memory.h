/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Memory for a session's buffers: one region of address space, zeroed; and bookkeeping that is kept
 * for the life of the process, because a writer may read it after its session's end.
 *
 * Regions have two implementations, chosen when the library is built: a jemalloc arena for each
 * session (ETWAS_WITH_JEMALLOC), or a mapping, also for the sanitizers. AddressSanitizer sees every
 * access outside the region and, with poisoning, every access to a free buffer. A region with
 * explicit huge pages is a separate mapping (huge_memory.c).
 */
#ifndef ETWAS_PLATFORM_MEMORY_H
#define ETWAS_PLATFORM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_memory {
    uint8_t *region; /* page-aligned; empty in a fork's child if the system supports that */
    size_t region_bytes;
    unsigned arena; /* jemalloc's index; unused otherwise */
    /* the arena's mappings; with AddressSanitizer the allocation that reports a leak */
    void *allocation;
    /* at its start: explicit huge pages of the system, all of them owned by this process */
    size_t explicit_bytes;
    bool is_file; /* a part of a file, which would be shared with a fork's child */
    /* its address space stays reserved after the region's end, and contains zeroes */
    bool is_kept;
};

/* Creates a region. Returns false, and holds nothing, on failure. */
bool etwas_memory_create(struct etwas_memory *memory, size_t region_bytes);

/*
 * Creates a region in huge pages. It uses explicit ones (vm.nr_hugepages) for the first
 * `most_bytes` of the region or, if there are fewer, for the first `least_bytes`. They are
 * allocated at once, since pages that are only promised may be missing when a writer touches them.
 * The rest, or the whole region if none are granted, may become transparent huge pages.
 */
bool etwas_memory_create_huge(struct etwas_memory *memory, size_t region_bytes, size_t most_bytes,
                              size_t least_bytes);

/*
 * Creates a region as a part of a file, from `at` on; the file already has that length. `place`:
 * address space reserved for it; NULL: any.
 */
bool etwas_memory_create_in_file(struct etwas_memory *memory, size_t region_bytes, int file,
                                 uint64_t at, void *place);

/*
 * Clears the region's address space in a fork's child if the system could not. Async-signal-safe.
 */
void etwas_memory_forget(const struct etwas_memory *memory);

/* Returns all memory to the system. No part of the region is poisoned. */
void etwas_memory_destroy(struct etwas_memory *memory);

/* Keeps the region for ever. The leak is intended, and tools do not report it. */
void etwas_memory_leak(const struct etwas_memory *memory);

size_t etwas_memory_page_bytes(void);

/* Allocates zeroed, page-aligned memory that is never freed. Returns NULL if there is none. */
void *etwas_memory_allocate_permanent(size_t bytes);

/*
 * Zeroes such memory from `start`, page-aligned, on. Pages that are not touched again use no
 * memory.
 */
void etwas_memory_clear_permanent(void *start, size_t bytes);

/* Maps a part of a file, or zeroes that use no memory, over such memory. */
bool etwas_memory_map_file(void *start, size_t bytes, int file, uint64_t at);
void etwas_memory_map_zeroes(void *start, size_t bytes);

/*
 * Populates a part of the region with pages now, without writing. Returns false if the system
 * cannot.
 */
bool etwas_memory_populate(void *start, size_t bytes);

/* Returns the bytes of the region that are resident. */
uint64_t etwas_memory_resident_bytes(const struct etwas_memory *memory);

/* Returns the bytes of the region that lie in huge pages now, of either kind. */
uint64_t etwas_memory_huge_bytes(const struct etwas_memory *memory);

/* jemalloc's counts for the session's arena; zero without jemalloc. */
void etwas_memory_arena_bytes(const struct etwas_memory *memory, uint64_t *mapped,
                              uint64_t *resident);

#if defined(__SANITIZE_ADDRESS__)
#define ETWAS_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ETWAS_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef ETWAS_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#define ETWAS_POISON(start, bytes) ASAN_POISON_MEMORY_REGION(start, bytes)
#define ETWAS_UNPOISON(start, bytes) ASAN_UNPOISON_MEMORY_REGION(start, bytes)
#else
#define ETWAS_POISON(start, bytes) ((void)(start), (void)(bytes))
#define ETWAS_UNPOISON(start, bytes) ((void)(start), (void)(bytes))
#endif

/*
 * How much memory a pool may take: half of the memory available to the process. That is the
 * machine's memory, or the lowest limit of its control group and the groups around it.
 */

uint64_t etwas_memory_limit_bytes(void);

/*
 * Returns the limit of the control groups, in both versions of the interface; UINT64_MAX: none. All
 * paths begin with `root`: "" is the machine; tests name a folder of made-up files.
 */
uint64_t etwas_control_group_limit_bytes(const char *root);

/*
 * Regions in the system's explicit huge pages, for platform/memory.c.
 */

enum {
    ETWAS_HUGE_PAGE_BYTES = 2 << 20
};

/*
 * Maps the region, of region_bytes, with its first `explicit_bytes` in explicit huge pages that all
 * exist. Both are multiples of ETWAS_HUGE_PAGE_BYTES. Returns false with nothing mapped.
 */
bool etwas_huge_memory_map(struct etwas_memory *memory, size_t explicit_bytes);

/* Replaces the pages by zeroes in a fork's child. */
void etwas_huge_memory_forget(const struct etwas_memory *memory);

/* Keeps the region for ever, also in children, where no handler clears it. */
void etwas_huge_memory_leak(const struct etwas_memory *memory);

/*
 * The properties of memory that a session requests (ETWAS_MEMORY_*), the granted ones, and why the
 * others were not. Whether pages are huge is not stored here: the system reports it at any time
 * (etwas_memory_huge_bytes).
 */

enum {
    ETWAS_MEMORY_TEXT_BYTES = 512, /* the longest sentence */
};

struct etwas_memory_grant {
    uint32_t asked;
    uint32_t refused; /* of PREFAULT, LOCK and NODES */
    int lock_error;   /* an errno */
    int nodes_error;  /* an errno */
    uint64_t lock_bytes;
};

/*
 * Applies PREFAULT and LOCK, if `grant` requests them, to a part that begins at a page; called for
 * one part after the other.
 */
void etwas_memory_grant(struct etwas_memory_grant *grant, void *start, size_t bytes);

/* Unlocks a part that stays mapped. */
void etwas_memory_grant_end(const struct etwas_memory_grant *grant, void *start, size_t bytes);

/* Returns the requests that are granted to a region with this many bytes in huge pages. */
uint32_t etwas_memory_granted(const struct etwas_memory_grant *grant, uint64_t huge_bytes);

/* Writes a sentence that says why a request was not granted. */
void etwas_memory_grant_explain(const struct etwas_memory_grant *grant, uint32_t request,
                                bool is_file, char text[ETWAS_MEMORY_TEXT_BYTES]);

#endif
