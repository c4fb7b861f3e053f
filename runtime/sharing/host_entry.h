/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a host publishes about a session: its entry of the registry, with the enablements that it
 * stores for it. The caller lets only one thread at a time use an entry.
 */
#ifndef ETWAS_SHARING_HOST_ENTRY_H
#define ETWAS_SHARING_HOST_ENTRY_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/host_session.h"
#include "registry/notification.h"
#include "registry/session_entry.h"

/* An enablement, and the memory that contains its filters. */
struct etwas_host_enablement {
    struct etwas_registry_enablement enablement;
    void *bytes;
};

struct etwas_host_entry {
    struct etwas_registry_host registry;
    /*
     * The list of enablements is made of `stored` when the entry is published. The owner sets the
     * rest, and owns the template.
     */
    struct etwas_registry_entry entry;
    struct etwas_host_enablement *stored;
    uint32_t stored_count;
};

/*
 * Publishes the entry. On failure other processes still read the previous one.
 * ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_host_publish.
 */
uint32_t etwas_host_entry_publish(struct etwas_host_entry *published);

/*
 * Records an EnableTraceEx2 by its control code: counts the change, and publishes it. If that fails
 * only the count has changed. Publishes nothing and returns ERROR_SUCCESS if it is to disable a
 * provider that is not enabled, or to request its state. Errors of etwas_host_entry_publish;
 * ERROR_BUFFER_OVERFLOW: the entry would be too large.
 */
uint32_t etwas_host_entry_change(struct etwas_host_entry *published, uint32_t control_code,
                                 const struct etwas_registry_enablement *enablement);

/* Whether the entry enables the provider, or group. */
bool etwas_host_entry_has(struct etwas_host_entry *published, const etwas_guid *provider,
                          bool is_group);

/* Removes all enablements, and does not publish that. */
void etwas_host_entry_clear(struct etwas_host_entry *published);

/*
 * Waits until a number of processes have acknowledged an entry by its number. The lock is held only
 * for moments: the control thread counts acknowledgements while other processes are still being
 * notified. If it waited, its queue would fill with them, and have no room for notifications.
 */

enum {
    ETWAS_ANSWER_TIMEOUT_MS = 5000, /* at most, whatever the caller's timeout */
};

/* A waiting thread; on its stack. */
struct etwas_waiter {
    struct etwas_waiter *next;
    etwas_guid session;
    uint64_t number;
    uint32_t answered;
    bool is_over; /* the session has ended, and no process acknowledges any more */
};

/* Makes the condition variable. Called before the others; may be called repeatedly. */
void etwas_answers_prepare(void);

/*
 * Counts acknowledgements of this notification from here on. `index` is the session's in the table.
 */
void etwas_answers_begin(uint32_t index, struct etwas_waiter *waiter,
                         const struct etwas_notification *notification);

/* Counts an acknowledgement that has arrived. Called by the control thread. */
void etwas_answers_receive(const struct etwas_notification *notification);

/*
 * Waits until `notified` processes have acknowledged, or the session ends: ERROR_SUCCESS; else
 * ERROR_TIMEOUT.
 */
uint32_t etwas_answers_wait(uint32_t index, struct etwas_waiter *waiter, uint32_t notified,
                            uint32_t timeout_ms);

/* Ends all waits for the session. */
void etwas_answers_end(uint32_t index);

void etwas_answers_before_fork(void);
void etwas_answers_after_fork(bool is_child);

#endif
