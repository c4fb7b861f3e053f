/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Consumers in other processes. Each has a thread in the host, the host-side consumer. To the
 * session it is a consumer like any other; it sends the buffers that it receives
 * (sharing/consume_protocol.h). Buffers that the other process does not take wait in the session's
 * queue for this consumer, or are lost for it. Neither the flusher nor any other thread waits.
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
 * from here on. Returns false if there are too many, after answering the other process with that
 * error, or if there is no thread. The connection then stays the caller's.
 */
bool etwas_host_consume(int connection, uint64_t session);

/*
 * Called at the end of the process, after its sessions: waits until the remaining data have been
 * sent to all consumers.
 */
void etwas_host_consumers_wait(void);

void etwas_host_consumers_before_fork(void);
void etwas_host_consumers_after_fork(bool is_child);

#endif
