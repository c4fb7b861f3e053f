/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is known of TCP sockets: their ends, since their state changed last, and whose they are:
 *
 *     connecting    of the process that called connect
 *     accepted      of the one that called listen on the port; nobody's if several did, for their
 *                   network namespaces are not known
 *     later         of the one that sent or received last
 *
 * The kernel completes a connection on behalf of whoever is interrupted, so it is never asked who that
 * is. Of a socket that is older than the session nothing is known until its state changes or it is used.
 */
#ifndef ETWAS_SYSTEM_GROUPS_SOCKETS_H
#define ETWAS_SYSTEM_GROUPS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "system/stream/join.h"

enum {
    ETWAS_ADDRESS_BYTES = 16,

    /* As the kernel numbers them. */
    ETWAS_TCP_ESTABLISHED = 1,
    ETWAS_TCP_SYN_SENT = 2,
    ETWAS_TCP_SYN_RECEIVED = 3,
    ETWAS_TCP_CLOSE = 7,
    ETWAS_TCP_LISTEN = 10,
};

/* A port of 0 and an address of zeros are not known. */
struct etwas_ends {
    uint16_t local_port;
    uint16_t remote_port;
    uint8_t local[ETWAS_ADDRESS_BYTES]; /* of IPv4 the first four */
    uint8_t remote[ETWAS_ADDRESS_BYTES];
};

struct etwas_socket {
    uint32_t process_id; /* 0: not known */
    bool connects;       /* by itself */
    struct etwas_ends ends;
};

struct etwas_sockets {
    struct etwas_join *known;     /* by address of the socket */
    struct etwas_join *listeners; /* by port */
};

/* Which of the two it was. */
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
    uint32_t process_id; /* in whose time it happened */
    struct etwas_ends ends;
};

/* False: no memory, and nothing to free. */
bool etwas_sockets_init(struct etwas_sockets *sockets);
void etwas_sockets_free(struct etwas_sockets *sockets);

/* A copy of what was known of the socket then, or is now, in *known. */
enum etwas_socket_change etwas_sockets_step(struct etwas_sockets *sockets,
                                            const struct etwas_socket_step *step,
                                            struct etwas_socket *known);

/* A process uses it. */
const struct etwas_socket *etwas_sockets_use(struct etwas_sockets *sockets, uint64_t socket,
                                             uint32_t process_id);

/* 0: not known. */
uint32_t etwas_sockets_owner(const struct etwas_sockets *sockets, uint64_t socket);

#endif
