/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Consumers in other processes. Each has a thread in the host, the host-side consumer: to the
 * session it is a consumer like any other, and it sends what it gets
 * (sharing/consume_protocol.h). What the other process does not take waits in the session's queue
 * for this consumer, or is lost for it. Neither the flusher nor anybody else waits.
 */
#ifndef ETWAS_SHARING_HOST_CONSUMERS_H
#define ETWAS_SHARING_HOST_CONSUMERS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_HOST_CONSUMERS = 64, /* of a session at one time */
};

/*
 * Starts a host-side consumer for the session with this handle. The consumer owns the connection
 * from here on. False: there are too many, which the other process has been told, or there is no
 * thread; the connection stays the caller's.
 */
bool etwas_host_consume(int connection, uint64_t session);

/*
 * Called at the end of the process, after its sessions: waits until all consumers have been sent
 * what is left.
 */
void etwas_host_consumers_wait(void);

void etwas_host_consumers_before_fork(void);
void etwas_host_consumers_after_fork(bool is_child);

#endif
