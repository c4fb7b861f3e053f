/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The flusher's role of rseq.pml, which includes this: FLUSH, SNAPSHOT, COUNT, START and STOP. */

byte last_current[PROCESSORS]; /* the oldest buffer not yet written whole */
byte part_written[PROCESSORS]; /* records of it that timed flushes wrote */

/* Writes the records of y up to `to`: each is whole, the next of its processor. I1, I3, I4, I8. */
inline write_records(p, y, to)
{
    atomic {
        assert(region == gen);
        assert(IS_HELD(owner[y], p));
        do
        :: part_written[p] < to ->
            assert(data[y * CAPACITY + part_written[p]] == RECORD(p, written[p] + 1));
            written[p]++;
#ifdef STAMPS
#ifdef SYSTEM
            assert(part_written[p] == 0 ||
                   stamp_of[y * CAPACITY + part_written[p]] >=
                       stamp_of[y * CAPACITY + part_written[p] - 1]);
#else
            assert(stamp_of[y * CAPACITY + part_written[p]] >= written_stamp[p]);
            written_stamp[p] = stamp_of[y * CAPACITY + part_written[p]];
#endif
#endif
            part_written[p]++
        :: else -> break
        od
#if BATCHES
        ;assert(ENDS_WHOLE(p, written[p]))
#endif
    }
}

/* What is left in a free buffer does not matter in file mode: it is made the same. */
inline free_buffer(i)
{
    owner[i] = OWNER(TICKET(owner[i]), 0, FREE);
#ifndef KILL
    previous[i] = NO_BUFFER;
    end_records[i] = 0;
    data[(i) * CAPACITY] = 0;
#if CAPACITY > 1
    data[(i) * CAPACITY + 1] = 0;
#endif
#if CAPACITY > 2
#error "free_buffer clears two records"
#endif
#ifdef STAMPS
    stamp_of[(i) * CAPACITY] = 0;
#if CAPACITY > 1
    stamp_of[(i) * CAPACITY + 1] = 0;
#endif
#endif
#endif
}

#ifdef KILL
#include "rseq_flush.pml"
#else
/* The chain from x, the current buffer, back to the one current at the last read: oldest first. */
inline write_chain(p)
{
    d_step {
        if
        :: x != NO_BUFFER && last_current[p] == NO_BUFFER ->
            y = x;
            k = 0;
            do
            :: previous[y] != NO_BUFFER -> y = previous[y]; k++; assert(k < BUFFERS)
            :: else -> break
            od;
            last_current[p] = y;
            y = 0;
            k = 0
        :: else
        fi
    };
    do
    :: last_current[p] != x ->
        write_records(p, last_current[p], end_records[last_current[p]]);
        d_step {
            y = x;
            k = 0;
            do
            :: previous[y] != last_current[p] ->
                y = previous[y];
                k++;
                assert(k < BUFFERS && y != NO_BUFFER)
            :: else -> break
            od;
            free_buffer(last_current[p]);
            last_current[p] = y;
            part_written[p] = 0;
            y = 0;
            k = 0
        }
    :: else -> break
    od
}

inline flush(p) /* FLUSH */
{
    atomic {
#ifdef TIMED
        word_buffer[p] != NO_BUFFER &&
            (word_buffer[p] != last_current[p] || word_records[p] != part_written[p]) ->
#else
        word_buffer[p] != NO_BUFFER && word_buffer[p] != last_current[p] ->
#endif
        x = word_buffer[p];
        xn = word_records[p]
    };
    write_chain(p);
#ifdef TIMED
    if
    :: write_records(p, x, xn)
    :: skip
    fi;
#endif
    atomic { x = 0; xn = 0 }
}
#endif

inline membarrier(p)
{
    d_step {
        k = 0;
        do
        :: k < THREADS ->
            if
            :: at[k] == p -> inside[k] = 0
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    }
}

#ifdef VISITS
/* We run on p, if a guest may be inside a sequence that changes its slot: the thread that ran there has been switched out. */
inline visit(p)
{
    d_step {
        if
        :: word_buffer[p] != NO_BUFFER -> EVICT_ALL(p)
        :: else -> passed_over[p] = 1
        fi
    }
}
#define FENCE(p) visit(p)
#else
#define FENCE(p) membarrier(p)
#endif

inline stop_slot(p)
{
#ifdef KILL
    shut_slot(p);
#else
    d_step {
        x = word_buffer[p];
        xn = word_records[p];
        word_buffer[p] = NO_BUFFER;
        word_records[p] = CAPACITY
    };
#endif
#ifndef CIRCULAR
    if
    :: x != NO_BUFFER ->
#ifdef KILL
        drain(p, true);
#else
        write_chain(p);
        write_records(p, x, xn);
#endif
        d_step {
            free_buffer(x);
            last_current[p] = NO_BUFFER;
            part_written[p] = 0
        }
    :: else
    fi;
    d_step {
        if
        :: spare[p] != NO_BUFFER && spare[p] != x && IS_HELD(owner[spare[p]], p) ->
            free_buffer(spare[p])
        :: else
        fi;
        assert(written[p] == committed[p]); /* I4, and nobody commits after STOP */
        x = 0;
        xn = 0
    }
#else
    d_step {
        /* Each buffer this processor holds is the current one, the one before it, or the spare. */
        k = 0;
        do
        :: k < BUFFERS ->
            assert(!IS_HELD(owner[k], p) || k == x || k == spare[p] ||
                   (x != NO_BUFFER && k == previous[x]));
            k++
        :: else -> break
        od;
        k = 0;
        assert(x == NO_BUFFER || stored_before[x] + xn == committed[p]);
        assert(x == NO_BUFFER || overwritten_before[x] == overwritten[p]);
        x = 0;
        xn = 0
    }
#endif
}

#ifdef CIRCULAR
/* The records in y up to `to` are the ones after stored_before, in order, and whole. */
inline check_records(p, y, to)
{
    d_step {
        k = 0;
        do
        :: k < to -> assert(data[y * CAPACITY + k] == RECORD(p, stored_before[y] + k + 1)); k++
        :: else -> break
        od;
#if BATCHES
        assert(to != end_records[y] || ENDS_WHOLE(p, stored_before[y] + to));
#endif
        k = 0
    }
}

inline snapshot_close(p)
{
    /* CLOSE by the role: word, owner, the word again, the link, the owner again. */
    atomic {
        word_buffer[p] != NO_BUFFER && previous[word_buffer[p]] != NO_BUFFER &&
            owner[previous[word_buffer[p]]] == OWNER(previous_ticket[word_buffer[p]], p, HELD) ->
        x = word_buffer[p]
    };
    xo = owner[x];
    if
    :: word_buffer[p] == x ->
        d_step {
            y = previous[x];
            if
            :: y != NO_BUFFER -> xn = previous_ticket[x]
            :: else
            fi
        };
        atomic {
#ifndef FAULT_SNAPSHOT_CLOSE
            if
            :: LIFE(owner[x]) != LIFE(xo) -> y = NO_BUFFER
            :: else
            fi;
#endif
            xo = 0
        };
        d_step {
            if
            :: y != NO_BUFFER && owner[y] == OWNER(xn, p, HELD) ->
                assert(word_buffer[p] != y);
                owner[y] = OWNER(xn, p, CLOSED)
            :: else
            fi
        }
    :: else
    fi;
    atomic { x = 0; y = 0; xo = 0; xn = 0 }
}

/* SNAPSHOT of a closed buffer: pin, read, unpin. */
inline snapshot_closed(i)
{
    atomic {
        STATE(owner[i]) == CLOSED ->
        y = i;
        xo = owner[y]
    };
#ifdef FAULT_NO_PIN
    d_step { xn = end_records[y]; k = 0 };
#else
    d_step {
        if
        :: owner[y] == xo -> owner[y] = xo + 1; xn = end_records[y]
        :: else -> xn = 0
        fi
    };
#endif
    check_records((PLACE_OF(xo) / 4), y, (xn > 0 -> 1 : 0));
    check_records((PLACE_OF(xo) / 4), y, xn);
#ifndef FAULT_NO_PIN
    d_step {
        if
        :: owner[y] == xo + 1 -> owner[y] = xo
        :: else
        fi
    };
#endif
    d_step { y = 0; xo = 0; xn = 0 }
}

/* SNAPSHOT of a current buffer: owner, word again, copy, owner again. */
inline snapshot_current(p)
{
    atomic {
        word_buffer[p] != NO_BUFFER ->
        x = word_buffer[p];
#ifdef FAULT_SNAPSHOT_OLD_WORD
        xn = word_records[p]
#endif
    };
    xo = owner[x];
    atomic {
#ifndef FAULT_SNAPSHOT_OLD_WORD
        xn = word_records[p];
        if
        :: word_buffer[p] != x -> xn = 0
        :: else
        fi;
#endif
        copied = 0;
        torn = 0
    };
    do
    :: d_step { copied < xn ->
        torn = torn || data[x * CAPACITY + copied] != RECORD(p, stored_before[x] + copied + 1);
        copied++ }
    :: else -> break
    od;
    atomic {
#ifdef FAULT_SNAPSHOT_NO_RECHECK
        assert(!torn);
#else
        assert(!(torn && LIFE(owner[x]) == LIFE(xo)));
#if BATCHES
        assert(xn == 0 || LIFE(owner[x]) != LIFE(xo) || ENDS_WHOLE(p, stored_before[x] + xn));
#endif
#endif
        x = 0; xn = 0; xo = 0; copied = 0; torn = 0
    }
}
#endif

#ifdef COUNTS
/* COUNT: word, owner, the word again, the link, the owner again. */
inline count(p)
{
    atomic {
        word_buffer[p] != NO_BUFFER ->
        x = word_buffer[p];
#ifdef FAULT_COUNT_OLD_WORD
        xn = word_records[p];
        k = committed[p]
#endif
    };
    xo = owner[x];
#ifndef FAULT_COUNT_OLD_WORD
    d_step {
        xn = word_records[p];
        k = committed[p];
        if
        :: word_buffer[p] != x -> xo = 0
        :: else
        fi
    };
#endif
    xn = xn + stored_before[x];
    d_step {
        assert(LIFE(xo) != LIFE(owner[x]) || xo == 0 || xn == k);
#if BATCHES
        assert(LIFE(xo) != LIFE(owner[x]) || xo == 0 || ENDS_WHOLE(p, xn));
#endif
        x = 0; xn = 0; xo = 0; k = 0
    }
}
#endif

inline start() /* START */
{
    d_step {
        region = gen + 1;
        k = 0;
        do
        :: k < PROCESSORS ->
            spare[k] = NO_BUFFER;
            word_buffer[k] = NO_BUFFER;
            word_records[k] = CAPACITY;
            last_current[k] = NO_BUFFER;
            part_written[k] = 0;
            committed[k] = 0;
            written[k] = 0;
#if BATCHES
            joined[k] = 0;
#endif
#ifdef CIRCULAR
            overwritten[k] = 0;
#endif
#ifdef STAMPS
            newest[k] = 0;
            written_stamp[k] = 0;
#endif
            k++
        :: else -> break
        od;
        k = 0
    };
    gate[0] = gen + 1;
#if PROCESSORS > 1
    gate[1] = gen + 1;
#endif
    gen++
}

/* Free at the end, or the extra slot's; or claimed late in a slot that was passed over: that goes with the mapping. */
#if !defined(VISITS)
#define IS_KNOWN(o) STATE(o) == FREE || IS_HELD(o, PROCESSORS)
#else
#define IS_LATE(o, p) (passed_over[p] && IS_HELD(o, p))
#if PROCESSORS > 1
#define IS_KNOWN(o) (STATE(o) == FREE || IS_LATE(o, 0) || IS_LATE(o, 1))
#else
#define IS_KNOWN(o) (STATE(o) == FREE || IS_LATE(o, 0))
#endif
#endif

#ifdef UNREACHED
#if PROCESSORS > 1
#error "looking again is searched on one processor"
#endif
#define ALL_GONE (at[0] == GONE && at[1] == GONE)

/* All that is in the slot, by one read of its word. Nothing is shut. */
inline look(p)
{
    atomic { x = word_buffer[p]; xn = word_records[p] };
    if
    :: x != NO_BUFFER ->
#ifdef FAULT_LATE_LINKS
        if
        :: gate[p] == 0 && last_current[p] != NO_BUFFER -> last_current[p] = x
        :: else
        fi;
#endif
        write_chain(p);
        write_records(p, x, xn)
    :: else
    fi;
    atomic { x = 0; xn = 0 }
}

inline stop() /* STOP that reaches no processor: the region stays for good */
{
    gate[0] = 0;
    do
    :: !ALL_GONE -> look(0)
    :: ALL_GONE -> break
    od;
#ifdef FAULT_NO_LAST_LOOK
    skip;
#else
    look(0);
#endif
    d_step {
        assert(written[0] == committed[0]); /* I4 */
        do
        :: k < BUFFERS ->
            assert(STATE(owner[k]) == FREE || k == word_buffer[0] || k == spare[0]);
            k++
        :: else -> break
        od;
        k = 0
    }
}
#else
inline stop() /* STOP */
{
    gate[0] = 0;
#if PROCESSORS > 1
    gate[1] = 0;
#endif
#ifndef FAULT_NO_FENCE
    FENCE(0);
#if PROCESSORS > 1 && !defined(FAULT_NOT_VISITED)
    FENCE(1);
#endif
#endif
    stop_slot(0);
#if PROCESSORS > 1
    stop_slot(1);
#endif
    d_step {
        k = 0;
        do
        :: k < BUFFERS ->
#ifdef CIRCULAR
            owner[k] = OWNER(TICKET(owner[k]), 0, FREE);
#else
            /* None was forgotten. */
            assert(IS_KNOWN(owner[k]));
#endif
            end_records[k] = 0;
            k++
        :: else -> break
        od;
        k = 0;
        do
        :: k < BUFFERS * CAPACITY -> data[k] = 0; k++
        :: else -> break
        od;
        k = 0;
        region = 0
    }
}
#endif
