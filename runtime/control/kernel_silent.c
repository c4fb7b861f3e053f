/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <stdio.h>

#include "provider/source.h"
#include "session/session.h"

enum {
    LONGEST_SENTENCE = 512
};

uint32_t etwas_kernel_silent(etwas_trace_handle handle, uint32_t *flags, char *text, size_t room)
{
    char sentence[LONGEST_SENTENCE];
    struct etwas_session_key key;
    const struct etwas_session *session;
    uint32_t code = ERROR_INVALID_HANDLE;

    if (flags == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    etwas_control_lock();
    session = etwas_session_find(key);
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
