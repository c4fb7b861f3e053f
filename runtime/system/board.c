/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/board.h"

#include <errno.h>
#include <etwas/evntrace.h>
#include <stdlib.h>

#include "platform/processor.h"
#include "platform/thread.h"
#include "system/board_tags.h"
#include "system/inventory.h"

enum {
    LEAST_RING_BYTES = 512 << 10 /* what anybody may lock, as kernels are by default */
};

/* ---- what comes in --------------------------------------------------------------------------- */

static void take_sample(struct etwas_board *board, const struct etwas_merged *merged)
{
    uint32_t number = etwas_tag_topic(merged->event->tag);
    uint32_t source = etwas_tag_source(merged->event->tag);
    const struct etwas_topic_use *use = &board->uses[number];
    const struct etwas_source *origin = &etwas_topics[number]->sources[source];
    const struct etwas_taken taken = {.host = &board->host,
                                      .state = use->state,
                                      .sample = &merged->sample,
                                      .fields = use->fields[source],
                                      .slot = merged->feed->processor};
    bool good;

    board->walker.sample = &merged->sample;
    good = origin->take(&taken);
    board->walker.sample = NULL;
    if (etwas_source_is_counted(origin)) {
        board->taken += good;
    } else {
        board->closed.counted += !good;
    }
}

/* Every event of the sideband tells of FORK and EXIT, so it is asked of which one a record is. */
static void take_sideband(struct etwas_board *board, const struct etwas_merged *merged)
{
    uint32_t kind = etwas_sideband_of(merged->record->type) & merged->event->tag;
    struct etwas_sideband sideband;

    /* A record of another processor than its ring's makes no sense. */
    if (kind == 0 || !etwas_sideband_decode(merged->record, &sideband) ||
        sideband.origin.processor != merged->feed->processor) {
        return;
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        const struct etwas_topic *topic = etwas_topics[number];

        if (board->uses[number].is_open && (topic->sideband & kind) != 0) {
            topic->take_sideband(board->uses[number].state, &board->host, merged->feed->processor,
                                 &sideband);
        }
    }
}

/* What was lost stands in the ring before the record that is there now. */
static void tell_loss(struct etwas_board *board, struct etwas_feed *feed)
{
    if (feed->ring.lost == feed->lost_told) {
        return;
    }
    feed->lost_told = feed->ring.lost;
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->take_loss != NULL) {
            etwas_topics[number]->take_loss(board->uses[number].state, feed->processor);
        }
    }
}

void etwas_board_drain(struct etwas_board *board, int64_t until_ns)
{
    const struct etwas_merged *merged;

    etwas_merge_begin(&board->merge);
    while ((merged = etwas_merge_next(&board->merge, until_ns)) != NULL) {
        tell_loss(board, merged->feed);
        if (merged->event == NULL) {
            continue;
        }
        if (merged->record->type != PERF_RECORD_SAMPLE) {
            take_sideband(board, merged);
        } else if (merged->event->tag >= ETWAS_FIRST_SOURCE_TAG) {
            take_sample(board, merged);
        }
    }
    etwas_merge_end(&board->merge);
}

void etwas_board_run_down(struct etwas_board *board, bool is_end)
{
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->run_down != NULL) {
            etwas_topics[number]->run_down(board->uses[number].state, &board->host, is_end);
        }
    }
    if (!is_end && (board->host.flags & EVENT_TRACE_FLAG_NO_SYSCONFIG) == 0) {
        etwas_inventory_tell(ETWAS_INVENTORY_HERE, board->host.record, board->host.emitter);
    }
    board->has_run_down = true;
}

/* ---- accounts -------------------------------------------------------------------------------- */

/* As the rings say: to ask the events would interrupt every processor. */
uint64_t etwas_board_lost(const struct etwas_board *board)
{
    uint64_t lost = 0;

    for (uint32_t index = 0; index < board->merge.count; index++) {
        lost += board->merge.feeds[index].feed->ring.lost;
    }
    return lost;
}

static uint64_t lost_sideband(const struct etwas_board *board)
{
    uint64_t lost = board->closed.lost;

    for (uint32_t index = 0; index < board->merge.count; index++) {
        const struct etwas_feed *feed = board->merge.feeds[index].feed;

        for (uint32_t event = 0; event < feed->event_count; event++) {
            struct etwas_feed_totals totals;

            if (feed->events[event].tag < ETWAS_FIRST_SOURCE_TAG &&
                etwas_feed_totals(feed, feed->events[event].tag, &totals)) {
                lost += totals.lost;
            }
        }
    }
    return lost;
}

/* A ring says what it lost when it has room again and something happens, which may be never. */
static uint64_t signs_of_loss(const struct etwas_board *board)
{
    uint64_t signs = etwas_board_lost(board);

    for (uint32_t index = 0; index < board->merge.count; index++) {
        signs += board->merge.feeds[index].feed->ring.times_full;
    }
    return signs;
}

void etwas_board_find_lost(struct etwas_board *board, int64_t until_ns)
{
    uint64_t signs = signs_of_loss(board);
    uint64_t lost = board->lost_sideband;

    /* To ask the events interrupts every processor: not while there are no new signs. */
    if (signs != board->signs_of_loss) {
        board->signs_of_loss = signs;
        lost = lost_sideband(board);
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        struct etwas_topic_use *use = &board->uses[number];

        use->has_lost = use->has_lost || lost > board->lost_sideband;
        if (use->is_open && use->has_lost && etwas_topics[number]->find_lost != NULL) {
            use->has_lost = !etwas_topics[number]->find_lost(use->state, until_ns);
        }
    }
    board->lost_sideband = lost;
}

/*
 * With all rings read: of samples what the kernel counted and no topic took, which is right also for a
 * ring that was damaged; of the sideband and of intervals, which nobody counts, what the kernel says of
 * itself. Of intervals what was lost stands among what was counted, and nothing among what was taken.
 */
static uint64_t last_loss(const struct etwas_board *board)
{
    struct etwas_feed_totals sum = board->closed;

    for (uint32_t index = 0; index < board->merge.count; index++) {
        const struct etwas_feed *feed = board->merge.feeds[index].feed;

        for (uint32_t event = 0; event < feed->event_count; event++) {
            struct etwas_feed_totals totals;

            /* One that is closed may have the tag of one that is open. */
            if (feed->events[event].descriptor >= 0 &&
                etwas_feed_totals(feed, feed->events[event].tag, &totals)) {
                etwas_totals_add(&sum, feed->events[event].tag, &totals);
            }
        }
    }
    return sum.lost + sum.counted - board->taken;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void close_feeds(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_close(board->merge.feeds[index].feed);
        free(board->merge.feeds[index].feed);
    }
    board->merge.count = 0;
}

/* Of the processors that run. */
static bool open_feeds(struct etwas_board *board, size_t ring_bytes, struct etwas_fault *fault)
{
    struct etwas_merge *merge = &board->merge;

    for (uint32_t processor = 0; ring_bytes != 0 && processor < etwas_slot_count; processor++) {
        struct etwas_feed *feed = malloc(sizeof *feed);

        *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
        if (feed != NULL && etwas_feed_open(feed, processor, ring_bytes, fault)) {
            merge->feeds[merge->count++].feed = feed;
            continue;
        }
        free(feed);
        if (fault->error != ENODEV) {
            return false;
        }
    }
    return true;
}

bool etwas_board_open(struct etwas_board *board, struct etwas_emitter *emitter,
                      struct etwas_record *record, size_t ring_bytes, struct etwas_fault *fault)
{
    *board = (struct etwas_board){
        .host = {.emitter = &board->walker.emitter, .record = record},
        .own_thread = etwas_thread_ids().thread_id,
    };
    etwas_stack_walker_open(&board->walker, emitter);
    board->merge.feeds = calloc(etwas_slot_count, sizeof *board->merge.feeds);
    *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
    if (board->merge.feeds == NULL) {
        return false;
    }
    while (!open_feeds(board, ring_bytes, fault)) {
        if (!etwas_fault_is_room(fault) || ring_bytes <= LEAST_RING_BYTES) {
            return false;
        }
        close_feeds(board);
        ring_bytes /= 2;
    }
    return true;
}

void etwas_board_start(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_start(board->merge.feeds[index].feed);
    }
}

uint64_t etwas_board_stop(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_stop(board->merge.feeds[index].feed);
    }
    etwas_board_drain(board, INT64_MAX);
    return last_loss(board);
}

void etwas_board_shut(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_close(board->merge.feeds[index].feed);
    }
}

void etwas_board_free(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        free(board->merge.feeds[index].feed);
    }
    free(board->merge.feeds);
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->close != NULL) {
            etwas_topics[number]->close(board->uses[number].state);
        }
    }
}

void etwas_board_forget(struct etwas_board *board)
{
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_forget(board->merge.feeds[index].feed);
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->forget != NULL) {
            etwas_topics[number]->forget(board->uses[number].state);
        }
    }
}
