/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the two peers that are etwas have in common: its session. etwas_session.c implements
 * peer_start and peer_stop with these two functions of the provider's.
 */
#ifndef ETWAS_BENCH_PEERS_ETWAS_SESSION_H
#define ETWAS_BENCH_PEERS_ETWAS_SESSION_H

#include <etwas/etwas.h>

/* Registers the provider, and has its events go to the session. */
uint32_t etwas_peer_begin(etwas_trace_handle session);
void etwas_peer_end(void);

#endif
