/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A guest's process that dies, and REAP of its slot, of shared.pml, which includes this. All its threads stop at
 * once, wherever they are; and as the role looks at what they left only when it knows of the death, and nobody else looks
 * at all, REAP is one step.
 */

byte deaths = DEATHS;

hidden byte r_i;
hidden byte r_j;
hidden byte r_from;
hidden byte r_to;
hidden byte r_kept;

active proctype death()
{
end:
    do
    :: atomic { deaths > 0 && reaped == life && region == gen -> deaths--; life++ }
    od
}

/* The whole records before `end` together, up to the first that does not say its size. r_to: how many. */
inline move_together(i, end)
{
    r_from = 0;
    r_to = 0;
    do
    :: r_from < end && data[i * CAPACITY + r_from] != COPYING ->
        if
#if BATCHES
        :: data[i * CAPACITY + r_from] == UNFINISHED_TWO -> r_from++
#endif
        :: IS_WHOLE(data[i * CAPACITY + r_from]) ->
            data[i * CAPACITY + r_to] = data[i * CAPACITY + r_from];
            r_to++
        :: else
        fi;
        r_from++
    :: else -> break
    od;
    records[i] = r_to;
    r_from = r_to;
    do
    :: r_from < CAPACITY -> data[i * CAPACITY + r_from] = 0; r_from++
    :: else -> break
    od
}

/* A buffer before which another is current: complete, since nobody is left. */
inline mend_full(i, end)
{
    move_together(i, end);
    units[i] = CAPACITY;
    closed[i] = 1
}

inline reap()
{
    d_step { life != reaped ->
        visitors = 0;
        r_kept = 0;
        r_i = word_buffer;
        if
        :: r_i != NO_BUFFER ->
            r_kept = 1 << r_i;
            move_together(r_i, word_records);
            units[r_i] = r_to;
            epoch = NEXT_EPOCH;
            word_records = r_to
        :: else
        fi;
#ifdef FAULT_LINKS_LEFT
        r_i = NO_BUFFER;
#endif
        do
        :: r_i != NO_BUFFER && r_i != last_current && previous[r_i] != NO_BUFFER ->
            r_j = previous[r_i];
            r_kept = r_kept | 1 << r_j;
            if
            :: !COMPLETE(r_j) -> mend_full(r_j, previous_end[r_i]); previous_end[r_i] = r_to
            :: else
            fi;
            r_i = r_j
        :: else -> break
        od;
        r_j = 0;
        do
        :: r_j < pending_count ->
            r_i = pending[r_j];
            r_kept = r_kept | 1 << r_i;
            if
            :: !COMPLETE(r_i) -> mend_full(r_i, end_records[r_i]); end_records[r_i] = r_to
            :: else
            fi;
            r_j++
        :: else -> break
        od;
        /* Claimed and never current: given back. */
        r_i = 0;
        do
        :: r_i < BUFFERS ->
            if
            :: (STATE(owner[r_i]) == HELD || STATE(owner[r_i]) == PREPARED) && (r_kept >> r_i & 1) == 0 ->
                previous[r_i] = NO_BUFFER;
                previous_end[r_i] = 0;
                owner[r_i] = OWNER(TICKET(owner[r_i]), FREE)
            :: else
            fi;
            r_i++
        :: else -> break
        od;
        reaped = life
    }
}
