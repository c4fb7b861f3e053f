/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * When a session lost what. Writers and the drain count (docs/design.md, "The way of an event"); who has the
 * role looks at these counts now and then, and notes by how much they have grown since it looked before:
 * between these two moments that was lost. All of this with the role held.
 *
 * What the kernel lost is not in it: the system logger tells of that by itself.
 */
#ifndef ETWAS_SESSION_LOSSES_H
#define ETWAS_SESSION_LOSSES_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "session/loss_table.h"

struct etwas_session;

/* Of a slot. */
struct etwas_slot_losses {
    uint64_t reported[ETWAS_SLOT_LOSSES];
    uint64_t found[ETWAS_SLOT_LOSSES]; /* by the look that goes on */
};

struct etwas_losses {
    struct etwas_loss_table table; /* since the session's file began; of a recorder since it did */
    int64_t checked_at;            /* the clock when the last look began */
    uint64_t without_slot[ETWAS_LOST_CAUSES + 1]; /* reported, by causes that no slot counts */
    struct etwas_slot_losses slots[];
};

/* Begins to look at a session that has its pool. Without memory there will be nothing in `losses`. */
void etwas_losses_begin(struct etwas_session *session);
void etwas_losses_end(struct etwas_session *session);

/* A look; nothing where no `losses` were begun. */
void etwas_losses_check(struct etwas_session *session);

/* Counts the session and looks, so that both say the same of what was lost until now. */
void etwas_losses_check_and_count(struct etwas_session *session, etwas_session_counts *counts);

#endif
