/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_request.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "platform/cancel.h"
#include "platform/sized_struct.h"
#include "registry/connection.h"
#include "session/handle.h"
#include "sharing/remote.h"

/*
 * Head of an answer. The counts, the retention and one word for each stream follow, each with the
 * length that the host's build knows.
 */
struct head {
    uint32_t counts_bytes;
    uint32_t retention_bytes; /* 0: it is no recorder */
    uint32_t streams;
    uint32_t reserved;
};

/* ---- the host -------------------------------------------------------------------------------- */

size_t etwas_account_write(uint64_t session, void *bytes, size_t room, uint32_t *code)
{
    struct head head = {.counts_bytes = sizeof(etwas_session_counts)};
    uint8_t *end = bytes;
    etwas_session_counts counts;
    etwas_retention retention;
    uint64_t *streams;
    size_t most;

    *code = etwas_counts(session, &counts);
    if (*code != ERROR_SUCCESS || room < sizeof head + sizeof counts + sizeof retention) {
        return 0;
    }
    end += sizeof head;
    memcpy(end, &counts, sizeof counts);
    end += sizeof counts;
    streams = (uint64_t *)(void *)(end + sizeof retention);
    most = (room - sizeof head - sizeof counts - sizeof retention) / sizeof *streams;
    if (etwas_retention_query(session, &retention, streams, (uint32_t)most) == ERROR_SUCCESS) {
        head.retention_bytes = sizeof retention;
        head.streams = retention.streams < most ? retention.streams : (uint32_t)most;
        memcpy(end, &retention, sizeof retention);
        end += sizeof retention + head.streams * sizeof *streams;
    }
    memcpy(bytes, &head, sizeof head);
    return (size_t)(end - (uint8_t *)bytes);
}

/* ---- the other process ----------------------------------------------------------------------- */

enum {
    STOP_TIMEOUT_MS = 30000 /* the flusher waits for writers, the disk and consumers */
};

/*
 * Requests QUERY or STOP. The caller frees *answer: a head whose lengths have been checked, and the
 * data that follow it.
 */
static uint32_t account_request(uint64_t handle, uint32_t control_code, struct head **answer)
{
    const struct etwas_request_head request = {.control_code = control_code,
                                               .gate = etwas_handle_generation(handle)};
    struct etwas_message message = {
        .op = ETWAS_MESSAGE_ACCOUNT, .bytes = sizeof request, .descriptor = -1};
    struct etwas_registry_entry *entry;
    struct head *head;
    uint32_t code = etwas_remote_find_handle(handle, &entry);

    if (code != ERROR_SUCCESS) {
        return code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_INVALID_HANDLE : code;
    }
    head = malloc(ETWAS_MESSAGE_BYTES);
    code = ERROR_NOT_ENOUGH_MEMORY;
    if (head != NULL) {
        memcpy(head, &request, sizeof request);
        code = etwas_remote_request(entry, &message, head,
                                    control_code == EVENT_TRACE_CONTROL_STOP
                                        ? STOP_TIMEOUT_MS
                                        : ETWAS_REMOTE_QUERY_TIMEOUT_MS);
    }
    code = code == ERROR_SUCCESS ? message.code : code;
    if (code == ERROR_SUCCESS &&
        (message.bytes < sizeof *head ||
         (uint64_t)head->counts_bytes + head->retention_bytes + head->streams * sizeof(uint64_t) !=
             message.bytes - sizeof *head)) {
        code = ERROR_INVALID_DATA;
    }
    free(entry);
    if (code != ERROR_SUCCESS) {
        free(head);
        return code == ERROR_WMI_INSTANCE_NOT_FOUND ? (uint32_t)ERROR_INVALID_HANDLE : code;
    }
    *answer = head;
    return ERROR_SUCCESS;
}

static uint32_t account_counts_of(uint64_t handle, uint32_t control_code,
                                  etwas_session_counts *counts)
{
    struct head *head;
    uint32_t code = account_request(handle, control_code, &head);

    if (code == ERROR_SUCCESS) {
        etwas_sized_write(counts, sizeof *counts, head + 1, head->counts_bytes);
        free(head);
    }
    return code;
}

uint32_t etwas_account_counts(uint64_t handle, etwas_session_counts *counts)
{
    return account_counts_of(handle, EVENT_TRACE_CONTROL_QUERY, counts);
}

uint32_t etwas_account_stop(uint64_t handle, etwas_session_counts *counts)
{
    ETWAS_UNCANCELLED_SCOPE;

    return account_counts_of(handle, EVENT_TRACE_CONTROL_STOP, counts);
}

uint32_t etwas_account_retention(uint64_t handle, etwas_retention *retention, uint64_t *stream_ns,
                                 uint32_t room)
{
    const uint8_t *place;
    struct head *head;
    uint32_t code = account_request(handle, EVENT_TRACE_CONTROL_QUERY, &head);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    place = (const uint8_t *)(head + 1) + head->counts_bytes;
    if (head->retention_bytes == 0) {
        code = ERROR_NOT_SUPPORTED;
    } else {
        etwas_sized_write(retention, sizeof *retention, place, head->retention_bytes);
        if (room != 0) {
            memcpy(stream_ns, place + head->retention_bytes,
                   (head->streams < room ? head->streams : room) * sizeof *stream_ns);
        }
    }
    free(head);
    return code;
}
