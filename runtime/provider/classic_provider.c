/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The classic provider's other calls: registering, and what a control callback asks for.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "platform/last_error.h"
#include "provider/enabling.h"
#include "provider/registration.h"
#include "session/session.h"

uint32_t UnregisterTraceGuids(etwas_trace_handle registration)
{
    return etwas_provider_unregister(registration, false);
}

etwas_trace_handle GetTraceLoggerHandle(void *buffer)
{
    const WNODE_HEADER *header = buffer;
    struct etwas_session_key key;

    if (header == NULL) {
        etwas_set_last_error(ERROR_INVALID_PARAMETER);
        return INVALID_PROCESSTRACE_HANDLE;
    }
    if (header->BufferSize < sizeof *header ||
        !etwas_session_key_of(header->HistoricalContext, &key)) {
        etwas_set_last_error(ERROR_INVALID_HANDLE);
        return INVALID_PROCESSTRACE_HANDLE;
    }
    return header->HistoricalContext;
}

uint8_t GetTraceEnableLevel(etwas_trace_handle handle)
{
    uint8_t level = 0;
    uint32_t flags;

    if (!etwas_provider_enablement(handle, &level, &flags)) {
        etwas_set_last_error(ERROR_INVALID_HANDLE);
    }
    return level;
}

uint32_t GetTraceEnableFlags(etwas_trace_handle handle)
{
    uint32_t flags = 0;
    uint8_t level;

    if (!etwas_provider_enablement(handle, &level, &flags)) {
        etwas_set_last_error(ERROR_INVALID_HANDLE);
    }
    return flags;
}
