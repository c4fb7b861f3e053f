/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The slow path of a slot, by either protocol: another buffer replaces one that is full. */
#ifndef ETWAS_BUFFER_SWITCH_H
#define ETWAS_BUFFER_SWITCH_H

#include <stdint.h>

#include "buffer/pool.h"
#include "buffer/slot.h"

/*
 * Makes one step towards room for `units` in the slot of `processor`, for a session whose gate and
 * kind are `gate`. If `close_word` is not 0, the buffer of exactly that word is replaced although
 * it has room (a step of the clock). Returns ERROR_SUCCESS if the caller has to read the slot
 * again: there may be room, or the step was interrupted, or another is needed.
 * ERROR_INVALID_HANDLE: the session no longer runs. ERROR_MORE_DATA: no buffer is large enough.
 * ERROR_NOT_ENOUGH_MEMORY: there is no buffer, and `events` events are counted lost.
 */
uint32_t etwas_switch_rseq(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                           uint64_t gate, uint32_t units, uint64_t close_word, uint32_t events);

/*
 * CLOSE of the buffer before the slot's current one, if it is not closed yet. For snapshots, with
 * the role held.
 */
void etwas_rseq_close_previous(const struct etwas_slot *slot, struct etwas_pool *pool);

/*
 * Makes room for `units` in the slot. If `close_word` is not 0, the buffer of exactly that word is
 * closed although it has room (a step of the clock). Returns ERROR_SUCCESS if the caller has to
 * read the slot again: there is room, or was a moment ago. ERROR_INVALID_HANDLE: the generation no
 * longer runs. ERROR_MORE_DATA: no buffer is large enough. ERROR_NOT_ENOUGH_MEMORY: there is no
 * buffer, and `events` events are counted lost.
 */
uint32_t etwas_switch_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                             uint32_t generation, uint32_t units, uint64_t close_word,
                             uint32_t events);

#endif
