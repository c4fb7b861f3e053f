/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "buffer/pool_read.h"

#include <ck_pr.h>

#include "buffer/pool.h"
#include "buffer/record_walk.h"
#include "etl/record.h"

enum {
    /* A slot in which each attempt finds another current buffer is left alone. */
    SLOT_READS = 64,
};

struct etwas_pool_view etwas_pool_view_of(const struct etwas_pool *pool)
{
    return (struct etwas_pool_view){
        .slots = etwas_pool_slot(pool, 0),
        .slot_stride = sizeof(struct etwas_slot),
        .slot_count = pool->slot_count,
        .rseq_slots = pool->rseq_slots,
        .controls = pool->buffers,
        .control_stride = sizeof(struct etwas_buffer_control),
        .owners = pool->owners,
        .owners_after = pool->owners,
        .region = pool->memory.region,
        .buffer_bytes = pool->buffer_bytes,
        .buffer_count = etwas_pool_allocated(pool),
        .capacity = pool->region_buffers,
    };
}

/* ---- the words ------------------------------------------------------------------------------- */

static const struct etwas_slot *view_slot_at(const struct etwas_pool_view *view, uint32_t slot)
{
    const uint8_t *first = (const uint8_t *)view->slots;

    return (const struct etwas_slot *)(const void *)(first + slot * view->slot_stride);
}

static const struct etwas_buffer_control *view_control_at(const struct etwas_pool_view *view,
                                                          uint32_t buffer)
{
    const uint8_t *first = (const uint8_t *)view->controls;

    return (const struct etwas_buffer_control *)(const void *)(first +
                                                               buffer * view->control_stride);
}

static const uint8_t *view_buffer_at(const struct etwas_pool_view *view, uint32_t buffer)
{
    return view->region + (size_t)buffer * view->buffer_bytes;
}

static uint32_t view_buffer_units(const struct etwas_pool_view *view)
{
    return view->buffer_bytes / ETWAS_UNIT_BYTES;
}

/* Whether two owner words are of one claim, and the buffer has not been released. */
static bool owner_is_same_claim(uint64_t owner, uint64_t later)
{
    return etwas_owner_state(later) != ETWAS_OWNER_FREE &&
           etwas_owner_as(owner, ETWAS_OWNER_HELD) == etwas_owner_as(later, ETWAS_OWNER_HELD);
}

bool etwas_pool_read_is_unchanged(const struct etwas_pool_view *view,
                                  const struct etwas_found_buffer *found)
{
    ck_pr_fence_acquire(); /* the earlier reads are complete */
    return owner_is_same_claim(found->owner, ck_pr_load_64(&view->owners_after[found->buffer]));
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Moves one entry down to its position in a heap with the newest on top. */
static void held_list_sift(struct etwas_held_buffer *list, uint32_t at, uint32_t count)
{
    const struct etwas_held_buffer sinking = list[at];
    uint32_t child;

    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && list[child + 1].owner > list[child].owner) {
            child++;
        }
        if (list[child].owner <= sinking.owner) {
            break;
        }
        list[at] = list[child];
        at = child;
    }
    list[at] = sinking;
}

/* Sorts in place, since qsort allocates. Tickets are an owner word's highest bits. */
static void held_list_sort(struct etwas_held_buffer *list, uint32_t count)
{
    for (uint32_t at = count / 2; at > 0; at--) {
        held_list_sift(list, at - 1, count);
    }
    for (uint32_t left = count; left > 1; left--) {
        const struct etwas_held_buffer newest = list[0];

        list[0] = list[left - 1];
        list[left - 1] = newest;
        held_list_sift(list, 0, left - 1);
    }
}

uint32_t etwas_pool_read_list(const struct etwas_pool_view *view, struct etwas_held_buffer *list)
{
    uint32_t count = 0;

    for (uint32_t buffer = 0; buffer < view->buffer_count; buffer++) {
        uint64_t owner = ck_pr_load_64(&view->owners[buffer]);

        if (etwas_owner_state(owner) != ETWAS_OWNER_FREE) {
            list[count++] = (struct etwas_held_buffer){owner, buffer};
        }
    }
    held_list_sort(list, count);
    return count;
}

/* ---- a slot ---------------------------------------------------------------------------------- */

/* A slot at one moment. */
struct state {
    uint64_t word;
    uint64_t owner; /* of the current buffer; 0: there is none */
    uint32_t buffer;
    uint32_t next_buffer;
};

/*
 * Reads a slot whose current buffer is the same, under the same claim, before and after the next
 * buffer is read. So a buffer of the slot that had been claimed before is the next buffer at that
 * moment if `next_buffer` names it, and was current before if not. Returns false if the slot keeps
 * changing, or names an impossible buffer.
 */
static bool inspect_slot(const struct etwas_pool_view *view, uint32_t index, struct state *state)
{
    const struct etwas_slot *slot = view_slot_at(view, index);

    for (int attempt = 0; attempt < SLOT_READS; attempt++) {
        uint64_t before = 0;

        state->buffer = etwas_word_buffer(ck_pr_load_64(&slot->word));
        if (state->buffer != ETWAS_NO_BUFFER && state->buffer >= view->capacity) {
            continue;
        }
        ck_pr_fence_acquire(); /* pairs with the commit that made it current */
        if (state->buffer != ETWAS_NO_BUFFER) {
            before = ck_pr_load_64(&view->owners[state->buffer]);
        }
        state->next_buffer = ck_pr_load_32(&slot->next_buffer);
        ck_pr_fence_acquire();
        state->word = ck_pr_load_64(&slot->word);
        ck_pr_fence_acquire(); /* pairs with each commit: the records it counts are there */
        state->owner = before;
        if (etwas_word_buffer(state->word) == state->buffer &&
            (state->buffer == ETWAS_NO_BUFFER ||
             (etwas_owner_slot(before) == index &&
              owner_is_same_claim(before, ck_pr_load_64(&view->owners[state->buffer]))))) {
            return true;
        }
    }
    return false;
}

/* ---- the content of a buffer ----------------------------------------------------------------- */

static bool owner_is_held(uint64_t owner)
{
    return etwas_owner_state(owner) == ETWAS_OWNER_HELD;
}

static void inspect_full_buffer(const struct etwas_pool_view *view,
                                struct etwas_found_buffer *found)
{
    const struct etwas_buffer_end *end = &view_control_at(view, found->buffer)->end;

    found->limit_units = ck_pr_load_32(&end->units);
    found->committed = ck_pr_load_32(&end->records);
}

static enum etwas_pool_found inspect_in_rseq_slot(const struct etwas_pool_view *view,
                                                  const struct state *state,
                                                  struct etwas_found_buffer *found)
{
    if (found->is_current) {
        uint64_t count = etwas_word_count(state->word);

        found->limit_units = etwas_word_units(state->word);
        found->committed = count > found->limit_units ? UINT32_MAX : (uint32_t)count;
    } else if (owner_is_held(found->owner) &&
               owner_is_held(ck_pr_load_64(&view->owners_after[found->buffer])) &&
               state->next_buffer == found->buffer) {
        /* An unfinished claim may name a buffer that has been closed meanwhile. */
        return ETWAS_POOL_FOUND_NOTHING;
    } else {
        inspect_full_buffer(view, found);
    }
    if (found->limit_units < ETWAS_FIRST_UNIT || found->limit_units > view_buffer_units(view) ||
        found->committed > found->limit_units - ETWAS_FIRST_UNIT) {
        return ETWAS_POOL_FOUND_DAMAGED;
    }
    return found->limit_units != ETWAS_FIRST_UNIT ? ETWAS_POOL_FOUND_RECORDS
                                                  : ETWAS_POOL_FOUND_NOTHING;
}

static enum etwas_pool_found inspect_in_shared_slot(const struct etwas_pool_view *view,
                                                    const struct state *state,
                                                    struct etwas_found_buffer *found)
{
    uint64_t commit = ck_pr_load_64(&view_control_at(view, found->buffer)->commit);

    ck_pr_fence_acquire(); /* pairs with A1 of its writers: the records it counts are there */
    found->committed = etwas_commit_count(commit);
    found->is_abandoned = (commit & ETWAS_COMMIT_ABANDONED) != 0;
    if (!found->is_current && etwas_owner_state(found->owner) == ETWAS_OWNER_PINNED &&
        state->owner < found->owner) {
        return ETWAS_POOL_FOUND_CHANGED;
    }
    if (!found->is_current && commit == 0) {
        return ETWAS_POOL_FOUND_NOTHING;
    }
    found->limit_units =
        found->is_current ? etwas_word_units(state->word) : view_buffer_units(view);
    if (found->limit_units < ETWAS_FIRST_UNIT || found->limit_units > view_buffer_units(view) ||
        found->committed > view_buffer_units(view) - ETWAS_FIRST_UNIT) {
        return ETWAS_POOL_FOUND_DAMAGED;
    }
    return found->limit_units != ETWAS_FIRST_UNIT ? ETWAS_POOL_FOUND_RECORDS
                                                  : ETWAS_POOL_FOUND_NOTHING;
}

enum etwas_pool_found etwas_pool_read_inspect(const struct etwas_pool_view *view,
                                              const struct etwas_held_buffer *held,
                                              struct etwas_found_buffer *found)
{
    enum etwas_pool_found result;
    struct state state;

    *found = (struct etwas_found_buffer){
        .owner = held->owner,
        .buffer = held->buffer,
        .slot = etwas_owner_slot(held->owner),
        .limit_units = ETWAS_FIRST_UNIT,
        .begin_units = ETWAS_FIRST_UNIT,
        .end_units = ETWAS_FIRST_UNIT,
        .newest = INT64_MIN,
    };
    if (found->slot >= view->slot_count) {
        return ETWAS_POOL_FOUND_DAMAGED;
    }
    ck_pr_fence_acquire(); /* its claim was seen before everything that follows */
    if (!inspect_slot(view, found->slot, &state)) {
        return ETWAS_POOL_FOUND_CHANGED;
    }
    found->is_current = state.buffer == found->buffer;
    if (found->is_current && !owner_is_same_claim(found->owner, state.owner)) {
        return ETWAS_POOL_FOUND_CHANGED;
    }
    result = found->slot < view->rseq_slots ? inspect_in_rseq_slot(view, &state, found)
                                            : inspect_in_shared_slot(view, &state, found);
    return etwas_pool_read_is_unchanged(view, found) ? result : ETWAS_POOL_FOUND_CHANGED;
}

/* ---- its records ----------------------------------------------------------------------------- */

/* Returns the header size of a record with this marker; 0: the library writes no such record. */
static uint32_t record_header_bytes(uint32_t marker)
{
    if (marker >> 24 == ETWAS_ETL_MESSAGE_MARKER_FLAGS) {
        return sizeof(struct etwas_etl_message_header);
    }
    if (marker >> 24 != ETWAS_ETL_MARKER_FLAGS) {
        return 0;
    }
    switch ((uint8_t)(marker >> 16)) {
    case ETWAS_ETL_SYSTEM64:
        return sizeof(struct etwas_etl_system_header);
    case ETWAS_ETL_PERFINFO64:
        return sizeof(struct etwas_etl_perfinfo_header);
    case ETWAS_ETL_FULL_HEADER64:
        return sizeof(struct etwas_etl_full_header);
    case ETWAS_ETL_INSTANCE64:
        return sizeof(struct etwas_etl_instance_header);
    case ETWAS_ETL_EVENT_HEADER64:
        return sizeof(struct etwas_etl_event_header);
    default:
        return 0;
    }
}

/*
 * Returns the size in units of the record at `record`, of which `left` are present; 0: it is no
 * whole record. Its first eight bytes can be read.
 */
static uint32_t record_units(const uint8_t *record, uint32_t left)
{
    uint64_t first = ck_pr_load_64((const uint64_t *)(const void *)record);
    uint32_t marker = (uint32_t)first;
    uint16_t size =
        etwas_marker_is_kernel_event(marker) ? (uint16_t)(first >> 32) : (uint16_t)marker;
    uint32_t least = record_header_bytes(marker);
    uint32_t units = (uint32_t)etwas_etl_round_up_8(size) / ETWAS_UNIT_BYTES;

    return least != 0 && size >= least && units <= left ? units : 0;
}

/*
 * Returns the final size in units of a shared slot's record that its writer has not finished. 0: it
 * is none.
 */
static uint32_t reserved_units(const uint8_t *record, uint32_t left)
{
    uint32_t marker = etwas_record_marker(record);

    return etwas_marker_is_whole(marker) || marker > left ? 0 : marker;
}

/* A writer that has not even stored the size leaves zeroes up to the next record, or to the end. */
static uint32_t zero_units(const uint8_t *record, uint32_t left)
{
    const uint64_t *words = (const uint64_t *)(const void *)record;
    uint32_t units = 0;

    while (units < left && words[units] == 0) {
        units++;
    }
    return units;
}

/*
 * Copies word by word: other threads may write there, or poison it, meanwhile. ThreadSanitizer
 * would take the bytes of an unfinished record, which are not used, for a race.
 */
__attribute__((noinline, no_sanitize_address, no_sanitize_thread)) static void copy_units(
    uint64_t *to, const uint8_t *start, uint32_t limit)
{
    const volatile uint64_t *from = (const volatile uint64_t *)(const volatile void *)start;

    for (uint32_t unit = ETWAS_FIRST_UNIT; unit < limit; unit++) {
        to[unit - ETWAS_FIRST_UNIT] = from[unit];
        ck_pr_fence_acquire(); /* the bytes of a final marker: pairs with S1 */
    }
}

/*
 * Returns how many units to skip where there is no record, in a shared slot. A writer that
 * continues may have begun to write where zeroes were seen. Everything after them is unknown then.
 */
static uint32_t gap_units(const uint8_t *record, uint32_t left)
{
    uint32_t units = reserved_units(record, left);
    uint32_t zeroes;

    if (units != 0) {
        return units;
    }
    if (etwas_record_marker(record) == UINT32_MAX) { /* padded up to its end for the log file */
        return left;
    }
    zeroes = zero_units(record, left);
    record += (size_t)zeroes * ETWAS_UNIT_BYTES;
    return zeroes != 0 && zeroes < left && record_units(record, left - zeroes) == 0 &&
                   reserved_units(record, left - zeroes) == 0
               ? left
               : zeroes;
}

/*
 * A batch becomes visible with its first marker. A copy may have the zeroes of its first place and,
 * made a moment later, its other records. That place may lie behind zeroes of another writer.
 */
void etwas_pool_read_zeroes_again(uint8_t *records, uint32_t units,
                                  bool (*is_zero)(void *context, uint32_t unit), void *context)
{
    const uint32_t unknown = UINT32_MAX;
    uint32_t at = 0;

    while (at < units) {
        uint8_t *record = records + (size_t)at * ETWAS_UNIT_BYTES;
        uint32_t its = record_units(record, units - at);

        if (its == 0) {
            its = reserved_units(record, units - at);
        }
        if (its == 0) {
            its = zero_units(record, units - at);
            if (its == 0 || its == units - at) {
                return; /* there is nothing behind it */
            }
            for (uint32_t unit = at; unit < at + its; unit++) {
                if (!is_zero(context, unit)) {
                    memcpy(records + (size_t)unit * ETWAS_UNIT_BYTES, &unknown, sizeof unknown);
                    return;
                }
            }
        }
        at += its;
    }
}

/* Read as copy_units reads: a writer may store there meanwhile. */
__attribute__((noinline, no_sanitize_address, no_sanitize_thread)) static bool zero_is_live(
    void *context, uint32_t unit)
{
    const volatile uint64_t *words = context;

    return words[unit] == 0;
}

/* Counts a record. One after begin_units moves to the end of the record before it. */
static void found_add_record(struct etwas_found_buffer *found, uint8_t *copy, uint32_t at,
                             uint32_t units)
{
    uint8_t *record = copy + (size_t)(at - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES;
    int64_t stamp = found->newest;

    if (at < found->begin_units) {
        found->before++;
        return;
    }
    etwas_record_read_stamp(record, units, &stamp);
    if (stamp > found->newest) {
        found->newest = stamp;
    }
    found->records++;
    memmove(copy + (size_t)(found->end_units - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES, record,
            (size_t)units * ETWAS_UNIT_BYTES);
    found->end_units += units;
}

/*
 * Returns false if a record in it is impossible, or begin_units is inside one. A record that
 * contradicts itself, which no reader would deliver, costs only itself.
 */
static bool found_walk_records(struct etwas_found_buffer *found, uint8_t *copy, uint32_t limit,
                               bool has_gaps)
{
    uint32_t at = ETWAS_FIRST_UNIT;
    bool makes_sense = true;

    found->end_units = found->begin_units;
    while (at < limit) {
        const uint8_t *record = copy + (size_t)(at - ETWAS_FIRST_UNIT) * ETWAS_UNIT_BYTES;
        uint32_t units = record_units(record, limit - at);
        uint32_t gap = units == 0 && has_gaps ? gap_units(record, limit - at) : 0;

        if (units + gap == 0 ||
            (at < found->begin_units && at + units + gap > found->begin_units)) {
            return false;
        }
        if (units != 0 && etwas_record_is_event(record)) {
            found_add_record(found, copy, at, units);
        } else {
            makes_sense = makes_sense && units == 0;
        }
        at += units + gap;
    }
    return makes_sense && at >= found->begin_units;
}

/*
 * Whether a shared slot's buffer is being drained: its records are cleared after the commit word.
 */
static bool found_is_cleared(const struct etwas_pool_view *view,
                             const struct etwas_found_buffer *found)
{
    uint64_t commit = ck_pr_load_64(&view_control_at(view, found->buffer)->commit);

    return commit == 0 &&
           etwas_word_buffer(ck_pr_load_64(&view_slot_at(view, found->slot)->word)) !=
               found->buffer;
}

/* In a copy of a pool that was in use the bytes may be of a later claim than the words say. */
static bool bytes_are_of_claim(const uint8_t *start, uint64_t owner)
{
    uint64_t repeated = ck_pr_load_64((const uint64_t *)(const void *)start);

    return !owner_is_held(repeated) || owner_is_same_claim(owner, repeated);
}

enum etwas_pool_found etwas_pool_read_records(const struct etwas_pool_view *view,
                                              struct etwas_found_buffer *found, void *to)
{
    bool is_shared = found->slot >= view->rseq_slots;
    const uint8_t *start = view_buffer_at(view, found->buffer);
    uint32_t limit = found->limit_units;

    copy_units(to, start, limit);
    ck_pr_fence_acquire();
    if (is_shared) {
        etwas_pool_read_zeroes_again(to, limit - ETWAS_FIRST_UNIT, zero_is_live,
                                     (uint64_t *)(uintptr_t)start + ETWAS_FIRST_UNIT);
        ck_pr_fence_acquire();
    }
    if ((is_shared && found_is_cleared(view, found)) || !bytes_are_of_claim(start, found->owner) ||
        !etwas_pool_read_is_unchanged(view, found)) {
        return ETWAS_POOL_FOUND_CHANGED;
    }
    if (!found_walk_records(found, to, limit, is_shared)) {
        return ETWAS_POOL_FOUND_DAMAGED;
    }
    return found->records != 0 ? ETWAS_POOL_FOUND_RECORDS : ETWAS_POOL_FOUND_NOTHING;
}
