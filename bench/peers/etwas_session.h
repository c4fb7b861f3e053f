/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The session, which both etwas peers use. etwas_session.c implements peer_start and peer_stop with
 * these two functions of the provider.
 */
#ifndef ETWAS_BENCH_PEERS_ETWAS_SESSION_H
#define ETWAS_BENCH_PEERS_ETWAS_SESSION_H

#include <etwas/etwas.h>

/* Registers the provider and sends its events to the session. */
uint32_t etwas_peer_begin(etwas_trace_handle session);
void etwas_peer_end(void);

#endif
