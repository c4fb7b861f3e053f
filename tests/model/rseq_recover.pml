/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Recovery of rseq.pml, which includes this.
 *
 * A kill stops every thread at once, and recovery changes nothing. So its view is checked in every
 * state as one step that leads back to it: that is a kill between any two steps. LIVE: it reads a
 * process that runs on, and each read is a step.
 */

hidden byte r_i;
hidden byte r_q;
hidden byte r_k;
hidden byte r_from;
hidden byte r_to;
hidden byte r_d;
hidden byte r_x;
hidden byte r_sum;
hidden byte r_done;
hidden byte r_same;
hidden int r_torn; /* entries of the file that are not whole */
hidden short r_o;
hidden int found[PROCESSORS];

/* What recovery has read: all of one moment, or what it copied. */
#ifdef LIVE
#define COPIED copy
#define ENDS(i, q) to[i]
#else
#define COPIED data
#define ENDS(i, q) END_OF(i, q)
#endif
#ifdef FAULT_PROGRESS_FIRST
#define PROGRESS_OF(i) progress_seen[i]
#define INTENT_OF(i) intent_seen[i]
#define PLACE_IN(i) place_seen[i]
short progress_seen[BUFFERS];
short intent_seen[BUFFERS];
byte place_seen[BUFFERS];
#else
#define PROGRESS_OF(i) progress[i]
#define INTENT_OF(i) intent[i]
#define PLACE_IN(i) place[i]
#endif

/* A live process may have freed the buffer meanwhile, and written what a later claim put there. */
#define IS_LATER(word, o) ((word) / 4 > TICKET(o))

/* Each record once, and whole. */
#define FIND(d, torn) \
    r_d = d; \
    assert(r_d != torn && r_d / 32 < PROCESSORS); \
    assert((found[r_d / 32] >> (r_d & 31) & 1) == 0); \
    ADD(found, r_d)

/* All of a batch, or nothing. */
#if BATCHES
#define ASSERT_FOUND_WHOLE(q) assert(((found[q] ^ found[q] >> 1) & joined[q]) == 0);
#else
#define ASSERT_FOUND_WHOLE(q)
#endif

#ifdef FAULT_SPARE_BY_NAME
#define IS_SPARE(i, o, q) (spare[q] == i && word_buffer[q] != i)
#elif defined(FAULT_SPARE_COUNTS)
#define IS_SPARE(i, o, q) false
#else
#define IS_SPARE(i, o, q) (STATE(o) == HELD && spare[q] == i && word_buffer[q] != i)
#endif
#ifdef FAULT_PINNED_LEFT_OUT
#define COUNTS_NOT(o) (STATE(o) == FREE || STATE(o) == PINNED)
#else
#define COUNTS_NOT(o) (STATE(o) == FREE)
#endif
#ifdef FAULT_END_OF_CURRENT
#define END_OF(i, q) end_records[i]
#else
#define END_OF(i, q) (word_buffer[q] == i -> word_records[q] : end_records[i])
#endif

#ifdef LIVE
#define IN_FILE(e, k) (file_data[(e) * CAPACITY + k] != 0) /* it is just being written */
#else
#define IN_FILE(e, k) true
#endif

/* What is in the file already of r_i, from r_from on, if its place says so. */
inline look_at_place()
{
#ifdef CIRCULAR
    skip
#elif defined(SEARCH_FILE)
    r_x = 0;
    do
    :: r_x < ENTRIES ->
        r_to = file_records[r_x];
        r_same = r_to != 0 && r_from + r_to <= CAPACITY;
        r_k = 0;
        do
        :: r_k < r_to ->
            r_same = r_same &&
                     file_data[r_x * CAPACITY + r_k] == data[r_i * CAPACITY + r_from + r_k];
            if
            :: file_data[r_x * CAPACITY + r_k] == 0 -> r_torn = r_torn | 1 << r_x
            :: else
            fi;
            r_k++
        :: else -> break
        od;
        if
        :: r_same -> r_from = r_from + r_to; r_x = 0
        :: else -> r_x++
        fi
    :: else -> break
    od
#else
    if
    :: SAYS(INTENT_OF(r_i), r_o) && RECORDS(INTENT_OF(r_i)) > r_from ->
        r_to = RECORDS(INTENT_OF(r_i));
        r_same = file_records[PLACE_IN(r_i)] == r_to - r_from;
#ifndef FAULT_HEADER_BELIEVED
        r_k = r_from;
        do
        :: r_same && r_k < r_to ->
            r_same = file_data[PLACE_IN(r_i) * CAPACITY + r_k - r_from] == COPIED[r_i * CAPACITY + r_k];
            r_k++
        :: else -> break
        od;
#endif
        if
        :: r_same -> r_from = r_to
        :: else -> r_torn = r_torn | 1 << PLACE_IN(r_i)
        fi
    :: else
    fi
#endif
}

inline recover_buffer()
{
#ifdef SEARCH_FILE
    r_from = 0;
#else
    r_from = (SAYS(PROGRESS_OF(r_i), r_o) -> RECORDS(PROGRESS_OF(r_i)) :
              (IS_LATER(PROGRESS_OF(r_i), r_o) -> CAPACITY : 0));
#endif
    look_at_place();
    r_to = ENDS(r_i, r_q);
    r_k = r_from;
    do
    :: r_k < r_to -> FIND(COPIED[r_i * CAPACITY + r_k], TORN); r_k++
    :: else -> break
    od
}

inline read_file()
{
#ifdef CIRCULAR
    skip
#else
    r_i = 0;
    do
    :: r_i < ENTRIES ->
        r_k = 0;
        do
        :: (r_torn >> r_i & 1) == 0 && r_k < file_records[r_i] && IN_FILE(r_i, r_k) ->
            FIND(file_data[r_i * CAPACITY + r_k], 0);
            r_k++
        :: else -> break
        od;
        r_i++
    :: else -> break
    od
#endif
}

/* How many are in a set. */
inline count_set(set)
{
    r_k = 1;
    do
    :: r_k < 8 -> r_sum = r_sum + (set >> r_k & 1); r_k++
    :: else -> break
    od
}

/* stored - overwritten and lost, as the words say: all that is found, and all that was attempted. */
inline check_accounts()
{
    r_sum = 0;
    r_done = 0;
    r_q = 0;
    do
    :: r_q < PROCESSORS ->
        r_x = word_buffer[r_q];
        if
        :: r_x == NO_BUFFER -> r_to = shut_stored[r_q]
        :: else -> r_to = stored_before[r_x] + word_records[r_q]
        fi;
        assert(gen == 0 || r_to == committed[r_q]);
        r_done = r_done + r_to + losses[r_q];
        count_set(found[r_q]);
#ifdef CIRCULAR
        r_sum = r_sum + (r_x == NO_BUFFER -> shut_overwritten[r_q] : overwritten_before[r_x]);
        r_x = spare[r_q];
        if
        :: r_x != NO_BUFFER && IS_SPARE(r_x, owner[r_x], r_q) && IS_HELD(owner[r_x], r_q) ->
            r_sum = r_sum + end_records[r_x]
        :: else
        fi;
#endif
        r_sum = r_sum + losses[r_q];
        r_q++
    :: else -> break
    od;
    if
#ifndef FAULT_SETTLED_APART
    :: settling != 0 && progress[settling - 1] != intent[settling - 1] ->
        r_sum = r_sum + settling_before
#endif
    :: else -> r_sum = r_sum + settled_lost
    fi;
    assert(r_sum == r_done);
#if BATCHES
    assert(attempted == r_done + in_flight)
#else
    assert(r_done <= attempted && attempted <= r_done + THREADS)
#endif
}

inline recover()
{
    r_torn = 0;
    r_q = 0;
    do
    :: r_q < PROCESSORS -> found[r_q] = 0; r_q++
    :: else -> break
    od;
    r_i = 0;
    do
    :: r_i < BUFFERS ->
        r_o = owner[r_i];
        r_q = PLACE_OF(r_o) / 4;
        if
        :: COUNTS_NOT(r_o) || IS_SPARE(r_i, r_o, r_q)
        :: else -> recover_buffer()
        fi;
        r_i++
    :: else -> break
    od;
    read_file();
    r_q = 0;
    do
    :: r_q < PROCESSORS ->
        assert(found[r_q] == (SET(committed[r_q]) & ~(lost_set[r_q] | overwritten_set[r_q])));
        ASSERT_FOUND_WHOLE(r_q)
        r_q++
    :: else -> break
    od;
    check_accounts()
}

#ifdef LIVE
#if CAPACITY > 1
#define DROP(i) o[i] = 0; to[i] = 0; copy[i * CAPACITY] = 0; copy[i * CAPACITY + 1] = 0
#else
#define DROP(i) o[i] = 0; to[i] = 0; copy[i] = 0
#endif

inline look_at_owners()
{
    do
    :: i < BUFFERS -> d_step { o[i] = (COUNTS_NOT(owner[i]) -> 0 : owner[i]); i++ }
    :: else -> break
    od;
    i = 0
}

inline look_at_words()
{
    do
    :: i < PROCESSORS ->
        word_seen[i] = word_buffer[i];
        q = spare[i];
        if
        :: q != NO_BUFFER && q != word_seen[i] && IS_HELD(owner[q], i) ->
            mere[i] = LIFE(owner[q]);
            spare_seen[i] = q
        :: else -> mere[i] = 0; spare_seen[i] = 0
        fi;
        q = 0;
#ifdef FAULT_WORD_ONCE
        word_to[i] = (word_seen[i] == word_buffer[i] -> word_records[i] : 0);
        i++
#else
        if
        :: d_step { word_seen[i] == word_buffer[i] -> word_to[i] = word_records[i]; i++ }
        :: else
        fi
#endif
    :: else -> break
    od;
    i = 0
}

/*
 * Owner words first: a buffer that is claimed and adopted between the reads of word and owner would
 * pass for a full one. Then of each slot word, spare, its owner word, and the same word again; ends, records; the owner words again, whose claims must be
 * the same, while CLOSE and a pin change nothing; the flusher's words and the file last.
 */
active proctype live()
{
    short o[BUFFERS];
    short mere[PROCESSORS]; /* the claim of a spare that is no more than that; 0: none */
    byte spare_seen[PROCESSORS];
    byte word_seen[PROCESSORS];
    byte word_to[PROCESSORS];
    byte to[BUFFERS];
    byte copy[BUFFERS * CAPACITY];
    byte before[PROCESSORS]; /* ghost: committed when it began */
    byte i;
    byte k;
    byte q;

end_not_begun:
    d_step {
        gen != 0 && region != 0 ->
        before[0] = committed[0];
#if PROCESSORS > 1
        before[1] = committed[1]
#endif
    };
#ifdef FAULT_WORDS_FIRST
    look_at_words();
    look_at_owners();
#else
    look_at_owners();
    look_at_words();
#endif
#ifdef FAULT_PROGRESS_FIRST
    d_step {
        i = 0;
        do
        :: i < BUFFERS ->
            progress_seen[i] = progress[i];
            intent_seen[i] = intent[i];
            place_seen[i] = place[i];
            i++
        :: else -> break
        od;
        i = 0
    };
#endif
    do
    :: d_step { i < BUFFERS ->
        q = PLACE_OF(o[i]) / 4;
        if
        :: COUNTS_NOT(o[i]) || (LIFE(o[i]) == mere[q] && spare_seen[q] == i) -> o[i] = 0
        :: else -> to[i] = (word_seen[q] == i -> word_to[q] : end_records[i])
        fi;
        q = 0 };
        do
        :: d_step { k < to[i] -> copy[i * CAPACITY + k] = data[i * CAPACITY + k]; k++ }
        :: else -> break
        od;
        k = 0;
        d_step {
#ifndef FAULT_OWNER_ONCE
            if
#ifdef FAULT_STATE_COMPARED
            :: owner[i] != o[i] -> DROP(i)
#else
            :: LIFE(owner[i]) != LIFE(o[i]) || COUNTS_NOT(owner[i]) -> DROP(i)
#endif
            :: else
            fi;
#endif
            i++
        }
    :: else -> break
    od;
    i = 0;
    d_step {
        found[0] = 0;
#if PROCESSORS > 1
        found[1] = 0;
#endif
        r_torn = 0;
        r_i = 0;
        do
        :: r_i < BUFFERS ->
            r_o = o[r_i];
            if
            :: COUNTS_NOT(r_o)
            :: else -> recover_buffer()
            fi;
            r_i++
        :: else -> break
        od;
        read_file();
        r_q = 0;
        do
        :: r_q < PROCESSORS ->
            assert((found[r_q] & ~SET(committed[r_q])) == 0);
            ASSERT_FOUND_WHOLE(r_q)
            /* A flight recorder that has ended has nothing any more. */
            assert(region == 0 || (SET(before[r_q]) & ~(lost_set[r_q] | overwritten_set[r_q]) & ~found[r_q]) == 0);
            r_q++
        :: else -> break
        od;
        /* What is dead makes no states. */
        i = 0;
        do
        :: i < BUFFERS -> DROP(i); i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < PROCESSORS ->
            mere[i] = 0;
            spare_seen[i] = 0;
            word_seen[i] = 0;
            word_to[i] = 0;
            before[i] = 0;
            i++
        :: else -> break
        od;
        i = 0
    }
}
#else
active proctype killed()
{
end:
    do
    :: d_step { gen != 0 && region != 0 -> recover() }
    od
}
#endif
