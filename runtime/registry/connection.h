/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Connections between a session's host and whoever wants something of it: SOCK_SEQPACKET, for message.h. */
#ifndef ETWAS_REGISTRY_CONNECTION_H
#define ETWAS_REGISTRY_CONNECTION_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"

/* The other end, by the kernel. */
struct etwas_peer {
    uint32_t process_id; /* as this process's namespace sees it; 0: it does not */
    uint32_t user_id;
};

/*
 * Connects to the host of a session, by its entry. Waits until the deadline (CLOCK_MONOTONIC, ns) while more want to be
 * connected than the host has accepted. The connection is the caller's to close; it does not block.
 * ERROR_NOT_FOUND: the host is gone. ERROR_ACCESS_DENIED: who listens there is of another user. ERROR_TIMEOUT;
 * ERROR_NO_SYSTEM_RESOURCES; errors of etwas_registry_address.
 */
uint32_t etwas_registry_connect(const struct etwas_registry_entry *entry, uint64_t deadline_ns,
                                int *connection, struct etwas_peer *peer);

/*
 * The next one who wants to be connected. Never waits: ERROR_NOT_FOUND, there is nobody.
 * ERROR_ACCESS_DENIED: it was of another user, and neither root, and is closed. ERROR_NO_SYSTEM_RESOURCES: no more
 * files may be open; it is closed, which takes the number of the spare descriptor for that moment. ERROR_BUSY: nor
 * that could be; it waits on, so poll says it again at once.
 */
uint32_t etwas_registry_accept(int listener, int *spare, int *connection, struct etwas_peer *peer);

/* Who is at the other end of a connection. ERROR_ACCESS_DENIED: the system does not say. */
uint32_t etwas_registry_peer_of(int connection, struct etwas_peer *peer);

/* A descriptor that is good for nothing but to be given up (own_descriptor.h); -1: there can be none now. */
int etwas_registry_spare(void);

/*
 * For host_session.c: listens at the session's socket of this nonce, by a descriptor that is not kept (own_descriptor.h). Errors
 * of etwas_registry_address.
 */
uint32_t etwas_registry_listen(const etwas_guid *session, uint64_t nonce, int *listener);

/* Whether nobody finds that socket. */
bool etwas_registry_listener_is_missing(const etwas_guid *session, uint64_t nonce);

#endif
