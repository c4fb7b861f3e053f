/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The slow path of an rseq slot: another buffer takes the place of one that is
 * full.
 */
#ifndef ETWAS_BUFFER_SWITCH_RSEQ_H
#define ETWAS_BUFFER_SWITCH_RSEQ_H

#include <stdint.h>

#include "buffer/pool.h"
#include "buffer/slot.h"

/*
 * One step towards room for `units` in the slot of `processor`, for a session whose gate and kind
 * are `gate`. With `close_word` not 0, the buffer of exactly that word is replaced although it has
 * room (a step of the clock). ERROR_SUCCESS: look at the slot again; there may be room, or the step
 * was interrupted, or another is needed. ERROR_INVALID_HANDLE: the session does not run any more.
 * ERROR_MORE_DATA: no buffer is large enough. ERROR_NOT_ENOUGH_MEMORY: no buffer to be had; the
 * event is counted lost.
 */
uint32_t etwas_switch_rseq(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                           uint64_t gate, uint32_t units, uint64_t close_word);

/*
 * CLOSE, by the flusher's role: the buffer before the current one of the slot, if it is not closed
 * yet. For snapshots.
 */
void etwas_rseq_close_previous(const struct etwas_slot *slot, struct etwas_pool *pool);

#endif
