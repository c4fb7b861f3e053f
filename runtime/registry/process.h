/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processes that take part: each has a list of its providers, which it holds while it lives, and a datagram socket
 * on which it is told to look (notification.h).
 */
#ifndef ETWAS_REGISTRY_PROCESS_H
#define ETWAS_REGISTRY_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/guid_list.h"
#include "registry/held_file.h"

struct etwas_registry_process {
    struct etwas_held_file guids;
    int socket; /* SOCK_DGRAM, does not block; poll it and hear (notification.h). -1: none */
    char name[ETWAS_REGISTRY_FILE_BYTES]; /* of the socket: by it others tell this process alone */
};

/* What has to be there before the first call: nothing is open. */
#define ETWAS_REGISTRY_NO_PROCESS                                                                  \
    ((struct etwas_registry_process){.guids = {.lock = -1}, .socket = -1})

/*
 * Takes part from here on, with no providers: is told what others tell. On failure nothing is there, and *process is as
 * before: errors of etwas_held_acquire and etwas_registry_address.
 */
uint32_t etwas_registry_join(struct etwas_registry_process *process);

/*
 * Makes anew what somebody has removed of it, under the same names: *is_anew, something was missing, and of its providers others
 * are shown none until they are published. One thread at a time. Errors of etwas_registry_join.
 */
uint32_t etwas_registry_rejoin(struct etwas_registry_process *process, bool *is_anew);

/*
 * These are the process's providers from here on; the list's process_id and process_start are not read. One
 * thread at a time. On failure they are those of before: errors of etwas_registry_encode_guids; ERROR_DISK_FULL.
 */
uint32_t etwas_registry_publish_guids(struct etwas_registry_process *process,
                                      const struct etwas_registry_guid_list *list);

/* Takes part no more. Does nothing where nothing is open. */
void etwas_registry_leave(struct etwas_registry_process *process);

/* In a fork's child: all stays with the parent. Async-signal-safe. */
void etwas_registry_process_forget(struct etwas_registry_process *process);

/*
 * Shows the list of each living process, this one too, until `each` returns false; a list is gone when
 * `each` has returned. ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_open; errors of etwas_held_read and
 * ERROR_NOT_SUPPORTED, of another release: that process's list was left out, the others were shown.
 */
uint32_t etwas_registry_each_process(bool (*each)(const struct etwas_registry_guid_list *list,
                                                  void *context),
                                     void *context);

#endif
