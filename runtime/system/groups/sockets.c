/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/groups/sockets.h"

#include <stddef.h>

struct listener {
    uint32_t process_id; /* 0: several processes */
    uint32_t sockets;
};

bool etwas_sockets_init(struct etwas_sockets *sockets)
{
    sockets->known = etwas_event_join_make(sizeof(struct etwas_socket));
    sockets->listeners = etwas_event_join_make(sizeof(struct listener));
    if (sockets->known != NULL && sockets->listeners != NULL) {
        return true;
    }
    etwas_sockets_free(sockets);
    return false;
}

void etwas_sockets_free(struct etwas_sockets *sockets)
{
    etwas_event_join_free(sockets->known);
    etwas_event_join_free(sockets->listeners);
}

/* ---- listeners ------------------------------------------------------------------------------- */

static void sockets_begin_listening(struct etwas_sockets *sockets,
                                    const struct etwas_socket_step *step)
{
    uint16_t port = step->ends.local_port;
    struct listener *listener = etwas_event_join_find(sockets->listeners, port, 0);

    if (listener == NULL) {
        listener = etwas_event_join_insert(sockets->listeners, port, 0);
        listener->process_id = step->process_id;
    } else if (listener->process_id != step->process_id) {
        listener->process_id = 0;
    }
    listener->sockets++;
}

static void sockets_end_listening(struct etwas_sockets *sockets, uint16_t port)
{
    struct listener *listener = etwas_event_join_find(sockets->listeners, port, 0);

    if (listener != NULL && --listener->sockets == 0) {
        etwas_event_join_remove(sockets->listeners, port, 0);
    }
}

static uint32_t sockets_listener_of(const struct etwas_sockets *sockets, uint16_t port)
{
    const struct listener *listener = etwas_event_join_find(sockets->listeners, port, 0);

    return listener != NULL ? listener->process_id : 0;
}

/* ---- sockets --------------------------------------------------------------------------------- */

/* Applies a change of state. A new socket may have the address of an earlier one. */
static struct etwas_socket *sockets_update(struct etwas_sockets *sockets,
                                           const struct etwas_socket_step *step)
{
    bool begins = step->from == ETWAS_TCP_CLOSE || step->from == ETWAS_TCP_LISTEN;
    struct etwas_socket *socket =
        begins ? NULL : etwas_event_join_find(sockets->known, step->socket, 0);

    if (socket == NULL) {
        socket = etwas_event_join_insert(sockets->known, step->socket, 0);
    }
    socket->ends = step->ends;
    socket->connects |= step->to == ETWAS_TCP_SYN_SENT || step->from == ETWAS_TCP_SYN_SENT;
    if (step->to == ETWAS_TCP_SYN_SENT) {
        socket->process_id = step->process_id;
    }
    return socket;
}

static enum etwas_socket_change sockets_close_one(struct etwas_sockets *sockets,
                                                  const struct etwas_socket_step *step)
{
    etwas_event_join_remove(sockets->known, step->socket, 0);
    switch (step->from) {
    case ETWAS_TCP_LISTEN:
        sockets_end_listening(sockets, step->ends.local_port);
        return ETWAS_SOCKET_OTHER;
    case ETWAS_TCP_CLOSE:
    case ETWAS_TCP_SYN_SENT:
    case ETWAS_TCP_SYN_RECEIVED:
        return ETWAS_SOCKET_OTHER;
    default:
        return ETWAS_SOCKET_DISCONNECTED;
    }
}

enum etwas_socket_change etwas_sockets_step(struct etwas_sockets *sockets,
                                            const struct etwas_socket_step *step,
                                            struct etwas_socket *known)
{
    struct etwas_socket *socket;

    if (step->to == ETWAS_TCP_LISTEN) {
        sockets_begin_listening(sockets, step);
        return ETWAS_SOCKET_OTHER;
    }
    socket = sockets_update(sockets, step);
    if (step->to == ETWAS_TCP_ESTABLISHED && !socket->connects) {
        socket->process_id = sockets_listener_of(sockets, step->ends.local_port);
    }
    *known = *socket;
    if (step->to == ETWAS_TCP_CLOSE) {
        return sockets_close_one(sockets, step);
    }
    if (step->to != ETWAS_TCP_ESTABLISHED) {
        return ETWAS_SOCKET_OTHER;
    }
    return socket->connects ? ETWAS_SOCKET_CONNECTED : ETWAS_SOCKET_ACCEPTED;
}

const struct etwas_socket *etwas_sockets_use(struct etwas_sockets *sockets, uint64_t socket,
                                             uint32_t process_id)
{
    struct etwas_socket *found = etwas_event_join_find(sockets->known, socket, 0);

    if (found == NULL) {
        found = etwas_event_join_insert(sockets->known, socket, 0);
    }
    found->process_id = process_id;
    return found;
}

uint32_t etwas_sockets_owner(const struct etwas_sockets *sockets, uint64_t socket)
{
    const struct etwas_socket *found = etwas_event_join_find(sockets->known, socket, 0);

    return found != NULL ? found->process_id : 0;
}
