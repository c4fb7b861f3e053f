/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "buffer/collect.h"

#include <ck_pr.h>

#include "buffer/current.h"
#include "buffer/pool_claim.h"
#include "buffer/pool_count.h"
#include "buffer/record_walk.h"
#include "buffer/valid.h"
#include "platform/testpoint.h"

void etwas_collector_reset(struct etwas_collector *collector)
{
    for (uint32_t slot = 0; slot < collector->slot_count; slot++) {
        collector->lists[slot] = (struct etwas_collector_list){
            .last_current = ETWAS_NO_BUFFER, .head = ETWAS_NO_BUFFER, .tail = ETWAS_NO_BUFFER};
    }
    collector->set_aside_count = 0;
}

/* ---- checks of a shared session's mapping ---------------------------------------------------- */

/*
 * Closes the gate of a slot with an impossible state. The records that it has stored and that have
 * not been drained are lost, and their number is unknown. Does nothing in a session that is not
 * shared.
 */
static void quarantine_slot(struct etwas_collector *collector, uint32_t slot)
{
    struct etwas_pool *pool = collector->pool;

    if (pool->is_shared && pool->damage.is_quarantined[slot] == 0) {
        ck_pr_store_32(&etwas_pool_slot(pool, slot)->gate, 0);
        collector->lists[slot].part = 0;
        etwas_pool_account_begin(pool);
        ck_pr_store_8(&pool->damage.is_quarantined[slot], 1);
        ck_pr_add_64(&pool->damage.stored, collector->lists[slot].collected);
        ck_pr_inc_64(&pool->damage.slots);
        etwas_pool_account_end(pool);
    }
}

/*
 * Whether a word may name the slot's current buffer: the slot owns it, and its records end inside
 * it.
 */
static bool list_may_hold_current(const struct etwas_collector *collector, uint32_t slot,
                                  uint64_t word)
{
    const struct etwas_pool *pool = collector->pool;
    uint32_t buffer = etwas_word_buffer(word);
    uint64_t owner;

    if (!pool->is_shared) {
        return true;
    }
    if (!etwas_pool_has_buffer(pool, buffer) || !etwas_pool_is_end(pool, etwas_word_units(word)) ||
        collector->entries[buffer].is_listed) {
        return false;
    }
    owner = ck_pr_load_64(&pool->owners[buffer]);
    return etwas_owner_slot(owner) == slot && etwas_owner_state(owner) != ETWAS_OWNER_FREE;
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void list_append(struct etwas_collector *collector, struct etwas_collector_list *list,
                        uint32_t buffer)
{
    collector->entries[buffer].is_listed = true;
    collector->entries[buffer].next = ETWAS_NO_BUFFER;
    if (list->tail == ETWAS_NO_BUFFER) {
        list->head = buffer;
    } else {
        collector->entries[list->tail].next = buffer;
    }
    list->tail = buffer;
}

static void list_store_end(struct etwas_collector *collector, uint32_t buffer, uint32_t end_units,
                           int64_t newest)
{
    struct etwas_buffer_control *control = &collector->pool->buffers[buffer];
    struct etwas_collector_buffer *entry = &collector->entries[buffer];

    control->end.units = end_units;
    control->end.newest = newest;
    entry->end_units = end_units;
    entry->newest = newest;
    entry->gathered_ns = collector->now_ns;
}

/*
 * Finds where a full buffer ended. A sequence of an rseq slot stored that in the buffer itself.
 * Returns false if the value is impossible.
 */
static bool list_read_end(struct etwas_collector *collector, uint32_t slot, uint32_t buffer,
                          const struct etwas_buffer_link *successor)
{
    struct etwas_pool *pool = collector->pool;
    bool is_rseq = etwas_pool_is_rseq_slot(pool, slot);
    const struct etwas_buffer_end *end = &pool->buffers[buffer].end;
    uint32_t units = is_rseq ? ck_pr_load_32(&end->units) : successor->previous_end_units;
    int64_t newest = is_rseq ? (int64_t)ck_pr_load_64((const uint64_t *)&end->newest)
                             : successor->previous_newest;

    if (!etwas_pool_is_end(pool, units) || collector->entries[buffer].is_listed ||
        (pool->is_shared && !etwas_owner_is_held_by(ck_pr_load_64(&pool->owners[buffer]), slot))) {
        return false;
    }
    list_store_end(collector, buffer, units, newest);
    return true;
}

/*
 * Takes the current buffer out of the slot. Returns ETWAS_NO_BUFFER if there is none, or if it is
 * empty and may stay. The slot's word is exchanged for an empty one, so a writer needs a new buffer
 * only if it comes back to this processor. To shut a slot, a word without a buffer is exchanged,
 * too: a slow-path writer that read it before the gate closed can then install nothing.
 */
static uint32_t close_shared_slot(struct etwas_collector *collector, uint32_t index,
                                  enum etwas_collector_scope scope)
{
    struct etwas_slot *slot = etwas_pool_slot(collector->pool, index);

    for (;;) {
        uint64_t word = ck_pr_load_64(&slot->word);
        uint32_t buffer = etwas_word_buffer(word);
        uint32_t end_units = etwas_word_units(word);
        int64_t newest;

        if (scope != ETWAS_COLLECT_SHUT &&
            (buffer == ETWAS_NO_BUFFER || end_units == ETWAS_FIRST_UNIT)) {
            return ETWAS_NO_BUFFER;
        }
        if (buffer != ETWAS_NO_BUFFER && !list_may_hold_current(collector, index, word)) {
            if (ck_pr_load_64(&slot->word) != word) {
                continue;
            }
            quarantine_slot(collector, index);
            return ETWAS_NO_BUFFER;
        }
        ck_pr_fence_acquire();
        newest = (int64_t)ck_pr_load_64(&slot->newest);
        if (!ck_pr_cas_64(&slot->word, word, etwas_word_empty(word))) {
            continue;
        }
        ck_pr_fence_acquire();
        if (buffer != ETWAS_NO_BUFFER) {
            list_store_end(collector, buffer, end_units, newest);
            etwas_pool_retire(collector->pool, buffer, end_units);
        }
        return buffer;
    }
}

/*
 * Appends the buffers before `buffer`, back to the one that was current at the last pass, to the
 * list, oldest first. Returns false, with nothing appended, if a link is impossible.
 */
static bool list_append_chain(struct etwas_collector *collector, uint32_t slot, uint32_t buffer)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    struct etwas_pool *pool = collector->pool;
    uint32_t left = pool->region_buffers;
    uint32_t chain = ETWAS_NO_BUFFER;

    while (buffer != list->last_current) {
        const struct etwas_buffer_link link = pool->buffers[buffer].link;

        if (link.previous == ETWAS_NO_BUFFER) {
            break;
        }
        if (!etwas_pool_has_buffer(pool, link.previous) || left-- == 0 ||
            !list_read_end(collector, slot, link.previous, &link)) {
            quarantine_slot(collector, slot);
            return false;
        }
        collector->entries[link.previous].is_listed = true; /* no link leads here again */
        collector->entries[link.previous].next = chain;
        chain = link.previous;
        buffer = link.previous;
    }
    while (chain != ETWAS_NO_BUFFER) {
        uint32_t next = collector->entries[chain].next;

        list_append(collector, list, chain);
        chain = next;
    }
    return true;
}

static void gather_shared_slot(struct etwas_collector *collector, uint32_t slot,
                               enum etwas_collector_scope scope)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    uint32_t closed = ETWAS_NO_BUFFER;
    uint32_t current;
    uint64_t word;

    if (scope != ETWAS_COLLECT_FULL) {
        closed = close_shared_slot(collector, slot, scope);
    }
    if (closed != ETWAS_NO_BUFFER) {
        if (!list_append_chain(collector, slot, closed)) {
            return;
        }
        list->last_current = ETWAS_NO_BUFFER;
        if (collector->entries[closed].end_units == ETWAS_FIRST_UNIT) {
            etwas_pool_release(collector->pool, closed, ETWAS_FIRST_UNIT);
        } else {
            list_append(collector, list, closed);
        }
        return;
    }
    word = ck_pr_load_64(&etwas_pool_slot(collector->pool, slot)->word);
    current = etwas_word_buffer(word);
    /* Acquires what its installer stored in it and in the earlier ones: pairs with X3. */
    ck_pr_fence_acquire();
    if (current == ETWAS_NO_BUFFER || etwas_pool_is_quarantined(collector->pool, slot)) {
        return;
    }
    if (!list_may_hold_current(collector, slot, word)) {
        quarantine_slot(collector, slot);
    } else if (list_append_chain(collector, slot, current)) {
        list->last_current = current;
    }
}

/*
 * Takes the current buffer out of a slot in which no sequence can commit any more, and stores the
 * slot's sums. They are in the buffer's link until the word says that there is no buffer, and in
 * the slot itself from then on. So they are right at every moment, also for a process that reads
 * the memory of one that was killed here.
 */
static uint32_t shut_rseq_slot(struct etwas_collector *collector, uint32_t slot_index)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_slot *slot = etwas_pool_slot(pool, slot_index);
    uint64_t word = ck_pr_load_64(&slot->word);
    uint32_t buffer = etwas_word_buffer(word);
    struct etwas_buffer_control *control;

    if (buffer == ETWAS_NO_BUFFER || etwas_pool_is_quarantined(pool, slot_index)) {
        return ETWAS_NO_BUFFER;
    }
    if (!list_may_hold_current(collector, slot_index, word)) {
        quarantine_slot(collector, slot_index);
        return ETWAS_NO_BUFFER;
    }
    ck_pr_fence_acquire();
    control = &pool->buffers[buffer];
    list_store_end(collector, buffer, etwas_word_units(word),
                   (int64_t)ck_pr_load_64(&slot->newest));
    control->end.records = (uint32_t)etwas_word_count(word);
    ck_pr_store_64(&slot->counters.shut_stored,
                   control->link.stored_before + etwas_word_count(word));
    ck_pr_store_64(&slot->counters.shut_overwritten, control->link.overwritten_before);
    if (ck_pr_load_32(&slot->next_buffer) == buffer) {
        /* A next buffer that is not current contains nothing: buffer/pool_read.h. */
        ck_pr_store_32(&slot->next_buffer, ETWAS_NO_BUFFER);
    }
    /*
     * End, next buffer and sums are stored before the word: pairs with readers of the pool from
     * outside, and with etwas_current_read.
     */
    ck_pr_fence_release();
    ck_pr_store_64(&slot->word, etwas_word_none());
    return buffer;
}

static void gather_rseq_slot(struct etwas_collector *collector, uint32_t slot,
                             enum etwas_collector_scope scope)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    const struct etwas_slot *source = etwas_pool_slot(collector->pool, slot);

    list->part = 0;
    if (scope == ETWAS_COLLECT_SHUT && collector->fenced) {
        uint32_t shut = shut_rseq_slot(collector, slot);

        if (shut != ETWAS_NO_BUFFER && list_append_chain(collector, slot, shut)) {
            list_append(collector, list, shut);
            list->last_current = ETWAS_NO_BUFFER;
        }
    } else {
        /* Acquires the links, ends and records of the chain, and of the part. */
        struct etwas_current current = etwas_current_read(source, collector->pool);

        if (current.buffer == ETWAS_NO_BUFFER) {
            return;
        }
        if (!list_may_hold_current(collector, slot, current.word)) {
            quarantine_slot(collector, slot);
            return;
        }
        if (!list_append_chain(collector, slot, current.buffer)) {
            return;
        }
        list->last_current = current.buffer;
        if (scope != ETWAS_COLLECT_FULL) {
            list->part = current.word;
            ETWAS_TESTPOINT(ETWAS_POINT_COLLECT_LOOKED);
        }
    }
}

void etwas_collector_gather(struct etwas_collector *collector, uint32_t slot,
                            enum etwas_collector_scope scope)
{
    ETWAS_INVARIANT(etwas_pool_is_valid(collector->pool));
    if (etwas_pool_is_quarantined(collector->pool, slot)) {
        return;
    }
    if (etwas_pool_is_rseq_slot(collector->pool, slot)) {
        gather_rseq_slot(collector, slot, scope);
    } else {
        gather_shared_slot(collector, slot, scope);
    }
}

void etwas_collector_shut(struct etwas_collector *collector, uint32_t slot)
{
    if (!etwas_pool_is_rseq_slot(collector->pool, slot)) {
        (void)close_shared_slot(collector, slot, ETWAS_COLLECT_SHUT);
    } else if (collector->fenced) {
        (void)shut_rseq_slot(collector, slot);
    }
}

void etwas_collect_prefix(const struct etwas_pool *pool, uint32_t limit_units,
                          struct etwas_collected *collected)
{
    const struct etwas_record_prefix prefix = etwas_record_walk(
        etwas_pool_buffer(pool, collected->buffer) + ETWAS_ETL_BUFFER_HEADER_BYTES,
        limit_units - ETWAS_FIRST_UNIT, &collected->newest);

    collected->records = prefix.records;
    collected->end_units = ETWAS_FIRST_UNIT + prefix.units;
}

/* Abandons a buffer whose commits are missing. The whole records before the first hole stay. */
static void abandon_buffer(struct etwas_collector *collector, struct etwas_collected *collected)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];
    struct etwas_collector_buffer *entry = &collector->entries[collected->buffer];

    /* From here on late writers find the mark and report their events lost. */
    (void)ck_pr_faa_64(&control->commit, ETWAS_COMMIT_ABANDONED);
    etwas_collect_prefix(pool, entry->end_units, collected);
    collected->abandoned = true;
    entry->is_kept = true;
    entry->set_aside = collected->records + 1;
    etwas_pool_account_begin(pool);
    ck_pr_store_32(&control->kept, collected->records);
    ck_pr_store_32(&control->set_aside, entry->set_aside);
    etwas_pool_account_end(pool);
    collector->set_aside_count++;
}

/*
 * Returns the last stamp of a collected part, which is the newest; INT64_MIN: no record has one.
 * The slot's newest stamp may already be later than the records of the part.
 */
static int64_t collect_newest_of_part(const struct etwas_pool *pool,
                                      const struct etwas_collected *collected)
{
    const uint8_t *start = etwas_pool_buffer(pool, collected->buffer);
    uint32_t units = collected->begin_units;
    int64_t newest = INT64_MIN;

    for (uint32_t left = collected->records; left > 0 && units < collected->end_units; left--) {
        const uint8_t *record = start + (size_t)units * ETWAS_UNIT_BYTES;
        uint32_t its = etwas_record_next_units(record, collected->end_units - units);

        if (its == 0) {
            break;
        }
        etwas_record_read_stamp(record, its, &newest);
        units += its;
    }
    return newest;
}

/* Collects for a flush the new part of the buffer that is still current. */
static bool collect_part(struct etwas_collector *collector, uint32_t slot,
                         struct etwas_collected *collected)
{
    struct etwas_collector_list *list = &collector->lists[slot];
    uint32_t buffer = etwas_word_buffer(list->part);
    uint64_t word = list->part;
    const struct etwas_collector_buffer *entry;

    list->part = 0;
    if (word == 0) {
        return false;
    }
    entry = &collector->entries[buffer];
    if (etwas_word_count(word) == entry->written_records) {
        return false;
    }
    if (etwas_word_count(word) < entry->written_records ||
        etwas_word_count(word) > etwas_word_units(word) ||
        etwas_word_units(word) < entry->written_units) {
        quarantine_slot(collector, slot);
        return false;
    }
    *collected = (struct etwas_collected){
        .buffer = buffer,
        .slot = slot,
        .begin_units = entry->written_units != 0 ? entry->written_units : ETWAS_FIRST_UNIT,
        .end_units = etwas_word_units(word),
        .records = (uint32_t)etwas_word_count(word) - entry->written_records,
        .part = true,
    };
    collected->newest = collect_newest_of_part(collector->pool, collected);
    return true;
}

/*
 * Leaves those records of an rseq slot's full buffer that no flush has written. If the mapping
 * contradicts that, it leaves nothing: the rest is lost.
 */
static void collect_rest(struct etwas_collector *collector, struct etwas_collected *collected)
{
    const struct etwas_collector_buffer *entry = &collector->entries[collected->buffer];
    uint32_t records = ck_pr_load_32(&collector->pool->buffers[collected->buffer].end.records);

    if (entry->written_units != 0) {
        collected->begin_units = entry->written_units;
    }
    if (collected->begin_units > collected->end_units || records < entry->written_records ||
        records > collected->end_units) {
        quarantine_slot(collector, collected->slot);
        collected->begin_units = collected->end_units;
        records = entry->written_records;
    }
    collected->records = records - entry->written_records;
}

/*
 * Collects the head of the list. Returns false if it is not complete yet and its timeout has not
 * passed.
 */
static bool collect_head(struct etwas_collector *collector, uint32_t slot, uint64_t timeout_ns,
                         struct etwas_collected *collected)
{
    uint32_t head = collector->lists[slot].head;
    const struct etwas_collector_buffer *entry = &collector->entries[head];
    uint64_t commit = ck_pr_load_64(&collector->pool->buffers[head].commit);

    ck_pr_fence_acquire(); /* pairs with A1 of every writer */
    *collected = (struct etwas_collected){
        .buffer = head,
        .slot = slot,
        .begin_units = ETWAS_FIRST_UNIT,
        .end_units = entry->end_units,
        .records = etwas_commit_count(commit),
        .newest = entry->newest,
    };
    if (etwas_pool_is_rseq_slot(collector->pool, slot)) {
        collect_rest(collector, collected);
        return true;
    }
    if (!etwas_pool_is_complete(collector->pool, commit)) {
        if (collector->now_ns - entry->gathered_ns < timeout_ns) {
            return false;
        }
        abandon_buffer(collector, collected);
    }
    return true;
}

bool etwas_collector_pop(struct etwas_collector *collector, uint32_t slot, uint64_t timeout_ns,
                         struct etwas_collected *collected)
{
    struct etwas_collector_list *list = &collector->lists[slot];

    if (list->head == ETWAS_NO_BUFFER) {
        if (!etwas_pool_is_rseq_slot(collector->pool, slot) ||
            !collect_part(collector, slot, collected)) {
            return false;
        }
        ETWAS_INVARIANT(etwas_collected_is_valid(collector->pool, collected));
        return true;
    }
    if (!collect_head(collector, slot, timeout_ns, collected)) {
        return false;
    }
    collector->entries[list->head].is_listed = false;
    list->head = collector->entries[list->head].next;
    if (list->head == ETWAS_NO_BUFFER) {
        list->tail = ETWAS_NO_BUFFER;
    }
    ETWAS_INVARIANT(etwas_collected_is_valid(collector->pool, collected));
    return true;
}

/* Accounts for events that sequences stored: they count as recorded until they are lost. */
static void account_rseq_buffer(struct etwas_collector *collector,
                                const struct etwas_collected *collected,
                                enum etwas_disposition disposition)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_collector_buffer *entry = &collector->entries[collected->buffer];

    collector->lists[collected->slot].collected += collected->records;
    etwas_pool_account_begin(pool);
    if (etwas_pool_is_quarantined(pool, collected->slot)) {
        ck_pr_add_64(&pool->damage.stored, collected->records);
    }
    etwas_pool_account_recorded(pool, collected->slot, disposition, collected->records);
    etwas_pool_account_end(pool);
    entry->written_units = collected->part ? collected->end_units : 0;
    entry->written_records = collected->part ? entry->written_records + collected->records : 0;
    etwas_control_set_written(&pool->buffers[collected->buffer],
                              etwas_owner_ticket(ck_pr_load_64(&pool->owners[collected->buffer])),
                              collected->end_units);
    if (!collected->part) {
        etwas_pool_release(pool, collected->buffer, collected->end_units);
    }
}

void etwas_collector_account(struct etwas_collector *collector,
                             const struct etwas_collected *collected,
                             enum etwas_disposition disposition)
{
    struct etwas_pool *pool = collector->pool;
    struct etwas_buffer_control *control = &pool->buffers[collected->buffer];

    if (etwas_pool_is_rseq_slot(pool, collected->slot)) {
        account_rseq_buffer(collector, collected, disposition);
        return;
    }
    etwas_pool_account_begin(pool);
    etwas_pool_account(pool, collected->slot, disposition, collected->records);
    if (collected->abandoned) {
        collector->entries[collected->buffer].is_kept = false;
        ck_pr_store_32(&control->kept, 0);
    } else {
        ck_pr_store_64(&control->commit, 0);
    }
    etwas_pool_account_end(pool);
    if (!collected->abandoned) {
        etwas_pool_release(pool, collected->buffer, collected->end_units);
    }
}

void etwas_collector_reclaim(struct etwas_collector *collector)
{
    struct etwas_pool *pool = collector->pool;
    uint32_t allocated = etwas_pool_allocated(pool);

    for (uint32_t buffer = 0; collector->set_aside_count != 0 && buffer < allocated; buffer++) {
        struct etwas_buffer_control *control = &pool->buffers[buffer];
        struct etwas_collector_buffer *entry = &collector->entries[buffer];
        uint64_t commit = ck_pr_load_64(&control->commit);
        uint32_t records = etwas_commit_count(commit);
        uint32_t whole = entry->set_aside - 1;

        if (entry->set_aside == 0 || entry->is_kept || !etwas_pool_is_complete(pool, commit)) {
            continue;
        }
        ck_pr_fence_acquire(); /* pairs with A1 of the late writers */
        etwas_pool_account_begin(pool);
        etwas_pool_account(pool, etwas_owner_slot(ck_pr_load_64(&pool->owners[buffer])),
                           ETWAS_DISPOSITION_ABANDONED, records > whole ? records - whole : 0);
        entry->set_aside = 0;
        ck_pr_store_32(&control->set_aside, 0);
        ck_pr_store_64(&control->commit, 0);
        etwas_pool_account_end(pool);
        collector->set_aside_count--;
        etwas_pool_release(pool, buffer, entry->end_units);
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
