/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * ETW's calls for sessions of other processes: ControlTrace, QueryAllTraces and EnableTraceEx2, as
 * the verbs of session/sharing.h. Callers hold no lock of the library.
 */
#ifndef ETWAS_SHARING_REMOTE_CONTROL_H
#define ETWAS_SHARING_REMOTE_CONTROL_H

#include "control/properties.h"
#include "provider/enabling.h"

/*
 * ControlTrace. Sends what ControlTrace reads of the reply's block, with an absolute file name, and
 * fills in what it would fill in. The handle in the block is one of this process.
 */
uint32_t etwas_remote_control(uint64_t handle, const void *name, const struct etwas_reply *reply,
                              uint32_t control_code);

/*
 * QUERY of all sessions of other processes. All hosts are asked before any is waited for, so that
 * all stopped hosts together cost one timeout.
 */
void etwas_remote_query_all(struct etwas_replies *replies);

/* EnableTraceEx2 for a handle of another process's session. */
uint32_t etwas_remote_enable(const struct etwas_enable_request *request,
                             const ENABLE_TRACE_PARAMETERS *parameters);

#endif
