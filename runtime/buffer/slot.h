/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Slots: where the writers of one session on one processor find their current buffer.
 *
 * A slot is two cache lines; the data that each publication needs are in the first. A session's
 * slots follow its pool (pool.c): one for each processor, and the extra one. The extra slot of a
 * session with rseq slots, whose writers run restartable sequences, takes the events of threads
 * that cannot run them; the extra slot of a session with one slot takes all events. The processors'
 * slots of such a session stay closed; a writer that finds them closed tries the extra one before
 * it reports an invalid handle.
 *
 * Behind the extra slot a shared session has one for each guest: it takes the events of that
 * process's threads that cannot run sequences. So a change that a killed process left half done
 * lies in its own slot (pool_join.h).
 *
 * A session with retention classes (retention_class.h) has several rows of processors' slots, the
 * row of no class first, and after all of them the same number of extra ones. Statements about a
 * slot are true of each of them; the kind of each slot has the number of rows.
 *
 * This process's attachment to an entry of the session table says where the entry's slots are.
 * Slots are never freed, and there are closed ones where no session ever was, so that a stale
 * handle finds a closed gate, never unmapped memory.
 *
 * Slots may lie in memory that other processes write to, so no address is computed from a slot's
 * content. Addresses are in the slot's process-local data: memory of this process alone,
 * ETWAS_SLOT_LOCAL_BYTES before the slot, so that a writer needs only the slot to find it. A mask
 * limits the buffer that a word names, and that many buffers have address space. So a word that
 * another process has overwritten costs records, and nothing is written elsewhere.
 *
 *     word     63        40 39          22 21           0
 *              |  count   |    buffer    |    units     |
 *
 *     units    where the next record begins, in units of 8 bytes from the start of the buffer
 *     buffer   index in the session's pool; ETWAS_NO_BUFFER: none yet, or closed
 *     count    in an rseq slot the records in the buffer. A sequence needs no protection against
 *              stale words: it is aborted before it could act on one.
 *              In a shared slot an epoch: it grows whenever another buffer (or none) takes the
 *              place, also across sessions, and when an empty buffer begins anew because the
 *              system time was set back. A writer that was suspended between reading the word and
 *              exchanging it cannot take a recycled buffer for the one it read, unless exactly a
 *              multiple of 2^23 buffers passed this slot meanwhile and the last stands at the same
 *              offset. At one buffer a microsecond that is a pause of 8 seconds that ends on one
 *              exact nanosecond, with the same buffer of thousands in place. Its highest bit is
 *              always set, and never that of a count of records: a writer that is suspended until
 *              the next session has an rseq slot here does not find its word there.
 *
 * Which thread may change which field of a slot:
 *
 *     word, newest        shared: any writer and the flusher, by compare-exchange. Rseq: this
 *                         processor's sequences, and stop when none can run any more
 *     next_buffer         this processor's sequences
 *     gate, kind          start and stop store them; every thread reads them, also as one word
 *     slow_writers        writers on the slow path of a shared slot count themselves in and out
 *     the rest            and the process-local data: start stores them while the gate is closed
 *                         and there is no slow-path writer
 */
#ifndef ETWAS_BUFFER_SLOT_H
#define ETWAS_BUFFER_SLOT_H

#include <ck_pr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "etl/layout.h"

struct etwas_pool;
struct etwas_buffer_control;

enum {
    ETWAS_SESSIONS = 64,        /* entries of the session table (R46) … */
    ETWAS_PRIVATE_SESSIONS = 8, /* … and after them those of private sessions (R47) */
    ETWAS_SESSION_ENTRIES = ETWAS_SESSIONS + ETWAS_PRIVATE_SESSIONS,
    /*
     * Entries of other processes' sessions that this process is a guest of; they follow the table's
     * entries.
     */
    ETWAS_GUEST_SESSIONS = 64,
    ETWAS_ATTACHED_ENTRIES = ETWAS_SESSION_ENTRIES + ETWAS_GUEST_SESSIONS,
    ETWAS_GUEST_SLOTS =
        256,              /* the most processes that may be guests of a shared session at a time */
    ETWAS_CLASS_ROWS = 8, /* the most class rows: one of no retention class, and one of each */
    ETWAS_UNIT_BYTES = 8,
    ETWAS_FIRST_UNIT = ETWAS_ETL_BUFFER_HEADER_BYTES / ETWAS_UNIT_BYTES,
    ETWAS_UNITS_BITS = 22,
    ETWAS_BUFFER_BITS = 18,
    ETWAS_NO_BUFFER = (1 << ETWAS_BUFFER_BITS) - 1,
    /* More units than the largest buffer has; the largest record on top still fits the field. */
    ETWAS_NO_ROOM = 3 << (ETWAS_UNITS_BITS - 2),
};

/* Why a writer's event is lost: the causes of <etwas/reading.h> that a slot counts. */
enum etwas_slot_loss {
    ETWAS_SLOT_NO_BUFFER,
    ETWAS_SLOT_BACKLOG_FULL,
    ETWAS_SLOT_TOO_LARGE,
    ETWAS_SLOT_WITHHELD,
    ETWAS_SLOT_LOSSES
};

/*
 * Counters of writers, one set for each processor, so that writers do not compete for a cache line.
 */
struct etwas_slot_counters {
    uint64_t lost[ETWAS_SLOT_LOSSES];
    uint64_t restarts; /* restarts of sequences */
    /* the records that an rseq slot had stored and replaced when it was shut; 0 before that */
    uint64_t shut_stored;
    uint64_t shut_overwritten;
} __attribute__((aligned(64)));

struct etwas_slot {
    uint64_t word;
    uint64_t newest; /* no record of this slot has a later stamp; an int64_t */
    uint32_t gate;   /* the session's generation; 0: closed */
    /* the kind in its process-local data, repeated so that gate and kind are compared at once */
    uint32_t kind;
    uint32_t reserved;
    uint32_t slow_writers;
    uint32_t processor;   /* rseq: the processor of the sequences that use it; otherwise none */
    uint32_t next_buffer; /* claimed to become current next, if its owner word says so too */
    struct etwas_slot_counters counters;
};
_Static_assert(sizeof(struct etwas_slot) == 128, "a slot is two cache lines");
_Static_assert(offsetof(struct etwas_slot, gate) % 8 == 0, "gate and kind are one word");
_Static_assert(offsetof(struct etwas_slot, kind) == offsetof(struct etwas_slot, gate) + 4,
               "gate and kind are one word");

/*
 * The process-local data of a slot. Constant while the gate is open, and until the next session
 * opens it: a writer that found the gate open in between has aborted, or finds the word changed.
 *
 * They lie a whole number of pages before the slot. A load from the same page offset as an earlier
 * store may wait for that store, and each event stores the slot's word and newest stamp. So the
 * data that are loaded with the next event have the page offset of the slot's counters.
 */
struct etwas_slot_local {
    uint8_t apart[64];
    uint8_t *region;      /* region of its session's buffers */
    uint32_t limit_units; /* size of a buffer */
    /* a power of two − 1; this many buffers and one more have address space */
    uint32_t buffer_mask;
    uint32_t kind;  /* clock | protocol << 8 | ETWAS_KIND_* */
    uint32_t index; /* index among the session's slots, which owner words contain */
};
_Static_assert(sizeof(struct etwas_slot_local) <= sizeof(struct etwas_slot),
               "each slot has its own");
_Static_assert(offsetof(struct etwas_slot_local, region) == offsetof(struct etwas_slot, counters),
               "apart from what each event stores");

enum {
    ETWAS_SLOT_LOCAL_BYTES =
        3 << 20, /* more than all slots of a session and the data before them */
};

/*
 * Where this process has a session's memory. A start stores it while the session's gates are
 * closed, and it stays when they are closed again: a writer that found a gate open finds the data
 * that belong to it. For another process's session, the thread that joins it (pool_join.h) stores
 * it last.
 */
struct etwas_attachment {
    struct etwas_slot *slots;
    struct etwas_buffer_control *buffers;
    struct etwas_pool *pool; /* NULL: the entry never had a session */
    uint32_t slot_count;     /* without the extra one; see etwas_attachments */
    /* index of the slot for threads that no processor's slot takes; a guest has its own */
    uint32_t extra;
};

/* One for each value of a handle's lowest byte, so that no value has to be checked. */
enum {
    ETWAS_ATTACHMENTS = 256
};
_Static_assert((int)ETWAS_ATTACHED_ENTRIES < (int)ETWAS_ATTACHMENTS,
               "an entry is one byte of a handle");

/*
 * The number of processors that the machine may have, which is also the index of the extra slots.
 */
extern uint32_t etwas_slot_count __attribute__((visibility("hidden")));

/* Distance from a processor's slot in one class row to its slot in the next, in bytes. */
extern size_t etwas_slot_class_row_bytes __attribute__((visibility("hidden")));

/*
 * The attachments have pages to themselves, which the kernel zeroes in a fork's child. So all of
 * them have a slot_count of 0, and no slots, before anything is attached and in a fork's child;
 * otherwise it is the number of processors. Every writer reads it first.
 */
enum {
#if defined(__x86_64__)
    ETWAS_LARGEST_PAGE_BYTES = 4096
#else
    ETWAS_LARGEST_PAGE_BYTES = 65536
#endif
};
extern struct etwas_attachments {
    struct etwas_attachment of[ETWAS_ATTACHMENTS];
} __attribute__((aligned(ETWAS_LARGEST_PAGE_BYTES))) etwas_attachments
    __attribute__((visibility("hidden")));

/*
 * Whether slots are attached; every session entry has some then. Pairs with the release in
 * etwas_slots_prepare.
 */
static inline bool etwas_slots_are_attached(void)
{
    bool are = ck_pr_load_32(&etwas_attachments.of[0].slot_count) != 0;

    ck_pr_fence_acquire();
    return are;
}

/*
 * Attaches closed slots. Returns false if the system has no memory. Control lock held; called after
 * etwas_processor_count, which reads a file the first time.
 */
bool etwas_slots_prepare(void);

/* Called in a fork's child: detaches everything that the parent had attached. */
void etwas_slots_forget(void);

/* Returns the attachment of an entry of the session table, or of a guest's entry after it. */
static inline struct etwas_attachment *etwas_attachment_of(uint32_t session)
{
    return &etwas_attachments.of[session + 1];
}

/* `index`: a processor below etwas_slot_count, or etwas_slot_count for the extra slot. */
static inline struct etwas_slot *etwas_slot_of(uint32_t session, uint32_t index)
{
    return (struct etwas_slot *)ck_pr_load_ptr(&etwas_attachment_of(session)->slots) + index;
}

/* Returns the slot of a processor number as the kernel gave it, which may be odd. */
static inline struct etwas_slot *etwas_slot_folded(uint32_t session, uint32_t processor)
{
    return etwas_slot_of(session,
                         processor < etwas_slot_count ? processor : processor % etwas_slot_count);
}

/*
 * Returns the slot's process-local data. They belong to the session of the gate if the gate was
 * loaded before.
 */
static inline struct etwas_slot_local *etwas_slot_local(const struct etwas_slot *slot)
{
    return (struct etwas_slot_local *)((uintptr_t)slot - ETWAS_SLOT_LOCAL_BYTES);
}

static inline uint32_t etwas_slot_limit_units(const struct etwas_slot *slot)
{
    return ck_pr_load_32(&etwas_slot_local(slot)->limit_units);
}

static inline uint32_t etwas_slot_kind_of(const struct etwas_slot *slot)
{
    return ck_pr_load_32(&etwas_slot_local(slot)->kind);
}

static inline uint32_t etwas_slot_index(const struct etwas_slot *slot)
{
    return ck_pr_load_32(&etwas_slot_local(slot)->index);
}

/* Returns the region of the slot's buffers. */
static inline uint8_t *etwas_slot_region(const struct etwas_slot *slot)
{
    return ck_pr_load_ptr(&etwas_slot_local(slot)->region);
}

/* Returns the buffer that a word of the slot names, limited by the mask. */
static inline uint32_t etwas_slot_buffer(const struct etwas_slot *slot, uint64_t word)
{
    return (uint32_t)(word >> ETWAS_UNITS_BITS) &
           ck_pr_load_32(&etwas_slot_local(slot)->buffer_mask);
}

/* Returns the mask for the indices of this many buffers. */
static inline uint32_t etwas_slot_mask(uint32_t buffers)
{
    uint32_t mask = 0;

    while (mask + 1 < buffers) {
        mask = 2 * mask + 1;
    }
    return mask;
}

/*
 * Counts an interrupted sequence. The slot may belong to a later session: then that count is
 * slightly wrong, and nothing else is.
 */
static inline void etwas_slot_count_restart(struct etwas_slot *slot)
{
    ck_pr_inc_64(&slot->counters.restarts);
}

/* Returns gate and kind as one word while a session of this generation runs. */
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
    ETWAS_KIND_ANY_TIMES = ETWAS_KIND_TIMES | ETWAS_KIND_PROCESSOR_TIME,
    /* this slot is its session's only one (R65), or its class row's */
    ETWAS_KIND_ONE_SLOT = 1 << 18,
    /* A session with retention classes: the index of its class table, and the number of classes. */
    ETWAS_KIND_TABLE_SHIFT = 22,
    ETWAS_KIND_TABLE_BITS = 7,
    ETWAS_KIND_CLASSES_SHIFT = ETWAS_KIND_TABLE_SHIFT + ETWAS_KIND_TABLE_BITS,
};
_Static_assert((int)ETWAS_SESSION_ENTRIES < 1 << ETWAS_KIND_TABLE_BITS,
               "an entry fits into a kind");

/*
 * Returns the protocol, if all quick ways may write the records: most handle neither times nor
 * classes. Otherwise returns no protocol.
 */
static inline uint32_t etwas_kind_quick_protocol(uint32_t kind)
{
    return (kind & ~(uint32_t)ETWAS_KIND_ONE_SLOT) >> 8;
}

/* Returns the number of retention classes, 0 to 7. */
static inline uint32_t etwas_kind_classes(uint32_t kind)
{
    return kind >> ETWAS_KIND_CLASSES_SHIFT;
}

/* Returns the index in etwas_class_tables, which is the handle's lowest byte. */
static inline uint32_t etwas_kind_table(uint32_t kind)
{
    return kind >> ETWAS_KIND_TABLE_SHIFT & ((1u << ETWAS_KIND_TABLE_BITS) - 1);
}

/* Returns the number of class rows: one, and one for each class. */
static inline uint32_t etwas_kind_class_rows(uint32_t kind)
{
    return 1 + etwas_kind_classes(kind);
}

/* Returns the kind that the slots would have without classes. */
static inline uint32_t etwas_kind_without_classes(uint32_t kind)
{
    return kind & ((1u << ETWAS_KIND_TABLE_SHIFT) - 1);
}

/* (1, 2, 9) → count 1, buffer 2, next record at byte 72 */
static inline uint64_t etwas_slot_word(uint64_t count, uint32_t buffer, uint32_t units)
{
    return count << (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS) | (uint64_t)buffer << ETWAS_UNITS_BITS |
           units;
}

/* Returns the count of a word: records, or the epoch. */
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

/* Returns the number that a record of `units` adds to the word of an rseq slot. */
static inline uint64_t etwas_word_record(uint32_t units)
{
    return etwas_slot_word(1, 0, units);
}

/*
 * The highest bit of an epoch. A count of records never reaches it: a record takes at least a unit,
 * even a message without content, so a buffer of 16 MiB has fewer than 2^21.
 */
#define ETWAS_WORD_SHARED (UINT64_C(1) << 63)
_Static_assert(ETWAS_ETL_LARGEST_BUFFER_BYTES / ETWAS_UNIT_BYTES < ETWAS_WORD_SHARED >>
                   (ETWAS_UNITS_BITS + ETWAS_BUFFER_BITS),
               "a count of records is not taken for an epoch");
_Static_assert(ETWAS_ETL_LARGEST_BUFFER_BYTES / ETWAS_UNIT_BYTES < ETWAS_NO_ROOM,
               "there is more room in the largest buffer than in none");

/* Returns the word that replaces `word` in a shared slot. The epoch wraps at 23 bits. */
static inline uint64_t etwas_word_next(uint64_t word, uint32_t buffer, uint32_t units)
{
    return ETWAS_WORD_SHARED | etwas_slot_word(etwas_word_count(word) + 1, buffer, units);
}

/*
 * Returns the word of a shared slot without a buffer. It has no room, so that a writer only has to
 * check whether there is room.
 */
static inline uint64_t etwas_word_empty(uint64_t word)
{
    return etwas_word_next(word, ETWAS_NO_BUFFER, ETWAS_NO_ROOM);
}

/* Returns the same for an rseq slot. */
static inline uint64_t etwas_word_none(void)
{
    return etwas_slot_word(0, ETWAS_NO_BUFFER, ETWAS_NO_ROOM);
}

#endif
