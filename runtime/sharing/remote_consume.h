/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Consuming sessions of other processes. */
#ifndef ETWAS_SHARING_REMOTE_CONSUME_H
#define ETWAS_SHARING_REMOTE_CONSUME_H

#include "reader/consumer.h"
#include "session/configuration.h"

/*
 * Connects a consumer to the session of this name that another process hosts.
 * ERROR_WMI_INSTANCE_NOT_FOUND: there is none, or it is not in real time. ERROR_TIMEOUT: its host
 * does not answer. Errors of etwas_remote_consumer_connect.
 */
uint32_t etwas_remote_consume(const etwas_wchar *name, struct etwas_consumer **consumer);

#endif
