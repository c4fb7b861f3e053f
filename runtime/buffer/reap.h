/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The slots of a shared session's guests: which guest has which, and how the slot of a dead guest
 * is repaired.
 *
 * A thread that is killed in a sequence leaves nothing half done. In a shared slot it does, and a
 * dead writer could not be told from a slow one; so each guest has such a slot of its own. REAP
 * repairs it when no thread of the guest's process can be inside any more:
 *
 *     the process died with                         what becomes of it
 *     a slow-path writer counted in                 counted out
 *     a claimed buffer, not installed               released
 *     an installed one, the one before not retired  both are complete: no writer is left
 *     a place reserved, its size not stored         it is zeroes: skipped
 *     a place reserved, its size stored             skipped
 *     a record finished, not committed              recorded, though its caller was not told
 *
 * So the records of a buffer are moved together, its commit word is set to their number, and the
 * slot can be used by another guest. Nothing here waits.
 *
 *     NONE ──claim──▶ LIVES ──died──▶ DIED ──reap──▶ NONE
 */
#ifndef ETWAS_BUFFER_REAP_H
#define ETWAS_BUFFER_REAP_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/collect.h"

/*
 * For the host thread that accepts guests, one at a time. `claim` reserves a slot that no guest
 * has, before the guest learns of it; *number receives its number. It returns false when all are in
 * use or the session is not shared. `died` reports that the guest's process is dead, or has never
 * joined; the flusher repairs the slot soon.
 */
bool etwas_guest_slot_claim(struct etwas_pool *pool, uint32_t *number);
void etwas_guest_slot_died(struct etwas_pool *pool, uint32_t number);

/* REAP of all guests' slots whose guests have died. Role held. */
void etwas_collector_reap(struct etwas_collector *collector);

#endif
