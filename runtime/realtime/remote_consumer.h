/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A consumer (consumer.h) of a session that another process hosts. Nothing that comes from there is believed. */
#ifndef ETWAS_REALTIME_REMOTE_CONSUMER_H
#define ETWAS_REALTIME_REMOTE_CONSUMER_H

#include "realtime/consumer.h"

/*
 * Asks for the session's events over a connection to its host, which is the consumer's from here on, whatever happens.
 * Waits for what the session says of itself until the deadline (CLOCK_MONOTONIC, ns).
 *
 * ERROR_WMI_INSTANCE_NOT_FOUND: it is not in real time, or has ended. ERROR_TIMEOUT, ERROR_INVALID_DATA,
 * ERROR_NOT_ENOUGH_MEMORY; what the host answers.
 */
uint32_t etwas_remote_consumer_connect(int connection, uint64_t deadline_ns,
                                       struct etwas_consumer **consumer);

#endif
