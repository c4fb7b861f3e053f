/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/remote.h"

#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "etl/utf16.h"
#include "platform/cancel.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "registry/message.h"
#include "registry/sessions.h"
#include "session/file_name.h"
#include "sharing/guest.h"
#include "sharing/host.h"
#include "sharing/host_request.h"
#include "sharing/reconcile.h"
#include "sharing/service.h"
#include "sharing/sharing.h"

#define NANOSECONDS_A_MILLISECOND UINT64_C(1000000)

enum {
    CONNECT_TIMEOUT_MS = 1000, /* for a host to accept, and to receive a request */
    ANSWER_TIMEOUT_MS = 30000, /* for a request: a flush waits for a disk */
    PAUSE_NS = 1000000,
    ENTRY_CHECKS = 10,
};

/* ---- finding --------------------------------------------------------------------------------- */

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

/* ---- asking ---------------------------------------------------------------------------------- */

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
    const uint64_t deadline_ns = remote_deadline_after(CONNECT_TIMEOUT_MS);
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

/* ---- ControlTrace ---------------------------------------------------------------------------- */

/* The block that is sent; names have as much room as they may need. */
struct block {
    struct etwas_request_head head;
    EVENT_TRACE_PROPERTIES properties;
    etwas_wchar name[ETWAS_NAME_UNITS + 1];
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
} __attribute__((aligned(16)));

enum {
    BLOCK_BYTES = sizeof(struct block) - offsetof(struct block, properties)
};
_Static_assert(sizeof(struct block) <= ETWAS_MESSAGE_BYTES, "a request is one message");

static uint32_t remote_fill_block(struct block *block, uint64_t handle,
                                  const struct etwas_reply *reply, uint32_t control_code)
{
    uint32_t code;

    memset(block, 0, sizeof *block);
    block->head.control_code = control_code;
    block->head.gate = handle != 0 ? etwas_handle_generation(handle) : 0;
    block->properties = *reply->properties;
    block->properties.Wnode.BufferSize = BLOCK_BYTES;
    block->properties.Wnode.Flags &= ~(uint32_t)WNODE_FLAG_VERSIONED_PROPERTIES;
    block->properties.LoggerNameOffset =
        offsetof(struct block, name) - offsetof(struct block, properties);
    code = etwas_properties_file_name(reply->properties, reply->encoding, block->file_name);
    code = code == ERROR_SUCCESS ? etwas_file_name_make_absolute(block->file_name) : code;
    if (reply->properties->LogFileNameOffset != 0 || control_code == EVENT_TRACE_CONTROL_QUERY) {
        block->properties.LogFileNameOffset =
            offsetof(struct block, file_name) - offsetof(struct block, properties);
    }
    return code;
}

/* Replaces the handle by one of this process, with which a controller can enable providers. */
static void remote_fill_handle(const struct etwas_registry_entry *entry, struct block *block)
{
    const struct etwas_guest *guest;
    uint32_t gate = etwas_handle_generation(block->properties.Wnode.HistoricalContext);

    block->properties.Wnode.HistoricalContext = 0;
    if (gate == 0) {
        return;
    }
    etwas_guests_lock();
    guest = etwas_guest_add_known(&entry->session, gate);
    if (guest != NULL) {
        block->properties.Wnode.HistoricalContext = etwas_guest_handle(guest);
    }
    etwas_guests_unlock();
}

/* Request and answer. */
union body {
    struct block block;
    uint8_t bytes[ETWAS_MESSAGE_BYTES];
};

static uint32_t remote_fill_reply(const struct etwas_registry_entry *entry,
                                  const struct etwas_reply *reply, struct block *block)
{
    remote_fill_handle(entry, block);
    return etwas_properties_copy(reply, &block->properties, block->name, block->file_name);
}

/* Fills the caller's block from the answer to a request. */
static uint32_t remote_receive_reply(const struct etwas_registry_entry *entry,
                                     const struct etwas_reply *reply,
                                     const struct etwas_message *message, union body *body)
{
    if (message->bytes != BLOCK_BYTES) {
        return message->code != ERROR_SUCCESS ? message->code : (uint32_t)ERROR_INVALID_DATA;
    }
    /* the answer has no head */
    memmove(&body->block.properties, body, BLOCK_BYTES);
    body->block.name[ETWAS_NAME_UNITS] = 0;
    body->block.file_name[ETWAS_NAME_UNITS] = 0;
    return message->code == ERROR_SUCCESS ? remote_fill_reply(entry, reply, &body->block)
                                          : message->code;
}

/* Fills the block from the entry of a session whose host does not answer. */
static uint32_t remote_fill_from_entry(const struct etwas_registry_entry *entry,
                                       const struct etwas_reply *reply)
{
    struct block *block = calloc(1, sizeof *block);
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    if (block != NULL) {
        block->properties.Wnode.Guid = entry->session;
        block->properties.Wnode.ClientContext = entry->clock;
        block->properties.Wnode.HistoricalContext =
            etwas_session_handle((struct etwas_session_key){0, entry->gate});
        block->properties.LogFileMode = entry->log_file_mode;
        block->properties.LoggerThreadId = (void *)(uintptr_t)entry->process_id;
        memcpy(block->name, entry->name, sizeof entry->name);
        code = remote_fill_reply(entry, reply, block);
    }
    free(block);
    return code;
}

static struct etwas_message remote_control_message(void)
{
    return (struct etwas_message){
        .op = ETWAS_MESSAGE_CONTROL, .bytes = sizeof(struct block), .descriptor = -1};
}

static uint32_t remote_control(const struct etwas_registry_entry *entry, uint64_t handle,
                               const struct etwas_reply *reply, uint32_t control_code)
{
    const bool is_question = control_code == EVENT_TRACE_CONTROL_QUERY;
    struct etwas_message message = remote_control_message();
    union body *body = malloc(sizeof *body);
    uint32_t code;

    if (body == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = remote_fill_block(&body->block, handle, reply, control_code);
    if (code == ERROR_SUCCESS) {
        code = etwas_remote_request(
            entry, &message, body, is_question ? ETWAS_REMOTE_QUERY_TIMEOUT_MS : ANSWER_TIMEOUT_MS);
    }
    if (code == ERROR_SUCCESS) {
        code = remote_receive_reply(entry, reply, &message, body);
    } else if (code == ERROR_TIMEOUT && is_question) {
        (void)remote_fill_from_entry(entry, reply);
    }
    free(body);
    return code;
}

uint32_t etwas_remote_control(const struct etwas_registry_entry *entry, uint64_t handle,
                              const struct etwas_reply *reply, uint32_t control_code)
{
    int cancelling = etwas_cancel_forbid();
    uint32_t code = remote_control(entry, handle, reply, control_code);

    etwas_cancel_allow(cancelling);
    return code;
}

/* ---- QUERY of many --------------------------------------------------------------------------- */

uint32_t etwas_remote_query_begin(const struct etwas_registry_entry *entry,
                                  const struct etwas_reply *reply, int *connection)
{
    const struct etwas_message message = remote_control_message();
    struct block *block = malloc(sizeof *block);
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    if (block != NULL) {
        code = remote_fill_block(block, 0, reply, EVENT_TRACE_CONTROL_QUERY);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_remote_send(entry, &message, block, connection);
    }
    free(block);
    return code;
}

uint32_t etwas_remote_query_end(const struct etwas_registry_entry *entry,
                                const struct etwas_reply *reply, int connection,
                                uint64_t deadline_ns)
{
    struct etwas_message message = remote_control_message();
    union body *body = malloc(sizeof *body);
    uint32_t code;

    if (body == NULL) {
        (void)close(connection);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code =
        etwas_remote_receive(entry, connection, ETWAS_MESSAGE_CONTROL, &message, body, deadline_ns);
    if (code == ERROR_SUCCESS) {
        code = remote_receive_reply(entry, reply, &message, body);
    } else if (code == ERROR_TIMEOUT) {
        code = remote_fill_from_entry(entry, reply);
    }
    free(body);
    return code;
}

/* ---- EnableTraceEx2 -------------------------------------------------------------------------- */

static uint32_t remote_enable(uint64_t handle, uint32_t control_code,
                              const struct etwas_registry_enablement *enablement,
                              uint32_t timeout_ms)
{
    const struct etwas_request_head head = {control_code, timeout_ms,
                                            etwas_handle_generation(handle), 0};
    uint32_t answer_ms = timeout_ms < ANSWER_TIMEOUT_MS ? timeout_ms : ANSWER_TIMEOUT_MS;
    struct etwas_message message = {.op = ETWAS_MESSAGE_ENABLE, .descriptor = -1};
    struct etwas_registry_entry *entry;
    uint8_t *body;
    size_t size = 0;
    uint32_t code = etwas_remote_find_handle(handle, &entry);

    if (code != ERROR_SUCCESS) {
        return code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_INVALID_PARAMETER : code;
    }
    body = malloc(ETWAS_MESSAGE_BYTES);
    code = body == NULL
               ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY
               : etwas_registry_encode_enablement(enablement, body + sizeof head,
                                                  ETWAS_MESSAGE_BYTES - sizeof head, &size);
    if (code == ERROR_SUCCESS) {
        memcpy(body, &head, sizeof head);
        message.bytes = (uint32_t)(sizeof head + size);
        code = etwas_remote_request(entry, &message, body, CONNECT_TIMEOUT_MS + answer_ms);
        code = code == ERROR_SUCCESS ? message.code : code;
        /* as for a handle of this process whose session is over */
        code = code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_INVALID_PARAMETER : code;
    }
    free(body);
    free(entry);
    return code;
}

uint32_t etwas_remote_enable(uint64_t handle, uint32_t control_code,
                             const struct etwas_registry_enablement *enablement,
                             uint32_t timeout_ms)
{
    int cancelling = etwas_cancel_forbid();
    uint32_t code = remote_enable(handle, control_code, enablement, timeout_ms);

    etwas_cancel_allow(cancelling);
    return code;
}
