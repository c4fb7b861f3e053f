/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Looking: this process compares what the entries of the registry say with what it does, attaches to the sessions that
 * enable its providers, starts sessions by the templates that are for it, and does what their entries ask for. It looks when it is told to, when it registers a
 * provider, and when a host is gone.
 *
 * One looks at a time, and runs no callback: a thread of its own does, and stops sessions that are over, and says
 * afterwards that this process acts by the entry.
 */
#ifndef ETWAS_SHARING_RECONCILE_H
#define ETWAS_SHARING_RECONCILE_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/notification.h"

/* Takes part in the registry from here on, if it does not yet. Errors of etwas_service_begin; ERROR_NOT_SUPPORTED: it is not built in. */
uint32_t etwas_reconcile_begin(void);

/*
 * Before a provider is registered under this GUID: attaches to every session that enables it. And after, with what that
 * returned: what came meanwhile is done, too. Both together wait for hosts, 50 ms at most; of those that have not answered
 * by then events are counted (sharing/guest.h). Nothing is done in a process that does not take part.
 */
struct etwas_registering {
    uint32_t passes;
    uint64_t deadline_ns;
};
struct etwas_registering etwas_reconcile_before_registering(const etwas_guid *provider);
void etwas_reconcile_after_registering(struct etwas_registering registering);

/* Looks, if this process takes part, and waits for hosts, 50 ms at most. */
void etwas_reconcile_now(void);

/* A thread looks soon. `answer`, which may be NULL: who is told when that is done, and what. Async: any thread. */
void etwas_reconcile_soon(const struct etwas_notification *answer);

/* In a fork's child: nobody looks, and nobody is answered. */
void etwas_reconcile_forget(void);

/*
 * The program has described events, or ends: the hosts are told what they do not know yet, and where stacks are taken of
 * the images that have been loaded, too. Waits 50 ms at most; who was not told then is told the next time.
 */
void etwas_reconcile_send_descriptions(void);

#endif
