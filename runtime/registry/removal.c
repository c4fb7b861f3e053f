/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/removal.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "platform/own_descriptor.h"
#include "registry/registry.h"

static uint32_t opened; /* the descriptor and 1; 0: none is */

int etwas_removal_begin(void)
{
    int descriptor = etwas_descriptor_protect(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));

    ck_pr_store_32(&opened, (uint32_t)(descriptor + 1));
    return descriptor;
}

/*
 * The kernel keeps the file of a bound socket as long as the socket is open, but reports that it
 * has lost its name.
 */
void etwas_removal_watch(const char *name)
{
    const uint32_t descriptor = ck_pr_load_32(&opened);
    struct sockaddr_un address;
    int folder;

    if (descriptor != 0 && etwas_descriptor_is_own((int)descriptor - 1) &&
        etwas_registry_open(&folder) == ERROR_SUCCESS &&
        etwas_registry_address(folder, name, &address) == ERROR_SUCCESS) {
        (void)inotify_add_watch((int)descriptor - 1, address.sun_path,
                                IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF);
    }
}

void etwas_removal_receive(int descriptor)
{
    uint8_t events[4096];

    while (read(descriptor, events, sizeof events) > 0) {
    }
}

void etwas_removal_end(void)
{
    const uint32_t descriptor = ck_pr_load_32(&opened);

    if (descriptor != 0) {
        ck_pr_store_32(&opened, 0);
        etwas_descriptor_close((int)descriptor - 1);
    }
}
