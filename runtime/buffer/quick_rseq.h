/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * PUBLISH of publish_rseq.c, inlined into the calls: the header in registers, the payload straight
 * from the caller's memory to its place.
 *
 *     etwas_quick_rseq     the commonest record: an instance header and a payload in one piece of
 *                          at most ETWAS_QUICK_PAYLOAD_BYTES
 *     ETWAS_QUICK_PIECES   the others, each with its header; the payload in any number of pieces
 *     etwas_quick_image    several records, which lie ready in memory; the commit adds all of them
 *
 * They are (`local` is the slot's process-local data)
 *
 *              1  rseq_cs ← descriptor                          arms the sequence
 *     start:   2  slot.processor ≠ cpu_id                       → exit OTHER
 *              3  slot.gate ≠ generation                        → exit OTHER
 *              4  w ← slot.word;  w.units + units > local.limit → exit OTHER
 *              5  stamp < slot.newest                           → exit OTHER
 *              6  header and payload to w's place in local.region, zeroes behind them up to the
 *                 end of a unit
 *              7  slot.newest ← stamp
 *              8  slot.word ← w + {1 record, 0, units}          the commit
 *     end:        → COMMITTED
 *     abort:   9                                                → exit ABORTED
 *
 * Values read outside the sequence (the kind, and with it the clock) belong to the session of the
 * gate that step 3 finds.
 *
 * Ten cache lines for an instance event of 88 bytes, besides the stack and the caller's event: the
 * slot, its process-local data, the class, the thread's ids, its rseq area, the linker's entry for
 * the ids, the globals (two lines, never written after the start: where cpu_id is, and the
 * attachment), and mostly two of the record. Only slot and record are written to, and the rseq
 * area; no line is shared with another processor's writers.
 *
 * In all other cases nothing is committed, and the caller takes the general way.
 */
#ifndef ETWAS_BUFFER_QUICK_RSEQ_H
#define ETWAS_BUFFER_QUICK_RSEQ_H

#include "platform/rseq.h"

#if ETWAS_RSEQ

#include <etwas/evntrace.h>
#include <stddef.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "etl/layout.h"
#include "platform/pair.h"
#include "platform/processor.h"

enum {
    ETWAS_QUICK_PAYLOAD_BYTES = 384,
    ETWAS_QUICK_BLOCK_BYTES = 64,
    ETWAS_BATCH_IMAGE_BYTES = 4096,
    ETWAS_QUICK_LARGE_BYTES = 256, /* pieces from here on are copied by lines of the cache */
};

enum etwas_quick_rseq {
    ETWAS_QUICK_COMMITTED,
    ETWAS_QUICK_ABORTED,
    ETWAS_QUICK_OTHER
};

_Static_assert(sizeof(EVENT_INSTANCE_HEADER) == 56, "the payload's offset in the sequence");
_Static_assert(sizeof(struct etwas_etl_instance_header) == 72, "and in the record");

/* The record of etwas_quick_rseq. */
struct etwas_quick_record {
    etwas_pair start;       /* bytes 0..15: marker, class, thread and process id */
    etwas_pair guid;        /* 24..39 */
    etwas_pair instances;   /* 40..55: no times, instance and parent instance id */
    etwas_pair parent;      /* 56..71: its GUID */
    int64_t stamp;          /* 16..23 */
    const void *before;     /* the payload's address less the size of an event header */
    uint64_t payload_bytes; /* at most ETWAS_QUICK_PAYLOAD_BYTES */
};

/*
 * A header in registers. The functions at the end say which members are used, by the header's size.
 */
struct etwas_quick_header {
    uint64_t start;
    uint64_t ids;
    etwas_pair second;
    etwas_pair third;
    etwas_pair fourth;
};

/*
 * The records of a batch as they shall lie in a buffer, stamps included, with zeroes up to the end
 * of each last unit: ETWAS_QUICK_BLOCK_BYTES at least. etwas_quick_image copies them; its commit
 * adds all of them. Their stamps are the `stamp` that it compares.
 */
struct etwas_batch_image {
    uint32_t bytes; /* a multiple of 8 */
    uint32_t records;
    uint8_t data[ETWAS_BATCH_IMAGE_BYTES + 8] __attribute__((aligned(16)));
};

/*
 * ETWAS_QUICK_PIECES(NAME, HEADER, STEP, CHECK) makes the function NAME, the sequence for a record
 * with one kind of header and a payload in pieces: `count` of them from `pieces` on. HEADER stores
 * the header, STEP is its size. CHECK says what a piece may be: anything; data, which has no type;
 * or data that follow two items.
 *
 * The list is the caller's, and another thread may change it meanwhile: each length is read once. A
 * piece without an address is left to the general way.
 *
 * The sequence knows the size of the record when everything is copied. Step 4 is repeated for each
 * piece, and requires 8 bytes more than needed, which are zeroed after the last piece. The size is
 * added to header->start, the first 8 bytes, and those are stored last. Lengths are summed
 * independently of the record's place, so the sum that the commit adds to the word does not wait
 * for the word.
 */
#if defined(__x86_64__)
#include "buffer/quick_rseq_x86_64.h"
#else
#include "buffer/quick_rseq_aarch64.h"
#endif

/* clang-format off */
#define ETWAS_QUICK_START                                                                          \
    ETWAS_QUICK_PUT_WORD(ids, 8)                                                                   \
    ETWAS_QUICK_PUT_WORD(stamp, 16)                                                                \
    ETWAS_QUICK_PUT(second, 24)

/* TraceEvent: 24 its GUID; 40 no times */
ETWAS_QUICK_PIECES(etwas_quick_event, ETWAS_QUICK_START ETWAS_QUICK_PUT_ZERO(40), 48,
                   ETWAS_QUICK_ANYTHING)

/* TraceEventInstance: 24 its GUID; 40 no times, instance and parent instance id; 56 its GUID */
ETWAS_QUICK_PIECES(etwas_quick_instance,
                   ETWAS_QUICK_START ETWAS_QUICK_PUT(third, 40) ETWAS_QUICK_PUT(fourth, 56), 72,
                   ETWAS_QUICK_ANYTHING)

/* EventWrite: 24 the provider; 40 the descriptor; 56 no times; 64 the activity */
#define ETWAS_QUICK_EVENT_HEADER                                                                   \
    ETWAS_QUICK_START                                                                              \
    ETWAS_QUICK_PUT(third, 40)                                                                     \
    ETWAS_QUICK_PUT_ZERO(56)                                                                       \
    ETWAS_QUICK_PUT(fourth, 64)
ETWAS_QUICK_PIECES(etwas_quick_write, ETWAS_QUICK_EVENT_HEADER, 80, ETWAS_QUICK_DATA)
ETWAS_QUICK_PIECES(etwas_quick_described, ETWAS_QUICK_EVENT_HEADER, 80, ETWAS_QUICK_ITEMS_AND_DATA)
ETWAS_QUICK_PIECES(etwas_quick_built, ETWAS_QUICK_EVENT_HEADER, 80, ETWAS_QUICK_ANYTHING)

/* TraceMessage with GUID, stamp and ids: 8 the GUID; 24 the stamp; 32 the ids */
ETWAS_QUICK_PIECES(etwas_quick_message,
                   ETWAS_QUICK_PUT(second, 8)
                   ETWAS_QUICK_PUT_WORD(stamp, 24)
                   ETWAS_QUICK_PUT_WORD(ids, 32), 40, ETWAS_QUICK_ANYTHING)
/* clang-format on */

#endif

#endif
