/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/kernel_sources_events.h"

#include <errno.h>

#include "platform/testpoint.h"
#include "system/names/thread_list.h"
#include "system/stream/source_tags.h"

enum {
    MOST_TRIES = 16
};

void etwas_board_remove(struct etwas_board *board, uint32_t tag)
{
    for (uint32_t index = board->first_feed; index < board->merge.count; index++) {
        struct etwas_feed *feed = board->merge.feeds[index].feed;
        struct etwas_feed_totals totals;

        if (etwas_feed_remove(feed, tag, &totals)) {
            etwas_accounts_add(&board->accounts, feed->processor, tag, &totals);
        }
    }
}

static bool add_everybodys(struct etwas_board *board, const struct etwas_feed_wish *wish,
                           struct etwas_fault *fault)
{
    for (uint32_t index = board->first_feed; index < board->merge.count; index++) {
        if (!etwas_feed_add(board->merge.feeds[index].feed, wish, fault)) {
            etwas_board_remove(board, wish->tag);
            return false;
        }
    }
    return true;
}

/* A thread that has ended has no events. */
static bool add_threads(struct etwas_board *board, const struct etwas_thread_list *threads,
                        const struct etwas_feed_wish *wish, struct etwas_fault *fault)
{
    struct etwas_feed_wish of_one = *wish;

    for (uint32_t thread = 0; thread < threads->count; thread++) {
        of_one.thread = threads->ids[thread];
        for (uint32_t index = 0; index < board->merge.count; index++) {
            if (!etwas_feed_add(board->merge.feeds[index].feed, &of_one, fault) &&
                fault->error != ESRCH) {
                return false;
            }
        }
    }
    return true;
}

/*
 * Of each thread that there is; whom they begin has them, too. Who was begun meanwhile may have been by one
 * that did not have them yet: then all is done again. They wait until all are there. A process that
 * begins threads all the time has its way in the end, and some of them are not told.
 */
static bool add_own(struct etwas_board *board, const struct etwas_feed_wish *wish,
                    struct etwas_fault *fault)
{
    struct etwas_thread_list before = {.except = board->own_thread};
    struct etwas_thread_list after = {.except = board->own_thread};
    uint32_t tries = 0;
    bool good;
    bool is_whole;

    do {
        etwas_board_remove(board, wish->tag);
        *fault = (struct etwas_fault){ETWAS_FAULT_THREADS, 0};
        good = etwas_thread_list_read(&before);
        ETWAS_TESTPOINT(ETWAS_POINT_THREADS_LISTED);
        good = good && add_threads(board, &before, wish, fault) && etwas_thread_list_read(&after);
        is_whole = etwas_thread_list_equals(&before, &after) || ++tries == MOST_TRIES;
    } while (good && !is_whole);
    for (uint32_t index = 0; good && index < board->merge.count; index++) {
        etwas_feed_enable(board->merge.feeds[index].feed, wish->tag);
    }
    if (!good) {
        etwas_board_remove(board, wish->tag);
    }
    etwas_thread_list_free(&before);
    etwas_thread_list_free(&after);
    return good;
}

bool etwas_board_add(struct etwas_board *board, const struct etwas_feed_wish *wish,
                     struct etwas_fault *fault)
{
    bool good = board->host.own_process != 0 ? add_own(board, wish, fault)
                                             : add_everybodys(board, wish, fault);

    for (uint32_t index = 0; good && index < board->merge.count; index++) {
        uint32_t slot = board->merge.feeds[index].feed->processor;

        etwas_account_of(&board->accounts, slot, wish->tag)->was_open = true;
    }
    return good;
}
