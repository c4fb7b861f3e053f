/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Slots: where the writers of one session on one processor find their current buffer.
 *
 * A slot is one cache line. The table of all slots is mapped when the first session starts, never
 * freed and wiped in a fork's child, so a stale handle finds a closed gate, never unmapped memory.
 *
 *     word     63        40 39          22 21           0
 *              |  epoch   |    buffer    |    units     |
 *
 *     units    where the next record begins, in units of 8 bytes from the start of the buffer
 *     buffer   index in the session's pool; ETWAS_NO_BUFFER: none yet, or closed
 *     epoch    grows whenever another buffer (or none) takes the place, also across sessions, and
 *              when an empty buffer begins anew because the system time was set back: a writer
 *              that slept between reading the word and exchanging it cannot take a recycled
 *              buffer for the one it saw, unless exactly a multiple of 2^24 buffers passed this
 *              slot meanwhile and the last stands at the same offset. At one buffer a microsecond
 *              that is a sleep of 16 seconds that ends on one exact nanosecond, with the same
 *              buffer of thousands in place.
 *
 * Who may do what with a slot's fields:
 *
 *     word, newest        any writer and the flusher, by compare-exchange
 *     gate                start and stop store it; everybody reads it
 *     visitors            writers on the slow path count themselves in and out
 *     the rest            start stores it while the gate is closed and nobody visits
 */
#ifndef ETWAS_BUFFER_SLOT_H
#define ETWAS_BUFFER_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"

struct etwas_pool;
struct etwas_buffer_control;

enum {
    ETWAS_SESSIONS = 64, /* places in the session table (R46) */
    ETWAS_UNIT_BYTES = 8,
    ETWAS_FIRST_UNIT = ETWAS_ETL_BUFFER_HEADER_BYTES / ETWAS_UNIT_BYTES,
    ETWAS_UNITS_BITS = 22,
    ETWAS_BUFFER_BITS = 18,
    ETWAS_NO_BUFFER = (1 << ETWAS_BUFFER_BITS) - 1,
};

struct etwas_slot {
    uint64_t word;
    uint64_t newest;      /* no record of this slot is newer; an int64_t stamp */
    uint32_t gate;        /* the session's generation; 0: closed */
    uint32_t clock;       /* ETWAS_CLOCK_KIND_* */
    uint32_t limit_units; /* size of a buffer */
    uint32_t visitors;
    uint8_t *region;
    struct etwas_buffer_control *buffers;
    struct etwas_pool *pool;
    uint32_t index; /* which slot of the session: the processor number */
    uint32_t reserved;
};
_Static_assert(sizeof(struct etwas_slot) == 64, "a slot is one cache line");

/* All slots of all sessions; NULL until the first session starts. */
extern struct etwas_slot *etwas_slot_table;
/* Slots of one session: the processors the machine may have. */
extern uint32_t etwas_slot_count;

/* Maps the table. False when the system has no memory. Call with the control lock held. */
bool etwas_slots_prepare(void);

static inline struct etwas_slot *etwas_slot_of(uint32_t session, uint32_t processor)
{
    uint32_t index = processor < etwas_slot_count ? processor : processor % etwas_slot_count;

    return &etwas_slot_table[(size_t)session * etwas_slot_count + index];
}

/* (1, 2, 9) → epoch 1, buffer 2, next record at byte 72 */
static inline uint64_t etwas_slot_word(uint64_t epoch, uint32_t buffer, uint32_t units)
{
    return epoch << (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS) | (uint64_t)buffer << ETWAS_UNITS_BITS |
           units;
}

static inline uint64_t etwas_word_epoch(uint64_t word)
{
    return word >> (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS);
}

static inline uint32_t etwas_word_buffer(uint64_t word)
{
    return (uint32_t)(word >> ETWAS_UNITS_BITS) & ETWAS_NO_BUFFER;
}

static inline uint32_t etwas_word_units(uint64_t word)
{
    return (uint32_t)word & ((1u << ETWAS_UNITS_BITS) - 1);
}

/* The word that takes the place of `word`. The epoch wraps at 24 bits. */
static inline uint64_t etwas_word_next(uint64_t word, uint32_t buffer, uint32_t units)
{
    return etwas_slot_word(etwas_word_epoch(word) + 1, buffer, units);
}

/*
 * Without a buffer the units are the greatest there are, so that "is there room" is the only
 * question a writer asks.
 */
static inline uint64_t etwas_word_empty(uint64_t word)
{
    return etwas_word_next(word, ETWAS_NO_BUFFER, (1u << ETWAS_UNITS_BITS) - 1);
}

#endif
