/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The per-processor publication protocol: writers on processors, the kernel that takes processors
 * away from them, and the flusher's role that collects, takes snapshots, counts, stops and starts.
 *
 * A step of the protocol carries its label (PUBLISH, CLAIM, ADOPT, CLOSE, LOST, FLUSH, SNAPSHOT,
 * COUNT, STOP, START). A restartable sequence is a SEQ_BEGIN, some SEQ_THEN and a SEQ_COMMIT, each
 * one atomic step; other processors and the role run between any two of them. When the kernel takes
 * the processor away, delivers a signal, or membarrier reaches it, the writer is no longer `inside`
 * and its next step is the abort point. Ghost variables (committed, written, gen, …) are what the
 * assertions compare the protocol with; the protocol does not read them.
 *
 * A configuration is chosen with -D; run.sh lists them.
 *
 *     WRITERS EVENTS PROCESSORS BUFFERS CAPACITY   how many; CAPACITY is records a buffer
 *     SWITCHES SIGNALS SESSIONS                    preemptions and migrations; signals; sessions
 *     EVENTS_1     events of the second writer, if fewer
 *     BATCHES      so many events are batches of two records; CAPACITY is 2 then
 *     EXTRA        claims that the session's extra slot makes
 *     TOGETHER     every writer starts on processor 0
 *     CIRCULAR     buffering mode with snapshots; otherwise file mode
 *     NO_SNAPSHOTS buffering mode, the role only stops
 *     TIMED        file mode: timed flushes of the current buffer
 *     COUNTS       the role reads the statistics at any moment
 *     KILL         the process may be killed at any step: recovery's view of every state is checked
 *     SEARCH_FILE  recovery asks no words of the flusher, but finds in the file what it holds
 *     LIVE         recovery reads while the process runs on
 *     DEATHS       each writer is a process of its own; one is killed at any step, so many times, and born again
 *     VISITS       STOP fences by visits of processors: the writers are not of its process
 *     UNREACHED    no visit comes through: STOP reads again until all writers are gone
 *     REFUSALS     KILL, file mode: writes that the system refuses
 *     STAMPS       records are stamped outside the sequence; SYSTEM: by a clock that steps back
 *     FINE         plain reads of the slow path are steps of their own
 *     FAULT_…      a seeded fault
 */

#ifndef WRITERS
#define WRITERS 2
#endif
#ifndef EVENTS
#define EVENTS 2
#endif
#ifndef EVENTS_1
#define EVENTS_1 EVENTS
#endif
#ifndef PROCESSORS
#define PROCESSORS 2
#endif
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#ifndef SWITCHES
#define SWITCHES 1
#endif
#ifndef SIGNALS
#define SIGNALS 0
#endif
#ifndef SESSIONS
#define SESSIONS 1
#endif

#ifndef DEATHS
#define DEATHS 0
#endif

#ifndef BATCHES
#define BATCHES 0
#endif

#ifndef REFUSALS
#define REFUSALS 0
#endif

#if SIGNALS
#define THREADS (WRITERS + 1)
#define HANDLER WRITERS
#else
#define THREADS WRITERS
#endif

/* Where a thread is: on a processor, or one of these. */
#define WAITING 2     /* has no processor */
#define GONE 3        /* finished; a handler: not called */
#define INTERRUPTED 4 /* a handler runs on top of it */

/* Owner words: {ticket | processor:2 | state:2}. */
#define FREE 0
#define HELD 1
#define CLOSED 2
#define PINNED 3
#define OWNER(t, p, s) ((t) * 16 + (p) * 4 + (s))
#define TICKET(o) ((o) / 16)
#define STATE(o) ((o) & 3)
#define LIFE(o) ((o) / 4) /* all but the state */
#define PLACE_OF(o) ((o) & 15) /* processor and state */
#define IS_HELD(o, p) (PLACE_OF(o) == (p) * 4 + HELD)

#define NO_BUFFER BUFFERS
#define TORN 255
#define RECORD(p, n) ((p) * 32 + (n)) /* the n-th record of processor p in this session */

/* ---- what the threads share ---- */

byte at[THREADS];   /* where each thread is */
bit inside[THREADS]; /* in a restartable sequence that has not been aborted */

/* A slot a processor. The word: buffer and records; none: NO_BUFFER and no room. */
byte word_buffer[PROCESSORS];
byte word_records[PROCESSORS];
byte gate[PROCESSORS];
byte spare[PROCESSORS];

/* A buffer: owner word and control line. */
short owner[BUFFERS];
byte previous[BUFFERS];
byte end_records[BUFFERS];
#ifdef CIRCULAR
byte previous_ticket[BUFFERS];
#endif
#if defined(COUNTS) || defined(CIRCULAR) || defined(KILL)
byte stored_before[BUFFERS];
#ifdef CIRCULAR
byte overwritten_before[BUFFERS];
#endif
#endif
byte data[BUFFERS * CAPACITY];
byte ticket[PROCESSORS] = 1;

#ifdef STAMPS
byte now = 2;
byte newest[PROCESSORS];
byte stamp_of[BUFFERS * CAPACITY];
#ifdef SYSTEM
bit stepped;
#endif
#endif

#ifdef KILL
#include "rseq_words.pml"
#endif

/* ---- ghosts ---- */
byte gen;    /* the session last started; a handle is its value */
byte region; /* the session with a region; 0: freed */
byte committed[PROCESSORS];
byte written[PROCESSORS];
#if BATCHES
byte batches = BATCHES;
byte joined[PROCESSORS]; /* a set: the next record of the slot is of the same batch */
#define ENDS_WHOLE(p, n) ((joined[p] >> (n) & 1) == 0)
#endif
#if defined(CIRCULAR)
byte overwritten[PROCESSORS];
#endif
#ifdef STAMPS
byte written_stamp[PROCESSORS];
#endif
byte switches = SWITCHES;
#if DEATHS
byte deaths = DEATHS;
bit killed[THREADS]; /* what runs next there is another process */
#endif
#ifdef VISITS
bit passed_over[PROCESSORS]; /* not visited: nothing was in the slot */
#endif
#if SIGNALS
byte signals = SIGNALS;
byte under; /* the thread the handler interrupted */
#endif

#include "rseq_writer.pml"

/* ---- the kernel ---- */

#define TAKE_AWAY(w) at[w] = WAITING; inside[w] = 0
#define EVICT(w, p) if :: at[w] == p -> TAKE_AWAY(w) :: else fi
#if THREADS > 2
#define EVICT_ALL(p) EVICT(0, p); EVICT(1, p); EVICT(2, p)
#define BUSY(p) (at[0] == p || at[1] == p || at[2] == p)
#else
#define EVICT_ALL(p) EVICT(0, p); EVICT(1, p)
#define BUSY(p) (at[0] == p || at[1] == p)
#endif

/* Preemption and migration cost one of `switches`; a waiting thread takes an idle processor. */
#define SWITCH(w, p) \
    :: d_step { switches > 0 && at[w] <= WAITING && at[w] != p && (at[w] != WAITING || BUSY(p)) -> \
        switches--; EVICT_ALL(p); at[w] = p; inside[w] = 0 } \
    :: d_step { at[w] == WAITING && !BUSY(p) -> at[w] = p }
/* A process dies wherever its thread is, and leaves what it has stored. Its successor starts anywhere. */
#define DIE(w) \
    :: d_step { deaths > 0 && at[w] <= WAITING && !killed[w] -> \
        deaths--; killed[w] = 1; TAKE_AWAY(w) }
/* A signal on the same thread: the sequence it interrupts is aborted. */
#define SIGNAL(w) \
    :: d_step { signals > 0 && at[w] < PROCESSORS && at[HANDLER] == GONE -> \
        signals--; under = w; at[HANDLER] = at[w]; at[w] = INTERRUPTED; inside[w] = 0 }

active proctype kernel()
{
end:
    do
    SWITCH(0, 0)
    SWITCH(1, 0)
#if THREADS > 2
    SWITCH(2, 0)
#endif
#if PROCESSORS > 1
    SWITCH(0, 1)
    SWITCH(1, 1)
#if THREADS > 2
    SWITCH(2, 1)
#endif
#endif
#if DEATHS
    DIE(0)
    DIE(1)
#endif
#if SIGNALS
    SIGNAL(0)
    SIGNAL(1)
#endif
    od
}

#ifdef EXTRA
/*
 * The session's extra slot takes buffers of the same pool, by compare-exchange from anywhere, and
 * the role gives them back when it has written them. Its own protocol is in shared.pml.
 */
active proctype extra()
{
    byte left = EXTRA;
    byte x;
    short o;

end:
    do
    :: atomic {
        left > 0 && region != 0 && (STATE(owner[0]) == FREE || STATE(owner[1]) == FREE) ->
        if
        :: STATE(owner[0]) == FREE -> x = 0
        :: STATE(owner[1]) == FREE -> x = 1
        fi;
        o = owner[x];
        left--
    };
    atomic {
        if
        :: owner[x] == o && region != 0 -> owner[x] = OWNER(TICKET(o) + 1, PROCESSORS, HELD)
        :: else -> x = NO_BUFFER
        fi;
        o = 0
    };
    atomic {
        if
        :: x != NO_BUFFER ->
            assert(IS_HELD(owner[x], PROCESSORS));
            owner[x] = OWNER(TICKET(owner[x]), 0, FREE)
        :: else
        fi;
        x = 0
    }
    od
}
#endif

#include "rseq_role.pml"
#ifdef KILL
#include "rseq_recover.pml"
#endif

init
{
    byte x;  /* the current buffer at this read */
    byte xn; /* its records */
    byte y;
    byte k;
#if defined(CIRCULAR) || defined(COUNTS)
    short xo;
#endif
#ifdef CIRCULAR
    byte copied;
    bit torn;
#endif

    d_step {
        at[0] = 0;
#ifdef TOGETHER
        at[1] = WAITING;
#else
        at[1] = PROCESSORS - 1;
#endif
#if WRITERS > 2
        at[2] = WAITING;
#endif
#if SIGNALS
        at[HANDLER] = GONE;
#endif
        do
        :: k < BUFFERS -> previous[k] = NO_BUFFER; k++
        :: else -> break
        od;
        k = 0
    };
    start();
    atomic {
        run writer(0, EVENTS);
        run writer(1, EVENTS_1);
#if WRITERS > 2
        run writer(2, EVENTS);
#endif
#if SIGNALS
        run writer(HANDLER, SIGNALS)
#endif
    };
    do
    :: true ->
        do
#if defined(CIRCULAR) && !defined(NO_SNAPSHOTS)
        :: snapshot_close(0)
        :: snapshot_current(0)
#if PROCESSORS > 1
        :: snapshot_close(1)
        :: snapshot_current(1)
#endif
        :: snapshot_closed(0)
        :: snapshot_closed(1)
        :: snapshot_closed(2)
#endif
#ifndef CIRCULAR
        :: flush(0)
#if PROCESSORS > 1
        :: flush(1)
#endif
#endif
#ifdef COUNTS
        :: count(0)
#if PROCESSORS > 1
        :: count(1)
#endif
#endif
        :: break
        od;
        stop();
        if
        :: gen == SESSIONS -> break
        :: else -> start()
        fi
    od
}
