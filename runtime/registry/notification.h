/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What processes tell each other so that nobody has to look without reason: datagrams. Nothing is known by them:
 * LOOK says that something has changed, and what that is, is in the entries.
 */
#ifndef ETWAS_REGISTRY_NOTIFICATION_H
#define ETWAS_REGISTRY_NOTIFICATION_H

#include <etwas/types.h>
#include <stdint.h>

#include "registry/process.h"

enum etwas_notification_op {
    ETWAS_NOTIFY_CHANGED =
        1, /* the entry of `session` has changed, came or went: `number` is its number */
    ETWAS_NOTIFY_ACKNOWLEDGED, /* to `sender` of a LOOK: whoever sends it acts by that entry and number */
};

struct etwas_notification {
    uint32_t op; /* ETWAS_TELL_...; others are of later builds */
    uint64_t number;
    etwas_guid session;
    char sender
        [ETWAS_REGISTRY_FILE_BYTES]; /* the name of a process's socket; empty: wants no answer */
    uint32_t process_id; /* heard: who sent it, by the kernel; 0: of a namespace we do not see */
};

/*
 * Tells one process, by the name of its socket. Waits until the deadline (CLOCK_MONOTONIC, ns; 0: never) while its
 * queue is full: a system may have room for ten, so that answers to one process come to nothing else when there are
 * more. ERROR_TIMEOUT: it was full; so who waits for a SEEN does not wait for ever. ERROR_NOT_FOUND: there is no such
 * process any more; what is left of its socket is removed. ERROR_INVALID_PARAMETER: that is no such name.
 * Others of etwas_registry_address.
 */
uint32_t etwas_registry_notify(const char *name, const struct etwas_notification *notification,
                               uint64_t deadline_ns);

/*
 * Tells all living processes, this one too if it takes part. One whose queue is full counts as told, since it looks
 * when it hears what is in it, whatever that is. If answers are wanted its queue is waited for, a tenth of a second in
 * all; this process must be hearing meanwhile. *told, which may be NULL: how many. Errors of etwas_registry_each.
 */
uint32_t etwas_registry_notify_all(const struct etwas_notification *notification,
                                   uint32_t *notified);

/*
 * The next thing that this process was told. Never waits: ERROR_NOT_FOUND, nothing more is there, or what was there
 * is not worth a look (not of this user or of root, or ill-formed), which may happen with more behind it: poll says so.
 */
uint32_t etwas_registry_receive(const struct etwas_registry_process *process,
                                struct etwas_notification *notification);

#endif
