/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Waiting until so many processes say that they act by the entry's number. Under a lock of its own, which is held for a
 * moment: the control thread counts the answers while others are still being told, or its queue would be full of them
 * and had no room for what it is told.
 */
#ifndef ETWAS_SHARING_HOST_ANSWERS_H
#define ETWAS_SHARING_HOST_ANSWERS_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/notification.h"

enum {
    ETWAS_ANSWER_TIMEOUT_MS = 5000, /* whatever a caller's timeout */
};

/* Who waits: on its stack. */
struct etwas_waiter {
    struct etwas_waiter *next;
    etwas_guid session;
    uint64_t number;
    uint32_t answered;
    bool is_over; /* the session ends: nobody answers any more */
};

/* Before anything else; as often as one likes. */
void etwas_answers_prepare(void);

/* Answers to this count from here on. `index`: the entry of the session's table. */
void etwas_answers_begin(uint32_t index, struct etwas_waiter *waiter,
                         const struct etwas_notification *notification);

/* Somebody answered a LOOK. For the control thread. */
void etwas_answers_receive(const struct etwas_notification *notification);

/* Until so many have answered, or the session ends: ERROR_SUCCESS. ERROR_TIMEOUT. */
uint32_t etwas_answers_wait(uint32_t index, struct etwas_waiter *waiter, uint32_t notified,
                            uint32_t timeout_ms);

/* The session ends: nobody waits any more. */
void etwas_answers_end(uint32_t index);

void etwas_answers_before_fork(void);
void etwas_answers_after_fork(bool is_child);

#endif
