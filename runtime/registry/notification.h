/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Notifications: datagrams by which processes notify each other that an entry has changed, so that
 * none has to poll the folder. They carry no state; the changes are in the entries.
 */
#ifndef ETWAS_REGISTRY_NOTIFICATION_H
#define ETWAS_REGISTRY_NOTIFICATION_H

#include <etwas/types.h>
#include <stdint.h>

#include "registry/joined_process.h"

enum etwas_notification_op {
    ETWAS_NOTIFY_CHANGED =
        1, /* the entry of `session` has changed, been added or removed: `number` is its number */
    ETWAS_NOTIFY_ACKNOWLEDGED, /* sent to `sender`: the entry of that number is applied */
};

struct etwas_notification {
    uint32_t op; /* ETWAS_NOTIFY_...; unknown ones are of later builds */
    uint64_t number;
    etwas_guid session;
    /* the name of the socket to acknowledge to; empty: no acknowledgement is wanted */
    char sender[ETWAS_REGISTRY_FILE_BYTES];
    /* received: the sending process, as the kernel reports it; 0: it is in another namespace */
    uint32_t process_id;
};

/*
 * Notifies one process, by the name of its socket. Waits until the deadline (CLOCK_MONOTONIC, ns;
 * 0: never) while the process's queue is full. A queue may hold only ten datagrams, so without
 * waiting some of many acknowledgements sent at once would be lost. ERROR_TIMEOUT: the queue was
 * full. ERROR_NOT_FOUND: the process has ended; the file of its socket is removed.
 * ERROR_INVALID_PARAMETER: `name` is not the name of a process's socket. Others of
 * etwas_registry_address.
 */
uint32_t etwas_registry_notify(const char *name, const struct etwas_notification *notification,
                               uint64_t deadline_ns);

/*
 * Notifies all living processes, this one too if it has joined. A process whose queue is full
 * counts as notified, since it reconciles when it receives any of the queued notifications. If
 * acknowledgements are wanted, full queues are waited for, a tenth of a second in all; this process
 * must be receiving meanwhile. *notified, if not NULL, receives how many were notified. Errors of
 * etwas_registry_each.
 */
uint32_t etwas_registry_notify_all(const struct etwas_notification *notification,
                                   uint32_t *notified);

/*
 * Receives the next notification of this process. Never waits. ERROR_NOT_FOUND: there is none, or
 * one was dropped because it was ill-formed, or from neither this user nor root. More may follow a
 * dropped one, as poll reports.
 */
uint32_t etwas_registry_receive(const struct etwas_registry_process *process,
                                struct etwas_notification *notification);

#endif
