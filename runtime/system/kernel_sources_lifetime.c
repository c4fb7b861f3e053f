/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How a board begins and ends, and its accounts: what is done seldom.
 */
#include <errno.h>
#include <stdlib.h>

#include "clock/clock.h"
#include "etl/own_record.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "system/kernel_sources.h"
#include "system/kernel_sources_events.h"
#include "system/stream/source_tags.h"

enum {
    LEAST_RING_BYTES = 512 << 10, /* what anybody may lock, as kernels are by default */
    LAST_LOOKS = 2,
};

/* ---- accounts -------------------------------------------------------------------------------- */

void etwas_board_record_loss(struct etwas_board *board, uint32_t processor, uint64_t events,
                             int64_t from_ns, int64_t until_ns)
{
    const struct etwas_etl_kernel_loss loss = {
        .version = ETWAS_ETL_ACCOUNT_VERSION,
        .cause = events == 0 ? ETWAS_ETL_KERNEL_LOSS_OFF : ETWAS_ETL_KERNEL_LOSS_NO_ROOM,
        .events = events,
        .from_raw = from_ns == 0 ? 0 : etwas_emit_stamp(board->host.emitter, from_ns),
        .until_raw = etwas_emit_stamp(board->host.emitter, until_ns),
    };

    etwas_record_begin_class(board->host.record, &etwas_etl_own_class, ETWAS_ETL_KERNEL_LOSS_TYPE,
                             ETWAS_ETL_ACCOUNT_VERSION);
    etwas_record_put(board->host.record, &loss, sizeof loss);
    etwas_emit(board->host.emitter, processor, etwas_record_end(board->host.record), until_ns);
}

/* As the rings say: to ask the events would interrupt every processor. */
uint64_t etwas_board_lost(const struct etwas_board *board)
{
    uint64_t lost = board->closed_lost;

    for (uint32_t index = 0; index < board->merge.count; index++) {
        lost += board->merge.feeds[index].feed->ring.lost;
    }
    return lost;
}

/* Of what there is; how much was sent nobody can find out by looking. */
static uint64_t lost_sideband(const struct etwas_board *board)
{
    uint64_t lost = 0;

    for (uint32_t index = 0; index < board->merge.count; index++) {
        const struct etwas_feed *feed = board->merge.feeds[index].feed;

        for (uint32_t kind = 1; kind < ETWAS_SIDEBAND_LENGTHS; kind <<= 1) {
            struct etwas_feed_totals totals;

            lost += etwas_account_of(&board->accounts, feed->processor, kind)->lost;
            lost += etwas_feed_totals(feed, kind, &totals) ? totals.lost : 0;
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
    bool is_more;

    /* To ask the events interrupts every processor: not while there are no new signs. */
    if (signs != board->signs_of_loss) {
        board->signs_of_loss = signs;
        lost = lost_sideband(board);
    }
    is_more = lost > board->lost_sideband;
    board->lost_sideband = lost;
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        struct etwas_topic_use *use = &board->uses[number];

        use->has_lost = use->has_lost || is_more;
        /* What is settled now was looked at before that was lost. */
        if (use->is_open && use->has_lost && etwas_topics[number]->find_lost != NULL) {
            etwas_board_speak_for(board, number);
            use->has_lost = !etwas_topics[number]->find_lost(use->state, until_ns) || is_more;
        }
    }
    etwas_board_speak_freely(board);
}

/* With its ring read, where nothing happens any more. Only its events know of what was lost behind its last record. */
void etwas_board_add_last_counts(struct etwas_board *board, const struct etwas_feed *feed)
{
    uint64_t lost = etwas_feed_lost(feed);

    for (uint32_t event = 0; event < feed->event_count; event++) {
        struct etwas_feed_totals totals;

        /* One that is closed may have the tag of one that is open. */
        if (feed->events[event].descriptor >= 0) {
            totals = etwas_feed_event_totals(&feed->events[event]);
            etwas_accounts_add(&board->accounts, feed->processor, feed->events[event].tag, &totals);
        }
    }
    etwas_account_of(&board->accounts, feed->processor, ETWAS_FEED_OWNER)->is_damaged |=
        feed->ring.is_damaged;
    if (lost > feed->lost_told) {
        etwas_board_record_loss(board, feed->processor, lost - feed->lost_told, feed->read_ns,
                                etwas_clock_qpc());
    }
}

void etwas_board_tell_accounts(struct etwas_board *board)
{
    etwas_accounts_tell(&board->accounts, board->host.record, board->host.emitter);
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
    uint32_t thread = board->host.own_process != 0 ? board->own_thread : 0;

    for (uint32_t processor = 0; ring_bytes != 0 && processor < etwas_slot_count; processor++) {
        struct etwas_feed *feed = malloc(sizeof *feed);

        *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
        if (feed != NULL && etwas_feed_open(feed, processor, thread, ring_bytes, fault)) {
            merge->feeds[merge->count++].feed = feed;
            continue;
        }
        free(feed);
        if (fault->error != ENODEV) {
            return false;
        }
        board->away_since_ns[processor] = ETWAS_BOARD_NEVER_THERE;
    }
    board->ring_bytes = ring_bytes;
    return true;
}

bool etwas_board_open(struct etwas_board *board, const struct etwas_board_wish *wish,
                      struct etwas_fault *fault)
{
    size_t ring_bytes = wish->ring_bytes;

    *board = (struct etwas_board){
        .host = {.emitter = &board->walker.emitter,
                 .record = wish->record,
                 .own_process = wish->own_process,
                 .rundown_only = ring_bytes == 0,
                 .pause = wish->pause},
        .own_thread = etwas_thread_ids().thread_id,
    };
    etwas_board_begin_probes(board);
    etwas_kernel_addresses_open(&board->addresses, wish->emitter);
    etwas_stack_walker_open(&board->walker, &board->addresses.emitter);
    board->merge.feeds = calloc(etwas_slot_count, sizeof *board->merge.feeds);
    board->away_since_ns = calloc(etwas_slot_count, sizeof *board->away_since_ns);
    *fault = (struct etwas_fault){ETWAS_FAULT_RING, ENOMEM};
    if (!etwas_accounts_open(&board->accounts) ||
        !etwas_thread_numbers_open(&board->host.numbers) || board->merge.feeds == NULL ||
        board->away_since_ns == NULL) {
        return false;
    }
    board->accounts.is_own = wish->own_process != 0;
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
    etwas_board_drain_to_now(board); /* what is found out by looking is settled by the last drain */
    etwas_board_find_gone(board);
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_stop(board->merge.feeds[index].feed);
    }
    etwas_board_drain(board, INT64_MAX);
    /* Twice: it may have been looked before the last was lost. What is missed then, finish tells. */
    for (uint32_t look = 0; look < LAST_LOOKS; look++) {
        etwas_board_find_lost(board, INT64_MAX);
    }
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_board_add_last_counts(board, board->merge.feeds[index].feed);
    }
    etwas_board_tell_gone(board);
    return etwas_accounts_lost(&board->accounts);
}

void etwas_board_shut(struct etwas_board *board)
{
    etwas_board_close_probes(board);
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
    free(board->away_since_ns);
    etwas_thread_numbers_close(&board->host.numbers);
    etwas_accounts_free(&board->accounts);
    etwas_kernel_addresses_free(&board->addresses);
    etwas_stack_walker_free(&board->walker);
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->close != NULL) {
            etwas_topics[number]->close(board->uses[number].state);
        }
    }
}

void etwas_board_forget(struct etwas_board *board)
{
    etwas_board_close_probes(board);
    for (uint32_t index = 0; index < board->merge.count; index++) {
        etwas_feed_forget(board->merge.feeds[index].feed);
    }
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        if (board->uses[number].is_open && etwas_topics[number]->forget != NULL) {
            etwas_topics[number]->forget(board->uses[number].state);
        }
    }
}
