/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reconciling: this process compares the entries of the registry with its own state. It attaches to
 * the sessions that enable its providers, starts a session for each private-session template that
 * is meant for it, and applies what the entries enable. It reconciles when it is notified, when it
 * registers a provider, and when a host has gone.
 *
 * One pass runs at a time, under a lock of its own (0a of docs/internals/design.md), and calls no
 * callback. Callbacks, stopping private-session instances and the acknowledgements are deferred
 * work (deferred_work.h).
 */
#ifndef ETWAS_SHARING_RECONCILE_H
#define ETWAS_SHARING_RECONCILE_H

#include <etwas/types.h>
#include <stdint.h>

#include "registry/notification.h"
#include "session/sharing.h"

/* Joins the registry, unless the process has already joined it. Errors of etwas_service_begin. */
uint32_t etwas_reconcile_begin(void);

/*
 * A registration calls the first before it, and the second after it with the first one's result.
 * The first attaches to every session that enables the provider; the second applies the changes
 * published in between. Together they wait at most 50 ms for hosts; events for a session whose host
 * has not answered by then are counted (sharing/guest.h). Neither does anything in a process that
 * has not joined and does not want to.
 */
struct etwas_registering etwas_reconcile_before_registering(const etwas_guid *provider);
void etwas_reconcile_after_registering(struct etwas_registering registering);

/* Reconciles in this thread if the process has joined. Waits at most 50 ms for hosts. */
void etwas_reconcile_now(void);

/*
 * Does the same after a provider has received a name. Unless `always`, does nothing and returns
 * false if no session that this process has seen enables providers by name.
 */
bool etwas_reconcile_named(bool always);

/*
 * Makes a thread reconcile soon. `answer` is a notification to acknowledge when that is done, or
 * NULL; it is copied. May be called by any thread, under any lock.
 */
void etwas_reconcile_soon(const struct etwas_notification *answer);

/* Called in a fork's child: no pass runs, and no acknowledgement is pending. */
void etwas_reconcile_forget(void);

/*
 * Sends each host the event descriptions that it does not have yet, and if its session takes stacks
 * the images. Waits at most 50 ms; a host that could not take all of them gets the rest the next
 * time.
 */
void etwas_reconcile_send_descriptions(void);

#endif
