/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The hints that lead a flight recorder to its oldest buffer (runtime/buffer/oldest.c): two groups of
 * buffers, a hint of each, and one above them. Threads close buffers, search for one and correct the hints, and claim;
 * any of them may stand still or die anywhere.
 *
 * A search corrects the hint that led it to where nothing is older than what is beside, and those above only when
 * they do. When all are through no hint is too young: none is younger than the oldest closed buffer below it. Nor is one
 * while some have died, but for what these were just about.
 *
 * With NEAREST a search leaves behind the group it was led to and the oldest hint beside it: when all are
 * through, no closed buffer of the other group is older than that.
 *
 *     BUFFERS   the last one is a group of its own
 *     ROUNDS    that each thread makes
 *     SEARCHES  the same for threads that search
 */
#ifndef BUFFERS
#define BUFFERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef SEARCHES
#define SEARCHES ROUNDS
#endif
#ifndef CLOSERS
#define CLOSERS 2
#endif
#ifndef CLAIMERS
#define CLAIMERS 2
#endif

#define GROUP(b) ((b) == BUFFERS - 1)
#define LAST(g) ((g) == 0 -> BUFFERS - 2 : BUFFERS - 1)
#define FIRST(g) ((g) == 0 -> 0 : BUFFERS - 1)
/* 0: none, which is younger than all. */
#define OLDER(a, b) ((a) != 0 && ((b) == 0 || (a) < (b)))

byte ticket = 1;
bit held[BUFFERS]; /* by its claimer, or the thread that closes it: no other touches it */
bit closed[BUFFERS];
byte age[BUFFERS];
byte hint[2];
byte top;
byte through;
#ifdef NEAREST
byte nearest; /* the age; 0: not known */
bit nearby;   /* the group */
#endif

/* By the thread that made a candidate older. */
inline strike_out(a)
{
#if defined(NEAREST) && !defined(FAULT_NO_STRIKE)
    atomic {
        if
        :: exchanged && nearest != 0 && OLDER(a, nearest) -> nearest = 0
        :: else
        fi
    }
#else
    skip
#endif
}

inline make_older(word, a)
{
    exchanged = 0;
    t = word;
    do
    :: OLDER(a, t) ->
        atomic {
            if
            :: word == t -> word = a; t = a; exchanged = 1
            :: else -> t = word
            fi
        }
    :: else -> break
    od;
    strike_out(a)
}

/* Not at one moment: a buffer at a time. */
inline look(g)
{
    least = 0;
    i = FIRST(g);
    do
    :: i <= LAST(g) ->
        d_step {
            if
            :: closed[i] && OLDER(age[i], least) -> least = age[i]
            :: else
            fi;
            i++
        }
    :: else -> break
    od;
    i = 0
}

inline look_at_hints()
{
    least = hint[0];
    d_step {
        if
        :: OLDER(hint[1], least) -> least = hint[1]
        :: else
        fi
    }
}

inline exchange(word)
{
    atomic {
        if
        :: word == before -> word = least; exchanged = 1
        :: else -> exchanged = 0
        fi
    }
}

inline correct_group(g)
{
    before = hint[g];
    look(g);
    if
    :: OLDER(before, least) ->
        exchange(hint[g]);
#ifndef FAULT_ONE_LOOK
        if
        :: exchanged -> look(g)
        :: else
        fi
#endif
    :: else
    fi;
    make_older(hint[g], least)
}

inline correct_top()
{
    before = top;
    look_at_hints();
    if
    :: OLDER(before, least) ->
        exchange(top);
        if
        :: exchanged -> look_at_hints()
        :: else
        fi
    :: else
    fi;
    make_older(top, least)
}

#ifdef NEAREST
inline descend(group, beside)
{
    beside = hint[0];
    least = hint[1];
    d_step {
        if
        :: OLDER(least, beside) -> group = 1
        :: else -> group = 0; beside = least
        fi;
        least = 0
    }
}

inline leave_nearest()
{
    descend(g, before);
    atomic { nearest = before; nearby = g }
#ifndef FAULT_NEAREST_ONE_LOOK
    descend(t, i);
    atomic {
        if
        :: (i != before || t != g) && nearest == before && nearby == g -> nearest = 0
        :: else
        fi
    }
#endif
}
#endif

/* A buffer that is nobody's and not closed: it was claimed, and is closed now. */
proctype closer()
{
    byte round, b, t, a;
    bit exchanged;

    do
    :: round < ROUNDS ->
        atomic {
            if
            :: !held[0] && !closed[0] -> b = 0
            :: BUFFERS > 2 && !held[1] && !closed[1] -> b = 1
            :: !held[BUFFERS - 1] && !closed[BUFFERS - 1] -> b = BUFFERS - 1
            :: else -> break
            fi;
            held[b] = 1;
            ticket++;
            age[b] = ticket
        }
        atomic { closed[b] = 1; held[b] = 0 }
        a = age[b];
#ifdef FAULT_FROM_THE_TOP
        make_older(top, a);
        make_older(hint[GROUP(b)], a);
#else
        make_older(hint[GROUP(b)], a);
        make_older(top, a);
#endif
        atomic { round++; b = 0; t = 0; a = 0; exchanged = 0 }
    :: else -> break
    od;
    through++
}

/* What a search does on its way, then a claim of some closed buffer. */
proctype claimer()
{
    byte round, g, i, t, before, least;
    bit exchanged;

    do
    :: round < SEARCHES ->
        if
        :: g = 0
        :: g = 1
        fi;
        correct_group(g);
        if
        :: correct_top()
        :: skip /* what is below may still be older than what is beside */
        fi;
#ifdef NEAREST
        leave_nearest();
#endif
        atomic {
            if
            :: closed[0] -> closed[0] = 0
            :: closed[1] -> closed[1] = 0
            :: closed[BUFFERS - 1] -> closed[BUFFERS - 1] = 0
            :: else
            fi;
            round++; g = 0; i = 0; t = 0; before = 0; least = 0; exchanged = 0
        }
    :: else -> break
    od;
    through++
}

init
{
    byte b;

    atomic {
        b = 0;
        do
        :: b < CLOSERS -> run closer(); b++
        :: else -> break
        od;
        b = 0;
        do
        :: b < CLAIMERS -> run claimer(); b++
        :: else -> break
        od
    }
    through == CLOSERS + CLAIMERS;
    d_step {
        b = 0;
        do
        :: b < BUFFERS ->
            assert(!closed[b] || (!OLDER(age[b], hint[GROUP(b)]) && !OLDER(age[b], top)));
#ifdef NEAREST
            assert(nearest == 0 || !closed[b] || GROUP(b) == nearby || !OLDER(age[b], nearest));
#endif
            b++
        :: else -> break
        od
    }
}
