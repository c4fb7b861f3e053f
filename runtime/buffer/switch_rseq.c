/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/*
 * Claiming, adopting and closing buffers in rseq slots.
 *
 * p is the slot, of which a processor has one, or with retention classes several, b its current
 * buffer, o[] the owner words. The part in brackets is one sequence on its processor: it happens
 * completely or not at all, and nothing else of p happens meanwhile. Each begins with the processor
 * and the gate, so after the end of the session none commits.
 *
 *     CLOSE   buffering mode only, after ADOPT and before the next. q ← b.previous, claimed as oq:
 *             [o[b] still;  commit: exchange o[q]: oq → CLOSED];  a candidate now (oldest.c)
 *     CLAIM   the next buffer is not valid. x ← a FREE buffer, or a new one (GROW), or, in
 *             buffering mode, the oldest CLOSED one, claimed as ox; t ← next ticket
 *             [word, o[b], next buffer s, o[s] still;  next buffer ← x;
 *              commit: exchange o[x]: ox → {t, p, HELD}]
 *     ADOPT   the next buffer n is valid: o[n] = {.., p, HELD}, n ≠ b
 *             [word, o[b], next buffer n, o[n] still;  b.end ← the values of word and newest;
 *              b's age ← n's ticket;  n.link ← b and the sums;
 *              commit: word ← {0 records, n, first unit}]
 *     GROW    [commit: exchange allocated: a → a + 1, below the maximum]
 *     LOST    [word, next buffer s, o[s], this slot's count of lost events still;  commit: it + 1]
 *
 * Why it is correct:
 *   - {t, p, HELD} is made only by p's CLAIM, right after `next_buffer` names the buffer, and p
 *     claims no other while the next buffer is valid. So a claimed buffer is never forgotten and
 *     never owned twice, whichever thread is interrupted: any thread of p finishes the steps that
 *     another began.
 *   - Tickets: CLAIM takes its ticket before the sequence. Had p claimed or adopted since then, the
 *     word, the next buffer or one of their owner words would have changed, and the sequence fails.
 *     So the tickets of one slot are in the order in which its buffers become current.
 *   - CLOSE says of q under the claim oq that another buffer is current after it. Once true that
 *     stays true, whichever thread says it and however late; an owner word never comes back. An
 *     unchanged o[b] means that the link, from which q and oq are read, is true (current.h).
 *   - b.end, b's age, n.link and n's first bytes are written before the commit. Interrupted before
 *     it, b is still current and n still the next buffer. No thread reads the end of a current
 *     buffer, nor the link or the bytes of a next buffer, or trusts the age of a buffer that is not
 *     closed.
 *   - Everything read before a sequence may be another session's, if this one ended meanwhile; the
 *     memory is kept. If the gate is unchanged, all of it was this session's.
 *
 * Order: word's acquire pairs with the commits of PUBLISH and ADOPT. The exchange of CLAIM pairs
 * with the release by which the flusher made the buffer FREE, or with CLOSE, whose exchange comes
 * after everything written into q (p's own stores, or read through word by the flusher).
 *
 * I5: no step waits. The searches are bounded by the number of buffers.
 */
#include "buffer/switch.h"

#include <ck_pr.h>
#include <etwas/winerror.h>

#include "buffer/current.h"
#include "buffer/free_set.h"
#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/pool_free.h"
#include "buffer/pool_join.h"
#include "buffer/quota.h"
#include "platform/rseq.h"

/*
 * Returns the owner word of the buffer before the current one if its CLOSE is still to be done;
 * otherwise 0.
 */
static uint64_t unclosed_previous(const struct etwas_pool *pool,
                                  const struct etwas_current *current, uint32_t *previous)
{
    const struct etwas_buffer_link *link;
    uint64_t owner;

    if (!pool->buffering || current->buffer == ETWAS_NO_BUFFER) {
        return 0;
    }
    link = &pool->buffers[current->buffer].link;
    *previous = ck_pr_load_32(&link->previous);
    owner = ck_pr_load_64(&link->previous_owner);
    return etwas_pool_has_buffer(pool, *previous) &&
                   ck_pr_load_64(&pool->owners[*previous]) == owner
               ? owner
               : 0;
}

#if ETWAS_RSEQ

/*
 * The common data of the steps of one call: the slot as it was read, and the checks that it is
 * unchanged.
 */
struct step {
    struct etwas_slot *slot;
    struct etwas_pool *pool;
    struct etwas_current current;
    uint64_t gate;
    uint32_t processor;
    uint32_t index;                    /* index of the slot */
    uint32_t events;                   /* how many are lost if there is no buffer */
    struct etwas_rseq_check checks[6]; /* the common ones, and a further one of a step */
    uint32_t check_count;
};

static const uint64_t *next_buffer_word(const struct etwas_slot *slot)
{
    return (const uint64_t *)(const void *)&slot->processor;
}

/*
 * Sets the checks of gate, word and the current buffer's owner word; step_set_next_buffer adds the
 * others.
 */
static void step_set_checks(struct step *step)
{
    bool has_current = step->current.buffer != ETWAS_NO_BUFFER;

    step->checks[0] = (struct etwas_rseq_check){etwas_slot_gate(step->slot), step->gate};
    step->checks[1] = (struct etwas_rseq_check){&step->slot->word, step->current.word};
    step->checks[4] = (struct etwas_rseq_check){
        &step->pool->owners[has_current ? step->current.buffer : 0], step->current.owner};
    step->check_count = has_current ? 5 : 4;
}

/* Sets the checks of the slot's next buffer and of its owner word. */
static void step_set_next_buffer(struct step *step, uint32_t next_buffer, uint64_t owner)
{
    step->checks[2] = (struct etwas_rseq_check){next_buffer_word(step->slot),
                                                (uint64_t)next_buffer << 32 | step->processor};
    step->checks[3] = (struct etwas_rseq_check){&step->pool->owners[next_buffer], owner};
}

/* Runs a sequence. An interrupted one is counted; the caller then reads the slot again. */
static bool step_run(const struct step *step, struct etwas_rseq_sequence *sequence)
{
    enum etwas_rseq_result result;

    sequence->processor = step->processor;
    result = etwas_rseq_run(sequence);
    if (result == ETWAS_RSEQ_ABORTED) {
        etwas_slot_count_restart(step->slot);
    }
    return result == ETWAS_RSEQ_COMMITTED;
}

/* CLOSE of `previous`, before which `buffer` is current under the claim `buffer_owner`. */
static bool step_close(const struct step *step, uint32_t buffer, uint64_t buffer_owner,
                       uint32_t previous, uint64_t owner)
{
    const struct etwas_rseq_check checks[] = {
        {etwas_slot_gate(step->slot), step->gate},
        {&step->pool->owners[buffer], buffer_owner},
    };
    struct etwas_rseq_sequence sequence = {
        .checks = checks,
        .check_count = sizeof checks / sizeof checks[0],
        .target = &step->pool->owners[previous],
        .expected = owner,
        .value = etwas_owner_as(owner, ETWAS_OWNER_CLOSED),
        .exchange = 1,
    };

    if (!step_run(step, &sequence)) {
        return false;
    }
    etwas_pool_add_candidate(step->pool, previous, step->index, false);
    return true;
}

/* Returns the link to the previous buffer that ADOPT stores in the new current one. */
static struct etwas_buffer_link step_link_for(const struct step *step, uint32_t next_buffer)
{
    const struct etwas_pool *pool = step->pool;
    struct etwas_buffer_link link = {
        .previous = step->current.buffer,
        .previous_newest = (int64_t)ck_pr_load_64(&step->slot->newest),
        .previous_owner = step->current.owner,
    };

    if (step->current.buffer != ETWAS_NO_BUFFER) {
        const struct etwas_buffer_link *before = &pool->buffers[step->current.buffer].link;

        link.stored_before =
            ck_pr_load_64(&before->stored_before) + etwas_word_count(step->current.word);
        link.overwritten_before = ck_pr_load_64(&before->overwritten_before);
    }
    if (pool->buffering) {
        /* 0 in a buffer that was never full. */
        link.overwritten_before += ck_pr_load_32(&pool->buffers[next_buffer].end.records);
    }
    return link;
}

static void step_adopt(const struct step *step, uint32_t next_buffer, uint64_t next_owner)
{
    const struct etwas_pool *pool = step->pool;
    uint32_t buffer = step->current.buffer;
    bool has_current = buffer != ETWAS_NO_BUFFER;
    const struct etwas_buffer_link link = step_link_for(step, next_buffer);
    const struct etwas_buffer_end end = {
        .newest = (int64_t)ck_pr_load_64(&step->slot->newest),
        .units = etwas_word_units(step->current.word),
        .records = (uint32_t)etwas_word_count(step->current.word),
    };
    const uint64_t age = etwas_owner_ticket(next_owner);
    const struct etwas_rseq_copy copies[] = {
        {&pool->buffers[next_buffer].link, &link, sizeof link},
        {etwas_pool_repeated_owner(pool, next_buffer), &next_owner, sizeof next_owner},
        {&pool->buffers[has_current ? buffer : 0].end, &end, sizeof end},
        {&pool->ages[has_current ? buffer : 0], &age, sizeof age},
    };
    struct etwas_rseq_sequence sequence = {
        .checks = step->checks,
        .check_count = step->check_count,
        .copies = copies,
        .copy_count = has_current ? 4 : 2,
        .target = &step->slot->word,
        .value = etwas_slot_word(0, next_buffer, ETWAS_FIRST_UNIT),
    };

    if (!step_run(step, &sequence)) {
        return;
    }
    etwas_pool_wake_if_few(step->pool, step->index);
    if (pool->buffering && has_current) {
        /* If interrupted: before the next ADOPT. */
        (void)step_close(step, next_buffer, next_owner, buffer, step->current.owner);
    }
}

/*
 * GROW from `allocated`, which is below the maximum. The new buffer is FREE, and was never claimed.
 */
static bool step_grow(const struct step *step, uint64_t allocated, uint32_t *buffer,
                      uint64_t *owner)
{
    struct etwas_pool *pool = step->pool;
    const struct etwas_rseq_check checks[] = {{etwas_slot_gate(step->slot), step->gate}};
    struct etwas_rseq_sequence sequence = {
        .checks = checks,
        .check_count = 1,
        .target = &pool->words->allocated,
        .expected = allocated,
        .value = allocated + 1,
        .exchange = 1,
    };

    *buffer = (uint32_t)allocated;
    *owner = 0;
    ck_pr_inc_32(&pool->words->free_count);
    if (!step_run(step, &sequence)) {
        ck_pr_dec_32(&pool->words->free_count);
        return false;
    }
    etwas_pool_wake_flusher(pool);
    return true;
}

enum found {
    FOUND_NONE,
    FOUND_ONE,
    FOUND_LOOK_AGAIN
};

static enum found step_find_buffer(const struct step *step, uint32_t *buffer, uint64_t *owner)
{
    struct etwas_pool *pool = step->pool;
    uint64_t allocated;

    if (etwas_quota_is_exhausted(pool, step->index)) {
        return FOUND_NONE;
    }
    if ((etwas_pool_has_wrapped(pool) &&
         etwas_quota_find_closed(pool, step->index, buffer, owner)) ||
        etwas_pool_find_free(pool, buffer, owner)) {
        return FOUND_ONE;
    }
    allocated = etwas_pool_allocated(pool);
    if (allocated < etwas_pool_maximum(pool)) {
        return step_grow(step, allocated, buffer, owner) ? FOUND_ONE : FOUND_LOOK_AGAIN;
    }
    /*
     * The maximum was reached after nothing free was found; meanwhile a buffer may have become
     * free.
     */
    if (etwas_pool_find_free(pool, buffer, owner) ||
        (pool->buffering && etwas_quota_find_closed(pool, step->index, buffer, owner)) ||
        etwas_pool_scan_for_free(pool, buffer, owner)) {
        return FOUND_ONE;
    }
    return FOUND_NONE;
}

/*
 * Counts the events lost, unless the slot changed since it was read: another thread of it may have
 * found a buffer.
 */
static uint32_t step_lose_events(struct step *step)
{
    uint32_t code;
    uint64_t *lost = etwas_pool_loss(step->pool, step->slot, &code);
    uint64_t before = ck_pr_load_64(lost);
    struct etwas_rseq_sequence sequence = {
        .checks = step->checks,
        .check_count = step->check_count + 1,
        .target = lost,
        .value = before + step->events,
    };

    step->checks[step->check_count] = (struct etwas_rseq_check){lost, before};
    if (!step_run(step, &sequence)) {
        return ERROR_SUCCESS;
    }
    etwas_pool_wake_flusher(step->pool);
    return code;
}

/* CLAIM of a buffer under the claim `from`, with the counts of quotas and of class rows. */
static bool step_run_claim(const struct step *step, struct etwas_rseq_sequence *sequence,
                           uint32_t buffer, uint64_t from)
{
    struct etwas_pool *pool = step->pool;
    bool crosses = etwas_quota_crosses_rows(pool, from, step->index);
    /* Read before the claim: once claimed, the buffer may be filled at once. */
    uint64_t records = crosses ? ck_pr_load_32(&pool->buffers[buffer].end.records) : 0;
    bool claimed;

    if (crosses) {
        etwas_pool_account_begin(pool);
    }
    claimed = step_run(step, sequence);
    if (claimed) {
        etwas_quota_count_claim(pool, from, step->index);
    }
    if (crosses && claimed) {
        ck_pr_add_64(&pool->words->rows[etwas_quota_class_row(pool, etwas_owner_slot(from))]
                          .replaced_by_others,
                     records);
        ck_pr_add_64(
            &pool->words->rows[etwas_quota_class_row(pool, step->index)].replaced_of_others,
            records);
    }
    if (crosses) {
        etwas_pool_account_end(pool);
    }
    return claimed;
}

static uint32_t step_claim(struct step *step)
{
    struct etwas_pool *pool = step->pool;
    uint32_t buffer;
    uint64_t owner;
    uint64_t named;
    enum found found = step_find_buffer(step, &buffer, &owner);
    const struct etwas_rseq_copy copy = {&step->slot->processor, &named, sizeof named};
    struct etwas_rseq_sequence sequence = {
        .checks = step->checks,
        .check_count = step->check_count + 1,
        .copies = &copy,
        .copy_count = 1,
        .expected = owner,
        .exchange = 1,
    };
    bool claimed;

    if (found == FOUND_NONE) {
        return step_lose_events(step);
    }
    if (found == FOUND_LOOK_AGAIN) {
        return ERROR_SUCCESS;
    }
    /* It will be written to in a moment, and is probably in no cache. */
    __builtin_prefetch(etwas_pool_buffer(pool, buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES, 1);
    __builtin_prefetch(&pool->buffers[buffer], 1);
    named = (uint64_t)buffer << 32 | step->processor; /* next_buffer_word */
    step->checks[step->check_count] = (struct etwas_rseq_check){&pool->owners[buffer], owner};
    sequence.target = &pool->owners[buffer];
    sequence.value =
        etwas_owner(ck_pr_faa_64(&pool->words->ticket, 1), step->index, ETWAS_OWNER_HELD);
    ETWAS_UNPOISON(etwas_pool_buffer(pool, buffer), pool->buffer_bytes);
    claimed = step_run_claim(step, &sequence, buffer, owner);
    if (etwas_owner_state(owner) == ETWAS_OWNER_FREE) {
        if (claimed) {
            etwas_pool_count_free_claimed(pool);
        } else {
            etwas_free_set_add(pool->free_set, buffer);
        }
    }
    if (claimed) {
        step_set_next_buffer(step, buffer, sequence.value);
        step_adopt(step, buffer, sequence.value);
    }
    return ERROR_SUCCESS;
}

static uint32_t switch_inside(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                              uint64_t gate, uint32_t units, uint64_t close_word, uint32_t events)
{
    struct step step;
    uint32_t limit = etwas_slot_limit_units(slot);
    uint64_t previous_owner;
    uint64_t next_owner;
    uint32_t previous;
    uint32_t next_buffer;

    step.slot = slot;
    step.pool = ck_pr_load_ptr(&attachment->pool);
    step.gate = gate;
    step.events = events;
    step.processor = ck_pr_load_32(&slot->processor);
    step.index = etwas_slot_index(slot);
    if (step.pool == NULL) {
        return ERROR_SUCCESS; /* a fork's child without this memory; its slots show that */
    }
    ck_pr_fence_acquire();
    step.current = etwas_current_read(slot, step.pool);
    if (ck_pr_load_64(etwas_slot_gate(slot)) != gate) {
        return ERROR_INVALID_HANDLE;
    }
    if (units > limit - ETWAS_FIRST_UNIT) {
        return ERROR_MORE_DATA;
    }
    if (etwas_word_units(step.current.word) + units <= limit && step.current.word != close_word) {
        return ERROR_SUCCESS;
    }
    previous_owner = unclosed_previous(step.pool, &step.current, &previous);
    if (previous_owner != 0 &&
        !step_close(&step, step.current.buffer, step.current.owner, previous, previous_owner)) {
        return ERROR_SUCCESS; /* not replaced before: a link leads back to one buffer only */
    }
    next_buffer = ck_pr_load_32(&slot->next_buffer);
    if (!etwas_pool_has_buffer(step.pool, next_buffer)) {
        return ERROR_SUCCESS; /* of a later session */
    }
    next_owner = ck_pr_load_64(&step.pool->owners[next_buffer]);
    step_set_checks(&step);
    step_set_next_buffer(&step, next_buffer, next_owner);
    if (etwas_owner_is_held_by(next_owner, step.index) && next_buffer != step.current.buffer) {
        step_adopt(&step, next_buffer, next_owner);
        return ERROR_SUCCESS;
    }
    return step_claim(&step);
}

uint32_t etwas_switch_rseq(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                           uint64_t gate, uint32_t units, uint64_t close_word, uint32_t events)
{
    uint64_t *inside = etwas_guest_inside(attachment);
    uint64_t entered = etwas_guest_enter(inside);
    uint32_t result = ERROR_INVALID_HANDLE;

    if (ck_pr_load_64(etwas_slot_gate(slot)) == gate) {
        result = switch_inside(attachment, slot, gate, units, close_word, events);
    }
    etwas_guest_exit(inside, entered);
    return result;
}

#endif

void etwas_rseq_close_previous(const struct etwas_slot *slot, struct etwas_pool *pool)
{
    struct etwas_current current = etwas_current_read(slot, pool);
    uint32_t previous;
    uint64_t owner = unclosed_previous(pool, &current, &previous);

    if (owner != 0 && etwas_current_is_unchanged(&current, pool) &&
        ck_pr_cas_64(&pool->owners[previous], owner, etwas_owner_as(owner, ETWAS_OWNER_CLOSED))) {
        etwas_pool_add_candidate(pool, previous, etwas_owner_slot(owner), false);
    }
}
