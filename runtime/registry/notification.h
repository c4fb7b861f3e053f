/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Notifications: datagrams by which processes tell each other that an entry has changed, so that
 * none has to read the folder without reason. They carry no state; what has changed is in the
 * entries.
 */
#ifndef ETWAS_REGISTRY_NOTIFICATION_H
#define ETWAS_REGISTRY_NOTIFICATION_H

#include <etwas/types.h>
#include <stdint.h>

#include "registry/joined_process.h"

enum etwas_notification_op {
    ETWAS_NOTIFY_CHANGED =
        1, /* the entry of `session` has changed, been added or removed: `number` is its number */
    ETWAS_NOTIFY_ACKNOWLEDGED, /* sent to `sender`: the entry of that number is applied here */
};

struct etwas_notification {
    uint32_t op; /* ETWAS_NOTIFY_...; others are of later builds */
    uint64_t number;
    etwas_guid session;
    /* the name of a process's socket; empty: it wants no acknowledgement */
    char sender[ETWAS_REGISTRY_FILE_BYTES];
    /* received: the sending process, by the kernel; 0: it is in another namespace */
    uint32_t process_id;
};

/*
 * Notifies one process, by the name of its socket. Waits until the deadline (CLOCK_MONOTONIC, ns;
 * 0: never) while the process's queue is full: a system may have room for ten, so some of many
 * acknowledgements sent at once would be lost. ERROR_TIMEOUT: the queue was full. ERROR_NOT_FOUND:
 * there is no such process any more; what is left of its socket is removed.
 * ERROR_INVALID_PARAMETER: `name` is no such name. Others of etwas_registry_address.
 */
uint32_t etwas_registry_notify(const char *name, const struct etwas_notification *notification,
                               uint64_t deadline_ns);

/*
 * Notifies all living processes, this one too if it has joined. A process whose queue is full
 * counts as notified, since it reconciles when it receives what is in its queue, whatever that is.
 * If acknowledgements are wanted full queues are waited for, a tenth of a second in all; this
 * process must be receiving meanwhile. *notified, which may be NULL: how many there are. Errors of
 * etwas_registry_each.
 */
uint32_t etwas_registry_notify_all(const struct etwas_notification *notification,
                                   uint32_t *notified);

/*
 * Receives the next notification of this process. Never waits: ERROR_NOT_FOUND, there is none, or
 * what was there was dropped: it was ill-formed, or neither of this user nor of root. More may be
 * behind it, as poll says.
 */
uint32_t etwas_registry_receive(const struct etwas_registry_process *process,
                                struct etwas_notification *notification);

#endif
