/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "registry/host_session.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <unistd.h>

#include "platform/identity.h"
#include "platform/own_descriptor.h"
#include "registry/connection.h"
#include "registry/names.h"
#include "registry/sessions.h"

enum {
    /* The session's log file, its first process's connection, and a file that is being read. */
    HOST_SESSION_FIRST_FILES = 3
};

/*
 * Acquires the GUID with an entry that is STARTING and has no enablements. Enablements stay in the
 * host's own list until it publishes them.
 */
static uint32_t host_session_acquire_guid(struct etwas_registry_host *host,
                                          const struct etwas_registry_entry *entry)
{
    struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_SESSION, .session = entry->session};
    struct etwas_registry_entry starting = *entry;
    char stem[ETWAS_REGISTRY_FILE_BYTES];
    struct etwas_held_request request = {.stem = stem};
    void *bytes;
    uint32_t code;

    etwas_file_name_format(&name, stem);
    starting.state = ETWAS_REGISTRY_STARTING;
    starting.enablement_count = 0;
    code = etwas_registry_encode_entry(&starting, &bytes, &request.size);
    if (code == ERROR_SUCCESS) {
        request.bytes = bytes;
        code = etwas_held_acquire(&host->entry, &request);
        free(bytes);
    }
    return code;
}

/*
 * The socket is made after the entry, which shows other processes that the socket is living, and
 * before the entry is published.
 */
uint32_t etwas_registry_host_open(struct etwas_registry_host *host,
                                  struct etwas_registry_entry *entry)
{
    struct etwas_registry_host made = ETWAS_REGISTRY_NO_HOST;
    uint32_t code;

    made.session = entry->session;
    made.socket = etwas_registry_nonce();
    entry->socket = made.socket;
    entry->process_id = (uint32_t)getpid();
    entry->process_start = etwas_identity_start_ticks();
    code = entry->kind != ETWAS_REGISTRY_RECORDER
               ? etwas_session_name_acquire(&made.name, entry->name, &entry->session)
               : (uint32_t)ERROR_SUCCESS;
    if (code == ERROR_SUCCESS) {
        code = host_session_acquire_guid(&made, entry);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_listen(&made.session, made.socket, &made.listener);
        made.listener = etwas_descriptor_protect(made.listener);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_can_open(made.listener,
                                       ETWAS_REGISTRY_HOST_FILES + HOST_SESSION_FIRST_FILES)
                   ? etwas_registry_host_publish(&made, entry)
                   : (uint32_t)ERROR_NO_SYSTEM_RESOURCES;
    }
    if (code != ERROR_SUCCESS) {
        etwas_registry_host_close(&made);
        return code;
    }
    *host = made;
    return ERROR_SUCCESS;
}

uint32_t etwas_registry_host_publish(struct etwas_registry_host *host,
                                     const struct etwas_registry_entry *entry)
{
    void *bytes;
    size_t size;
    uint32_t code = etwas_registry_encode_entry(entry, &bytes, &size);

    if (code == ERROR_SUCCESS) {
        code = etwas_held_replace(&host->entry, bytes, size);
        free(bytes);
    }
    return code;
}

void etwas_registry_host_withdraw(struct etwas_registry_host *host)
{
    etwas_held_release(&host->entry);
}

static uint32_t host_session_restore_files(struct etwas_registry_host *host,
                                           const struct etwas_registry_entry *entry)
{
    struct etwas_registry_host made = ETWAS_REGISTRY_NO_HOST;
    uint32_t code = ERROR_SUCCESS;

    if (!etwas_held_is_there(&host->name)) {
        code = etwas_session_name_acquire(&made.name, entry->name, &entry->session);
    }
    if (code == ERROR_SUCCESS && !etwas_held_is_there(&host->entry)) {
        code = host_session_acquire_guid(&made, entry);
    }
    if (code != ERROR_SUCCESS) {
        etwas_held_release(&made.name);
        return code;
    }
    if (made.name.lock >= 0) {
        etwas_held_forget(&host->name);
        host->name = made.name;
    }
    if (made.entry.lock >= 0) {
        etwas_held_forget(&host->entry);
        host->entry = made.entry;
    }
    return code;
}

static uint32_t host_session_restore_listener(const struct etwas_registry_host *host)
{
    int anew;
    uint32_t code = etwas_registry_listen(&host->session, host->socket, &anew);

    return code == ERROR_SUCCESS && !etwas_descriptor_replace(host->listener, anew)
               ? (uint32_t)ERROR_NO_SYSTEM_RESOURCES
               : code;
}

uint32_t etwas_registry_host_restore(struct etwas_registry_host *host,
                                     struct etwas_registry_entry *entry, bool *is_anew)
{
    uint32_t code = ERROR_SUCCESS;

    *is_anew = false;
    if (host->listener < 0 || !etwas_descriptor_is_own(host->listener)) {
        return code;
    }
    if (!etwas_held_is_there(&host->name) || !etwas_held_is_there(&host->entry)) {
        code = host_session_restore_files(host, entry);
        *is_anew = true;
    }
    if (code == ERROR_SUCCESS && etwas_registry_listener_is_missing(&host->session, host->socket)) {
        code = host_session_restore_listener(host);
        *is_anew = true;
    }
    return code;
}

static void host_session_close_listener(struct etwas_registry_host *host)
{
    etwas_descriptor_close(host->listener);
    host->listener = -1;
}

void etwas_registry_host_close(struct etwas_registry_host *host)
{
    struct etwas_file_name name = {.kind = ETWAS_REGISTRY_FILE_SESSION_SOCKET,
                                   .session = host->session,
                                   .nonce = host->socket};
    char text[ETWAS_REGISTRY_FILE_BYTES];
    int folder;

    if (host->listener >= 0) {
        etwas_file_name_format(&name, text);
        if (etwas_registry_open_existing(&folder)) {
            (void)unlinkat(folder, text, 0);
        }
        host_session_close_listener(host);
    }
    etwas_held_release(&host->entry);
    etwas_held_release(&host->name);
}

void etwas_registry_host_forget(struct etwas_registry_host *host)
{
    host_session_close_listener(host);
    etwas_held_forget(&host->entry);
    etwas_held_forget(&host->name);
}
