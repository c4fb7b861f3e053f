/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Finds sessions of other processes, and sends requests to their hosts, which answer when they are
 * done. Callers hold no lock of the library. A host that does not answer costs a timeout:
 * ERROR_TIMEOUT.
 */
#ifndef ETWAS_SHARING_REMOTE_H
#define ETWAS_SHARING_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/properties.h"
#include "provider/enabling.h"
#include "reader/consumer.h"
#include "registry/connection.h"
#include "registry/session_entry.h"

/*
 * Whether this process can find other processes' sessions. If it has not joined the registry but
 * wants to, it joins now.
 */
bool etwas_remote_is_available(void);

/*
 * Timeouts for a host to accept and to receive a request, and for answers that wait for no disk and
 * no provider. A host that takes longer is stopped.
 */
enum {
    ETWAS_REMOTE_CONNECT_TIMEOUT_MS = 1000,
    ETWAS_REMOTE_QUERY_TIMEOUT_MS = 5000
};

/*
 * Finds the living session of another process by its name or by its handle. The caller frees
 * *entry. ERROR_WMI_INSTANCE_NOT_FOUND: there is none.
 */
uint32_t etwas_remote_find_name(const etwas_wchar *name, struct etwas_registry_entry **entry);
uint32_t etwas_remote_find_handle(uint64_t handle, struct etwas_registry_entry **entry);

/* Whether the handle is of a living session of another process. */
bool etwas_remote_is(uint64_t handle);

/*
 * Lists the sessions of other processes, except private ones. Returns their number; the caller
 * frees *entries and each entry. *code: why there may be others, whose entries cannot be read;
 * ERROR_SUCCESS: these are all.
 */
uint32_t etwas_remote_list(struct etwas_registry_entry ***entries, uint32_t *code);

/*
 * Sends a request and receives its answer, whose body replaces the request's: `body` has
 * ETWAS_MESSAGE_BYTES. The answer's code is in the message. ERROR_WMI_INSTANCE_NOT_FOUND: the
 * session or its host has ended. ERROR_NO_SYSTEM_RESOURCES: its host may open no more files, or has
 * no memory. ERROR_TIMEOUT; ERROR_INVALID_DATA.
 */
uint32_t etwas_remote_request(const struct etwas_registry_entry *entry,
                              struct etwas_message *message, void *body, uint32_t timeout_ms);

/*
 * Returns why a host has closed a connection. ERROR_NO_SYSTEM_RESOURCES: its session goes on, so it
 * has no room for another connection; otherwise ERROR_WMI_INSTANCE_NOT_FOUND.
 */
uint32_t etwas_remote_refusal_of(const struct etwas_registry_entry *entry);

/*
 * These do the same in two steps, so that several hosts can work on requests at a time. On success
 * the caller has to receive from *connection once, which closes it; `body` must have
 * ETWAS_MESSAGE_BYTES then. The deadline is a time of CLOCK_MONOTONIC, in ns.
 */
uint32_t etwas_remote_send(const struct etwas_registry_entry *entry,
                           const struct etwas_message *message, const void *body, int *connection);
uint32_t etwas_remote_receive(const struct etwas_registry_entry *entry, int connection, uint16_t op,
                              struct etwas_message *message, void *body, uint64_t deadline_ns);

/*
 * Connects a consumer to the session of this name that another process hosts.
 * ERROR_WMI_INSTANCE_NOT_FOUND: there is none, or it is not in real time. ERROR_TIMEOUT: its host
 * does not answer. Errors of etwas_remote_consumer_connect.
 */
uint32_t etwas_remote_consume(const etwas_wchar *name, struct etwas_consumer **consumer);

/*
 * A consumer (consumer.h) of a session that another process hosts. All data from that process are
 * checked.
 */

/*
 * Requests the session's events over a connection to its host. The consumer owns the connection
 * from here on, also if this fails. Waits for the session's header until the deadline
 * (CLOCK_MONOTONIC, ns).
 *
 * ERROR_WMI_INSTANCE_NOT_FOUND: the session is not in real time, or has ended. ERROR_TIMEOUT,
 * ERROR_INVALID_DATA, ERROR_NOT_ENOUGH_MEMORY, or the host's answer.
 */
uint32_t etwas_remote_consumer_connect(int connection, uint64_t deadline_ns,
                                       struct etwas_consumer **consumer);

/*
 * ETW's calls for sessions of other processes: ControlTrace, QueryAllTraces and EnableTraceEx2, as
 * the verbs of session/sharing.h. Callers hold no lock of the library.
 */

/*
 * ControlTrace. Sends the fields that ControlTrace reads from the reply's block, with an absolute
 * file name, and fills in the fields that ControlTrace would fill in. The handle in the block is
 * one of this process.
 */
uint32_t etwas_remote_control(uint64_t handle, const void *name, const struct etwas_reply *reply,
                              uint32_t control_code);

/*
 * QUERY of all sessions of other processes. Requests go to all hosts before any wait, so that all
 * stopped hosts together cost one timeout.
 */
void etwas_remote_query_all(struct etwas_replies *replies);

/* EnableTraceEx2 for a handle of another process's session. */
uint32_t etwas_remote_enable(const struct etwas_enable_request *request,
                             const ENABLE_TRACE_PARAMETERS *parameters);

#endif
