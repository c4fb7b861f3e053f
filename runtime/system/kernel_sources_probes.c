/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A board's probes (probe.h): their events are opened as others of the sideband are, and each is told into which event it
 * shall write.
 */
#include "platform/processor.h"
#include "system/groups/length_probe.h"
#include "system/kernel_sources_events.h"
#include "system/names/exec_probe.h"
#include "system/names/path_probe.h"

static struct etwas_probe *probe_of(struct etwas_board *board, uint32_t kind)
{
    switch (kind) {
    case ETWAS_SIDEBAND_ARGUMENTS:
        return &board->probes[0];
    case ETWAS_SIDEBAND_PATHS:
        return &board->probes[1];
    default:
        return &board->probes[2];
    }
}

void etwas_board_begin_probes(struct etwas_board *board)
{
    for (uint32_t index = 0; index < ETWAS_BOARD_PROBES; index++) {
        board->probes[index] = ETWAS_PROBE_CLOSED;
    }
}

static bool open_probe(struct etwas_board *board, uint32_t kind)
{
    struct etwas_fault ignored;

    if (kind == ETWAS_SIDEBAND_ARGUMENTS) {
        return etwas_exec_probe_open(probe_of(board, kind), etwas_slot_count);
    }
    if (kind == ETWAS_SIDEBAND_LENGTHS) {
        return etwas_length_probe_open(probe_of(board, kind), etwas_slot_count);
    }
    return (board->own_number != 0 ||
            etwas_thread_own_number(&board->host.numbers, &board->own_number, &ignored)) &&
           etwas_path_probe_open(probe_of(board, kind), etwas_slot_count, board->own_number);
}

bool etwas_board_receive_probe(struct etwas_board *board, uint32_t kind)
{
    const struct etwas_feed_wish wish = {.tag = kind, .sideband = kind};
    struct etwas_fault ignored;
    bool good = etwas_board_add(board, &wish, &ignored);

    for (uint32_t index = board->first_feed; good && index < board->merge.count; index++) {
        const struct etwas_feed *feed = board->merge.feeds[index].feed;

        good = etwas_probe_send(probe_of(board, kind), feed->processor,
                                etwas_feed_event_descriptor(feed, kind));
    }
    return good;
}

void etwas_board_open_probe(struct etwas_board *board, uint32_t kind)
{
    if (board->merge.count != 0 && open_probe(board, kind) &&
        etwas_board_receive_probe(board, kind)) {
        board->host.sideband |= kind;
    } else {
        etwas_board_close_probe(board, kind);
        etwas_board_remove(board, kind);
    }
}

void etwas_board_close_probe(struct etwas_board *board, uint32_t kind)
{
    etwas_probe_close(probe_of(board, kind));
}

void etwas_board_close_probes(struct etwas_board *board)
{
    for (uint32_t index = 0; index < ETWAS_BOARD_PROBES; index++) {
        etwas_probe_close(&board->probes[index]);
    }
}
