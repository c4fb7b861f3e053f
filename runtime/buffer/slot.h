/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Slots: where the writers of one session on one processor find their current buffer.
 *
 * A slot is one cache line. The table of all slots is mapped when the first session starts, never
 * freed and wiped in a fork's child, so a stale handle finds a closed gate, never unmapped memory.
 * It has a row for each processor, and one more for the extra slots: that of a session with rseq
 * slots, whose writers run restartable sequences, takes the events of threads that cannot run them,
 * and that of a session with one slot takes all events. The processors' slots of such a session stay
 * closed; who finds them so looks at the extra one before he calls the handle invalid.
 *
 *     word     63        40 39          22 21           0
 *              |  count   |    buffer    |    units     |
 *
 *     units    where the next record begins, in units of 8 bytes from the start of the buffer
 *     buffer   index in the session's pool; ETWAS_NO_BUFFER: none yet, or closed
 *     count    in an rseq slot the records in the buffer. A sequence needs nothing against stale
 *              words: it is aborted before it could act on one.
 *              In a shared slot an epoch: it grows whenever another buffer (or none) takes the
 *              place, also across sessions, and when an empty buffer begins anew because the
 *              system time was set back. A writer that slept between reading the word and
 *              exchanging it cannot take a recycled buffer for the one it saw, unless exactly a
 *              multiple of 2^23 buffers passed this slot meanwhile and the last stands at the same
 *              offset. At one buffer a microsecond that is a sleep of 8 seconds that ends on one
 *              exact nanosecond, with the same buffer of thousands in place. Its highest bit is
 *              always set, and never that of a count of records: a writer that sleeps until the
 *              next session has an rseq slot here does not find its word there.
 *
 * Who may do what with a slot's fields:
 *
 *     word, newest        shared: any writer and the flusher, by compare-exchange. Rseq: this
 *                         processor's sequences, and stop when none can run any more
 *     spare               this processor's sequences
 *     gate, kind          start and stop store them; everybody reads them, also as one word
 *     visitors            writers on the slow path of a shared slot count themselves in and out
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
    ETWAS_SESSIONS = 64,        /* entries of the session table (R46) … */
    ETWAS_PRIVATE_SESSIONS = 8, /* … and behind them those of private sessions (R47) */
    ETWAS_SESSION_ENTRIES = ETWAS_SESSIONS + ETWAS_PRIVATE_SESSIONS,
    ETWAS_UNIT_BYTES = 8,
    ETWAS_FIRST_UNIT = ETWAS_ETL_BUFFER_HEADER_BYTES / ETWAS_UNIT_BYTES,
    ETWAS_UNITS_BITS = 22,
    ETWAS_BUFFER_BITS = 18,
    ETWAS_NO_BUFFER = (1 << ETWAS_BUFFER_BITS) - 1,
    /* More units than the largest buffer has, and the largest record more still fits the field. */
    ETWAS_NO_ROOM = 3 << (ETWAS_UNITS_BITS - 2),
};

struct etwas_slot {
    uint64_t word;
    uint64_t newest;      /* no record of this slot is newer; an int64_t stamp */
    uint32_t gate;        /* the session's generation; 0: closed */
    uint32_t kind;        /* clock | protocol << 8 | ETWAS_KIND_*; constant while the gate is open,
                             and until the next session opens it */
    uint32_t limit_units; /* size of a buffer */
    uint32_t visitors;
    uint8_t *region;
    struct etwas_buffer_control *buffers;
    struct etwas_pool *pool;
    uint32_t index; /* which slot of the session: the processor number; 0 for the only one */
    uint32_t spare; /* claimed to become current next, if its owner word says so too */
};
_Static_assert(sizeof(struct etwas_slot) == 64, "a slot is one cache line");
_Static_assert(offsetof(struct etwas_slot, gate) % 8 == 0, "gate and kind are one word");
_Static_assert(offsetof(struct etwas_slot, kind) == offsetof(struct etwas_slot, gate) + 4,
               "gate and kind are one word");

/* Entries of a row of the table: a handle's lowest byte finds its slot without arithmetic. */
enum {
    ETWAS_SLOTS_A_ROW = 256
};
_Static_assert((int)ETWAS_SESSION_ENTRIES < (int)ETWAS_SLOTS_A_ROW,
               "an entry is one byte of a handle");

/*
 * The processors the machine may have, which is also the index of the extra slots; 0 until the
 * first session starts, and there is no table.
 */
extern uint32_t etwas_slot_count __attribute__((visibility("hidden")));
/* All slots of all sessions. Written once, before the count. */
extern struct etwas_slot *etwas_slot_table __attribute__((visibility("hidden")));

/* Maps the table. False when the system has no memory. Call with the control lock held. */
bool etwas_slots_prepare(void);

/* `index`: a processor below etwas_slot_count, or etwas_slot_count for the extra slot. */
static inline struct etwas_slot *etwas_slot_of(uint32_t session, uint32_t index)
{
    return &etwas_slot_table[(size_t)index * ETWAS_SLOTS_A_ROW + session + 1];
}

/* The slot of a processor number as the kernel gave it, which may be odd. */
static inline struct etwas_slot *etwas_slot_folded(uint32_t session, uint32_t processor)
{
    return etwas_slot_of(session,
                         processor < etwas_slot_count ? processor : processor % etwas_slot_count);
}

/* What gate and kind are together while a session of this generation runs. */
static inline uint64_t etwas_slot_gate_word(uint32_t generation, uint32_t kind)
{
    return (uint64_t)kind << 32 | generation;
}

static inline const uint64_t *etwas_slot_gate(const struct etwas_slot *slot)
{
    return (const uint64_t *)(const void *)&slot->gate;
}

static inline uint32_t etwas_slot_kind(uint32_t clock, uint32_t protocol)
{
    return clock | protocol << 8;
}

static inline uint32_t etwas_kind_clock(uint32_t kind)
{
    return kind & 0xFF;
}

static inline uint32_t etwas_kind_protocol(uint32_t kind)
{
    return kind >> 8 & 0xFF;
}

/* More bits of a kind. */
enum {
    ETWAS_KIND_TIMES = 1 << 16,          /* records have KernelTime and UserTime (R106) */
    ETWAS_KIND_PROCESSOR_TIME = 1 << 17, /* they have ProcessorTime */
    ETWAS_KIND_ONE_SLOT = 1 << 24,       /* this slot is its session's only one (R65) */
};

/*
 * The protocol, if the quick ways may write the records: they know no times. Else no protocol.
 */
static inline uint32_t etwas_kind_quick_protocol(uint32_t kind)
{
    return kind >> 8 & 0xFFFF;
}

/* (1, 2, 9) → count 1, buffer 2, next record at byte 72 */
static inline uint64_t etwas_slot_word(uint64_t count, uint32_t buffer, uint32_t units)
{
    return count << (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS) | (uint64_t)buffer << ETWAS_UNITS_BITS |
           units;
}

/* Records, or epoch. */
static inline uint64_t etwas_word_count(uint64_t word)
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

/* What a record of `units` adds to the word of an rseq slot. */
static inline uint64_t etwas_word_record(uint32_t units)
{
    return etwas_slot_word(1, 0, units);
}

/*
 * The highest bit of an epoch. A count of records never reaches it: a record takes a unit at least,
 * as a message without anything does, so that a buffer of 16 MiB has fewer than 2^21.
 */
#define ETWAS_WORD_SHARED (UINT64_C(1) << 63)
_Static_assert(ETWAS_ETL_LARGEST_BUFFER_BYTES / ETWAS_UNIT_BYTES < ETWAS_WORD_SHARED >>
                   (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS),
               "a count of records is not taken for an epoch");
_Static_assert(ETWAS_ETL_LARGEST_BUFFER_BYTES / ETWAS_UNIT_BYTES < ETWAS_NO_ROOM,
               "there is more room in the largest buffer than in none");

/* The word that takes the place of `word` in a shared slot. The epoch wraps at 23 bits. */
static inline uint64_t etwas_word_next(uint64_t word, uint32_t buffer, uint32_t units)
{
    return ETWAS_WORD_SHARED | etwas_slot_word(etwas_word_count(word) + 1, buffer, units);
}

/* Without a buffer there is no room, so that "is there room" is the only question a writer asks. */
static inline uint64_t etwas_word_empty(uint64_t word)
{
    return etwas_word_next(word, ETWAS_NO_BUFFER, ETWAS_NO_ROOM);
}

/* The same in an rseq slot. */
static inline uint64_t etwas_word_none(void)
{
    return etwas_slot_word(0, ETWAS_NO_BUFFER, ETWAS_NO_ROOM);
}

#endif
