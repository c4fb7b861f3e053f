/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counting events that a session does not get although it has buffers: they are too large for it,
 * or another session refused them. I9.
 */
#ifndef ETWAS_BUFFER_REFUSE_H
#define ETWAS_BUFFER_REFUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"

/*
 * Counts one lost event in the rseq slot of whichever processor runs the caller, in the class row
 * that begins at slot `first`. Returns false, with nothing counted, where etwas_publish_rseq
 * returns ETWAS_PUBLISH_FALLBACK.
 */
bool etwas_refuse_rseq(uint32_t session, uint32_t generation, uint32_t first,
                       enum etwas_slot_loss cause);

/* The same in one shared slot. Returns false when the session does not run any more. */
bool etwas_refuse_shared(const struct etwas_attachment *attachment, struct etwas_slot *slot,
                         uint32_t generation, enum etwas_slot_loss cause);

#endif
