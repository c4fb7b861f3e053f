/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a reconcile pass (reconcile.h) leaves to be done when its locks are released: instances to
 * stop, callbacks to call, and the acknowledgements that follow them.
 */
#ifndef ETWAS_SHARING_DEFERRED_WORK_H
#define ETWAS_SHARING_DEFERRED_WORK_H

#include <stdint.h>

#include "registry/notification.h"
#include "sharing/guest.h"
#include "sharing/private_instance.h"

enum {
    ETWAS_RECONCILE_ANSWERS = 64, /* in one pass; a process beyond them runs into its timeout */
};

struct etwas_acknowledgement {
    uint64_t guest; /* the handle of the guest's session */
    uint64_t number;
};

/*
 * Filled by one pass. Host and notifying processes are answered when all callbacks have returned.
 */
struct etwas_deferred_work {
    uint32_t expired_count;
    uint8_t expired[ETWAS_PRIVATE_INSTANCES]; /* indices of instances to stop */
    uint32_t acknowledgement_count;
    /* A session that it was notified of may be reconciled twice. */
    struct etwas_acknowledgement acknowledgements[ETWAS_GUEST_SESSIONS + ETWAS_RECONCILE_ANSWERS];
    uint32_t answer_count;
    struct etwas_notification answers[ETWAS_RECONCILE_ANSWERS];
};

/*
 * Does the work and copies what it needs. Callbacks may call anything, so a thread of its own calls
 * them. This thread does it without memory or a thread, and when eight such threads wait for
 * callbacks that do not return.
 */
void etwas_deferred_work_run(const struct etwas_deferred_work *work);

/* In a fork's child: the threads are the parent's. */
void etwas_deferred_work_forget(void);

#endif
