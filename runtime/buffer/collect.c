/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/collect.h"

#include <ck_pr.h>
#include <string.h>

void etwas_collector_reset(struct etwas_collector *collector)
{
    for (uint32_t slot = 0; slot < collector->slot_count; slot++) {
        collector->lists[slot] =
            (struct etwas_collector_list){ETWAS_NO_BUFFER, ETWAS_NO_BUFFER, ETWAS_NO_BUFFER};
    }
    collector->set_aside_count = 0;
}

static void append(struct etwas_collector *collector, struct etwas_collector_list *list,
                   uint32_t buffer)
{
    collector->pool->buffers[buffer].next_pending = ETWAS_NO_BUFFER;
    if (list->tail == ETWAS_NO_BUFFER) {
        list->head = buffer;
    } else {
        collector->pool->buffers[list->tail].next_pending = buffer;
    }
    list->tail = buffer;
}

static void note_end(struct etwas_collector *collector, uint32_t buffer, uint32_t end_units,
                     int64_t newest)
{
    struct etwas_buffer_control *control = &collector->pool->buffers[buffer];

    control->end_units = end_units;
    control->newest = newest;
    control->seen_ns = 0;
}

/*
 * Takes the current buffer out of the slot; ETWAS_NO_BUFFER when there is none, or it is empty and
 * may stay. The slot's word is exchanged for an empty one, so a writer needs a new buffer only if
 * it comes back to this processor. To shut a slot, also a word without a buffer is exchanged: a
 * visitor that read it before the gate closed can then install nothing.
 */
static uint32_t close_slot(struct etwas_collector *collector, struct etwas_slot *slot,
                           enum etwas_collector_reach reach)
{
    for (;;) {
        uint64_t word = ck_pr_load_64(&slot->word);
        uint32_t buffer = etwas_word_buffer(word);
        uint32_t end_units = etwas_word_units(word);
        int64_t newest;

        if (reach != ETWAS_COLLECT_SHUT &&
            (buffer == ETWAS_NO_BUFFER || end_units == ETWAS_FIRST_UNIT)) {
            return ETWAS_NO_BUFFER;
        }
        ck_pr_fence_acquire();
        newest = (int64_t)ck_pr_load_64(&slot->newest);
        if (!ck_pr_cas_64(&slot->word, word, etwas_word_empty(word))) {
            continue;
        }
        ck_pr_fence_acquire();
        if (buffer != ETWAS_NO_BUFFER) {
            note_end(collector, buffer, end_units, newest);
            etwas_pool_retire(collector->pool, buffer, end_units);
        }
        return buffer;
    }
}

void etwas_collector_shut(struct etwas_collector *collector, uint32_t slot)
{
    (void)close_slot(collector, &collector->slots[slot], ETWAS_COLLECT_SHUT);
}

/*
 * The buffers before `buffer`, back to the one current at the last look, onto the list, oldest
 * first.
 */
static void append_chain(struct etwas_collector *collector, struct etwas_collector_list *list,
                         uint32_t buffer)
{
    struct etwas_buffer_control *buffers = collector->pool->buffers;
    uint32_t chain = ETWAS_NO_BUFFER;

    while (buffer != list->last_current && buffers[buffer].previous != ETWAS_NO_BUFFER) {
        uint32_t previous = buffers[buffer].previous;

        note_end(collector, previous, buffers[buffer].previous_end_units,
                 buffers[buffer].previous_newest);
        buffers[previous].next_pending = chain;
        chain = previous;
        buffer = previous;
    }
    while (chain != ETWAS_NO_BUFFER) {
        uint32_t next = buffers[chain].next_pending;

        append(collector, list, chain);
        chain = next;
    }
}

void etwas_collector_look(struct etwas_collector *collector, uint32_t slot,
                          enum etwas_collector_reach reach)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    uint32_t closed = ETWAS_NO_BUFFER;
    uint32_t current;

    if (reach != ETWAS_COLLECT_FULL) {
        closed = close_slot(collector, &collector->slots[slot], reach);
    }
    if (closed != ETWAS_NO_BUFFER) {
        append_chain(collector, list, closed);
        list->last_current = ETWAS_NO_BUFFER;
        if (collector->pool->buffers[closed].end_units == ETWAS_FIRST_UNIT) {
            etwas_pool_release(collector->pool, closed, ETWAS_FIRST_UNIT);
        } else {
            append(collector, list, closed);
        }
        return;
    }
    current = etwas_word_buffer(ck_pr_load_64(&collector->slots[slot].word));
    /* What its installer stored in it and in those before it: pairs with I1. */
    ck_pr_fence_acquire();
    if (current != ETWAS_NO_BUFFER) {
        append_chain(collector, list, current);
        list->last_current = current;
    }
}

void etwas_collect_prefix(const struct etwas_pool *pool, uint32_t limit_units,
                          struct etwas_collected *collected)
{
    const uint32_t final = 1u << 31;
    const uint32_t size_mask = 0xFFFF;
    const uint8_t *start = etwas_pool_buffer(pool, collected->buffer);
    const uint8_t *last = NULL;
    uint32_t units = ETWAS_FIRST_UNIT;

    collected->records = 0;
    while (units < limit_units) {
        const uint8_t *place = start + (size_t)units * ETWAS_UNIT_BYTES;
        uint32_t marker = ck_pr_load_32((const uint32_t *)(const void *)place);

        if ((marker & final) == 0) {
            break;
        }
        last = place;
        units += (uint32_t)etwas_etl_round_up_8(marker & size_mask) / ETWAS_UNIT_BYTES;
        collected->records++;
    }
    /* The bytes of every record whose marker we saw: pairs with S1. */
    ck_pr_fence_acquire();
    collected->end_units = units;
    if (last != NULL) {
        memcpy(&collected->newest, last + offsetof(struct etwas_etl_full_header, time_stamp),
               sizeof collected->newest);
    }
}

/* Gives up on the buffer's missing commits. What is whole before the first hole stays. */
static void abandon(struct etwas_collector *collector, struct etwas_collected *collected)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];

    /* From here on late writers find the mark and report their events lost. */
    (void)ck_pr_faa_64(&control->commit, ETWAS_COMMIT_ABANDONED);
    etwas_collect_prefix(pool, control->end_units, collected);
    collected->abandoned = true;
    etwas_pool_settle_begin(pool);
    ck_pr_store_32(&control->kept, collected->records);
    ck_pr_store_32(&control->set_aside, collected->records + 1);
    etwas_pool_settle_end(pool);
    collector->set_aside_count++;
}

bool etwas_collector_take(struct etwas_collector *collector, uint32_t slot, uint64_t now_ns,
                          uint64_t patience_ns, struct etwas_collected *collected)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    struct etwas_buffer_control *control;
    uint64_t commit;

    if (list->head == ETWAS_NO_BUFFER) {
        return false;
    }
    control = &collector->pool->buffers[list->head];
    commit = ck_pr_load_64(&control->commit);
    ck_pr_fence_acquire(); /* pairs with A1 of every writer */
    *collected = (struct etwas_collected){
        .buffer = list->head,
        .slot = slot,
        .end_units = control->end_units,
        .records = etwas_commit_records(commit),
        .newest = control->newest,
    };
    if (!etwas_pool_is_complete(collector->pool, commit)) {
        if (control->seen_ns == 0) {
            control->seen_ns = now_ns;
        }
        if (now_ns - control->seen_ns < patience_ns) {
            return false;
        }
        abandon(collector, collected);
    }
    list->head = control->next_pending;
    if (list->head == ETWAS_NO_BUFFER) {
        list->tail = ETWAS_NO_BUFFER;
    }
    return true;
}

void etwas_collector_settle(struct etwas_collector *collector,
                            const struct etwas_collected *collected, enum etwas_outcome outcome)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];

    etwas_pool_settle_begin(pool);
    etwas_pool_settle(pool, outcome, collected->records);
    if (collected->abandoned) {
        ck_pr_store_32(&control->kept, 0);
    } else {
        ck_pr_store_64(&control->commit, 0);
    }
    etwas_pool_settle_end(pool);
    if (!collected->abandoned) {
        etwas_pool_release(pool, collected->buffer, collected->end_units);
    }
}

void etwas_collector_reclaim(struct etwas_collector *collector)
{
    struct etwas_pool *pool = collector->pool;
    uint32_t allocated = ck_pr_load_32(&pool->allocated);

    for (uint32_t buffer = 0; collector->set_aside_count != 0 && buffer < allocated; buffer++) {
        struct etwas_buffer_control *control = &pool->buffers[buffer];
        uint64_t commit = ck_pr_load_64(&control->commit);
        uint32_t set_aside = ck_pr_load_32(&control->set_aside);

        if (set_aside == 0 || ck_pr_load_32(&control->kept) != 0 ||
            !etwas_pool_is_complete(pool, commit)) {
            continue;
        }
        ck_pr_fence_acquire(); /* pairs with A1 of the late writers */
        etwas_pool_settle_begin(pool);
        etwas_pool_settle(pool, ETWAS_OUTCOME_ABANDONED,
                          etwas_commit_records(commit) - (set_aside - 1));
        ck_pr_store_32(&control->set_aside, 0);
        ck_pr_store_64(&control->commit, 0);
        etwas_pool_settle_end(pool);
        collector->set_aside_count--;
        etwas_pool_release(pool, buffer, control->end_units);
    }
}

bool etwas_collector_has_pending(const struct etwas_collector *collector)
{
    for (uint32_t slot = 0; slot < collector->slot_count; slot++) {
        if (collector->lists[slot].head != ETWAS_NO_BUFFER) {
            return true;
        }
    }
    return false;
}
