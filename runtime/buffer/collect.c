/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/collect.h"

#include <ck_pr.h>

#include "buffer/current.h"
#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/valid.h"
#include "buffer/walk.h"
#include "platform/testpoint.h"

void etwas_collector_reset(struct etwas_collector *collector)
{
    for (uint32_t slot = 0; slot < collector->slot_count; slot++) {
        collector->lists[slot] = (struct etwas_collector_list){
            .last_current = ETWAS_NO_BUFFER, .head = ETWAS_NO_BUFFER, .tail = ETWAS_NO_BUFFER};
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

    control->end.units = end_units;
    control->end.newest = newest;
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

/*
 * The buffers before `buffer`, back to the one current at the last look, onto the list, oldest
 * first.
 */
static void append_chain(struct etwas_collector *collector, uint32_t slot, uint32_t buffer)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    struct etwas_buffer_control *buffers = collector->pool->buffers;
    uint32_t chain = ETWAS_NO_BUFFER;

    while (buffer != list->last_current && buffers[buffer].link.previous != ETWAS_NO_BUFFER) {
        uint32_t previous = buffers[buffer].link.previous;

        /* A sequence stores a buffer's end in the buffer itself. */
        if (!etwas_pool_is_rseq_slot(collector->pool, slot)) {
            note_end(collector, previous, buffers[buffer].link.previous_end_units,
                     buffers[buffer].link.previous_newest);
        }
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

static void gather_shared(struct etwas_collector *collector, uint32_t slot,
                          enum etwas_collector_reach reach)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    uint32_t closed = ETWAS_NO_BUFFER;
    uint32_t current;

    if (reach != ETWAS_COLLECT_FULL) {
        closed = close_slot(collector, etwas_pool_slot(collector->pool, slot), reach);
    }
    if (closed != ETWAS_NO_BUFFER) {
        append_chain(collector, slot, closed);
        list->last_current = ETWAS_NO_BUFFER;
        if (collector->pool->buffers[closed].end.units == ETWAS_FIRST_UNIT) {
            etwas_pool_release(collector->pool, closed, ETWAS_FIRST_UNIT);
        } else {
            append(collector, list, closed);
        }
        return;
    }
    current = etwas_word_buffer(ck_pr_load_64(&etwas_pool_slot(collector->pool, slot)->word));
    /* What its installer stored in it and in those before it: pairs with X3. */
    ck_pr_fence_acquire();
    if (current != ETWAS_NO_BUFFER) {
        append_chain(collector, slot, current);
        list->last_current = current;
    }
}

/*
 * Takes the current buffer out of a slot in which no sequence can commit any more, and keeps the
 * slot's sums: those of its link until the word says that there is no buffer, the slot's own from then on. So they
 * are right at every moment, also for who reads what is left of a process that was killed here.
 */
static uint32_t shut_rseq(struct etwas_collector *collector, uint32_t slot_index)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_slot *slot = etwas_pool_slot(pool, slot_index);
    uint64_t word = ck_pr_load_64(&slot->word);
    uint32_t buffer = etwas_word_buffer(word);
    struct etwas_buffer_control *control;

    if (buffer == ETWAS_NO_BUFFER) {
        return buffer;
    }
    ck_pr_fence_acquire();
    control = &pool->buffers[buffer];
    control->end = (struct etwas_buffer_end){
        .newest = (int64_t)ck_pr_load_64(&slot->newest),
        .units = etwas_word_units(word),
        .records = (uint32_t)etwas_word_count(word),
    };
    ck_pr_store_64(&slot->counters.shut_stored, control->link.stored_before + control->end.records);
    ck_pr_store_64(&slot->counters.shut_overwritten, control->link.overwritten_before);
    if (ck_pr_load_32(&slot->spare) == buffer) {
        /* What the spare is, and is not current, holds nothing: recover/pool_read.h. */
        ck_pr_store_32(&slot->spare, ETWAS_NO_BUFFER);
    }
    /* End, spare and sums before the word: pairs with who reads the pool from outside, and etwas_current_read. */
    ck_pr_fence_release();
    ck_pr_store_64(&slot->word, etwas_word_none());
    return buffer;
}

static void gather_rseq(struct etwas_collector *collector, uint32_t slot,
                        enum etwas_collector_reach reach)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    const struct etwas_slot *source = etwas_pool_slot(collector->pool, slot);

    list->part = 0;
    if (reach == ETWAS_COLLECT_SHUT && collector->fenced) {
        uint32_t shut = shut_rseq(collector, slot);

        if (shut != ETWAS_NO_BUFFER) {
            append_chain(collector, slot, shut);
            append(collector, list, shut);
            list->last_current = ETWAS_NO_BUFFER;
        }
    } else {
        /* Acquires: the links, ends and records of the chain, and of the part. */
        struct etwas_current current = etwas_current_read(source, collector->pool);

        if (current.buffer == ETWAS_NO_BUFFER) {
            return;
        }
        append_chain(collector, slot, current.buffer);
        list->last_current = current.buffer;
        if (reach != ETWAS_COLLECT_FULL) {
            list->part = current.word;
            ETWAS_TESTPOINT(ETWAS_POINT_COLLECT_LOOKED);
        }
    }
}

void etwas_collector_gather(struct etwas_collector *collector, uint32_t slot,
                            enum etwas_collector_reach reach)
{
    ETWAS_INVARIANT(etwas_pool_is_valid(collector->pool));
    if (etwas_pool_is_rseq_slot(collector->pool, slot)) {
        gather_rseq(collector, slot, reach);
    } else {
        gather_shared(collector, slot, reach);
    }
}

void etwas_collector_shut(struct etwas_collector *collector, uint32_t slot)
{
    if (!etwas_pool_is_rseq_slot(collector->pool, slot)) {
        (void)close_slot(collector, etwas_pool_slot(collector->pool, slot), ETWAS_COLLECT_SHUT);
    } else if (collector->fenced) {
        (void)shut_rseq(collector, slot);
    }
}

void etwas_collect_prefix(const struct etwas_pool *pool, uint32_t limit_units,
                          struct etwas_collected *collected)
{
    const uint8_t *start = etwas_pool_buffer(pool, collected->buffer);
    uint32_t units = ETWAS_FIRST_UNIT;

    collected->records = 0;
    while (units < limit_units) {
        const uint8_t *record = start + (size_t)units * ETWAS_UNIT_BYTES;
        uint32_t marker = etwas_walk_marker(record);

        if (!etwas_walk_is_whole(marker)) {
            break;
        }
        ck_pr_fence_acquire(); /* its bytes: pairs with S1 */
        /* The last stamp is the newest. */
        etwas_walk_stamp(record, &collected->newest);
        units += etwas_walk_units(record, marker);
        collected->records++;
    }
    collected->end_units = units;
}

/* Gives up on the buffer's missing commits. What is whole before the first hole stays. */
static void abandon(struct etwas_collector *collector, struct etwas_collected *collected)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];

    /* From here on late writers find the mark and report their events lost. */
    (void)ck_pr_faa_64(&control->commit, ETWAS_COMMIT_ABANDONED);
    etwas_collect_prefix(pool, control->end.units, collected);
    collected->abandoned = true;
    etwas_pool_settle_begin(pool);
    ck_pr_store_32(&control->kept, collected->records);
    ck_pr_store_32(&control->set_aside, collected->records + 1);
    etwas_pool_settle_end(pool);
    collector->set_aside_count++;
}

/*
 * The last stamp is the newest; INT64_MIN: none has one. What the slot has as its newest by now may be
 * later than a record behind the part.
 */
static int64_t newest_of_part(const struct etwas_pool *pool,
                              const struct etwas_collected *collected)
{
    const uint8_t *start = etwas_pool_buffer(pool, collected->buffer);
    uint32_t units = collected->begin_units;
    int64_t newest = INT64_MIN;

    for (uint32_t left = collected->records; left > 0 && units < collected->end_units; left--) {
        const uint8_t *record = start + (size_t)units * ETWAS_UNIT_BYTES;

        etwas_walk_stamp(record, &newest);
        units += etwas_walk_units(record, etwas_walk_marker(record));
    }
    return newest;
}

/* What a flush collects of the buffer that is still current. */
static bool take_part(struct etwas_collector *collector, uint32_t slot,
                      struct etwas_collected *collected)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    uint32_t buffer = etwas_word_buffer(list->part);
    const struct etwas_buffer_control *control = &collector->pool->buffers[buffer];
    uint64_t word = list->part;

    list->part = 0;
    if (word == 0 || etwas_word_count(word) == control->written_records) {
        return false;
    }
    *collected = (struct etwas_collected){
        .buffer = buffer,
        .slot = slot,
        .begin_units = control->written_units != 0 ? control->written_units : ETWAS_FIRST_UNIT,
        .end_units = etwas_word_units(word),
        .records = (uint32_t)etwas_word_count(word) - control->written_records,
        .part = true,
    };
    collected->newest = newest_of_part(collector->pool, collected);
    return true;
}

/* False: the head of the list is not complete yet, and may still be waited for. */
static bool take_head(struct etwas_collector *collector, uint32_t slot, uint64_t now_ns,
                      uint64_t patience_ns, struct etwas_collected *collected)
{
    uint32_t head = collector->lists[slot].head;
    struct etwas_buffer_control *control = &collector->pool->buffers[head];
    uint64_t commit = ck_pr_load_64(&control->commit);

    ck_pr_fence_acquire(); /* pairs with A1 of every writer */
    *collected = (struct etwas_collected){
        .buffer = head,
        .slot = slot,
        .begin_units = ETWAS_FIRST_UNIT,
        .end_units = control->end.units,
        .records = etwas_commit_records(commit),
        .newest = control->end.newest,
    };
    if (etwas_pool_is_rseq_slot(collector->pool, slot)) {
        collected->records = control->end.records - control->written_records;
        if (control->written_units != 0) {
            collected->begin_units = control->written_units;
        }
        return true;
    }
    if (!etwas_pool_is_complete(collector->pool, commit)) {
        if (control->seen_ns == 0) {
            control->seen_ns = now_ns;
        }
        if (now_ns - control->seen_ns < patience_ns) {
            return false;
        }
        abandon(collector, collected);
    }
    return true;
}

bool etwas_collector_take(struct etwas_collector *collector, uint32_t slot, uint64_t now_ns,
                          uint64_t patience_ns, struct etwas_collected *collected)
{
    struct etwas_collector_list *list = &collector->lists[slot];

    if (list->head == ETWAS_NO_BUFFER) {
        if (!etwas_pool_is_rseq_slot(collector->pool, slot) ||
            !take_part(collector, slot, collected)) {
            return false;
        }
        ETWAS_INVARIANT(etwas_collected_is_valid(collector->pool, collected));
        return true;
    }
    if (!take_head(collector, slot, now_ns, patience_ns, collected)) {
        return false;
    }
    list->head = collector->pool->buffers[list->head].next_pending;
    if (list->head == ETWAS_NO_BUFFER) {
        list->tail = ETWAS_NO_BUFFER;
    }
    ETWAS_INVARIANT(etwas_collected_is_valid(collector->pool, collected));
    return true;
}

/* Events that a sequence stored: they count as recorded until they are lost. */
static void settle_rseq(struct etwas_collector *collector, const struct etwas_collected *collected,
                        enum etwas_outcome outcome)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];

    etwas_pool_settle_begin(pool);
    etwas_pool_settle_recorded(pool, collected->slot, outcome, collected->records);
    etwas_pool_settle_end(pool);
    if (collected->part) {
        control->written_units = collected->end_units;
        control->written_records += collected->records;
    } else {
        control->written_units = 0;
        control->written_records = 0;
        etwas_pool_release(pool, collected->buffer, collected->end_units);
    }
}

void etwas_collector_settle(struct etwas_collector *collector,
                            const struct etwas_collected *collected, enum etwas_outcome outcome)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];

    if (etwas_pool_is_rseq_slot(pool, collected->slot)) {
        settle_rseq(collector, collected, outcome);
        return;
    }
    etwas_pool_settle_begin(pool);
    etwas_pool_settle(pool, collected->slot, outcome, collected->records);
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
    uint32_t allocated = (uint32_t)ck_pr_load_64(&pool->words->allocated);

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
        etwas_pool_settle(pool, etwas_owner_slot(ck_pr_load_64(&pool->owners[buffer])),
                          ETWAS_OUTCOME_ABANDONED, etwas_commit_records(commit) - (set_aside - 1));
        ck_pr_store_32(&control->set_aside, 0);
        ck_pr_store_64(&control->commit, 0);
        etwas_pool_settle_end(pool);
        collector->set_aside_count--;
        etwas_pool_release(pool, buffer, control->end.units);
    }
}

bool etwas_collector_has_pending(const struct etwas_collector *collector)
{
    for (uint32_t slot = 0; slot < etwas_pool_used_slots(collector->pool); slot++) {
        if (collector->lists[slot].head != ETWAS_NO_BUFFER) {
            return true;
        }
    }
    return false;
}
