/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The scope of a system logger: whose events it records, and by what means. */
#include "control/kernel_scope.h"

#include <etwas/etwas.h>

#include "provider/source.h"
#include "session/session.h"

static _Thread_local uint32_t chosen = ETWAS_KERNEL_SCOPE_SYSTEM;

uint32_t etwas_kernel_scope_of_thread(void)
{
    return chosen;
}

uint32_t etwas_kernel_scope(uint32_t scope)
{
    if (scope != ETWAS_KERNEL_SCOPE_SYSTEM && scope != ETWAS_KERNEL_SCOPE_PROCESS) {
        return ERROR_INVALID_PARAMETER;
    }
    chosen = scope;
    return ERROR_SUCCESS;
}

uint32_t etwas_kernel_rung(etwas_trace_handle handle, uint32_t *rung)
{
    struct etwas_session_key key;
    const struct etwas_session *session;
    const struct etwas_source_state *state;
    uint32_t code = ERROR_INVALID_HANDLE;

    if (rung == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        return code;
    }
    etwas_control_lock();
    session = etwas_session_find(key);
    state = session != NULL ? etwas_kernel_source.state(session) : NULL;
    if (state != NULL) {
        *rung = state->rung;
        code = ERROR_SUCCESS;
    } else if (session != NULL && !session->configuration.system_logger) {
        code = ERROR_NOT_SUPPORTED;
    }
    etwas_control_unlock();
    return code;
}
