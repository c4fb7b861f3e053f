/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Searching for the oldest buffer of a kind without looking at all of them: a tree of hints for each kind.
 *
 * A hint is the age of the oldest closed buffer below it, 0 for none. On the lowest level it is of a group of 8
 * buffers, above of 8 hints, up to the only one. A search follows the oldest hints down to a group and
 * looks what is true there, which owner words and ages say. What it finds is the oldest of all, if it is no
 * younger than the highest hint said. Else it corrects the hints on its way, and searches again.
 *
 * A hint may be too old: then it is corrected when a search comes by, as after each claim. It may be too young
 * only while somebody stands still in the midst of the following. Who closes a buffer makes the hints
 * above it older, where need be, from the lowest on; who makes a hint younger looks again:
 *
 *     close      what is below changes;  fence;  hint, if it is younger: ← age
 *     correct    what is below is looked at;  hint ← the oldest seen;  fence;  the same again
 *
 * One of them sees what the other did. Of a thread that never goes on, the buffer is found when another of
 * its group is. So a hint that is wrong costs another look, and the order of one buffer, never an event.
 *
 * Buffers of a group were mostly closed one after the other. So a search leaves behind where it found the
 * oldest, and the age of the oldest hint beside the way to that group: while there is an older buffer in the
 * group, none is older, since what is closed later is younger. Who makes a hint older than that strikes
 * it out, and who leaves it looks again, as above: one of them sees what the other did.
 *
 *     nearest    63    16 15    0
 *                |  age  | group |    an age of 0: not known
 *
 * Owner words are exchanged by who claims: whatever was overtaken meanwhile is not claimed.
 */
#include "buffer/oldest.h"
#include "buffer/pool.h"

enum {
    TRIES = 16, /* each corrects what was wrong, unless others are as fast */
    GROUP_BITS = 16
};
_Static_assert((int)ETWAS_POOL_MAXIMUM_BUFFERS >> ETWAS_OLDEST_FAN_BITS <= 1 << GROUP_BITS,
               "a group is half of a quarter of a word");

enum kind {
    CLOSED,
    COMPLETE
};
_Static_assert(COMPLETE + 1 == ETWAS_OLDEST_KINDS, "each kind has its hints");

/* Of one kind and some buffers. Ages of 0: none. */
struct seen {
    uint64_t least; /* of the oldest one that is closed */
    uint64_t age;   /* of the oldest that may be overwritten … */
    uint64_t owner; /* … and which it is */
    uint32_t buffer;
};

/* None is younger than all. */
static bool is_older(uint64_t age, uint64_t than)
{
    return age - 1 < than - 1;
}

static uint64_t *hint_of(const struct etwas_pool *pool, enum kind kind, uint32_t level,
                         uint32_t index)
{
    const struct etwas_pool_layout *layout = &pool->layout;

    return &pool->hints[(uint32_t)kind * layout->level_at[layout->levels] +
                        layout->level_at[level] + index];
}

/* ---- looking --------------------------------------------------------------------------------- */

/*
 * A closed buffer of a shared slot may not be overwritten before its last writer is through, who tells nobody.
 * It gets as old as if it were closed now, so that it is looked at again in its turn and not at once.
 */
static uint64_t put_off(const struct etwas_pool *pool, uint32_t buffer, uint64_t age)
{
    uint64_t now = ck_pr_load_64(&pool->words->ticket);

    return ck_pr_cas_64(&pool->ages[buffer], age, now) ? now : age;
}

static void look_at(const struct etwas_pool *pool, enum kind kind, uint32_t buffer,
                    struct seen *seen)
{
    uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);
    bool is_complete = true;
    uint64_t age;

    ck_pr_fence_acquire();
    if (kind == CLOSED) {
        if (etwas_owner_state(owner) != ETWAS_OWNER_CLOSED) {
            return;
        }
    } else {
        uint64_t commit = ck_pr_load_64(&pool->buffers[buffer].commit);

        if (etwas_owner_state(owner) != ETWAS_OWNER_HELD ||
            !etwas_pool_is_of_shared_slot(pool, owner) || (commit & ETWAS_COMMIT_CLOSED) == 0) {
            return;
        }
        is_complete = etwas_pool_is_complete(pool, commit);
        ck_pr_fence_acquire();
    }
    age = ck_pr_load_64(&pool->ages[buffer]);
    if (!is_complete) {
        age = put_off(pool, buffer, age);
    } else if (is_older(age, seen->age)) {
        seen->age = age;
        seen->owner = owner;
        seen->buffer = buffer;
    }
    if (is_older(age, seen->least)) {
        seen->least = age;
    }
}

static struct seen look_at_all(const struct etwas_pool *pool, enum kind kind, uint32_t first,
                               uint32_t count)
{
    uint32_t allocated = (uint32_t)ck_pr_load_64(&pool->words->allocated);
    struct seen seen = {0};

    for (uint32_t buffer = first; buffer - first < count && buffer < allocated; buffer++) {
        look_at(pool, kind, buffer, &seen);
    }
    return seen;
}

static struct seen look_at_group(const struct etwas_pool *pool, enum kind kind, uint32_t group)
{
    return look_at_all(pool, kind, group << ETWAS_OLDEST_FAN_BITS, 1u << ETWAS_OLDEST_FAN_BITS);
}

/* The oldest two of the hints below one, and the place of the first. */
struct below {
    uint64_t oldest;
    uint64_t second;
    uint32_t place;
};

static struct below look_below(const struct etwas_pool *pool, enum kind kind, uint32_t level,
                               uint32_t index)
{
    const uint32_t count = pool->layout.level_at[level] - pool->layout.level_at[level - 1];
    const uint32_t first = index << ETWAS_OLDEST_FAN_BITS;
    const uint32_t left = count - first;
    const uint32_t fan = 1u << ETWAS_OLDEST_FAN_BITS;
    const uint64_t *hints = hint_of(pool, kind, level - 1, first);
    struct below below = {.place = first};

    for (uint32_t at = 0; at < (left < fan ? left : fan); at++) {
        uint64_t hint = ck_pr_load_64(&hints[at]);

        if (is_older(hint, below.oldest)) {
            below.second = below.oldest;
            below.oldest = hint;
            below.place = first + at;
        } else if (is_older(hint, below.second)) {
            below.second = hint;
        }
    }
    return below;
}

static uint64_t least_below(const struct etwas_pool *pool, enum kind kind, uint32_t level,
                            uint32_t index)
{
    return level == 0 ? look_at_group(pool, kind, index).least
                      : look_below(pool, kind, level, index).oldest;
}

/* ---- hints ----------------------------------------------------------------------------------- */

/* Where a hint was made older than what a search has left behind. */
static void strike_out(uint64_t *nearest, uint64_t age)
{
    uint64_t before = ck_pr_load_64(nearest);

    while (before >> GROUP_BITS != 0 && is_older(age, before >> GROUP_BITS) &&
           !ck_pr_cas_64_value(nearest, before, 0, &before)) {
    }
}

static void make_older(const struct etwas_pool *pool, enum kind kind, uint64_t *hint, uint64_t age)
{
    uint64_t before = ck_pr_load_64(hint);

    while (is_older(age, before)) {
        if (ck_pr_cas_64_value(hint, before, age, &before)) {
            ck_pr_fence_memory(); /* before `nearest`, and the look at the next hint above */
            strike_out(&pool->words->nearest[kind], age);
            break;
        }
    }
}

static void correct(const struct etwas_pool *pool, enum kind kind, uint32_t level, uint32_t index)
{
    uint64_t *hint = hint_of(pool, kind, level, index);
    uint64_t before = ck_pr_load_64(hint);
    uint64_t least;

    ck_pr_fence_acquire();
    least = least_below(pool, kind, level, index);
    /* Who was faster in making it younger looks again himself. */
    if (is_older(before, least) && ck_pr_cas_64(hint, before, least)) {
        ck_pr_fence_memory();
        least = least_below(pool, kind, level, index);
    }
    make_older(pool, kind, hint, least);
}

void etwas_pool_offer_oldest(struct etwas_pool *pool, uint32_t buffer, bool is_of_shared_slot)
{
    enum kind kind = is_of_shared_slot ? COMPLETE : CLOSED;
    uint32_t index = buffer;
    uint64_t age;

    ck_pr_fence_memory();
    /* Claimed and closed anew meanwhile, it is offered again; then this one is too old, or as old. */
    age = ck_pr_load_64(&pool->ages[buffer]);
    for (uint32_t level = 0; level < pool->layout.levels; level++) {
        index >>= ETWAS_OLDEST_FAN_BITS;
        make_older(pool, kind, hint_of(pool, kind, level, index), age);
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

/* The group that the hints lead to, and the oldest hint beside the way. */
static uint32_t descend(const struct etwas_pool *pool, enum kind kind, uint64_t *beside)
{
    uint32_t index = 0;

    *beside = 0;
    for (uint32_t level = pool->layout.levels - 1; level > 0; level--) {
        struct below below = look_below(pool, kind, level, index);

        index = below.place;
        if (is_older(below.second, *beside)) {
            *beside = below.second;
        }
    }
    return index;
}

/* The group that was found by the hints, and what was beside the way. */
static void leave_nearest(const struct etwas_pool *pool, enum kind kind, uint32_t group,
                          uint64_t beside)
{
    uint64_t *nearest = &pool->words->nearest[kind];
    uint64_t left = beside << GROUP_BITS | group;

    ck_pr_store_64(nearest, left);
    ck_pr_fence_memory(); /* pairs with that of make_older */
    if (descend(pool, kind, &beside) != group || beside != left >> GROUP_BITS) {
        (void)ck_pr_cas_64(nearest, left, 0);
    }
}

/* False: the oldest one may be elsewhere. */
static bool look_nearby(const struct etwas_pool *pool, enum kind kind, struct seen *oldest)
{
    uint64_t nearest = ck_pr_load_64(&pool->words->nearest[kind]);

    if (nearest >> GROUP_BITS == 0) {
        return false;
    }
    *oldest = look_at_group(pool, kind, (uint32_t)nearest & ((1u << GROUP_BITS) - 1));
    return is_older(oldest->age, nearest >> GROUP_BITS);
}

static struct seen search(const struct etwas_pool *pool, enum kind kind)
{
    uint32_t top = pool->layout.levels - 1;
    struct seen oldest = {0};

    if (look_nearby(pool, kind, &oldest)) {
        return oldest;
    }
    oldest = (struct seen){0};
    for (uint32_t tries = 0; tries < TRIES; tries++) {
        uint64_t hint = ck_pr_load_64(hint_of(pool, kind, top, 0));
        uint64_t beside;
        uint32_t index = descend(pool, kind, &beside);
        struct seen seen = look_at_group(pool, kind, index);

        if (hint == 0) {
            break;
        }
        if (is_older(seen.age, oldest.age)) {
            oldest = seen;
        }
        if (!is_older(hint, oldest.age)) {
            leave_nearest(pool, kind, index, beside);
            break;
        }
        for (uint32_t level = 0; level <= top; level++) {
            correct(pool, kind, level, index);
            index >>= ETWAS_OLDEST_FAN_BITS;
        }
    }
    return oldest;
}

static bool find(const struct etwas_pool *pool, enum kind kind, uint32_t *buffer, uint64_t *owner)
{
    struct seen oldest = search(pool, kind);

    if (oldest.age == 0) {
        oldest = look_at_all(pool, kind, 0, UINT32_MAX);
    }
    *buffer = oldest.buffer;
    *owner = oldest.owner;
    return oldest.age != 0;
}

bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    return find(pool, CLOSED, buffer, owner);
}

bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    return find(pool, COMPLETE, buffer, owner);
}
