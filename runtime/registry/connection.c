/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/connection.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "registry/file_name.h"
#include "registry/message.h"
#include "registry/registry.h"
#include "registry/removal.h"

enum {
    PAUSE_NS = 1000000, /* while a host has more to accept than it may */
    ROOT = 0,
    /* A whole message has room, as the system counts it, beside one that is on its way. */
    SEND_BYTES = 4 * ETWAS_MESSAGE_BYTES,
};

static void connection_free_spare(int connection)
{
    int bytes = 0;
    socklen_t size = sizeof bytes;

    if (getsockopt(connection, SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 && bytes < SEND_BYTES) {
        bytes = SEND_BYTES / 2; /* the kernel doubles it */
        (void)setsockopt(connection, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
}

uint32_t etwas_registry_peer_of(int connection, struct etwas_peer *peer)
{
    struct ucred who;
    socklen_t size = sizeof who;

    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
        return ERROR_ACCESS_DENIED;
    }
    *peer = (struct etwas_peer){.process_id = (uint32_t)who.pid, .user_id = who.uid};
    return ERROR_SUCCESS;
}

static void connection_name_socket(const etwas_guid *session, uint64_t nonce,
                                   char text[ETWAS_REGISTRY_FILE_BYTES])
{
    struct etwas_file_name name = {
        .kind = ETWAS_REGISTRY_FILE_SESSION_SOCKET, .session = *session, .nonce = nonce};

    etwas_file_name_format(&name, text);
}

uint32_t etwas_registry_listen(const etwas_guid *session, uint64_t nonce, int *listener)
{
    char name[ETWAS_REGISTRY_FILE_BYTES];
    uint32_t code;

    connection_name_socket(session, nonce, name);
    code = etwas_registry_socket(SOCK_SEQPACKET, name, listener);
    if (code == ERROR_SUCCESS && listen(*listener, SOMAXCONN) != 0) {
        code = ERROR_NO_SYSTEM_RESOURCES;
        (void)close(*listener);
        *listener = -1;
    }
    if (code == ERROR_SUCCESS) {
        etwas_removal_watch(name);
    }
    return code;
}

bool etwas_registry_listener_is_missing(const etwas_guid *session, uint64_t nonce)
{
    char name[ETWAS_REGISTRY_FILE_BYTES];

    connection_name_socket(session, nonce, name);
    return etwas_registry_is_missing(name);
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* The system does not say when a host can take more: it has to be tried. */
static uint32_t connection_connect_before(int connection, int folder, const char *name,
                                          uint64_t deadline_ns)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct sockaddr_un address;
    uint32_t code = etwas_registry_address(folder, name, &address);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    while (connect(connection, (const struct sockaddr *)&address, sizeof address) != 0) {
        if (errno != EAGAIN && errno != EINTR) {
            return etwas_registry_socket_error(errno);
        }
        if (etwas_monotonic_ns() >= deadline_ns) {
            return ERROR_TIMEOUT;
        }
        (void)nanosleep(&pause, NULL);
    }
    return ERROR_SUCCESS;
}

uint32_t etwas_registry_connect(const struct etwas_registry_entry *entry, uint64_t deadline_ns,
                                int *connection, struct etwas_peer *peer)
{
    struct etwas_registry_walk walk;
    char name[ETWAS_REGISTRY_FILE_BYTES];
    uint32_t code;
    int opened;

    code = etwas_registry_socket(SOCK_SEQPACKET, NULL, &opened);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    connection_name_socket(&entry->session, entry->socket, name);
    code = etwas_registry_walk_to(name, &walk);
    if (code == ERROR_SUCCESS) {
        code = connection_connect_before(opened, walk.folder, name, deadline_ns);
    }
    etwas_registry_walk_end(&walk);
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_peer_of(opened, peer);
    }
    if (code == ERROR_SUCCESS && peer->user_id != geteuid()) {
        code = ERROR_ACCESS_DENIED;
    }
    if (code != ERROR_SUCCESS) {
        (void)close(opened);
        return code;
    }
    connection_free_spare(opened);
    *connection = opened;
    return ERROR_SUCCESS;
}

/* ---- accepting ------------------------------------------------------------------------------- */

int etwas_registry_spare(void)
{
    int spare;

    return etwas_registry_socket(SOCK_DGRAM, NULL, &spare) == ERROR_SUCCESS ? etwas_own_keep(spare)
                                                                            : -1;
}

static int connection_accept_next(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

/*
 * In the place of the spare one. False: it waits on, for another thread was quicker, or there is
 * none to spare.
 */
static bool connection_turn_away(int listener, int *spare)
{
    int accepted = -1;

    if (*spare >= 0) {
        etwas_own_close(*spare);
        accepted = connection_accept_next(listener);
    }
    if (accepted >= 0) {
        (void)close(accepted);
    }
    *spare = etwas_registry_spare();
    return accepted >= 0;
}

uint32_t etwas_registry_accept(int listener, int *spare, int *connection, struct etwas_peer *peer)
{
    int accepted = connection_accept_next(listener);

    if (accepted < 0) {
        return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != ENOBUFS
                   ? ERROR_NOT_FOUND
               : connection_turn_away(listener, spare) ? ERROR_NO_SYSTEM_RESOURCES
                                                       : ERROR_BUSY;
    }
    if (*spare < 0) {
        *spare = etwas_registry_spare();
    }
    if (etwas_registry_peer_of(accepted, peer) != ERROR_SUCCESS ||
        (peer->user_id != geteuid() && peer->user_id != ROOT)) {
        (void)close(accepted);
        return ERROR_ACCESS_DENIED;
    }
    connection_free_spare(accepted);
    *connection = etwas_own_keep(accepted);
    return ERROR_SUCCESS;
}
