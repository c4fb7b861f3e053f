/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Recovery of shared.pml, which includes this: its view is checked in every state, as in
 * rseq_recover.pml.
 */

hidden byte r_i;
hidden byte r_k;
hidden byte r_d;
hidden byte r_sum;
hidden int found;

#ifdef FAULT_PINNED_LEFT_OUT
#define IS_IN_USE(o) (STATE(o) == HELD)
#else
#define IS_IN_USE(o) (STATE(o) == HELD || STATE(o) == PINNED)
#endif

/*
 * Up to a record that is partly there and says nothing of its size. A reservation in which nothing is
 * stored yet is zeroes up to the next record.
 */
inline recover_buffer()
{
    r_k = 0;
    do
    :: r_k < CAPACITY && data[r_i * CAPACITY + r_k] != COPYING ->
        r_d = data[r_i * CAPACITY + r_k];
        if
        :: IS_WHOLE(r_d) ->
            assert((found >> r_d & 1) == 0 && (in_file >> r_d & 1) == 0);
            found = found | 1 << r_d
#if BATCHES
        :: r_d == UNFINISHED_TWO -> r_k++
#endif
        :: else
        fi;
        r_k++
    :: else -> break
    od
}

#ifdef LIVE
/*
 * Recovery reads buffer 0 of a process that runs on, place by place; the buffers are alike. A
 * writer that has reserved a batch and stored nothing leaves zero in the first place. It may store
 * both records before the second place is read. So a place of zero is read again after all of them.
 * What follows one that has changed is unknown.
 */
active proctype live()
{
    byte o;
    byte k;
    byte limit;
    byte copy[CAPACITY];
    byte changed; /* a set of places */

end_not_begun:
    atomic {
        region == gen && IS_IN_USE(owner[0]) && (word_buffer == 0 || records[0] != 0) ->
        o = owner[0];
        limit = (word_buffer == 0 -> word_records : CAPACITY)
    };
    do
    :: d_step { k < limit -> copy[k] = data[k]; k++ }
    :: else -> break
    od;
    k = 0;
    d_step {
        do
        :: k < limit ->
            if
            :: copy[k] == 0 && data[k] != 0 -> changed = changed | 1 << k
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    };
    d_step {
        found = 0;
        do
#ifdef FAULT_ZERO_ONCE
        :: k < limit && copy[k] != COPYING ->
#else
        :: k < limit && copy[k] != COPYING && (changed >> k & 1) == 0 ->
#endif
            if
            :: IS_WHOLE(copy[k]) -> found = found | 1 << copy[k]
            :: copy[k] == UNFINISHED_TWO -> k++
            :: else
            fi;
            k++
        :: else -> break
        od;
        assert(owner[0] != o || !HAS_PARTS(found));
        k = 0;
        do
        :: k < CAPACITY -> copy[k] = 0; k++
        :: else -> break
        od;
        o = 0;
        k = 0;
        limit = 0;
        changed = 0
    }
}
#else
active proctype killed()
{
end:
    do
    :: d_step {
        gen != 0 && region == gen ->
        found = 0;
        r_sum = recorded;
        r_i = 0;
        do
        :: r_i < BUFFERS ->
            if
            :: IS_IN_USE(owner[r_i]) && progress[r_i] != TICKET(owner[r_i]) &&
                   (records[r_i] != 0 || word_buffer == r_i) ->
                /* A claim that is not current, and never was, has no commit word. */
                recover_buffer();
                r_sum = r_sum + records[r_i]
            :: else
            fi;
            r_i++
        :: else -> break
        od;
        assert((committed & ~(found | in_file | overwritten)) == 0);
#if BATCHES
        assert(!HAS_PARTS(found | in_file | overwritten));
        assert(attempted == in_flight + reserved + lost);
        assert(r_sum <= reserved && reserved <= r_sum + WRITERS + BATCHES)
#else
        assert(r_sum <= reserved && reserved <= r_sum + WRITERS)
#endif
    }
    od
}
#endif
