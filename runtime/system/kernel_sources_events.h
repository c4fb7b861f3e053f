/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A board's events, on all of its feeds: everybody's, or each thread's of the own process.
 */
#ifndef ETWAS_SYSTEM_KERNEL_SOURCES_EVENTS_H
#define ETWAS_SYSTEM_KERNEL_SOURCES_EVENTS_H

#include "system/kernel_sources.h"

/* There are none of the tag on feeds from board->first_feed on. On failure neither. */
bool etwas_board_add(struct etwas_board *board, const struct etwas_feed_wish *wish,
                     struct etwas_fault *fault);

/* All of the tag, on these feeds; what they counted and lost stays in the board's accounts. */
void etwas_board_remove(struct etwas_board *board, uint32_t tag);

/* ETWAS_SIDEBAND_ARGUMENTS or _PATHS. Where that may not be, it is done without. */
void etwas_board_open_probe(struct etwas_board *board, uint32_t kind);

/* Of one that is open: on feeds from board->first_feed on. */
bool etwas_board_receive_probe(struct etwas_board *board, uint32_t kind);

/* No events come from it any more; those that came are its event's. */
void etwas_board_close_probe(struct etwas_board *board, uint32_t kind);

/* All of them; async-signal-safe. */
void etwas_board_close_probes(struct etwas_board *board);

/* What is open has its events on feeds from board->first_feed on, too; false: not all of it. */
bool etwas_board_open_again(struct etwas_board *board);

/* Of what the ring had no room for, when there was room again; 0 events: of a processor that was off. */
void etwas_board_record_loss(struct etwas_board *board, uint32_t processor, uint64_t events,
                             int64_t from_ns, int64_t until_ns);

/* What a feed counted and lost in which nothing happens any more. */
void etwas_board_add_last_counts(struct etwas_board *board, const struct etwas_feed *feed);

/* Before the feeds are stopped, with all that has happened drained: which processors are gone; and afterwards since when. */
void etwas_board_find_gone(struct etwas_board *board);
void etwas_board_tell_gone(struct etwas_board *board);

#endif
