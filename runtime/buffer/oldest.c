/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Searching for the oldest buffer of a kind without reading all of them. There is a tree of
 * candidates for each kind; in a session with retention classes, for each kind of each class row.
 *
 * A candidate is the age of the oldest closed buffer below it, 0 for none. On the lowest level it
 * covers a group of 16 buffers, above that 16 candidates, up to the root. A search follows the
 * oldest candidates down to a group and reads the owner words and ages there, which are
 * authoritative. The buffer that it finds is the oldest of all if none of the candidates beside the
 * path is older. Otherwise the search corrects the candidate that led it there, and descends again.
 * So the candidates above, which may be too old for long, are corrected only when the buffers below
 * them have become younger than those beside them.
 *
 * A candidate may be too old: then it is corrected when a search comes by, as after each claim. It
 * may be too young only while a thread is suspended in the middle of the following. A thread that
 * closes a buffer makes the candidates above it older, where needed, from the lowest on; a thread
 * that makes a candidate younger checks again:
 *
 *     close      level below changes, by an exchange;  fence;  candidate, if it is younger: ← age
 *     correct    level below is read;  candidate ← the oldest found;  fence;  the same again
 *
 * One of them sees the other's change. If a thread never continues, its buffer is found when
 * another of its group is. So a wrong candidate costs another search, and the order of one buffer,
 * never an event.
 *
 * Buffers of a group were mostly closed one after the other. So a search stores the group in which
 * it found the oldest, and the age of the oldest candidate beside the path to that group. While
 * there is an older buffer in the group, none is older elsewhere, since buffers closed later are
 * younger. A thread that makes a candidate older than that clears the stored group, and a thread
 * that stores it checks again, as above: one of them sees the other's change.
 *
 *     recent_group   63    16 15    0
 *                    |  age  | group |    an age of 0: not known
 *
 * Claims exchange owner words: a buffer that has changed meanwhile is not claimed.
 */
#include "buffer/pool.h"
#include "buffer/pool_claim.h"
#include "buffer/quota.h"
#include "platform/testpoint.h"

enum {
    TRIES = 32, /* each corrects a wrong candidate, unless other threads are as fast */
    GROUP_BITS = 16
};
_Static_assert((int)ETWAS_POOL_MAXIMUM_BUFFERS >> ETWAS_OLDEST_FAN_BITS <= 1 << GROUP_BITS,
               "a group is half of a quarter of a word");

enum kind {
    CLOSED,
    COMPLETE
};
_Static_assert(COMPLETE + 1 == ETWAS_OLDEST_KINDS, "each kind has its hints");

struct tree {
    enum kind kind;
    uint32_t row;
};

/* The result of inspecting some buffers of one tree. */
struct inspected {
    uint64_t least; /* age of the oldest closed buffer; 0: none */
    /* age of the oldest that may be overwritten; an upper bound until one is found */
    uint64_t age;
    uint64_t owner; /* its owner word; 0: none found */
    uint32_t buffer;
};

/* Compares ages. 0 (none) is younger than all others. */
static bool age_is_older(uint64_t age, uint64_t than)
{
    return age - 1 < than - 1;
}

static uint64_t *candidate_of(const struct etwas_pool *pool, struct tree tree, uint32_t level,
                              uint32_t index)
{
    const struct etwas_pool_layout *layout = &pool->layout;
    /* Out of range only for a writer that was suspended while the session ended. */
    uint32_t row = tree.row < layout->rows ? tree.row : 0;

    return &pool->candidates[(size_t)(ETWAS_OLDEST_KINDS * row + tree.kind) *
                                 layout->level_at[layout->levels] +
                             layout->level_at[level] + index];
}

static inline uint64_t *recent_group_of(const struct etwas_pool *pool, struct tree tree)
{
    return tree.row == 0 ? &pool->words->recent_group[tree.kind]
                         : &pool->words->rows[tree.row].recent_group[tree.kind];
}

/* ---- inspecting ------------------------------------------------------------------------------ */

/*
 * A closed buffer of a shared slot may not be overwritten before its last writer has committed,
 * which is not signalled. Its age becomes that of a buffer closed now, so that it is inspected
 * again in its turn and not at once.
 */
static uint64_t defer_incomplete(const struct etwas_pool *pool, uint32_t buffer, uint64_t age)
{
    uint64_t now = ck_pr_load_64(&pool->words->ticket);

    return ck_pr_cas_64(&pool->ages[buffer], age, now) ? now : age;
}

static inline __attribute__((always_inline)) void inspect_buffer(const struct etwas_pool *pool,
                                                                 struct tree tree, uint32_t buffer,
                                                                 struct inspected *inspected)
{
    uint64_t owner = ck_pr_load_64(&pool->owners[buffer]);
    bool is_complete = true;
    uint64_t age;

    ETWAS_INVARIANT(buffer < pool->layout.capacity);
    ck_pr_fence_acquire();
    if (etwas_quota_class_row(pool, etwas_owner_slot(owner)) != tree.row) {
        return;
    }
    if (tree.kind == CLOSED) {
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
        age = defer_incomplete(pool, buffer, age);
    } else if (age < inspected->age) {
        inspected->age = age;
        inspected->owner = owner;
        inspected->buffer = buffer;
    }
    if (age_is_older(age, inspected->least)) {
        inspected->least = age;
    }
}

/*
 * Inspects the buffers of a group. Ages only grow: a buffer that is not older than the one found
 * changes nothing.
 */
static inline __attribute__((always_inline)) void inspect_group(const struct etwas_pool *pool,
                                                                struct tree tree, uint32_t group,
                                                                struct inspected *inspected)
{
    const uint32_t first = group << ETWAS_OLDEST_FAN_BITS;
    const uint32_t fan = 1u << ETWAS_OLDEST_FAN_BITS;
    const uint32_t most = ck_pr_load_32(&pool->region_buffers);
    const uint32_t left = first < most ? most - first : 0; /* the last group may be smaller */
    const uint64_t *ages = &pool->ages[first];
    const uint64_t *end = ages + (left < fan ? left : fan);

    for (const uint64_t *age = ages; age < end; age++) {
        if (ck_pr_load_64(age) < inspected->age) {
            inspect_buffer(pool, tree, first + (uint32_t)(age - ages), inspected);
        }
    }
}

static __attribute__((noinline)) struct inspected oldest_of_group(const struct etwas_pool *pool,
                                                                  struct tree tree, uint32_t group)
{
    struct inspected inspected = {.age = UINT64_MAX};

    inspect_group(pool, tree, group, &inspected);
    return inspected;
}

/* The two oldest candidates below another one, and the position of the first. */
struct below {
    uint64_t oldest;
    uint64_t second;
    uint32_t place;
};

static struct below candidates_below(const struct etwas_pool *pool, struct tree tree,
                                     uint32_t level, uint32_t index)
{
    const uint32_t count = pool->layout.level_at[level] - pool->layout.level_at[level - 1];
    const uint32_t first = index << ETWAS_OLDEST_FAN_BITS;
    const uint32_t fan = 1u << ETWAS_OLDEST_FAN_BITS;
    const uint32_t end = count - first < fan ? count : first + fan;
    const uint64_t *candidates = candidate_of(pool, tree, level - 1, 0);
    struct below below = {.place = first};

    for (uint32_t place = first; place < end; place++) {
        uint64_t candidate = ck_pr_load_64(&candidates[place]);

        if (age_is_older(candidate, below.oldest)) {
            below.second = below.oldest;
            below.oldest = candidate;
            below.place = place;
        } else if (age_is_older(candidate, below.second)) {
            below.second = candidate;
        }
    }
    return below;
}

static uint64_t least_age_below(const struct etwas_pool *pool, struct tree tree, uint32_t level,
                                uint32_t index)
{
    return level == 0 ? oldest_of_group(pool, tree, index).least
                      : candidates_below(pool, tree, level, index).oldest;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* Clears the stored group if a candidate was made older than its age. */
static void recent_group_forget(uint64_t *recent_group, uint64_t age)
{
    uint64_t before = ck_pr_load_64(recent_group);

    while (before >> GROUP_BITS != 0 && age_is_older(age, before >> GROUP_BITS) &&
           !ck_pr_cas_64_value(recent_group, before, 0, &before)) {
    }
}

static void candidate_make_older(const struct etwas_pool *pool, struct tree tree,
                                 uint64_t *candidate, uint64_t age)
{
    uint64_t before = ck_pr_load_64(candidate);

    while (age_is_older(age, before)) {
        if (ck_pr_cas_64_value(candidate, before, age, &before)) {
            /* before `recent_group`, and before the next candidate above is read */
            ck_pr_fence_memory();
            recent_group_forget(recent_group_of(pool, tree), age);
            break;
        }
    }
}

static void candidate_correct(const struct etwas_pool *pool, struct tree tree, uint32_t level,
                              uint32_t index)
{
    uint64_t *candidate = candidate_of(pool, tree, level, index);
    uint64_t before = ck_pr_load_64(candidate);
    uint64_t least;

    ck_pr_fence_acquire();
    least = least_age_below(pool, tree, level, index);
    /* If another thread made it younger first, that thread checks again. */
    if (age_is_older(before, least) && ck_pr_cas_64(candidate, before, least)) {
        ck_pr_fence_memory();
        least = least_age_below(pool, tree, level, index);
    }
    candidate_make_older(pool, tree, candidate, least);
}

void etwas_pool_add_candidate(struct etwas_pool *pool, uint32_t buffer, uint32_t slot,
                              bool is_of_shared_slot)
{
    const struct tree tree = {is_of_shared_slot ? COMPLETE : CLOSED,
                              etwas_quota_class_row(pool, slot)};
    uint64_t *candidates = candidate_of(pool, tree, 0, 0);
    uint32_t index = buffer;
    uint64_t age;

    ck_pr_fence_atomic_load(); /* after the exchange that closed or unpinned it */
    /*
     * If it was claimed and closed again meanwhile, it is added again; then this age is too old, or
     * equal.
     */
    age = ck_pr_load_64(&pool->ages[buffer]);
    for (uint32_t level = 0; level < pool->layout.levels; level++) {
        uint64_t *candidate;

        index >>= ETWAS_OLDEST_FAN_BITS;
        candidate = &candidates[pool->layout.level_at[level] + index];
        if (age_is_older(age, ck_pr_load_64(candidate))) {
            candidate_make_older(pool, tree, candidate, age);
        }
    }
}

/* ---- the search ------------------------------------------------------------------------------ */

/*
 * Where the candidates lead: to a group, or to a candidate below which all are younger than
 * `beside`.
 */
struct descent {
    uint64_t beside; /* the oldest of the candidates beside the path */
    uint32_t level;  /* 0: a group */
    uint32_t index;
};

static struct descent search_descend(const struct etwas_pool *pool, struct tree tree)
{
    struct descent descent = {.level = pool->layout.levels - 1};

    for (; descent.level > 0; descent.level--) {
        struct below below = candidates_below(pool, tree, descent.level, descent.index);

        if (below.oldest == 0 || age_is_older(descent.beside, below.oldest)) {
            break;
        }
        descent.index = below.place;
        if (age_is_older(below.second, descent.beside)) {
            descent.beside = below.second;
        }
    }
    return descent;
}

/* Stores the group in which the oldest was found, and the oldest candidate beside the path. */
static void recent_group_store(const struct etwas_pool *pool, struct tree tree,
                               const struct descent *descent)
{
    uint64_t *recent_group = recent_group_of(pool, tree);
    uint64_t left = descent->beside << GROUP_BITS | descent->index;
    struct descent again;

    ck_pr_store_64(recent_group, left);
    ck_pr_fence_memory(); /* pairs with that of make_older */
    again = search_descend(pool, tree);
    if (again.level != 0 || again.index != descent->index || again.beside != descent->beside) {
        (void)ck_pr_cas_64(recent_group, left, 0);
    }
}

/* Inspects all groups, if the candidates lead to none. */
static struct inspected search_everywhere(const struct etwas_pool *pool, struct tree tree)
{
    uint32_t allocated = etwas_pool_allocated(pool);
    struct inspected oldest = {.age = UINT64_MAX};

    for (uint32_t group = 0; group << ETWAS_OLDEST_FAN_BITS < allocated; group++) {
        struct inspected inspected = oldest_of_group(pool, tree, group);

        if (inspected.age < oldest.age) {
            oldest = inspected;
        }
    }
    return oldest;
}

/*
 * Searches from the top of the tree. The group `recent_group` no longer contains a buffer that is
 * older than the candidates beside it.
 */
static __attribute__((noinline)) struct inspected search_from_top(const struct etwas_pool *pool,
                                                                  struct tree tree,
                                                                  uint32_t recent_group)
{
    struct inspected oldest = {.age = UINT64_MAX};

    if (recent_group < pool->layout.level_at[1]) {
        candidate_correct(pool, tree, 0, recent_group);
    }
    for (uint32_t tries = 0; tries < TRIES; tries++) {
        struct descent descent = search_descend(pool, tree);

        if (descent.level == 0) {
            struct inspected inspected = oldest_of_group(pool, tree, descent.index);

            if (inspected.owner != 0 && !age_is_older(descent.beside, inspected.age)) {
                recent_group_store(pool, tree, &descent);
                return inspected;
            }
            if (inspected.age < oldest.age) {
                oldest = inspected;
            }
        }
        if (descent.level == pool->layout.levels - 1) {
            break; /* there is none */
        }
        candidate_correct(pool, tree, descent.level, descent.index);
    }
    return oldest.owner != 0 ? oldest : search_everywhere(pool, tree);
}

/* Searches first in the group of the last search. */
static inline __attribute__((always_inline)) bool search_oldest(const struct etwas_pool *pool,
                                                                struct tree tree, uint32_t *buffer,
                                                                uint64_t *owner)
{
    uint64_t recent_group = ck_pr_load_64(recent_group_of(pool, tree));
    uint32_t group = (uint32_t)recent_group & ((1u << GROUP_BITS) - 1);
    struct inspected oldest = {.age = recent_group >> GROUP_BITS};

    if (oldest.age != 0) {
        inspect_group(pool, tree, group, &oldest);
    }
    if (oldest.owner == 0) {
        oldest = search_from_top(pool, tree, group);
    }
    *buffer = oldest.buffer;
    *owner = oldest.owner;
    return oldest.owner != 0;
}

bool etwas_pool_find_closed(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    return search_oldest(pool, (struct tree){CLOSED, 0}, buffer, owner);
}

bool etwas_pool_find_complete(struct etwas_pool *pool, uint32_t *buffer, uint64_t *owner)
{
    return search_oldest(pool, (struct tree){COMPLETE, 0}, buffer, owner);
}

/* Called less often, so one function serves both kinds. */
static __attribute__((noinline)) bool search_oldest_in_row(const struct etwas_pool *pool,
                                                           struct tree tree, uint32_t *buffer,
                                                           uint64_t *owner)
{
    return search_oldest(pool, tree, buffer, owner);
}

bool etwas_pool_find_closed_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                   uint64_t *owner)
{
    return search_oldest_in_row(pool, (struct tree){CLOSED, row}, buffer, owner);
}

bool etwas_pool_find_complete_in_row(struct etwas_pool *pool, uint32_t row, uint32_t *buffer,
                                     uint64_t *owner)
{
    return search_oldest_in_row(pool, (struct tree){COMPLETE, row}, buffer, owner);
}
