/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which processors a board records. When one goes off, the kernel takes its events away for good, also where it is back
 * a moment later, as all are after a machine has slept: no record says so, and the rings stay empty. So
 * processors whose rings are silent are asked, and where the events are dead the feed is closed. Where a
 * processor without one is on, it gets a feed, with all that is open.
 *
 * What a processor did before that is not known, and is told as a loss that nobody counts: once when it is found to have
 * gone, and once with the first record after it came.
 */
#include <ck_pr.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock/clock.h"
#include "platform/machine.h"
#include "platform/processor.h"
#include "system/kernel_sources.h"
#include "system/kernel_sources_events.h"

enum {
    LOOK_NS = 1000000000, /* so often; to ask a processor interrupts it */
};

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_board_look_ns = LOOK_NS;
#endif

static int64_t look_ns(void)
{
#ifdef ETWAS_TESTPOINTS
    return (int64_t)ck_pr_load_64(
        &etwas_board_look_ns); /* a test changes it while the thread looks */
#else
    return LOOK_NS;
#endif
}

/* Of the topics that look at the machine after a loss. */
static void let_find_lost(struct etwas_board *board)
{
    for (uint32_t number = 0; number < etwas_topic_count; number++) {
        board->uses[number].has_lost = board->uses[number].is_open;
    }
}

/* A fork's child finds a feed without descriptors, or none. */
static void close_feed(struct etwas_board *board, uint32_t index)
{
    struct etwas_feed *feed = board->merge.feeds[index].feed;

    etwas_feed_close(feed);
    board->merge.feeds[index] = board->merge.feeds[board->merge.count - 1];
    ck_pr_fence_store();
    board->merge.count--;
    free(feed);
}

/* Its last records have been read. */
static void go(struct etwas_board *board, uint32_t index)
{
    struct etwas_feed *feed = board->merge.feeds[index].feed;
    int64_t now_ns = etwas_clock_qpc();

    etwas_board_add_last_counts(board, feed);
    etwas_board_record_loss(board, feed->processor, 0, feed->read_ns, now_ns);
    etwas_board_forget_slot(board, feed->processor);
    board->closed_lost += etwas_feed_lost(feed);
    board->away_since_ns[feed->processor] = now_ns;
    close_feed(board, index);
    let_find_lost(board);
}

/* Of those whose rings are silent, or of all. */
static void find_dead(struct etwas_board *board, bool asks_all)
{
    bool is_drained = false;

    for (uint32_t index = board->merge.count; index-- > 0;) {
        struct etwas_feed *feed = board->merge.feeds[index].feed;
        uint64_t written = etwas_ring_written(&feed->ring);
        bool is_silent = written == feed->looked_at;

        feed->looked_at = written;
        if (!feed->is_on || !(is_silent || asks_all) || !etwas_feed_is_dead(feed)) {
            continue;
        }
        if (!is_drained) {
            etwas_board_drain_to_now(board);
            is_drained = true;
        }
        go(board, index);
    }
}

/* False: it cannot be recorded now. */
static bool come(struct etwas_board *board, uint32_t processor)
{
    int64_t away_since_ns = board->away_since_ns[processor];
    struct etwas_feed *feed = malloc(sizeof *feed);
    struct etwas_fault ignored;
    bool good;

    if (feed == NULL || !etwas_feed_open(feed, processor, 0, board->ring_bytes, &ignored)) {
        free(feed);
        return false;
    }
    feed->was_off = true;
    feed->read_ns = away_since_ns == ETWAS_BOARD_NEVER_THERE ? 0 : away_since_ns;
    board->merge.feeds[board->merge.count] = (struct etwas_merged){.feed = feed};
    ck_pr_fence_store();
    board->first_feed = board->merge.count++;
    good = etwas_board_open_again(board);
    board->first_feed = 0;
    if (!good) {
        close_feed(board, board->merge.count - 1);
        return false;
    }
    board->away_since_ns[processor] = 0;
    etwas_feed_start(feed);
    let_find_lost(board);
    return true;
}

static void find_new(struct etwas_board *board)
{
    if (sysconf(_SC_NPROCESSORS_ONLN) <= (long)board->merge.count) {
        return;
    }
    for (uint32_t processor = 0; processor < etwas_slot_count; processor++) {
        if (board->away_since_ns[processor] != 0 &&
            !etwas_processor_is_offline(&etwas_machine_here, processor)) {
            (void)come(board, processor);
        }
    }
}

static bool can_look(const struct etwas_board *board)
{
    return board->host.own_process == 0 && board->ring_bytes != 0;
}

void etwas_board_look_for_processors(struct etwas_board *board)
{
    int64_t now_ns = etwas_clock_qpc();

    if (!can_look(board) || now_ns - board->processors_ns < look_ns()) {
        return;
    }
    board->processors_ns = now_ns;
    find_dead(board, false);
    find_new(board);
}

void etwas_board_find_gone(struct etwas_board *board)
{
    if (can_look(board)) {
        find_dead(board, true);
    }
}

void etwas_board_tell_gone(struct etwas_board *board)
{
    int64_t now_ns = etwas_clock_qpc();

    for (uint32_t index = 0; index < board->merge.count; index++) {
        const struct etwas_feed *feed = board->merge.feeds[index].feed;

        if (feed->was_off) {
            etwas_board_record_loss(board, feed->processor, 0, feed->read_ns, now_ns);
        }
    }
    for (uint32_t processor = 0; can_look(board) && processor < etwas_slot_count; processor++) {
        if (board->away_since_ns[processor] > 0) {
            etwas_board_record_loss(board, processor, 0, board->away_since_ns[processor], now_ns);
        }
    }
}
