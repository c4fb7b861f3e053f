/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Controlling sessions of other processes: their hosts are asked, and answer when it is done. No lock of the
 * library is held by who calls. A host that does not answer costs its time: ERROR_TIMEOUT.
 */
#ifndef ETWAS_SHARING_REMOTE_H
#define ETWAS_SHARING_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "control/properties.h"
#include "registry/message.h"
#include "registry/session_entry.h"

/* Whether this process may know of others: it takes part, and begins to now if it wants to. */
bool etwas_remote_is_available(void);

/* For answers that wait for no disk and no provider: who gives none by then stands still. */
enum {
    ETWAS_REMOTE_QUERY_TIMEOUT_MS = 5000
};

/*
 * The living session of another process by its name or by its handle. *entry is the caller's to free.
 * ERROR_WMI_INSTANCE_NOT_FOUND: there is none.
 */
uint32_t etwas_remote_find_name(const etwas_wchar *name, struct etwas_registry_entry **entry);
uint32_t etwas_remote_find_handle(uint64_t handle, struct etwas_registry_entry **entry);

/*
 * All of them but private ones. Returns how many; *entries and each of them is the caller's to free. *code: why there may be
 * others, whose entries cannot be read; ERROR_SUCCESS: these are all.
 */
uint32_t etwas_remote_list(struct etwas_registry_entry ***entries, uint32_t *code);

/*
 * One request, one answer, of which the body is put in the place of the request's: it has ETWAS_MESSAGE_BYTES. The answer's
 * code is in the message. ERROR_WMI_INSTANCE_NOT_FOUND: the session or its host has ended.
 * ERROR_NO_SYSTEM_RESOURCES: its host may open no more files, or has no memory. ERROR_TIMEOUT; ERROR_INVALID_DATA.
 */
uint32_t etwas_remote_request(const struct etwas_registry_entry *entry,
                              struct etwas_message *message, void *body, uint32_t timeout_ms);

/*
 * The same in two steps, so that several may be asked at a time. On success *connection is to be received from, once, which
 * closes it; `body` then has ETWAS_MESSAGE_BYTES. The deadline is CLOCK_MONOTONIC's, in ns.
 */
uint32_t etwas_remote_send(const struct etwas_registry_entry *entry,
                           const struct etwas_message *message, const void *body, int *connection);
uint32_t etwas_remote_receive(const struct etwas_registry_entry *entry, int connection, uint16_t op,
                              struct etwas_message *message, void *body, uint64_t deadline_ns);

/*
 * ControlTrace. `handle`: with which the session was found; 0: it was by name. Of the reply's block what the caller's ControlTrace would read is sent, its file name made absolute; and filled in is
 * what it would fill in. Its handle is one of this process.
 */
uint32_t etwas_remote_control(const struct etwas_registry_entry *entry, uint64_t handle,
                              const struct etwas_reply *reply, uint32_t control_code);

/*
 * QUERY of one of many, whose hosts are all asked before any is waited for. What the first returns ERROR_SUCCESS for has to
 * be ended, until the deadline (CLOCK_MONOTONIC, ns). Of a host that has not answered by then the block says what the
 * session's entry does: name, GUID, mode, clock, its process for the thread, and a handle; the rest, BufferSize too, is 0.
 */
uint32_t etwas_remote_query_begin(const struct etwas_registry_entry *entry,
                                  const struct etwas_reply *reply, int *connection);
uint32_t etwas_remote_query_end(const struct etwas_registry_entry *entry,
                                const struct etwas_reply *reply, int connection,
                                uint64_t deadline_ns);

/* EnableTraceEx2, of a handle of another process's session. */
uint32_t etwas_remote_enable(uint64_t handle, uint32_t control_code,
                             const struct etwas_registry_enablement *enablement,
                             uint32_t timeout_ms);

#endif
