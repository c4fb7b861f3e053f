/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The slots of a shared session's guests: which guest has which, and what is made of one whose process is dead.
 *
 * A thread that is killed in a sequence leaves nothing half done. In a shared slot it does, and nobody could tell
 * it from one that is only slow; so each guest has such a slot of its own, and REAP looks at what there is once
 * nobody of its process can be inside any more:
 *
 *     the process died with                         what becomes of it
 *     a visitor counted in                          counted out
 *     a claimed buffer, not installed               given back
 *     an installed one, the one before not retired  both are complete: nobody is left
 *     a place reserved, and not even said how long  it is zeroes: passed over
 *     a place reserved and said, not finished       passed over
 *     a record finished, not committed              recorded: its caller was not told
 *
 * So the records of a buffer are moved together, its commit word says how many they are, and the slot goes on, for
 * another guest. Nothing here waits.
 *
 *     NONE ──take──▶ LIVES ──died──▶ DIED ──reap──▶ NONE
 */
#ifndef ETWAS_BUFFER_REAP_H
#define ETWAS_BUFFER_REAP_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/collect.h"

/*
 * For who lets guests in, one thread at a time. `take`: the number of a slot that no guest has, before the guest is told
 * of it; false: all have one, or the session is not shared. `died`: its process is dead, or has never joined; the flusher
 * sees to it soon.
 */
bool etwas_guest_slot_claim(struct etwas_pool *pool, uint32_t *number);
void etwas_guest_slot_died(struct etwas_pool *pool, uint32_t number);

/* For the owner of the role: REAP of all that have died. */
void etwas_collector_reap(struct etwas_collector *collector);

#endif
