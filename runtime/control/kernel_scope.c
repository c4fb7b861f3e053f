/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/system_request.h"

#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <string.h>

#include "provider/source.h"
#include "session/session.h"

enum {
    LONGEST_SENTENCE = 512
};

/* ---- whose events are recorded --------------------------------------------------------------- */

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
    const struct etwas_session *session;
    const struct etwas_source_state *state;
    uint32_t code = ERROR_INVALID_HANDLE;

    if (rung == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_control_lock();
    session = etwas_session_find_handle(handle);
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

/* ---- what has no events ---------------------------------------------------------------------- */

uint32_t etwas_kernel_silent(etwas_trace_handle handle, uint32_t *flags, char *text, size_t room)
{
    char sentence[LONGEST_SENTENCE];
    const struct etwas_session *session;
    uint32_t code = ERROR_INVALID_HANDLE;

    if (flags == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_control_lock();
    session = etwas_session_find_handle(handle);
    if (session != NULL) {
        code = session->configuration.system_logger ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
        *flags = etwas_kernel_source.silent(session->configuration.enable_flags, NULL, 0);
    }
    etwas_control_unlock();
    if (code == ERROR_SUCCESS && text != NULL && room != 0) {
        (void)etwas_kernel_source.silent(*flags, sentence, sizeof sentence);
        (void)snprintf(text, room, "%s", sentence);
    }
    return code;
}

/* ---- why it was refused ---------------------------------------------------------------------- */

static _Thread_local struct etwas_unavailability last;

void etwas_kernel_refusal_store(const struct etwas_unavailability *fault)
{
    last = *fault;
}

size_t etwas_kernel_refusal(char *text, size_t room)
{
    char sentence[LONGEST_SENTENCE] = "";
    size_t length;

    if (last.cause != ETWAS_UNAVAILABLE_NOTHING) {
        etwas_kernel_source.explain(&last, sentence, sizeof sentence);
    }
    length = strlen(sentence);
    if (text != NULL && room != 0) {
        size_t kept = length < room ? length : room - 1;

        memcpy(text, sentence, kept);
        text[kept] = 0;
    }
    return length;
}
