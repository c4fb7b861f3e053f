/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Consumers in other processes: each has a thread here that is a consumer of the session as any other, and sends what
 * it gets (realtime/consume.h). What the other side does not take waits in the session's queue for this consumer, or
 * is lost for it; neither the flusher nor anybody else waits.
 */
#ifndef ETWAS_SHARING_HOST_CONSUMERS_H
#define ETWAS_SHARING_HOST_CONSUMERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_HOST_CONSUMERS = 64, /* of a session at one time */
};

/*
 * Somebody wants the events of the session with this handle. False: there are too many, and it was told so, or there can
 * be no thread; the connection is the caller's.
 */
bool etwas_host_consume(int connection, uint64_t session);

/* The process ends, and its sessions have: waits until consumers were sent what they have still to get. */
void etwas_host_consumers_wait(void);

void etwas_host_consumers_before_fork(void);
void etwas_host_consumers_after_fork(bool is_child);

#endif
