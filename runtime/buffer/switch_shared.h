/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The slow path of a shared slot: another buffer replaces one that is full. */
#ifndef ETWAS_BUFFER_SWITCH_SHARED_H
#define ETWAS_BUFFER_SWITCH_SHARED_H

#include <stdint.h>

#include "buffer/slot.h"

/*
 * Makes room for `units` in the slot. If `close_word` is not 0, the buffer of exactly that word is
 * closed although it has room (a step of the clock). Returns ERROR_SUCCESS when the caller has to
 * read the slot again: there is room, or was a moment ago. ERROR_INVALID_HANDLE: the generation
 * does not run any more. ERROR_MORE_DATA: no buffer is large enough. ERROR_NOT_ENOUGH_MEMORY: there
 * is no buffer, and the event is counted lost.
 */
uint32_t etwas_switch_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                             uint32_t generation, uint32_t units, uint64_t close_word);

#endif
