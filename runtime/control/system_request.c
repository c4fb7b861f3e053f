/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/system_request.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <string.h>

#include "clock/clock.h"
#include "platform/name_case.h"
#include "provider/source.h"
#include "session/session.h"

static bool has_guid(const struct etwas_configuration *configuration, const etwas_guid *guid)
{
    return memcmp(&configuration->guid, guid, sizeof *guid) == 0;
}

/* R42, R43, R188 */
static uint32_t check_identity(struct etwas_configuration *configuration)
{
    bool has_name = etwas_names_equal(configuration->name, KERNEL_LOGGER_NAMEW);

    if (has_guid(configuration, &SystemTraceControlGuid) && !has_name) {
        return ERROR_INVALID_PARAMETER;
    }
    if (has_name) {
        configuration->guid = SystemTraceControlGuid;
    }
    if (has_guid(configuration, &KernelRundownGuid)) {
        configuration->system_logger = ETWAS_SYSTEM_LOGGER_RUNDOWN;
    } else if (has_name || has_guid(configuration, &GlobalLoggerGuid) ||
               (configuration->log_file_mode & EVENT_TRACE_SYSTEM_LOGGER_MODE) != 0) {
        configuration->system_logger = ETWAS_SYSTEM_LOGGER_EVENTS;
    }
    configuration->own_process = configuration->system_logger &&
                                 etwas_kernel_scope_of_thread() == ETWAS_KERNEL_SCOPE_PROCESS;
    return ERROR_SUCCESS;
}

uint32_t etwas_system_request_check_flags(uint32_t flags)
{
    if (!etwas_system_flags_are_known(flags)) {
        return ERROR_INVALID_PARAMETER;
    }
    return (flags & ~(etwas_kernel_source.flags() | EVENT_TRACE_FLAG_NO_SYSCONFIG)) == 0
               ? ERROR_SUCCESS
               : ERROR_NOT_SUPPORTED;
}

uint32_t etwas_system_request_check(struct etwas_configuration *configuration)
{
    uint32_t code = check_identity(configuration);

    if (code != ERROR_SUCCESS || !configuration->system_logger) {
        return code;
    }
    code = etwas_modes_check(configuration->log_file_mode);
    if (code == ERROR_SUCCESS) {
        code = etwas_system_request_check_flags(configuration->enable_flags);
    }
    if ((configuration->log_file_mode &
         (EVENT_TRACE_USE_PAGED_MEMORY | EVENT_TRACE_PRIVATE_LOGGER_MODE)) != 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    return etwas_configuration_has_one_slot(configuration) ? ERROR_NOT_SUPPORTED : ERROR_SUCCESS;
}

enum {
    LONGEST_SENTENCE = 512
};

/* ---- the scope ------------------------------------------------------------------------------- */

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

/* ---- flags without events -------------------------------------------------------------------- */

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

/* ---- refusals -------------------------------------------------------------------------------- */

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
