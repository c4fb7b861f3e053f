/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Memory for a session's buffers: one region of address space, zeroed; and bookkeeping that is kept
 * for the life of the process, because a writer may look at it after its session's end.
 *
 * Two implementations of regions behind one header, chosen when the library is built: a jemalloc
 * arena of the session's own (ETWAS_WITH_JEMALLOC), or a mapping, also for the sanitizers.
 * AddressSanitizer sees every access outside the region and, with poisoning, every access to a free
 * buffer. A region with explicit huge pages is a mapping of its own (huge_memory.c).
 */
#ifndef ETWAS_PLATFORM_MEMORY_H
#define ETWAS_PLATFORM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_memory {
    uint8_t *region; /* page-aligned; a fork's child finds it empty where the system can do that */
    size_t region_bytes;
    unsigned arena;        /* jemalloc's index; unused otherwise */
    void *allocation;      /* the arena's mappings; AddressSanitizer's piece that tells of a leak */
    size_t explicit_bytes; /* of its start: the system's explicit huge pages, all of them ours */
    bool is_file;          /* a part of a file, which a fork's child would share */
    bool is_kept;          /* its address space stays when it goes, with zeroes there */
};

/* True on success; on failure nothing is held. */
bool etwas_memory_create(struct etwas_memory *memory, size_t region_bytes);

/*
 * The same in huge pages. Explicit ones (vm.nr_hugepages) for the first `most_bytes` of the region,
 * or, where there are not so many, for the first `least_bytes`; they are taken at once, since pages
 * that are only promised may be missing when a writer touches them. What lies in none, and all of
 * it where none are granted, may become transparent ones.
 */
bool etwas_memory_create_huge(struct etwas_memory *memory, size_t region_bytes, size_t most_bytes,
                              size_t least_bytes);

/*
 * The same as a part of a file, from `at` on, which it has already. `place`: address space that is kept for it; NULL:
 * wherever there is some.
 */
bool etwas_memory_create_in_file(struct etwas_memory *memory, size_t region_bytes, int file,
                                 uint64_t at, void *place);

/*
 * In a fork's child: gives the region's address space zeroes where the system could not.
 * Async-signal-safe.
 */
void etwas_memory_forget(const struct etwas_memory *memory);

/* Returns everything to the system. Nothing of it is poisoned. */
void etwas_memory_destroy(struct etwas_memory *memory);

/* Leaves it as it is for ever. The leak is on purpose, and no tool shall report it. */
void etwas_memory_leak(const struct etwas_memory *memory);

size_t etwas_memory_page_bytes(void);

/* Zeroed, page-aligned memory that is never given back. NULL when there is none. */
void *etwas_memory_allocate_permanent(size_t bytes);

/* Zeroes such memory from `start`, page-aligned, on; what nobody touches again takes no memory. */
void etwas_memory_clear_permanent(void *start, size_t bytes);

/* Puts a part of a file, or zeroes that take no memory, where such memory is. */
bool etwas_memory_map_file(void *start, size_t bytes, int file, uint64_t at);
void etwas_memory_map_zeroes(void *start, size_t bytes);

/*
 * Has the system provide pages for a part of the region now. Writes nothing. False when it cannot.
 */
bool etwas_memory_populate(void *start, size_t bytes);

/* Bytes of the region that occupy memory. */
uint64_t etwas_memory_resident_bytes(const struct etwas_memory *memory);

/* Bytes of the region that lie in huge pages now, of either kind. */
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

#endif
