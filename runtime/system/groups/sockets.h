/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is known of TCP sockets: their two ends since the last change of state, and the process that
 * owns each:
 *
 *     connecting    the process that called connect
 *     accepted      the process that called listen on the port; unknown if several did, since their
 *                   network namespaces are not known
 *     later         the process that sent or received last
 *
 * The kernel completes a connection in any thread that it interrupts, so the current thread is not
 * the owner. A socket that is older than the session is unknown until its state changes or it is
 * used.
 */
#ifndef ETWAS_SYSTEM_GROUPS_SOCKETS_H
#define ETWAS_SYSTEM_GROUPS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/event_join.h"

enum {
    ETWAS_ADDRESS_BYTES = 16,

    /* The kernel's numbers. */
    ETWAS_TCP_ESTABLISHED = 1,
    ETWAS_TCP_SYN_SENT = 2,
    ETWAS_TCP_SYN_RECEIVED = 3,
    ETWAS_TCP_CLOSE = 7,
    ETWAS_TCP_LISTEN = 10,
};

/* A port of 0 and an address of zeros are unknown. */
struct etwas_ends {
    uint16_t local_port;
    uint16_t remote_port;
    uint8_t local[ETWAS_ADDRESS_BYTES]; /* IPv4: the first four bytes */
    uint8_t remote[ETWAS_ADDRESS_BYTES];
};

struct etwas_socket {
    uint32_t process_id; /* 0: unknown */
    bool connects;       /* this end calls connect */
    struct etwas_ends ends;
};

struct etwas_sockets {
    struct etwas_event_join *known;     /* by the address of the socket */
    struct etwas_event_join *listeners; /* by port */
};

/* What a change of state means. */
enum etwas_socket_change {
    ETWAS_SOCKET_OTHER,
    ETWAS_SOCKET_CONNECTED,
    ETWAS_SOCKET_ACCEPTED,
    ETWAS_SOCKET_DISCONNECTED,
};

struct etwas_socket_step {
    uint64_t socket;
    int64_t from;
    int64_t to;
    uint32_t process_id; /* in which the state changed */
    struct etwas_ends ends;
};

/* Returns false if there is no memory; nothing has to be freed then. */
bool etwas_sockets_init(struct etwas_sockets *sockets);
void etwas_sockets_free(struct etwas_sockets *sockets);

/* Handles a change of state. *known receives what was known of the socket, or is now. */
enum etwas_socket_change etwas_sockets_step(struct etwas_sockets *sockets,
                                            const struct etwas_socket_step *step,
                                            struct etwas_socket *known);

/* A process uses the socket: makes it the owner. */
const struct etwas_socket *etwas_sockets_use(struct etwas_sockets *sockets, uint64_t socket,
                                             uint32_t process_id);

/* Returns the owner; 0: unknown. */
uint32_t etwas_sockets_owner(const struct etwas_sockets *sockets, uint64_t socket);

#endif
