/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/remote.h"

#include <etwas/winerror.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/properties.h"
#include "platform/cancel.h"
#include "platform/wait.h"
#include "provider/enabling.h"
#include "registry/connection.h"
#include "session/file_name.h"
#include "sharing/apply.h"
#include "sharing/guest_table.h"
#include "sharing/host_request.h"

#define QUERY_ALL_TIMEOUT_NS UINT64_C(1000000000)

enum {
    ANSWER_TIMEOUT_MS = 30000, /* for a request: a flush waits for a disk */
};

/* ---- blocks ---------------------------------------------------------------------------------- */

/* The block that is sent; its names have the maximum room. */
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

/* Fills the block from the entry of a session when its host does not answer. */
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

/* ---- ControlTrace ---------------------------------------------------------------------------- */

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

uint32_t etwas_remote_control(uint64_t handle, const void *name, const struct etwas_reply *reply,
                              uint32_t control_code)
{
    etwas_wchar copy[ETWAS_NAME_UNITS + 1];
    struct etwas_registry_entry *entry;
    struct etwas_process_filters filters;
    uint32_t code;

    if (name == NULL) {
        code = etwas_remote_find_handle(handle, &entry);
    } else {
        code = etwas_copy_name(name, reply->encoding, copy);
        code = code == ERROR_SUCCESS ? etwas_remote_find_name(copy, &entry) : code;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = etwas_properties_filters(reply->properties, entry->log_file_mode, &filters);
    if (code == ERROR_SUCCESS) {
        ETWAS_UNCANCELLED_SCOPE;
        struct etwas_reply remote = *reply;

        remote.keeps_file_name = control_code == EVENT_TRACE_CONTROL_FLUSH &&
                                 (entry->log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
        code = remote_control(entry, name == NULL ? handle : 0, &remote, control_code);
    }
    free(entry);
    return code;
}

/* ---- QUERY of many --------------------------------------------------------------------------- */

/* A session of another process, whose host fills the caller's block. */
struct remote_query {
    struct etwas_registry_entry *entry;
    struct etwas_reply reply; /* properties NULL: no block is left */
    int connection;
    uint32_t code;
};

static uint32_t remote_query_send(struct remote_query *query)
{
    const struct etwas_message message = remote_control_message();
    struct block *block = malloc(sizeof *block);
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    if (block != NULL) {
        code = remote_fill_block(block, 0, &query->reply, EVENT_TRACE_CONTROL_QUERY);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_remote_send(query->entry, &message, block, &query->connection);
    }
    free(block);
    return code;
}

/*
 * Fills the block from the host's answer. If there is none before the deadline, the block gets the
 * values of the session's entry: name, GUID, mode, clock, its process instead of the thread, and a
 * handle; the rest, including BufferSize, is 0.
 */
static uint32_t remote_query_receive(const struct remote_query *query, uint64_t deadline_ns)
{
    struct etwas_message message = remote_control_message();
    union body *body = malloc(sizeof *body);
    uint32_t code;

    if (body == NULL) {
        (void)close(query->connection);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_remote_receive(query->entry, query->connection, ETWAS_MESSAGE_CONTROL, &message,
                                body, deadline_ns);
    if (code == ERROR_SUCCESS) {
        code = remote_receive_reply(query->entry, &query->reply, &message, body);
    } else if (code == ERROR_TIMEOUT) {
        code = remote_fill_from_entry(query->entry, &query->reply);
    }
    free(body);
    return code;
}

static void remote_query_begin(struct remote_query *query, const struct etwas_replies *replies,
                               uint32_t index)
{
    query->reply = etwas_replies_next(replies, index);
    query->code =
        query->reply.properties != NULL ? remote_query_send(query) : (uint32_t)ERROR_MORE_DATA;
}

/* A block that a session left empty because it has ended goes to the next session. */
static void remote_query_end(struct remote_query *query, struct etwas_replies *replies,
                             uint64_t deadline_ns)
{
    if (query->code == ERROR_SUCCESS) {
        query->reply = etwas_replies_next(replies, 0);
        query->code = remote_query_receive(query, deadline_ns);
    }
    /* The host could not be queried in that case. */
    etwas_replies_store(replies, query->code == ERROR_TIMEOUT
                                     ? (uint32_t)ERROR_WMI_INSTANCE_NOT_FOUND
                                     : query->code);
    free(query->entry);
}

void etwas_remote_query_all(struct etwas_replies *replies)
{
    struct etwas_registry_entry **entries;
    uint32_t unread;
    uint32_t count = etwas_remote_list(&entries, &unread);
    struct remote_query *queries = calloc(count + 1, sizeof *queries);
    uint64_t deadline_ns;

    if (replies->code == ERROR_SUCCESS) {
        replies->code = queries != NULL ? unread : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t index = 0; queries != NULL && index < count; index++) {
        queries[index].entry = entries[index];
        remote_query_begin(&queries[index], replies, index);
    }
    deadline_ns = etwas_monotonic_ns() + QUERY_ALL_TIMEOUT_NS;
    for (uint32_t index = 0; index < count; index++) {
        if (queries != NULL) {
            remote_query_end(&queries[index], replies, deadline_ns);
        } else {
            free(entries[index]);
        }
    }
    free(queries);
    free(entries);
}

/* ---- EnableTraceEx2 -------------------------------------------------------------------------- */

uint32_t etwas_remote_enable(const struct etwas_enable_request *request,
                             const ENABLE_TRACE_PARAMETERS *parameters)
{
    ETWAS_UNCANCELLED_SCOPE;
    const uint64_t handle = request->enablement.session;
    const uint32_t timeout_ms = request->timeout_ms;
    const struct etwas_request_head head = {request->control_code, timeout_ms,
                                            etwas_handle_generation(handle), 0};
    uint32_t answer_ms = timeout_ms < ANSWER_TIMEOUT_MS ? timeout_ms : ANSWER_TIMEOUT_MS;
    struct etwas_message message = {.op = ETWAS_MESSAGE_ENABLE, .descriptor = -1};
    struct etwas_registry_enablement enablement;
    struct etwas_registry_entry *entry;
    uint8_t *body;
    size_t size = 0;
    uint32_t code = etwas_remote_find_handle(handle, &entry);

    if (code != ERROR_SUCCESS) {
        return code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_INVALID_PARAMETER : code;
    }
    etwas_enablement_record(&enablement, request, parameters);
    body = malloc(ETWAS_MESSAGE_BYTES);
    code = body == NULL
               ? (uint32_t)ERROR_NOT_ENOUGH_MEMORY
               : etwas_registry_encode_enablement(&enablement, body + sizeof head,
                                                  ETWAS_MESSAGE_BYTES - sizeof head, &size);
    if (code == ERROR_SUCCESS) {
        memcpy(body, &head, sizeof head);
        message.bytes = (uint32_t)(sizeof head + size);
        code = etwas_remote_request(entry, &message, body,
                                    ETWAS_REMOTE_CONNECT_TIMEOUT_MS + answer_ms);
        code = code == ERROR_SUCCESS ? message.code : code;
        /* as for a handle of this process whose session is over */
        code = code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_INVALID_PARAMETER : code;
    }
    free(body);
    free(entry);
    return code;
}
