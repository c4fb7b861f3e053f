/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Work that a reconcile pass (reconcile.h) leaves until its locks are released: instances to stop,
 * callbacks to call, and the acknowledgements that follow them.
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
 * One pass fills it. Host and notifying processes are answered after all callbacks have returned.
 */
struct etwas_deferred_work {
    uint32_t expired_count;
    uint8_t expired[ETWAS_PRIVATE_INSTANCES]; /* indices of instances to stop */
    uint32_t acknowledgement_count;
    /* A session named in a notification may be reconciled twice. */
    struct etwas_acknowledgement acknowledgements[ETWAS_GUEST_SESSIONS + ETWAS_RECONCILE_ANSWERS];
    uint32_t answer_count;
    struct etwas_notification answers[ETWAS_RECONCILE_ANSWERS];
};

/*
 * Does the work and copies what it needs. Callbacks may call any function, so a separate thread
 * calls them. The calling thread does the work itself if there is no memory or no thread, or if
 * eight such threads wait for callbacks that do not return.
 */
void etwas_deferred_work_run(const struct etwas_deferred_work *work);

/* Called in a fork's child: the threads are the parent's. */
void etwas_deferred_work_forget(void);

#endif
