/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What other processes ask of a session of this one: ControlTrace, EnableTraceEx2, its counts, and a snapshot. */
#ifndef ETWAS_SHARING_HOST_REQUEST_H
#define ETWAS_SHARING_HOST_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/message.h"
#include "sharing/service.h"

/*
 * CONTROL: this, and an EVENT_TRACE_PROPERTIES of so many bytes as its Wnode says, with names in UTF-16 (remote.h makes
 * it). The answer is the block. ENABLE: this, and an enablement (registry/session_entry.h); the answer is its code.
 * ACCOUNT: this alone; account.h makes the answer. A session may have the GUID of one that was there before: a handle of
 * that finds nothing.
 */
struct etwas_request_head {
    uint32_t control_code;
    uint32_t timeout_ms; /* ENABLE */
    uint32_t gate;       /* of the handle that was asked with; 0: it was a name */
    uint32_t reserved;
};

/* SNAPSHOT; the answer is its code. A recorder's file, of what it has from so long before the moment on. */
struct etwas_snapshot_request {
    struct etwas_request_head head;
    int64_t
        moment; /* CLOCK_MONOTONIC_RAW of the first time namespace, ns: one clock for all processes of the machine */
    uint64_t before_ns;              /* 0: all that it has */
    etwas_wchar file_name[1024 + 4]; /* from `/` on; terminated */
};

/*
 * Has a thread do what the message asks of the session with this handle, answer, and close the connection. False: it is
 * no request, or there can be no thread, and the connection is the caller's.
 */
bool etwas_host_request(int connection, uint64_t session, const struct etwas_message *message,
                        const void *body);

/* A handler of connections (service.h) to a recorder of this process alone: SNAPSHOT is all that it may be asked for. */
enum etwas_service_answer etwas_host_snapshots_receive(int connection, uint64_t session);

/*
 * The process ends: returns when what was asked until now is answered. Its end may be what was asked for, by a STOP of
 * the session that it was there for.
 */
void etwas_host_requests_end(void);

/* In a fork's child: nothing was asked of it. */
void etwas_host_requests_forget(void);

#endif
