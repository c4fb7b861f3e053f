/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Requests of other processes to a session of this one: ControlTrace, EnableTraceEx2, its counts,
 * and a snapshot.
 */
#ifndef ETWAS_SHARING_HOST_REQUEST_H
#define ETWAS_SHARING_HOST_REQUEST_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "registry/connection.h"

/*
 * CONTROL: this head, and an EVENT_TRACE_PROPERTIES whose length is in its Wnode, with names in
 * UTF-16 (made by remote.h). The answer is the block. ENABLE: this head, and an enablement
 * (registry/session_entry.h); the answer is its code. ACCOUNT: this head alone; account.c makes the
 * answer. A session may have the GUID of an earlier one; a request with a handle of the earlier one
 * finds nothing.
 */
struct etwas_request_head {
    uint32_t control_code;
    uint32_t timeout_ms; /* ENABLE */
    uint32_t gate;       /* gate of the handle in the request; 0: the request has a name */
    uint32_t reserved;
};

/*
 * SNAPSHOT; the answer is its code. Requests from a recorder a file of the events since `before_ns`
 * before the moment.
 */
struct etwas_snapshot_request {
    struct etwas_request_head head;
    /*
     * CLOCK_MONOTONIC_RAW of the first time namespace, ns: one clock for all processes of the
     * machine
     */
    int64_t moment;
    uint64_t before_ns;              /* 0: all events that it has */
    etwas_wchar file_name[1024 + 4]; /* from `/` on; terminated */
};

/*
 * Starts a thread that serves a message with one of these ops, for the session with this handle: it
 * carries out the request, answers, and closes the connection. Returns false if the message is too
 * short, or there is no thread; the connection stays the caller's.
 */
bool etwas_host_request(int connection, uint64_t session, const struct etwas_message *message,
                        const void *body);

/*
 * Called at the end of the process: waits until all requests are answered. A request may have
 * caused that end, by a STOP of the session for which the process ran.
 */
void etwas_host_requests_end(void);

/* Called in a fork's child: there are no requests. */
void etwas_host_requests_forget(void);

/*
 * The counts of another process's session, and for a flight recorder how far back it goes. The host
 * writes both into one answer.
 */

/*
 * Called on the host: writes the account of its session. Returns the bytes written; 0, and a code
 * of etwas_counts, on failure.
 */
size_t etwas_account_write(uint64_t session, void *bytes, size_t room, uint32_t *code);

/*
 * Called in the other process. ERROR_INVALID_HANDLE: the handle is of no running session of another
 * process. ERROR_TIMEOUT: its host does not answer. ERROR_INVALID_DATA; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_account_counts(uint64_t handle, etwas_session_counts *counts);

/* Stops the session, and returns its last counts. Also errors of etwas_stop. */
uint32_t etwas_account_stop(uint64_t handle, etwas_session_counts *counts);

/*
 * Returns the retention in the same way. ERROR_NOT_SUPPORTED: the session is no flight recorder.
 * `stream_ns` as in etwas_retention_query.
 */
uint32_t etwas_account_retention(uint64_t handle, etwas_retention *retention, uint64_t *stream_ns,
                                 uint32_t room);

#endif
