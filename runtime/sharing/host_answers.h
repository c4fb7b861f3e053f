/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Waiting until so many processes have acknowledged an entry by its number. The lock is held for
 * moments: the control thread counts acknowledgements while other processes are still being
 * notified. If it waited, its queue would fill with them, and have no room for notifications.
 */
#ifndef ETWAS_SHARING_HOST_ANSWERS_H
#define ETWAS_SHARING_HOST_ANSWERS_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/notification.h"

enum {
    ETWAS_ANSWER_TIMEOUT_MS = 5000, /* at most, whatever the caller's timeout */
};

/* A thread that waits; on its stack. */
struct etwas_waiter {
    struct etwas_waiter *next;
    etwas_guid session;
    uint64_t number;
    uint32_t answered;
    bool is_over; /* the session has ended, and no process acknowledges any more */
};

/* Makes the condition variable. Called before the others, as often as one likes. */
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
