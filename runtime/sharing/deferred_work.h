/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a look at the other processes' sessions (reconcile.h) leaves to be done and said. */
#ifndef ETWAS_SHARING_DEFERRED_WORK_H
#define ETWAS_SHARING_DEFERRED_WORK_H

#include <stdint.h>

#include "registry/notification.h"
#include "sharing/guest.h"
#include "sharing/private_instance.h"

enum {
    ETWAS_RECONCILE_ANSWERS = 64, /* of one look; a process that asked before them has a timeout */
};

struct etwas_acknowledgement {
    uint64_t guest; /* its handle */
    uint64_t number;
};

/* What is to be done when the look is over, and said when all callbacks have been called. */
struct etwas_deferred_work {
    uint32_t expired_count;
    uint8_t expired[ETWAS_PRIVATE_INSTANCES]; /* followers that are to be stopped */
    uint32_t acknowledgement_count;
    struct etwas_acknowledgement acknowledgements
        [ETWAS_GUEST_SESSIONS +
         ETWAS_RECONCILE_ANSWERS]; /* a session that it was told of may be looked at twice */
    uint32_t answer_count;
    struct etwas_notification answers[ETWAS_RECONCILE_ANSWERS];
};

/*
 * Does it. Callbacks may do everything: not in the thread that looked. Without memory or a thread they are called here, and
 * where so many threads wait already for one that does not return.
 */
void etwas_deferred_work_run(const struct etwas_deferred_work *work);

/* In a fork's child: its threads are the parent's. */
void etwas_deferred_work_forget(void);

#endif
