/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A session of this process as other processes see it: its name and its GUID are acquired, its
 * entry can be read, and its host listens. The thread that changes the session makes all calls for
 * it, one at a time.
 */
#ifndef ETWAS_REGISTRY_HOST_SESSION_H
#define ETWAS_REGISTRY_HOST_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/held_file.h"
#include "registry/session_entry.h"

struct etwas_registry_host {
    struct etwas_held_file name;
    struct etwas_held_file entry;
    etwas_guid session;
    uint64_t socket;
    int listener; /* SOCK_SEQPACKET, does not block; poll it and accept (connection.h). -1: none */
};

/* The value before the first call: nothing is open. */
#define ETWAS_REGISTRY_NO_HOST                                                                     \
    ((struct etwas_registry_host){.name = {.lock = -1}, .entry = {.lock = -1}, .listener = -1})

/*
 * Acquires the entry's name and GUID, listens, and then publishes the entry; the caller notifies
 * other processes (notification.h). Sets the entry's socket, process_id and process_start. Removes
 * files of dead processes with the same name or GUID. On failure nothing is left, and *host is
 * unchanged.
 *
 * ERROR_ALREADY_EXISTS: a session of another process, or of this one, has the name (without regard
 * to case) or the GUID. Others of etwas_held_acquire, etwas_registry_encode_entry and
 * etwas_registry_address.
 */
uint32_t etwas_registry_host_open(struct etwas_registry_host *host,
                                  struct etwas_registry_entry *entry);

/*
 * Replaces the session's entry in one step; its name and GUID do not change. On failure the entry
 * is unchanged: ERROR_DISK_FULL, others of etwas_registry_encode_entry.
 */
uint32_t etwas_registry_host_publish(struct etwas_registry_host *host,
                                     const struct etwas_registry_entry *entry);

/*
 * Removes the session's entry, so that no process finds the session open any more; needs no space.
 * Nothing is published afterwards. The rest stays until etwas_registry_host_close.
 */
void etwas_registry_host_withdraw(struct etwas_registry_host *host);

/*
 * Makes files of the session that have been removed again, under the same names, also the socket.
 * *is_anew: something was missing, and the entry is STARTING until it is published.
 * ERROR_ALREADY_EXISTS: another process has its name or GUID by now, and this session stays hidden.
 * Others of etwas_registry_host_open. Does nothing if no session is open.
 */
uint32_t etwas_registry_host_restore(struct etwas_registry_host *host,
                                     struct etwas_registry_entry *entry, bool *is_anew);

/* Removes the session's files, if one is open. The caller closes its connections. */
void etwas_registry_host_close(struct etwas_registry_host *host);

/* In a fork's child: forgets the session, which stays the parent's. Async-signal-safe. */
void etwas_registry_host_forget(struct etwas_registry_host *host);

#endif
