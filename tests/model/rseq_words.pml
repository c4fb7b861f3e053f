/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What rseq.pml has more for recovery: the words that the flusher leaves in the mapping, and the
 * file that it writes.
 *
 * Each of the flusher's words carries the claim of the buffer it is about. So none is ever reset,
 * and one of a claim before says nothing.
 */

#define UPTO(t, n) ((t) * 4 + (n))
#define SAYS(word, o) ((word) / 4 == TICKET(o)) /* it is of this claim */
#define RECORDS(word) ((word) & 3)

short progress[BUFFERS]; /* these records are settled: in the file, or counted lost */
short intent[BUFFERS];   /* those up to here are written, or about to be … */
byte place[BUFFERS];     /* … there */
byte shut_stored[PROCESSORS]; /* of a slot that STOP has shut: stored, not added */
#ifdef CIRCULAR
byte shut_overwritten[PROCESSORS];
#endif

/* Of a loss that is being booked. */
byte settling; /* its buffer + 1; 0: none */
byte settling_before;
byte settled_lost;

/* The file: its entries, what the header of each says, and what there is. */
#ifndef CIRCULAR
#define ENTRIES (EVENTS + EVENTS_1)
byte file_records[ENTRIES];
byte file_data[ENTRIES * CAPACITY];
byte entries;
#endif
byte refusals = REFUSALS;

/* Ghosts. A set of records of one processor: bit n is its n-th. */
byte attempted;
#if BATCHES
byte in_flight; /* of these: neither committed nor counted lost, nor refused */
#endif
byte losses[PROCESSORS]; /* no ghost: the slot's count */
byte lost_set[PROCESSORS];
byte overwritten_set[PROCESSORS];
#define SET(to) ((1 << ((to) + 1)) - 2)
#define ADD(set, d) set[(d) / 32] = set[(d) / 32] | 1 << ((d) & 31)

#ifdef CIRCULAR
#define OVERWRITE_ONE(x, k) \
    if \
    :: k < end_records[x] -> ADD(overwritten_set, data[(x) * CAPACITY + k]) \
    :: else \
    fi;
#if CAPACITY > 1
#define OVERWRITE_ALL(x) OVERWRITE_ONE(x, 0) OVERWRITE_ONE(x, 1)
#else
#define OVERWRITE_ALL(x) OVERWRITE_ONE(x, 0)
#endif
#define OVERWRITE(x, o) \
    if \
    :: STATE(o) == CLOSED -> OVERWRITE_ALL(x) \
    :: else \
    fi;
#else
#define OVERWRITE(x, o)
#endif
