/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/connection.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
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

static void connection_make_room(int connection)
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
    connection_make_room(opened);
    *connection = opened;
    return ERROR_SUCCESS;
}

/* ---- accepting ------------------------------------------------------------------------------- */

bool etwas_registry_fill_spares(struct etwas_spares *spares)
{
    bool is_full = true;

    for (uint32_t index = 0; index < sizeof spares->descriptors / sizeof(int); index++) {
        int *spare = &spares->descriptors[index];

        if (*spare < 0 && etwas_registry_socket(SOCK_DGRAM, NULL, spare) == ERROR_SUCCESS) {
            *spare = etwas_descriptor_protect(*spare);
        }
        is_full = is_full && *spare >= 0;
    }
    return is_full;
}

void etwas_registry_free_spares(struct etwas_spares *spares)
{
    for (uint32_t index = 0; index < sizeof spares->descriptors / sizeof(int); index++) {
        if (spares->descriptors[index] >= 0) {
            etwas_descriptor_close(spares->descriptors[index]);
            spares->descriptors[index] = -1;
        }
    }
}

bool etwas_registry_can_open(int any, uint32_t files)
{
    bool has_room = true;

    if (files != 0) {
        int copy = fcntl(any, F_DUPFD_CLOEXEC, 0);

        has_room = copy >= 0 && etwas_registry_can_open(any, files - 1);
        if (copy >= 0) {
            (void)close(copy);
        }
    }
    return has_room;
}

static bool connection_is_for_want_of_files(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

static int connection_accept_next(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

uint32_t etwas_registry_accept(int listener, struct etwas_spares *spares, int *connection,
                               struct etwas_peer *peer)
{
    int accepted = connection_accept_next(listener);
    uint32_t code = ERROR_SUCCESS;

    if (accepted < 0 && connection_is_for_want_of_files(errno)) {
        etwas_registry_free_spares(spares);
        accepted = connection_accept_next(listener);
    }
    if (accepted < 0) {
        /* Another thread may have been quicker than this one. */
        code = connection_is_for_want_of_files(errno) ? ERROR_BUSY : ERROR_NOT_FOUND;
    } else if (etwas_registry_peer_of(accepted, peer) != ERROR_SUCCESS ||
               (peer->user_id != geteuid() && peer->user_id != ROOT)) {
        (void)close(accepted);
        code = ERROR_ACCESS_DENIED;
    } else {
        connection_make_room(accepted);
        *connection = etwas_descriptor_protect(accepted);
    }
    /* A session's own files come first, and the next connection has to be accepted, too. */
    if (!etwas_registry_fill_spares(spares) ||
        (code == ERROR_SUCCESS &&
         !etwas_registry_can_open(*connection, ETWAS_REGISTRY_HOST_FILES))) {
        code = code == ERROR_SUCCESS ? (uint32_t)ERROR_NO_SYSTEM_RESOURCES : code;
    }
    return code;
}
