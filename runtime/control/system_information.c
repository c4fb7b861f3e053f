/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/system_information.h"

#include <etwas/winerror.h>

#include "control/kernel_refusal.h"
#include "control/lifecycle.h"
#include "session/session.h"
#include "system/logger.h"

enum {
    SOURCE_TIMER = 0
};

/* With its role, or NULL and why. */
static struct etwas_session *acquire(etwas_trace_handle handle, uint32_t *code)
{
    struct etwas_session_key key;
    struct etwas_session *session =
        etwas_session_key_of(handle, &key) ? etwas_lifecycle_acquire_role(key) : NULL;

    *code = session == NULL ? ERROR_INVALID_PARAMETER : ERROR_SUCCESS;
    if (session != NULL && !session->configuration.system_logger) {
        etwas_lifecycle_release_role(session);
        *code = ERROR_NOT_SUPPORTED;
        return NULL;
    }
    return session;
}

static uint32_t change(struct etwas_session *session, const struct etwas_system_settings *settings)
{
    struct etwas_fault fault;
    uint32_t code = etwas_system_logger_change(session, settings, &fault);

    etwas_kernel_refusal_keep(&fault);
    return code;
}

uint32_t etwas_system_information_set_interval(etwas_trace_handle handle,
                                               const TRACE_PROFILE_INTERVAL *interval)
{
    struct etwas_system_settings settings;
    struct etwas_session *session = NULL;
    uint32_t code = ERROR_SUCCESS;

    if (handle != 0) {
        session = acquire(handle, &code);
    }
    if (code == ERROR_SUCCESS &&
        (interval->Source != SOURCE_TIMER || interval->Interval < ETWAS_PROFILE_INTERVAL_LEAST ||
         interval->Interval > ETWAS_PROFILE_INTERVAL_MOST)) {
        code = ERROR_INVALID_PARAMETER;
    } else if (session != NULL) {
        settings = *etwas_system_logger_settings(session);
        settings.profile_interval = interval->Interval;
        code = change(session, &settings);
    } else if (code == ERROR_SUCCESS) {
        (void)etwas_system_logger_first_interval(interval->Interval);
    }
    if (session != NULL) {
        etwas_lifecycle_release_role(session);
    }
    return code;
}

uint32_t etwas_system_information_interval(etwas_trace_handle handle,
                                           TRACE_PROFILE_INTERVAL *interval)
{
    struct etwas_session *session = NULL;
    uint32_t code = ERROR_SUCCESS;

    if (handle != 0) {
        session = acquire(handle, &code);
    }
    if (code == ERROR_SUCCESS && interval->Source != SOURCE_TIMER) {
        code = ERROR_INVALID_PARAMETER;
    }
    if (code == ERROR_SUCCESS) {
        interval->Interval = session != NULL
                                 ? etwas_system_logger_settings(session)->profile_interval
                                 : etwas_system_logger_first_interval(0);
    }
    if (session != NULL) {
        etwas_lifecycle_release_role(session);
    }
    return code;
}
