/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Notifies the service manager: sends a datagram to the socket in NOTIFY_SOCKET, a path, or with @
 * an abstract name.
 */

#include "host/host.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void etwas_host_notify(const char *state)
{
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = name != NULL ? strlen(name) : 0;
    int descriptor;

    if (length == 0 || length >= sizeof address.sun_path) {
        return;
    }
    memcpy(address.sun_path, name, length);
    if (name[0] == '@') {
        address.sun_path[0] = '\0';
    }
    descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor >= 0) {
        /*
         * If the datagram is lost, the service manager reports that the service does not become
         * ready.
         */
        (void)sendto(descriptor, state, strlen(state), MSG_NOSIGNAL,
                     (const struct sockaddr *)&address,
                     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
        (void)close(descriptor);
    }
}
