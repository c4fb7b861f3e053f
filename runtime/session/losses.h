/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds when a session lost events, and why. Writers and the drain count losses
 * (docs/internals/design.md, "The way of an event"). The owner of the role checks these counts
 * periodically, and reports by how much they have grown: that was lost since the last check. All
 * functions need the role.
 *
 * What the kernel lost is not included: the system logger reports that itself.
 */
#ifndef ETWAS_SESSION_LOSSES_H
#define ETWAS_SESSION_LOSSES_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "etl/loss_table.h"

struct etwas_session;

/* The losses of one slot, by cause. */
struct etwas_slot_losses {
    uint64_t reported[ETWAS_SLOT_LOSSES];
    uint64_t found[ETWAS_SLOT_LOSSES]; /* in the current check */
};

struct etwas_losses {
    /* since the session's file began; a recorder's table, since the recorder did */
    struct etwas_loss_table table;
    int64_t checked_at;                           /* the clock when the last check began */
    uint64_t without_slot[ETWAS_LOST_CAUSES + 1]; /* reported, by causes that no slot counts */
    struct etwas_slot_losses slots[];
};

/* Begins to check a session that has its pool. If there is no memory, `losses` stays NULL. */
void etwas_losses_begin(struct etwas_session *session);
void etwas_losses_end(struct etwas_session *session);

/* Checks the counts. Does nothing where `losses` is NULL. */
void etwas_losses_check(struct etwas_session *session);

/* Counts the session, and checks, so that counts and table agree on what was lost until now. */
void etwas_losses_check_and_count(struct etwas_session *session, etwas_session_counts *counts);

#endif
