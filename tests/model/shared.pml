/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The shared protocol, as in the extra slot of a session with restartable sequences: any number of
 * writers on one slot, anywhere, interrupted anywhere; the flusher's role that collects, abandons,
 * takes snapshots, stops and starts; and the sequences of the processors' slots, which meet this
 * slot only in the owner words.
 *
 * Labels: RESERVE (L1, X1, X2), WRITE (S1), COMMIT (A1), SWITCH (V1, claim, X3, retire, V2),
 * COLLECT, ABANDON, RECLAIM, SNAPSHOT, STOP, START. Every statement below is a step: nothing is
 * restarted here, the scheduler may stop a writer between any two for as long as it likes.
 *
 * A configuration is chosen with -D; run.sh lists them.
 *
 *     WRITERS EVENTS BUFFERS CAPACITY SESSIONS   how many
 *     EVENTS_1     events of the second writer, if fewer
 *     BATCHES      so many events are batches of two records: one reservation, one commit
 *     SEQUENCES    claims that the processors' slots make
 *     CIRCULAR     buffering mode with snapshots; otherwise file mode
 *     ABANDONING   the timeout ends at any moment: a buffer is abandoned, stop leaks
 *     CLOSING      file mode: flushes that take the current buffer out of the slot
 *     STAMPS       records are stamped, and their order is checked
 *     KILL         the process may be killed at any step: recovery's view of every state is checked
 *     DEATHS       file mode: the slot is a guest's; its process is killed at any step, so many times, with all
 *                  writers, REAP puts right what they left, and the slot is the next guest's
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
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef CAPACITY
#define CAPACITY 1
#endif
#ifndef SESSIONS
#define SESSIONS 1
#endif
#ifndef SEQUENCES
#define SEQUENCES 0
#endif
#ifndef DEATHS
#define DEATHS 0
#endif
#ifndef BATCHES
#define BATCHES 0
#endif

/* Owner words: {ticket | whose:1 | state:2}. */
#define FREE 0
#define HELD 1
#define PINNED 3
#define SEQUENCE 4
#define OWNER(t, s) ((t) * 8 + (s))
#define TICKET(o) ((o) / 8)
#define STATE(o) ((o) & 7)

#define NO_BUFFER BUFFERS

/* The slot. The word: epoch, buffer, records. */
byte epoch;
byte word_buffer = NO_BUFFER;
byte word_records = CAPACITY;
byte gate;
byte visitors;

/* A buffer: owner word, commit word, link. */
byte owner[BUFFERS];
byte units[BUFFERS];
byte records[BUFFERS];
bit closed[BUFFERS];
byte previous[BUFFERS];
byte previous_end[BUFFERS];
byte end_records[BUFFERS];
/* 0: the marker says "not written". Otherwise the number of the reservation. */
byte data[BUFFERS * CAPACITY];
#ifdef ABANDONING
bit abandoned[BUFFERS];
byte set_aside[BUFFERS];
#endif
#ifdef STAMPS
byte now = 1;
byte newest;
byte stamp_of[BUFFERS * CAPACITY];
byte written_stamp;
#endif

#if defined(KILL) || DEATHS || BATCHES
#define MARKED /* a reservation says its size at once, and recovery or REAP reads what there is */
#endif
#ifdef KILL
/* The flusher is through with the buffer under the claim of this ticket. */
byte progress[BUFFERS];
#endif
#ifdef MARKED
#define UNFINISHED 255 /* a marker that says the size of the record, and that it is not whole */
#define COPYING 254    /* no marker, and some of the record: its length is not known */
#if BATCHES
#define UNFINISHED_TWO 253 /* the same of a batch of two records: the size of both */
#define IS_WHOLE(d) ((d) != 0 && (d) < UNFINISHED_TWO)
#else
#define IS_WHOLE(d) ((d) != 0 && (d) < COPYING)
#endif
/* Ghosts: sets of reservations. */
byte committed;
byte in_file;
byte overwritten;
#define GHOST(statement) statement
#ifdef CIRCULAR
#define OVERWRITE_ONE(x, k) \
    if \
    :: IS_WHOLE(data[(x) * CAPACITY + k]) -> overwritten = overwritten | 1 << data[(x) * CAPACITY + k] \
    :: else \
    fi;
#if CAPACITY > 1
#define OVERWRITE(x) OVERWRITE_ONE(x, 0) OVERWRITE_ONE(x, 1)
#else
#define OVERWRITE(x) OVERWRITE_ONE(x, 0)
#endif
#else
#define OVERWRITE(x)
#endif
#else
#define IS_WHOLE(d) ((d) != 0)
#define GHOST(statement)
#endif

/* Ghosts. */
byte gen;
byte region; /* the session with a region */
byte ended;  /* the last session with a slot that is shut for good */
byte leaked; /* the session with a leaked region */
byte reserved;
byte written; /* the last reservation written */
byte recorded;
byte gone; /* abandoned */

/*
 * Batches: an event may be two records. A record that is `joined` has its batch's next one behind
 * it. A reader's set of records has all of each batch or nothing, and a prefix ends with a whole
 * one.
 */
#if BATCHES
byte batches = BATCHES;
byte joined;
byte attempted;
byte in_flight; /* of these: neither reserved nor counted lost, nor refused */
byte lost;      /* no ghost: the slot's count */
#define HAS_PARTS(set) ((((set) ^ (set) >> 1) & joined) != 0)
#define ENDS_WHOLE(d) ((joined >> (d) & 1) == 0)
#define ROOM n + count <= CAPACITY
#define NO_ROOM n + count > CAPACITY
#ifdef FAULT_LOST_ONE
#define LOST_NOW 1
#else
#define LOST_NOW count
#endif
#ifdef FAULT_COMMIT_ONE
#define COMMITTED_NOW 1
#else
#define COMMITTED_NOW count
#endif
#ifdef FAULT_FIRST_SIZE
#define SIZE UNFINISHED
#else
#define SIZE (count == 2 -> UNFINISHED_TWO : UNFINISHED)
#endif
#else
#define ROOM n < CAPACITY
#define NO_ROOM n >= CAPACITY
#define SIZE UNFINISHED
#endif

#define COMPLETE(i) (closed[i] && units[i] == CAPACITY)
#define EXISTS(h) (region == h || leaked == h)

/* The compare-exchange of the word. */
#define WORD_IS(e, b, n) (epoch == e && word_buffer == b && word_records == n)
#ifdef FAULT_NO_EPOCH
#define NEXT_EPOCH epoch
#else
#define NEXT_EPOCH epoch + 1
#endif

#ifdef FAULT_CLAIM_LOOKS_COMPLETE
#define PREPARED HELD
#else
#define PREPARED PINNED
#endif

/* A held buffer that is not complete has writers. */
#define SETTLED(i) (STATE(owner[i]) != HELD || COMPLETE(i))
#if BUFFERS > 2
#define QUIET (SETTLED(0) && SETTLED(1) && SETTLED(2))
#define IN_MEMORY (records[0] + records[1] + records[2])
#else
#define QUIET (SETTLED(0) && SETTLED(1))
#define IN_MEMORY (records[0] + records[1])
#endif
#ifdef CIRCULAR
#define UNWRITTEN IN_MEMORY
#else
#define UNWRITTEN 0
#endif

#ifdef ABANDONING
#define NONE_ASIDE (set_aside[0] == 0 && set_aside[1] == 0)
#else
#define NONE_ASIDE true
#endif

inline clear(i)
{
    k = 0;
    do
    :: k < CAPACITY -> data[(i) * CAPACITY + k] = 0; k++
    :: else -> break
    od;
    k = 0
}

inline release(i)
{
    d_step {
        clear(i);
        units[i] = 0;
        records[i] = 0;
        closed[i] = 0;
        previous[i] = NO_BUFFER;
        previous_end[i] = 0;
        end_records[i] = 0;
#ifdef ABANDONING
        abandoned[i] = 0;
        set_aside[i] = 0;
#endif
        owner[i] = OWNER(TICKET(owner[i]), FREE)
    }
}

#if DEATHS
byte life;   /* how many processes have died */
byte reaped; /* so many have been seen to */
#endif

#if BATCHES
/* The batch's other record, with its final marker. The first record's marker is stored last. */
#ifdef STAMPS
#define STORE_STAMP(at) stamp_of[at] = stamp
#else
#define STORE_STAMP(at) skip
#endif
#define WRITE_SECOND \
    if \
    :: count == 2 -> \
        d_step { \
            assert(EXISTS(h) && data[b * CAPACITY + n + 1] == 0); \
            data[b * CAPACITY + n + 1] = number + 1; \
            STORE_STAMP(b * CAPACITY + n + 1) \
        } \
    :: else \
    fi;
#endif

proctype writer(byte left)
{
#if DEATHS
    byte mine; /* the process that it is a thread of */
    bit through;
#endif
    byte h; /* the handle */
    byte e; /* the word */
    byte b;
    byte n;
    byte x; /* a buffer claimed, or to be */
    byte o; /* its owner word */
    byte number;
    byte k;
#if BATCHES
    byte count; /* records of the event */
#endif
#ifdef STAMPS
    byte stamp;
    byte seen;
#endif

#if DEATHS
born:
    {
    skip;
#endif
next:
    atomic {
        if
        :: left == 0 -> goto out
        :: else
        fi;
        left--;
#if BATCHES
        if
        :: batches > 0 -> batches--; count = 2
        :: true -> count = 1
        fi;
        attempted = attempted + count;
        in_flight = in_flight + count;
#endif
#ifdef STAMPS
        /* Read once: the oldest a stamp can be. */
        now++;
        stamp = now;
#endif
        h = gen
    };

reserve:
    /* RESERVE */
    atomic { /* L1 */
        e = epoch;
        b = word_buffer;
        n = word_records
    };
    atomic {
        if
#if BATCHES
        :: gate != h ->
            attempted = attempted - count;
            in_flight = in_flight - count;
            goto done
#else
        :: gate != h -> goto done
#endif
        :: gate == h && NO_ROOM -> goto switch
        :: else
        fi;
#ifdef STAMPS
        seen = newest
#endif
    };
#ifdef STAMPS
    atomic { /* X1 */
        if
        :: stamp < seen -> stamp = seen
        :: stamp > seen && newest != seen -> goto reserve
        :: stamp > seen && newest == seen -> newest = stamp
        :: else
        fi
    };
#endif
    atomic { /* X2 */
        if
        :: !WORD_IS(e, b, n) -> goto reserve
        :: else
        fi;
#if BATCHES
        word_records = n + count;
        assert(region == h && ended != h);
        number = reserved + 1;
        reserved = reserved + count;
        in_flight = in_flight - count;
        if
        :: count == 2 -> joined = joined | 1 << number
        :: else
        fi
#else
        word_records = n + 1;
        assert(region == h && ended != h);
        reserved++;
        number = reserved
#endif
    };
#ifdef MARKED
    d_step { /* a death in the copy costs this record, and none behind it */
        assert(EXISTS(h) && data[b * CAPACITY + n] == 0);
#ifdef FAULT_SIZE_LATE
        data[b * CAPACITY + n] = COPYING
#else
        data[b * CAPACITY + n] = SIZE
#endif
    };
#endif
#if BATCHES
#ifndef FAULT_FIRST_EARLY
    WRITE_SECOND
#endif
#endif
    d_step { /* WRITE: S1 */
        assert(EXISTS(h));
        assert(!IS_WHOLE(data[b * CAPACITY + n]));
        data[b * CAPACITY + n] = number;
#ifdef STAMPS
        stamp_of[b * CAPACITY + n] = stamp;
#endif
    };
#if BATCHES
#ifdef FAULT_FIRST_EARLY
    WRITE_SECOND
#endif
    d_step { /* COMMIT: A1 */
        assert(EXISTS(h));
        committed = committed | (count == 2 -> 3 : 1) << number;
        records[b] = records[b] + COMMITTED_NOW;
        units[b] = units[b] + count
    };
#else
    d_step { /* COMMIT: A1 */
        assert(EXISTS(h));
        GHOST(committed = committed | 1 << number;)
        records[b]++;
        units[b]++
    };
#endif
    goto done;

switch: /* SWITCH */
#ifndef FAULT_NO_VISITORS
    visitors++; /* V1 */
#endif
    x = NO_BUFFER;
look:
    atomic {
        e = epoch;
        b = word_buffer;
        n = word_records
    };
    atomic {
        number = 0;
        if
#if BATCHES
        :: gate != h ->
            attempted = attempted - count;
            in_flight = in_flight - count;
            goto leave
#else
        :: gate != h -> goto leave
#endif
        :: gate == h && ROOM -> number = 1; goto leave
        :: else
        fi;
        if
        :: x != NO_BUFFER -> goto install
        :: else
        fi
    };
claim:
    atomic {
        if
        :: STATE(owner[0]) == FREE -> x = 0
        :: STATE(owner[1]) == FREE -> x = 1
#if BUFFERS > 2
        :: STATE(owner[2]) == FREE -> x = 2
#endif
#ifdef CIRCULAR
        :: STATE(owner[0]) == HELD && COMPLETE(0) -> x = 0
        :: STATE(owner[1]) == HELD && COMPLETE(1) -> x = 1
#if BUFFERS > 2
        :: STATE(owner[2]) == HELD && COMPLETE(2) -> x = 2
#endif
#endif
        :: else -> goto none
        fi;
        o = owner[x]
    };
    atomic {
        if
        :: owner[x] != o -> x = NO_BUFFER; goto claim
        :: else
        fi;
        assert(EXISTS(h));
        GHOST(OVERWRITE(x))
        owner[x] = OWNER(TICKET(o) + 1, PREPARED);
#ifndef CIRCULAR
        o = 0
#endif
    };
#ifdef CIRCULAR
    if
    :: STATE(o) == HELD ->
        d_step { clear(x) };
        d_step { recorded = recorded + records[x]; units[x] = 0; records[x] = 0; closed[x] = 0 }
    :: else
    fi;
    o = 0;
#endif
install:
    atomic {
        assert(EXISTS(h));
        previous[x] = b;
        previous_end[x] = n;
        owner[x] = OWNER(TICKET(owner[x]) + 1, HELD)
    };
    atomic { /* X3 */
        if
        :: !WORD_IS(e, b, n) -> goto look
        :: else
        fi;
        assert(b != x && ended != h);
        epoch = NEXT_EPOCH;
        word_buffer = x;
        word_records = 0;
        number = 1;
        x = NO_BUFFER
    };
    if
    :: b != NO_BUFFER ->
        d_step { assert(EXISTS(h)); units[b] = units[b] + CAPACITY - n; closed[b] = 1 }
    :: else
    fi;
    goto leave;
none:
    atomic {
        if
        :: !WORD_IS(e, b, n) -> goto look
#if BATCHES
        :: else ->
            lost = lost + LOST_NOW;
            in_flight = in_flight - count;
            goto leave
#else
        :: else -> goto leave /* lost */
#endif
        fi
    };
leave:
    if
    :: x != NO_BUFFER -> assert(EXISTS(h)); release(x)
    :: else
    fi;
    atomic {
#ifndef FAULT_NO_VISITORS
        visitors--; /* V2 */
#endif
        x = 0;
        if
        :: number -> number = 0; goto reserve
        :: else
        fi
    };

done:
    atomic {
        h = 0; e = 0; b = 0; n = 0; x = 0; o = 0; number = 0;
#if BATCHES
        count = 0;
#endif
#ifdef STAMPS
        stamp = 0; seen = 0
#endif
    };
    goto next;

out:
#if DEATHS
    through = 1
    } unless { mine != life -> };
end_dead: /* when the session has ended nobody comes after it */
    if
    :: through
    :: atomic { !through && reaped == life ->
        mine = life;
        h = 0; e = 0; b = 0; n = 0; x = 0; o = 0; number = 0;
#if BATCHES
        count = 0;
#endif
        goto born }
    fi
#else
    skip
#endif
}

#if SEQUENCES
/* The processors' slots: CLAIM, and the role's release of what they filled. */
active proctype sequences()
{
    byte left = SEQUENCES;
    byte x;
    byte o;

end:
    do
    :: atomic { left > 0 && region != 0 ->
        if
        :: STATE(owner[0]) == FREE -> x = 0
        :: STATE(owner[1]) == FREE -> x = 1
        :: else -> goto end
        fi;
        left--;
        o = owner[x] }
        /* A sequence: it checks the gate, and stop's membarrier aborts it. */
        atomic {
            if
            :: gate != 0 && owner[x] == o -> owner[x] = OWNER(TICKET(o) + 1, SEQUENCE)
            :: else -> x = NO_BUFFER
            fi;
            o = 0
        };
        atomic {
            if
            :: x != NO_BUFFER && STATE(owner[x]) == SEQUENCE ->
                owner[x] = OWNER(TICKET(owner[x]), FREE)
            :: else
            fi;
            x = 0
        }
    od
}
#endif

/* ---- the flusher's role ---- */

byte last_current = NO_BUFFER;
byte pending[BUFFERS] = NO_BUFFER; /* oldest first */
byte pending_count;

inline append(i)
{
    assert(pending_count < BUFFERS);
    pending[pending_count] = i;
    pending_count++
}

/* The buffers before x, back to the one current at the last read, oldest first. */
inline append_chain()
{
    d_step {
        /* depth: how many there are */
        y = x;
        k = 0;
        do
        :: y != last_current && previous[y] != NO_BUFFER ->
            end_records[previous[y]] = previous_end[y];
            y = previous[y];
            k++;
            assert(k < BUFFERS)
        :: else -> break
        od;
        do
        :: k > 0 ->
            y = x;
            z = k;
            do
            :: z > 0 -> y = previous[y]; z--
            :: else -> break
            od;
            append(y);
            k--
        :: else -> break
        od;
        y = 0
    }
}

inline pop()
{
    k = 0;
    do
    :: k < BUFFERS - 1 -> pending[k] = pending[k + 1]; k++
    :: else -> break
    od;
    pending[BUFFERS - 1] = NO_BUFFER;
    pending_count--;
    k = 0
}

inline write_prefix(i, to)
{
    k = 0;
    do
    :: k < to ->
        assert(data[i * CAPACITY + k] > written);
#if !defined(ABANDONING) && !DEATHS
        assert(data[i * CAPACITY + k] == written + 1);
#endif
        written = data[i * CAPACITY + k];
        GHOST(in_file = in_file | 1 << written;)
        recorded++;
#ifdef STAMPS
        assert(stamp_of[i * CAPACITY + k] >= written_stamp);
        written_stamp = stamp_of[i * CAPACITY + k];
#endif
        k++
    :: else -> break
    od;
#if BATCHES
    assert(ENDS_WHOLE(written));
#endif
    k = 0
}

/* COLLECT: the head of the list, when all that was reserved in it is committed. */
inline collect()
{
    atomic {
        pending_count > 0 && COMPLETE(pending[0]) ->
        y = pending[0];
        assert(region == gen && STATE(owner[y]) == HELD);
        assert(records[y] == end_records[y]);
        write_prefix(y, end_records[y]);
#if defined(KILL) && !defined(FAULT_NO_PROGRESS)
        /* Write and progress are one step here: rseq.pml has what lies between. */
        progress[y] = TICKET(owner[y]);
#endif
        pop()
    };
    release(y);
    y = 0
}

#ifdef ABANDONING
/* ABANDON: the timeout ends. What is whole before the first hole is written. */
inline abandon()
{
    d_step {
        pending_count > 0 && !COMPLETE(pending[0]) ->
        y = pending[0];
        abandoned[y] = 1
    };
    d_step {
        k = 0;
        do
        :: k < end_records[y] && IS_WHOLE(data[y * CAPACITY + k]) -> k++
        :: else -> break
        od;
        z = k;
        set_aside[y] = k + 1;
        write_prefix(y, z);
        pop();
        y = 0;
        z = 0
    }
}

/* RECLAIM: its last writer is through. */
inline reclaim(i)
{
    d_step {
        set_aside[i] != 0 && COMPLETE(i) ->
        gone = gone + records[i] - (set_aside[i] - 1)
    };
    release(i)
}
#endif

inline shut()
{
    atomic {
        x = word_buffer;
        if
        :: x != NO_BUFFER -> end_records[x] = word_records
        :: else
        fi;
        epoch = NEXT_EPOCH;
        word_buffer = NO_BUFFER;
        word_records = CAPACITY;
        ended = (gate == 0 -> gen : ended)
    };
    if
    :: x != NO_BUFFER -> d_step { units[x] = units[x] + CAPACITY - end_records[x]; closed[x] = 1 }
    :: else
    fi
}

#ifdef CIRCULAR
/* SNAPSHOT: pin, read up to the first marker that is not final, unpin. */
inline snapshot(i)
{
    atomic {
#if BATCHES
        /* No record has room before a batch: it stands for one that is committed. */
        STATE(owner[i]) == HELD && (records[i] != 0 || data[i * CAPACITY] != 0) ->
#else
        STATE(owner[i]) == HELD && records[i] != 0 ->
#endif
        y = i;
        z = owner[i]
    };
#ifndef FAULT_NO_PIN
    d_step {
        if
        :: owner[y] == z -> owner[y] = OWNER(TICKET(z), PINNED)
        :: else -> y = NO_BUFFER
        fi
    };
#endif
    if
    :: y != NO_BUFFER ->
        x = data[y * CAPACITY];
#if CAPACITY > 1
        d_step {
            assert(!IS_WHOLE(x) || !IS_WHOLE(data[y * CAPACITY + 1]) ||
                   data[y * CAPACITY + 1] == x + 1)
#if BATCHES
            ;assert(!IS_WHOLE(x) || ENDS_WHOLE(x) || data[y * CAPACITY + 1] == x + 1)
#endif
        };
#endif
        d_step { assert(x == data[y * CAPACITY] || !IS_WHOLE(x)) };
#ifndef FAULT_NO_PIN
        d_step {
            if
            :: owner[y] == OWNER(TICKET(z), PINNED) -> owner[y] = z
            :: else
            fi
        }
#endif
    :: else
    fi;
    atomic { x = 0; y = 0; z = 0 }
}
#endif

#ifdef CIRCULAR
/* What is complete goes back to the processors: claimed, overwritten, free. */
inline give_back(i)
{
    atomic {
        STATE(owner[i]) == HELD && COMPLETE(i) ->
        y = i;
        z = owner[i]
    };
    atomic {
        if
        :: owner[y] == z -> GHOST(OVERWRITE(y)) owner[y] = OWNER(TICKET(z) + 1, PREPARED)
        :: else -> y = NO_BUFFER
        fi
    };
    if
    :: y != NO_BUFFER ->
        d_step { clear(y) };
        d_step { recorded = recorded + records[y]; units[y] = 0; records[y] = 0; closed[y] = 0 };
        d_step { owner[y] = OWNER(TICKET(owner[y]), HELD) };
        release(y)
    :: else
    fi;
    atomic { x = 0; y = 0; z = 0 }
}
#endif

#ifdef KILL
#include "shared_recover.pml"
#endif
#if DEATHS
#include "shared_reap.pml"
#define REAP :: reap()
#else
#define REAP
#endif

init
{
    byte x;
    byte y;
    byte z;
    byte k;

    d_step {
        k = 0;
        do
        :: k < BUFFERS -> previous[k] = NO_BUFFER; k++
        :: else -> break
        od;
        k = 0;
        region = 1;
        gen = 1;
        gate = 1
    };
    atomic {
        run writer(EVENTS);
        run writer(EVENTS_1);
#if WRITERS > 2
        run writer(EVENTS);
#endif
    };
    do
    :: true ->
        do
#ifdef CIRCULAR
        :: snapshot(0)
        :: snapshot(1)
        :: give_back(0)
        :: give_back(1)
#if BUFFERS > 2
        :: snapshot(2)
        :: give_back(2)
#endif
#else
        :: atomic { word_buffer != NO_BUFFER && word_buffer != last_current -> x = word_buffer };
            append_chain();
            d_step { last_current = x; x = 0 }
        :: collect()
        REAP
#ifdef CLOSING
        :: atomic { word_buffer != NO_BUFFER && word_records > 0 -> skip };
            shut();
            append_chain();
            d_step { last_current = NO_BUFFER; append(x); x = 0 }
#endif
#ifdef ABANDONING
        :: abandon()
        :: reclaim(0)
        :: reclaim(1)
#endif
#endif
        :: break
        od;
        gate = 0; /* STOP */
        shut();
#ifndef CIRCULAR
        if
        :: x != NO_BUFFER -> append_chain(); d_step { last_current = NO_BUFFER; append(x) }
        :: else
        fi;
#endif
        x = 0;
        do
#ifndef CIRCULAR
        :: collect()
        REAP
#ifdef ABANDONING
        :: abandon()
        :: reclaim(0)
        :: reclaim(1)
#endif
#endif
        :: atomic { visitors == 0 && pending_count == 0 && QUIET && NONE_ASIDE -> break }
#ifdef ABANDONING
        :: atomic { pending_count == 0 && !(visitors == 0 && QUIET) -> leaked = gen; break }
#endif
        od;
        atomic {
            region = 0;
            if
            :: leaked == 0 ->
#if DEATHS
                /* What was committed is written; a writer that died after its marker did not get that answer. */
                assert((committed & ~in_file) == 0 && recorded <= reserved);
#else
                assert(reserved == recorded + gone + UNWRITTEN);
#endif
#if BATCHES
#if DEATHS
                assert(!HAS_PARTS(in_file));
#else
                assert(attempted == in_flight + reserved + lost);
#endif
#endif
                k = 0;
                do
                :: k < BUFFERS ->
#ifndef CIRCULAR
                    assert(STATE(owner[k]) == FREE || STATE(owner[k]) == SEQUENCE);
#endif
                    owner[k] = OWNER(TICKET(owner[k]), FREE);
                    units[k] = 0;
                    records[k] = 0;
                    closed[k] = 0;
                    k++
                :: else -> break
                od;
                k = 0;
                do
                :: k < BUFFERS * CAPACITY -> data[k] = 0; k++
                :: else -> break
                od;
                k = 0
            :: else
            fi
        };
        if
        :: gen == SESSIONS || leaked != 0 -> break
        :: else ->
            d_step { /* START */
                reserved = 0; recorded = 0; written = 0; gone = 0;
#ifdef STAMPS
                newest = 0; written_stamp = 0;
#endif
                region = gen + 1
            };
            atomic { gen++; gate = gen }
        fi
    od
}
