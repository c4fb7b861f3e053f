/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sixteen bytes in registers: a GUID, or two words of a record's header. On x86-64 that is a vector
 * register; on aarch64, which loads and stores two general registers at once, these are two.
 *
 * One instruction loads or stores a pair, so a signal handler of the same thread sees it whole.
 * Other threads may see half of it; a generation or version that is read before and after shows
 * whether they did.
 */
#ifndef ETWAS_PLATFORM_PAIR_H
#define ETWAS_PLATFORM_PAIR_H

#include <stdint.h>

#if defined(__x86_64__)

typedef uint64_t etwas_pair __attribute__((vector_size(16)));

#define ETWAS_PAIR_LOAD(PAIR, MEMORY) __asm__ volatile("movdqu %1, %0" : "=x"(PAIR) : "m"(MEMORY))
#define ETWAS_PAIR_STORE(PAIR, MEMORY) __asm__ volatile("movdqu %1, %0" : "=m"(MEMORY) : "x"(PAIR))

#elif defined(__aarch64__)

typedef struct etwas_pair {
    uint64_t low;
    uint64_t high;
} etwas_pair;

#define ETWAS_PAIR_LOAD(PAIR, MEMORY)                                                              \
    __asm__ volatile("ldp %0, %1, %2" : "=r"((PAIR).low), "=r"((PAIR).high) : "Q"(MEMORY))
#define ETWAS_PAIR_STORE(PAIR, MEMORY)                                                             \
    __asm__ volatile("stp %x1, %x2, %0" : "=Q"(MEMORY) : "rZ"((PAIR).low), "rZ"((PAIR).high))

#else
#error "etwas needs to know this architecture's loads of 16 bytes"
#endif

/* Makes a pair from its first and second 8 bytes. */
static inline etwas_pair etwas_pair_of(uint64_t first, uint64_t second)
{
    return (etwas_pair){first, second};
}

static inline uint64_t etwas_pair_first(etwas_pair pair)
{
#if defined(__x86_64__)
    return pair[0];
#else
    return pair.low;
#endif
}

static inline uint64_t etwas_pair_second(etwas_pair pair)
{
#if defined(__x86_64__)
    return pair[1];
#else
    return pair.high;
#endif
}

/* Loads a pair from, or stores it to, any address. */
static inline etwas_pair etwas_pair_load(const void *from)
{
    etwas_pair pair;

    ETWAS_PAIR_LOAD(pair, *(const uint8_t(*)[16])from);
    return pair;
}

static inline void etwas_pair_store(void *to, etwas_pair pair)
{
    ETWAS_PAIR_STORE(pair, *(uint8_t(*)[16])to);
}

#endif
