/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Requests of other processes to a session of this one: ControlTrace, EnableTraceEx2, its counts,
 * and a snapshot.
 */
#ifndef ETWAS_SHARING_HOST_REQUEST_H
#define ETWAS_SHARING_HOST_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/connection.h"

/*
 * CONTROL: this head, and an EVENT_TRACE_PROPERTIES of as many bytes as its Wnode says, with names
 * in UTF-16 (made by remote.h). The answer is the block. ENABLE: this head, and an enablement
 * (registry/session_entry.h); the answer is its code. ACCOUNT: this head alone; account.h makes the
 * answer. A session may have the GUID of an earlier one; a request with a handle of the earlier one
 * finds nothing.
 */
struct etwas_request_head {
    uint32_t control_code;
    uint32_t timeout_ms; /* ENABLE */
    uint32_t gate;       /* of the handle that the request came with; 0: it came with a name */
    uint32_t reserved;
};

/*
 * SNAPSHOT; the answer is its code. Asks a recorder for a file of what is newer than `before_ns`
 * before the moment.
 */
struct etwas_snapshot_request {
    struct etwas_request_head head;
    /*
     * CLOCK_MONOTONIC_RAW of the first time namespace, ns: one clock for all processes of the
     * machine
     */
    int64_t moment;
    uint64_t before_ns;              /* 0: all that it has */
    etwas_wchar file_name[1024 + 4]; /* from `/` on; terminated */
};

/*
 * Has a thread do what a message with one of these ops asks of the session with this handle,
 * answer, and close the connection. False: the message is too short, or there is no thread; the
 * connection stays the caller's.
 */
bool etwas_host_request(int connection, uint64_t session, const struct etwas_message *message,
                        const void *body);

/*
 * Called at the end of the process: waits until all requests are answered. A request may have asked
 * for that end, by a STOP of the session that the process was there for.
 */
void etwas_host_requests_end(void);

/* In a fork's child: there are no requests. */
void etwas_host_requests_forget(void);

#endif
