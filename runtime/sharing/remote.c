/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/remote.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/sessions.h"
#include "sharing/guest_table.h"
#include "sharing/host.h"
#include "sharing/reconcile.h"
#include "sharing/service.h"
#include "sharing/sharing.h"

#define NANOSECONDS_A_MILLISECOND UINT64_C(1000000)

enum {
    PAUSE_NS = 1000000,
    ENTRY_CHECKS = 10,
};

/* ---- finding sessions ------------------------------------------------------------------------ */

bool etwas_remote_is_available(void)
{
    return etwas_service_runs() ||
           (etwas_sharing_is_wanted() && etwas_reconcile_begin() == ERROR_SUCCESS);
}

/* Checks an entry: it must be open, of a kind that others control, and not this process's own. */
static uint32_t remote_check(uint32_t code, struct etwas_registry_entry **entry)
{
    if (code == ERROR_SUCCESS &&
        ((*entry)->kind > ETWAS_REGISTRY_TEMPLATE || (*entry)->state != ETWAS_REGISTRY_OPEN ||
         etwas_host_has(&(*entry)->session))) {
        free(*entry);
        code = ERROR_NOT_FOUND;
    }
    if (code != ERROR_SUCCESS) {
        *entry = NULL;
    }
    return code == ERROR_SUCCESS || code == ERROR_NOT_ENOUGH_MEMORY ? code
                                                                    : ERROR_WMI_INSTANCE_NOT_FOUND;
}

uint32_t etwas_remote_find_name(const etwas_wchar *name, struct etwas_registry_entry **entry)
{
    *entry = NULL;
    return etwas_remote_is_available() ? remote_check(etwas_registry_find(name, entry), entry)
                                       : ERROR_WMI_INSTANCE_NOT_FOUND;
}

uint32_t etwas_remote_find_handle(uint64_t handle, struct etwas_registry_entry **entry)
{
    const struct etwas_guest *guest;
    etwas_guid session;

    *entry = NULL;
    if (!etwas_service_runs()) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    etwas_guests_lock();
    guest = etwas_guest_of(handle);
    if (guest != NULL) {
        session = guest->session;
    }
    etwas_guests_unlock();
    return guest != NULL ? remote_check(etwas_registry_read(&session, entry), entry)
                         : ERROR_WMI_INSTANCE_NOT_FOUND;
}

bool etwas_remote_is(uint64_t handle)
{
    struct etwas_registry_entry *entry;
    bool is = etwas_remote_find_handle(handle, &entry) == ERROR_SUCCESS;

    free(entry);
    return is;
}

uint32_t etwas_remote_list(struct etwas_registry_entry ***entries, uint32_t *code)
{
    etwas_guid *sessions = NULL;
    uint32_t count = 0;
    uint32_t found = 0;

    *entries = NULL;
    *code = etwas_remote_is_available() ? etwas_registry_list(&sessions, &count) : ERROR_SUCCESS;
    *entries = malloc((count + 1) * sizeof **entries);
    if (*entries == NULL) {
        *code = ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t index = 0; *entries != NULL && index < count; index++) {
        struct etwas_registry_entry *entry = NULL;
        uint32_t read = etwas_registry_read(&sessions[index], &entry);

        /* A session that is not found has ended meanwhile. */
        if (read != ERROR_SUCCESS && read != ERROR_NOT_FOUND) {
            *code = read;
        }
        if (remote_check(read, &entry) != ERROR_SUCCESS) {
            continue;
        }
        if (entry->kind == ETWAS_REGISTRY_SHARED) {
            (*entries)[found++] = entry;
        } else {
            free(entry);
        }
    }
    free(sessions);
    return found;
}

/* ---- sending requests ------------------------------------------------------------------------ */

static uint64_t remote_deadline_after(uint32_t milliseconds)
{
    return etwas_monotonic_ns() + milliseconds * NANOSECONDS_A_MILLISECOND;
}

static bool remote_session_is_open(const struct etwas_registry_entry *entry)
{
    struct etwas_registry_entry *now;
    bool is_open = false;

    if (etwas_registry_read(&entry->session, &now) == ERROR_SUCCESS) {
        is_open = now->socket == entry->socket && now->state == ETWAS_REGISTRY_OPEN;
        free(now);
    }
    return is_open;
}

/* The connection of a host that dies may end a moment before its entry does. */
uint32_t etwas_remote_refusal_of(const struct etwas_registry_entry *entry)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    bool is_there = remote_session_is_open(entry);

    for (uint32_t attempt = 1; is_there && attempt < ENTRY_CHECKS; attempt++) {
        (void)nanosleep(&pause, NULL);
        is_there = remote_session_is_open(entry);
    }
    return is_there ? ERROR_NO_SYSTEM_RESOURCES : ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* ERROR_BROKEN_PIPE: the host has closed the connection before the request came. */
static uint32_t remote_send_once(const struct etwas_registry_entry *entry,
                                 const struct etwas_message *message, const void *body,
                                 uint64_t deadline_ns, int *connection)
{
    struct etwas_peer peer;
    uint32_t code = etwas_registry_connect(entry, deadline_ns, connection, &peer);

    if (code != ERROR_SUCCESS) {
        return code == ERROR_NOT_FOUND ? ERROR_WMI_INSTANCE_NOT_FOUND : code;
    }
    code = etwas_message_send(*connection, message, body, deadline_ns);
    if (code != ERROR_SUCCESS) {
        (void)close(*connection);
    }
    return code;
}

/* A host that lacks descriptors waits for a request only shortly, so it is sent again. */
uint32_t etwas_remote_send(const struct etwas_registry_entry *entry,
                           const struct etwas_message *message, const void *body, int *connection)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t deadline_ns = remote_deadline_after(ETWAS_REMOTE_CONNECT_TIMEOUT_MS);
    uint32_t code = remote_send_once(entry, message, body, deadline_ns, connection);

    while (code == ERROR_BROKEN_PIPE && remote_session_is_open(entry) &&
           etwas_monotonic_ns() < deadline_ns) {
        (void)nanosleep(&pause, NULL);
        code = remote_send_once(entry, message, body, deadline_ns, connection);
    }
    return code == ERROR_BROKEN_PIPE ? etwas_remote_refusal_of(entry) : code;
}

uint32_t etwas_remote_receive(const struct etwas_registry_entry *entry, int connection, uint16_t op,
                              struct etwas_message *message, void *body, uint64_t deadline_ns)
{
    uint32_t code =
        etwas_message_receive(connection, message, body, ETWAS_MESSAGE_BYTES, deadline_ns);

    (void)close(connection);
    if (code == ERROR_SUCCESS && message->descriptor >= 0) {
        (void)close(message->descriptor);
    }
    if (code == ERROR_BROKEN_PIPE) {
        return etwas_remote_refusal_of(entry);
    }
    return code == ERROR_SUCCESS && message->op != op ? ERROR_INVALID_DATA : code;
}

uint32_t etwas_remote_request(const struct etwas_registry_entry *entry,
                              struct etwas_message *message, void *body, uint32_t timeout_ms)
{
    int connection;
    uint32_t code = etwas_remote_send(entry, message, body, &connection);

    return code == ERROR_SUCCESS ? etwas_remote_receive(entry, connection, message->op, message,
                                                        body, remote_deadline_after(timeout_ms))
                                 : code;
}

/* ---- consuming ------------------------------------------------------------------------------- */

uint32_t etwas_remote_consume(const etwas_wchar *name, struct etwas_consumer **consumer)
{
    const uint64_t deadline_ns = remote_deadline_after(ETWAS_REMOTE_QUERY_TIMEOUT_MS);
    struct etwas_registry_entry *entry;
    struct etwas_peer peer;
    int connection;
    uint32_t code = etwas_remote_find_name(name, &entry);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = etwas_registry_connect(entry, deadline_ns, &connection, &peer);
    if (code == ERROR_SUCCESS) {
        code = etwas_remote_consumer_connect(connection, deadline_ns, consumer);
        code = code == ERROR_WMI_INSTANCE_NOT_FOUND ? etwas_remote_refusal_of(entry) : code;
    }
    free(entry);
    return code == ERROR_NOT_FOUND ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND : code;
}
