/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * FLUSH and the end of STOP as rseq_role.pml has them where a kill is searched: a pass takes all
 * that is there, writes it as one run, and leaves the words from which recovery derives what of it is
 * in the file.
 *
 *     place, then intent, of each; the run is written; progress of each, or the loss is booked;
 *     each buffer is freed
 */

/*
 * STOP of a slot in which no sequence can commit any more: x and xn are what was current. Where the
 * word names no buffer, the end and the slot's sums stand, and the spare does not name the
 * buffer that was current.
 */
inline shut_slot(p)
{
    d_step { x = word_buffer[p]; xn = word_records[p] };
    if
    :: x != NO_BUFFER ->
        end_records[x] = xn;
#ifndef FAULT_STOP_SPARE
        if
        :: spare[p] == x -> spare[p] = NO_BUFFER
        :: else
        fi;
#endif
#ifdef FAULT_STOP_SUMS
        d_step { word_buffer[p] = NO_BUFFER; word_records[p] = CAPACITY };
#endif
#ifdef CIRCULAR
        shut_overwritten[p] = overwritten_before[x];
#endif
        shut_stored[p] = stored_before[x] + xn
    :: else
    fi;
    k = 0;
    d_step { word_buffer[p] = NO_BUFFER; word_records[p] = CAPACITY }
}

#ifndef CIRCULAR
byte item[BUFFERS]; /* what a run consists of: the first one from part_written on */
byte item_to[BUFFERS];
byte items;
byte whole; /* so many of these are full: they are freed */
bit refused[BUFFERS];

/* The buffers before x, the current one, back to the one current at the last read; and x up to xn. */
inline gather(p, with_current)
{
    d_step {
        y = x;
        k = 0;
        do
        :: y != last_current[p] && previous[y] != NO_BUFFER ->
            y = previous[y];
            k++;
            assert(k < BUFFERS)
        :: else -> break
        od;
        whole = k;
        items = k;
        y = x;
        do
        :: k > 0 -> y = previous[y]; k--; item[k] = y; item_to[k] = end_records[y]
        :: else -> break
        od;
        if
        :: with_current -> item[items] = x; item_to[items] = xn; items++
        :: else
        fi;
        last_current[p] = (whole > 0 -> item[0] : x);
        y = 0;
        k = 0
    }
}

#define ITEM_FROM(p, k) (k == 0 -> part_written[p] : 0)
#define TO_WRITE(p, k) (item_to[k] > ITEM_FROM(p, k))
#define ITEM_TICKET(k) TICKET(owner[item[k]])
#define INTEND(k) intent[item[k]] = UPTO(ITEM_TICKET(k), item_to[k])
#define PROGRESS(k) progress[item[k]] = UPTO(ITEM_TICKET(k), item_to[k])

inline intend(p)
{
    do
    :: k < items ->
        if
        :: TO_WRITE(p, k) ->
#ifdef FAULT_INTENT_BEFORE_PLACE
            INTEND(k);
#endif
            d_step { place[item[k]] = entries; entries++ };
#if !defined(FAULT_NO_INTENT) && !defined(FAULT_INTENT_BEFORE_PLACE)
            INTEND(k);
#endif
#ifdef FAULT_PROGRESS_EARLY
            PROGRESS(k);
#endif
            k++
        :: else -> k++
        fi
    :: else -> break
    od;
    k = 0
}

/* A header, then record by record: a kill may leave any part of it. Asserts as write_records does. */
inline write_run(p)
{
    do
    :: k < items ->
        if
        :: TO_WRITE(p, k) ->
            d_step {
                y = ITEM_FROM(p, k);
                assert(region == gen && IS_HELD(owner[item[k]], p));
                file_records[place[item[k]]] = item_to[k] - y
            };
            do
            :: d_step { y < item_to[k] ->
                assert(data[item[k] * CAPACITY + y] == RECORD(p, written[p] + 1));
                written[p]++;
                file_data[place[item[k]] * CAPACITY + y - ITEM_FROM(p, k)] =
                    data[item[k] * CAPACITY + y];
                y++ }
            :: else -> break
            od;
#if BATCHES
            assert(ENDS_WHOLE(p, written[p]));
#endif
            y = 0;
#if REFUSALS
            if
            :: d_step { refusals > 0 ->
                refusals--;
                refused[k] = 1;
                file_records[place[item[k]]] = 0;
                file_data[place[item[k]] * CAPACITY] = 0
#if CAPACITY > 1
                ;file_data[place[item[k]] * CAPACITY + 1] = 0
#endif
                }
            :: true
            fi;
#endif
            k++
        :: else -> k++
        fi
    :: else -> break
    od;
    k = 0
}

/* A loss: first what it was before, so that it counts if and only if the progress does. */
inline book_loss(p)
{
    settling_before = settled_lost;
    settling = item[k] + 1;
    settled_lost = settled_lost + item_to[k] - ITEM_FROM(p, k);
    d_step {
        PROGRESS(k);
        y = ITEM_FROM(p, k);
        do
        :: y < item_to[k] -> ADD(lost_set, data[item[k] * CAPACITY + y]); y++
        :: else -> break
        od;
        y = 0
    };
    d_step { settling = 0; settling_before = 0; refused[k] = 0 }
}

inline settle(p)
{
    do
    :: k < items ->
        if
        :: TO_WRITE(p, k) && refused[k] -> book_loss(p)
#ifdef FAULT_PROGRESS_EARLY
        :: else
#else
        :: TO_WRITE(p, k) && !refused[k] -> PROGRESS(k)
        :: else
#endif
        fi;
        k++
    :: else -> break
    od;
    k = 0;
    do
    :: k < whole ->
#ifdef FAULT_PROGRESS_RESET
        progress[item[k]] = 0;
#endif
        d_step { free_buffer(item[k]); k++ }
    :: else -> break
    od;
    k = 0;
    d_step {
        if
        :: items > whole -> part_written[p] = item_to[whole]
        :: items == whole && whole > 0 -> part_written[p] = 0
        :: else
        fi;
        last_current[p] = x;
        k = 0;
        do
        :: k < BUFFERS -> item[k] = 0; item_to[k] = 0; k++
        :: else -> break
        od;
        items = 0;
        whole = 0;
        k = 0
    }
}

inline drain(p, with_current)
{
#ifdef LIVE
    /* The read of the flusher's words and the file is one step of a live recovery: so is this. */
    atomic { gather(p, with_current); intend(p); write_run(p) };
#else
    gather(p, with_current);
    intend(p);
    write_run(p);
#endif
    settle(p)
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
#ifdef TIMED
    if
    :: drain(p, true)
    :: drain(p, false)
    fi;
#else
    drain(p, false);
#endif
    atomic { x = 0; xn = 0 }
}
#endif
