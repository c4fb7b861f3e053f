/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The processes that have joined. Each has a list of its providers, which it holds while it lives,
 * and a datagram socket on which it is notified (notification.h).
 */
#ifndef ETWAS_REGISTRY_JOINED_PROCESS_H
#define ETWAS_REGISTRY_JOINED_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/guid_list.h"
#include "registry/held_file.h"

struct etwas_registry_process {
    struct etwas_held_file guids;
    int socket; /* SOCK_DGRAM, does not block; poll it and receive (notification.h). -1: none */
    char name[ETWAS_REGISTRY_FILE_BYTES]; /* of the socket, for notifying this process alone */
};

/* The value before the first call: nothing is open. */
#define ETWAS_REGISTRY_NO_PROCESS                                                                  \
    ((struct etwas_registry_process){.guids = {.lock = -1}, .socket = -1})

/*
 * Joins the registry without providers; the process can be notified from here on. On failure
 * nothing is left, and *process is unchanged: errors of etwas_held_acquire and
 * etwas_registry_address.
 */
uint32_t etwas_registry_join(struct etwas_registry_process *process);

/*
 * Makes files of the process that have been removed again, under the same names. *is_anew:
 * something was missing, and its providers are not visible until they are published. One thread at
 * a time. Errors of etwas_registry_join.
 */
uint32_t etwas_registry_rejoin(struct etwas_registry_process *process, bool *is_anew);

/*
 * Publishes this list as the process's providers; process_id and process_start of the list are not
 * read. One thread at a time. On failure the old list stays: errors of etwas_registry_encode_guids;
 * ERROR_DISK_FULL.
 */
uint32_t etwas_registry_publish_guids(struct etwas_registry_process *process,
                                      const struct etwas_registry_guid_list *list);

/* Leaves the registry, if the process has joined. */
void etwas_registry_leave(struct etwas_registry_process *process);

/* In a fork's child: forgets the files, which stay the parent's. Async-signal-safe. */
void etwas_registry_process_forget(struct etwas_registry_process *process);

/*
 * Visits the list of each living process, this one included, until `each` returns false; the list
 * is freed when `each` has returned. ERROR_NOT_ENOUGH_MEMORY; errors of etwas_registry_open; errors
 * of etwas_held_read and etwas_registry_decode_guids, where a list cannot be read.
 */
uint32_t etwas_registry_each_process(bool (*each)(const struct etwas_registry_guid_list *list,
                                                  void *context),
                                     void *context);

#endif
