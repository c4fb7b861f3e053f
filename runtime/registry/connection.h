/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Connections between a session's host and other processes: SOCK_SEQPACKET, for the messages of
 * message.h.
 */
#ifndef ETWAS_REGISTRY_CONNECTION_H
#define ETWAS_REGISTRY_CONNECTION_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"

/* The process at the other end, as the kernel says. */
struct etwas_peer {
    uint32_t process_id; /* its id in this process's namespace; 0: it has none there */
    uint32_t user_id;
};

/*
 * Connects to the host of a session, by its entry. Waits until the deadline (CLOCK_MONOTONIC, ns)
 * while the host has more connections to accept than it may have. The connection is closed by the
 * caller; it does not block. ERROR_NOT_FOUND: the host has gone. ERROR_ACCESS_DENIED: another user
 * listens there. ERROR_TIMEOUT; ERROR_NO_SYSTEM_RESOURCES; errors of etwas_registry_address.
 */
uint32_t etwas_registry_connect(const struct etwas_registry_entry *entry, uint64_t deadline_ns,
                                int *connection, struct etwas_peer *peer);

/*
 * Descriptors whose only use is to be given up: where no more files may be open, a connection and a
 * descriptor that comes by it have their numbers for a moment. -1: there is none now.
 */
struct etwas_spares {
    int descriptors[2];
};

#define ETWAS_REGISTRY_NO_SPARES                                                                   \
    {                                                                                              \
        .descriptors = { -1, -1 }                                                                  \
    }

/* Opens those that are missing, as far as files may be open. Returns whether none is missing. */
bool etwas_registry_fill_spares(struct etwas_spares *spares);

/* Gives all up, until they are filled again. */
void etwas_registry_free_spares(struct etwas_spares *spares);

enum {
    /*
     * So many files a host can open beside what it has, or it takes no process: the session's next
     * file, a snapshot, its entry, a controller's connection; and of the process its connection and
     * the page that it counts in.
     */
    ETWAS_REGISTRY_HOST_FILES = 6
};

/* Whether so many more files may be open. `any` is a descriptor, which stays as it is. */
bool etwas_registry_can_open(int any, uint32_t files);

/*
 * Accepts the next connection. Never waits: ERROR_NOT_FOUND, there is none. ERROR_ACCESS_DENIED: it
 * was of another user, who is not root, and has been closed. ERROR_NO_SYSTEM_RESOURCES: fewer than
 * ETWAS_REGISTRY_HOST_FILES more may be open, or it has the place of a spare descriptor; the caller
 * closes it soon, and fills them again. ERROR_BUSY: that was impossible, too; it still waits, so
 * poll reports it again at once.
 */
uint32_t etwas_registry_accept(int listener, struct etwas_spares *spares, int *connection,
                               struct etwas_peer *peer);

/*
 * Reads which process is at the other end of a connection. ERROR_ACCESS_DENIED: the system does not
 * say.
 */
uint32_t etwas_registry_peer_of(int connection, struct etwas_peer *peer);

/*
 * For host_session.c: listens at the session's socket of this nonce. The descriptor is not kept yet
 * (own_descriptor.h). Errors of etwas_registry_address.
 */
uint32_t etwas_registry_listen(const etwas_guid *session, uint64_t nonce, int *listener);

/* Whether that socket has no name in the folder any more. */
bool etwas_registry_listener_is_missing(const etwas_guid *session, uint64_t nonce);

#endif
