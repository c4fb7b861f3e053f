/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A consumer (consumer.h) of a session that another process hosts. Everything that comes from that
 * process is checked.
 */
#ifndef ETWAS_SHARING_REMOTE_CONSUMER_H
#define ETWAS_SHARING_REMOTE_CONSUMER_H

#include "reader/consumer.h"

/*
 * Requests the session's events over a connection to its host. The consumer owns the connection
 * from here on, also if this fails. Waits for the session's header until the deadline
 * (CLOCK_MONOTONIC, ns).
 *
 * ERROR_WMI_INSTANCE_NOT_FOUND: the session is not in real time, or has ended. ERROR_TIMEOUT,
 * ERROR_INVALID_DATA, ERROR_NOT_ENOUGH_MEMORY, or the host's answer.
 */
uint32_t etwas_remote_consumer_connect(int connection, uint64_t deadline_ns,
                                       struct etwas_consumer **consumer);

#endif
