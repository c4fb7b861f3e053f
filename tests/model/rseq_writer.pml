/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A writer of rseq.pml, which includes this: PUBLISH, SLOW, CLOSE, CLAIM, ADOPT and LOST. */

/*
 * One step: what stands between two braces. A jump into the middle of an atomic sequence goes on
 * atomically, so without FINE a commit and the plain reads after it are one step. That loses
 * nothing but values read later: whatever comes between is met by the checks of the next sequence.
 */
#define RUNNING (at[me] < PROCESSORS)
#if DEATHS
/* What the dead one knew is gone; the event it was in is nobody's any more. */
#define BORN if :: killed[me] -> killed[me] = 0; FORGET_MINE goto done :: else fi;
#else
#define BORN
#endif
#define STEP atomic { RUNNING -> BORN
#define END }
#define NEXT_STEP } atomic { RUNNING -> BORN
/* A later step of a sequence: the kernel resumes an aborted one at its abort point. */
#define SEQ_STEP NEXT_STEP if :: !inside[me] -> goto again :: else fi;
#define LEAVE inside[me] = 0
#ifdef KILL
#define GHOST(statement) statement
#else
#define GHOST(statement)
#endif
#ifdef FINE
#define CUT NEXT_STEP
#define SEQ_CUT SEQ_STEP
#define PAUSE true;
#elif defined(KILL) || DEATHS
#define CUT
#define SEQ_CUT SEQ_STEP
#define PAUSE
#else
#define CUT
#define SEQ_CUT
#define PAUSE
#endif
#if defined(FINE) || defined(STAMPS) || defined(FAULT_NO_PROCESSOR_CHECK) || \
    defined(FAULT_GATE_OUTSIDE)
#define PREPARED NEXT_STEP
#else
#define PREPARED
#endif
#if defined(FINE) || SESSIONS > 1
#define BETWEEN_EVENTS true;
#else
#define BETWEEN_EVENTS
#endif

#ifdef FAULT_NO_PROCESSOR_CHECK
#define WRONG_PROCESSOR false
#else
#define WRONG_PROCESSOR (at[me] != p)
#endif
#ifdef FAULT_GATE_OUTSIDE
#define GATE_CLOSED (gate_seen != h)
#else
#define GATE_CLOSED (gate[p] != h)
#endif

/* Where a guest's mapping stays, ADOPT and LOST may be late: where there was no buffer, no record comes. */
#ifdef VISITS
#define REGION_STANDS true
#else
#define REGION_STANDS region == h
#endif

#ifdef FAULT_SPARE_ALONE
#define SPARE mine
#define FORGET_MINE mine = NO_BUFFER;
#else
#define SPARE spare[p]
#define FORGET_MINE
#endif
#ifdef FAULT_CLAIM_BY_STORE
#define CLAIM_STANDS true
#else
#define CLAIM_STANDS owner[x] == o
#endif

/*
 * Batches: an event may be two records, which one sequence writes and one commit makes visible.
 * They count as two, whatever becomes of them. A record that is `joined` has its batch's next one
 * behind it.
 */
#if BATCHES
#ifdef FAULT_ROOM_FOR_ONE
#define ROOM n < CAPACITY
#define NO_ROOM n >= CAPACITY
#else
#define ROOM n + count <= CAPACITY
#define NO_ROOM n + count > CAPACITY
#endif
#define ATTEMPT attempted = attempted + count; in_flight = in_flight + count;
#define REFUSED attempted = attempted - count; in_flight = in_flight - count;
#ifdef FAULT_LOST_ONE
#define LOSE(p) losses[p]++; in_flight = in_flight - count;
#else
#define LOSE(p) losses[p] = losses[p] + count; in_flight = in_flight - count;
#endif
#define JOIN(p) \
    if \
    :: count == 2 -> joined[p] = joined[p] | 1 << (committed[p] + 1) \
    :: else \
    fi
#else
#define ROOM n < CAPACITY
#define NO_ROOM n >= CAPACITY
#define ATTEMPT attempted++;
#define REFUSED attempted--;
#define LOSE(p) losses[p]++;
#endif

/* How every sequence begins. */
#define ENTER \
    inside[me] = 1; \
    if \
    :: WRONG_PROCESSOR -> LEAVE; goto again \
    :: !WRONG_PROCESSOR && GATE_CLOSED -> GHOST(REFUSED) LEAVE; goto done \
    :: else \
    fi
#define CHECK(condition) \
    if \
    :: !(condition) -> LEAVE; goto again \
    :: else \
    fi
#define WORD_UNCHANGED (word_buffer[p] == b && word_records[p] == n)
#define CURRENT_UNCHANGED (b == NO_BUFFER || owner[b] == ob)

/*
 * Tickets. The protocol has one counter for all. What it needs of it: no owner word ever comes
 * back, and in one slot tickets grow. In file mode each buffer counts for itself (no snapshot sorts
 * them), in buffering mode each slot: far fewer states that differ in numbers only. A
 * slot's counter moves when a claim succeeds; the assertion says that no other claim came between.
 * With ONE_COUNTER (file mode) it is as in the protocol.
 */
#ifdef FAULT_NO_TICKET
#define FETCH_TICKET t = 0
#elif defined(ONE_COUNTER)
#define FETCH_TICKET t = ticket[0]; ticket[0]++
#elif !defined(CIRCULAR)
#define FETCH_TICKET t = TICKET(o) + 1
#elif defined(FAULT_TICKET_EARLY)
#define FETCH_TICKET if :: t == 0 -> t = ticket[p]; ticket[p]++ :: else fi
#else
#define FETCH_TICKET t = ticket[p]
#define TICKET_USED assert(t == ticket[p]); ticket[p]++
#endif
#ifndef TICKET_USED
#define TICKET_USED
#endif

#define NONE_FREE (STATE(owner[0]) != FREE && STATE(owner[1]) != FREE && STATE(owner[2]) != FREE)
#ifdef FAULT_TICKET_EARLY
#define FORGET_TICKET
#else
#define FORGET_TICKET t = 0
#endif

/* Clears what is dead, so that states that differ only in it are one. */
#define FORGET b = 0; n = 0; ob = 0; s = 0; os = 0; x = 0; o = 0; FORGET_TICKET

proctype writer(byte me; byte left)
{
    byte p;   /* the processor seen */
    byte h;   /* the handle */
    byte b;   /* buffer of the word */
    byte n;   /* records of the word */
    short ob; /* owner of b */
    byte s;   /* spare */
    short os; /* owner of s */
    byte x;   /* buffer to claim, or to close */
    short o;  /* its owner word */
    byte t;   /* ticket to claim with */
#if BATCHES
    byte count; /* records of the event */
#endif
#ifdef FAULT_GATE_OUTSIDE
    byte gate_seen;
#endif
#ifdef STAMPS
    byte stamp;
#endif
#ifdef FAULT_SPARE_ALONE
    byte mine = NO_BUFFER;
#endif

next:
#if SIGNALS
end_handler: /* it may never be called */
#endif
    STEP
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
#endif
        GHOST(ATTEMPT)
#ifdef STAMPS
        /* Read once an event: the oldest a stamp can be. */
        now++;
        stamp = now;
#ifdef SYSTEM
        if
        :: !stepped -> stepped = 1; now = now - 2; stamp = now
        :: true
        fi;
#endif
#endif
        h = gen
    END;

again:
    PAUSE
    STEP
        FORGET;
        p = at[me];
#ifdef FAULT_GATE_OUTSIDE
        gate_seen = gate[p];
#endif
        PREPARED

        /* PUBLISH */
        ENTER;
        b = word_buffer[p];
        n = word_records[p];
        if
        :: NO_ROOM -> LEAVE; goto slow
        :: else
        fi;
#ifdef STAMPS
#ifdef SYSTEM
        if
        :: n > 0 && stamp < newest[p] -> LEAVE; goto slow
#else
        if
        :: stamp < newest[p] -> stamp = newest[p]
#endif
        :: else
        fi;
#endif
#ifdef FINE
        SEQ_STEP
        assert(region == h);
        data[b * CAPACITY + n] = TORN;
#if BATCHES
        if
        :: count == 2 -> data[b * CAPACITY + n + 1] = TORN
        :: else
        fi;
#endif
#endif
        SEQ_STEP
        assert(region == h);
        data[b * CAPACITY + n] = RECORD(p, committed[p] + 1);
#ifdef STAMPS
        stamp_of[b * CAPACITY + n] = stamp;
#ifndef FAULT_NEWEST_AFTER
        newest[p] = stamp;
#endif
#endif
#if BATCHES
        SEQ_STEP
        if
        :: count == 2 ->
            assert(region == h);
            data[b * CAPACITY + n + 1] = RECORD(p, committed[p] + 2);
#ifdef STAMPS
            stamp_of[b * CAPACITY + n + 1] = stamp
#endif
        :: else
        fi;
#endif
        SEQ_STEP
        assert(region == h);
        word_buffer[p] = b;
#if BATCHES
        JOIN(p);
#ifdef FAULT_TWO_COMMITS
        word_records[p] = n + 1;
        committed[p]++;
        GHOST(in_flight--;)
        if
        :: count == 1 -> LEAVE; goto done
        :: else
        fi;
        SEQ_STEP
        word_records[p] = n + 2;
        committed[p]++;
        GHOST(in_flight--;)
#else
#ifdef FAULT_COMMIT_ONE
        word_records[p] = n + 1;
#else
        word_records[p] = n + count;
#endif
        committed[p] = committed[p] + count;
        GHOST(in_flight = in_flight - count;)
#endif
#else
        word_records[p] = n + 1;
        committed[p]++;
#endif
#ifdef FAULT_NEWEST_AFTER
        /* Not restarted: the record is committed. */
        NEXT_STEP
        if
        :: inside[me] -> newest[p] = stamp
        :: else
        fi;
#endif
        LEAVE;
        goto done
    END;

slow: /* SLOW: plain reads, in this order */
    PAUSE
    STEP
        b = word_buffer[p];
        n = word_records[p];
        if
#ifdef SYSTEM
        :: ROOM && (n == 0 || stamp >= newest[p]) -> goto again
#else
        :: ROOM -> goto again
#endif
        :: else
        fi;
        CUT
        if
        :: b != NO_BUFFER -> ob = owner[b]
        :: else
        fi;
        CUT
        if
        :: word_buffer[p] != b -> goto again
        :: else -> n = word_records[p]
        fi;
#ifdef CIRCULAR
#ifndef FAULT_CLOSE_LEFT_OUT
        CUT
        if
        :: b != NO_BUFFER ->
            x = previous[b];
            if
            :: x != NO_BUFFER -> o = OWNER(previous_ticket[b], p, HELD)
            :: else
            fi
        :: else -> x = NO_BUFFER
        fi;
        CUT
        if
        :: x == NO_BUFFER || owner[x] != o -> x = 0; o = 0; goto claim_or_adopt
        :: else
        fi
        NEXT_STEP

        /* CLOSE */
        ENTER;
#ifndef FAULT_CLOSE_UNCHECKED
        CHECK(owner[b] == ob);
#endif
        SEQ_STEP
        if
        :: owner[x] == o -> assert(word_buffer[p] != x); owner[x] = OWNER(TICKET(o), p, CLOSED)
        :: else
        fi;
        LEAVE;
        x = 0;
        o = 0;
#endif
#endif
        goto claim_or_adopt
    END;

claim_or_adopt:
    PAUSE
    STEP
        s = SPARE;
        CUT
        if
        :: s != NO_BUFFER -> os = owner[s]
        :: else
        fi;
        if
        :: s != NO_BUFFER && s != b && IS_HELD(os, p) -> goto adopt
        :: else
        fi;
        CUT
        x = NO_BUFFER;
#ifdef CIRCULAR
        /* A free one, else any closed one: the protocol takes the oldest. */
        if
        :: STATE(owner[0]) == FREE || (NONE_FREE && STATE(owner[0]) == CLOSED) -> x = 0
        :: STATE(owner[1]) == FREE || (NONE_FREE && STATE(owner[1]) == CLOSED) -> x = 1
        :: STATE(owner[2]) == FREE || (NONE_FREE && STATE(owner[2]) == CLOSED) -> x = 2
        :: else
        fi;
#else
        if
        :: STATE(owner[0]) == FREE -> x = 0
#if BUFFERS > 1
        :: STATE(owner[1]) == FREE -> x = 1
#endif
#if BUFFERS > 2
        :: STATE(owner[2]) == FREE -> x = 2
#endif
#if BUFFERS > 3
        :: STATE(owner[3]) == FREE -> x = 3
#endif
        :: else
        fi;
#endif
        if
        :: x == NO_BUFFER -> goto lost
        :: else -> o = owner[x]
        fi;
        CUT
        FETCH_TICKET
        NEXT_STEP

        /* CLAIM */
        ENTER;
        CHECK(WORD_UNCHANGED && CURRENT_UNCHANGED);
        SEQ_CUT
#ifndef FAULT_CLAIM_WITHOUT_SPARE
        CHECK(SPARE == s && (s == NO_BUFFER || owner[s] == os));
#endif
        CHECK(owner[x] == o);
        SEQ_STEP
        SPARE = x;
        SEQ_STEP
        if
        :: CLAIM_STANDS -> GHOST(OVERWRITE(x, o)) owner[x] = OWNER(t, p, HELD); TICKET_USED
        :: else
        fi;
        LEAVE;
        goto again
    END;

adopt:
    PAUSE
    STEP
        true
        NEXT_STEP

        /* ADOPT */
        ENTER;
        CHECK(WORD_UNCHANGED && CURRENT_UNCHANGED && SPARE == s && owner[s] == os);
        SEQ_STEP
        if
        :: b != NO_BUFFER -> end_records[b] = n
        :: else
        fi;
        SEQ_CUT
        previous[s] = b;
#ifdef CIRCULAR
        previous_ticket[s] = TICKET(ob);
#endif
#if defined(COUNTS) || defined(CIRCULAR) || defined(KILL)
        if
        :: b != NO_BUFFER -> stored_before[s] = stored_before[b] + n
        :: else -> stored_before[s] = 0
        fi;
#ifdef CIRCULAR
        if
        :: b != NO_BUFFER -> overwritten_before[s] = overwritten_before[b] + end_records[s]
        :: else -> overwritten_before[s] = end_records[s]
        fi;
#endif
#endif
        SEQ_STEP
        /* Tickets of one slot grow in the order of adoption: a snapshot sorts by them. */
#if defined(CIRCULAR) && !defined(FAULT_NO_TICKET)
        assert(b == NO_BUFFER || TICKET(owner[s]) > TICKET(owner[b]));
#endif
        assert(REGION_STANDS);
#ifdef CIRCULAR
#ifndef FAULT_NO_TICKET
        /* Nothing is forgotten: whatever was current before the current one has been closed. */
        assert(b == NO_BUFFER || previous[b] == NO_BUFFER ||
               owner[previous[b]] != OWNER(previous_ticket[b], p, HELD));
#endif
        overwritten[p] = overwritten[p] + end_records[s];
#endif
        word_buffer[p] = s;
        word_records[p] = 0;
        LEAVE;
        goto again
    END;

lost:
    PAUSE
    STEP
        true
        NEXT_STEP

        /* LOST */
        ENTER;
        CHECK(WORD_UNCHANGED);
        SEQ_CUT
        CHECK(SPARE == s && (s == NO_BUFFER || owner[s] == os));
        SEQ_STEP
        assert(REGION_STANDS);
        GHOST(LOSE(p))
        LEAVE;
        goto done
    END;

done:
    STEP
        FORGET;
        t = 0;
        p = 0;
        h = 0;
#if BATCHES
        count = 0;
#endif
#ifdef STAMPS
        stamp = 0;
#endif
#ifdef FAULT_GATE_OUTSIDE
        gate_seen = 0;
#endif
#if SIGNALS
        if
        :: me == HANDLER -> at[under] = at[me]; at[me] = GONE; under = 0
        :: else
        fi;
#endif
        goto finish
    END;
finish:
    BETWEEN_EVENTS
    goto next;

out:
    STEP
        at[me] = GONE
    END
}
