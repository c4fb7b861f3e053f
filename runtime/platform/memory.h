/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Memory for a session's buffers: one region of address space and one block of bookkeeping, both
 * zeroed.
 *
 * Three implementations behind one header, chosen when the library is built: a jemalloc arena of
 * the session's own (ETWAS_WITH_JEMALLOC), direct mappings, and malloc under the sanitizers, which
 * then see every access outside the region and, with poisoning, every access to a free buffer.
 */
#ifndef ETWAS_PLATFORM_MEMORY_H
#define ETWAS_PLATFORM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_memory {
    uint8_t *region; /* page-aligned; a fork's child finds it empty where the system can do that */
    size_t region_bytes;
    void *control; /* aligned to 128 bytes */
    size_t control_bytes;
    unsigned arena;       /* jemalloc's index; unused otherwise */
    void *allocations[2]; /* under the sanitizers: what region and control were cut from */
};

/* True on success; on failure nothing is held. */
bool etwas_memory_create(struct etwas_memory *memory, size_t region_bytes, size_t control_bytes);

/* Returns everything to the system. */
void etwas_memory_destroy(struct etwas_memory *memory);

/*
 * Has the system provide pages for a part of the region now. Writes nothing. False when it cannot.
 */
bool etwas_memory_populate(void *start, size_t bytes);

/* Bytes of the region that occupy memory. */
uint64_t etwas_memory_resident_bytes(const struct etwas_memory *memory);

/* jemalloc's counts for the session's arena; zero without jemalloc. */
void etwas_memory_arena_bytes(const struct etwas_memory *memory, uint64_t *mapped,
                              uint64_t *resident);

/* The most a pool may take: half of memory or of the control group's limit, whichever is less. */
uint64_t etwas_memory_limit_bytes(void);

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
