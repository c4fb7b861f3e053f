/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

/* The functions by which a classic provider's control callback reads its enablement. */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "provider/enabling.h"
#include "session/session.h"

etwas_trace_handle GetTraceLoggerHandle(void *buffer)
{
    const WNODE_HEADER *header = buffer;
    struct etwas_session_key key;

    if (header == NULL) {
        etwas_SetLastError(ERROR_INVALID_PARAMETER);
        return INVALID_PROCESSTRACE_HANDLE;
    }
    if (header->BufferSize < sizeof *header ||
        !etwas_writer_key_of(header->HistoricalContext, &key)) {
        etwas_SetLastError(ERROR_INVALID_HANDLE);
        return INVALID_PROCESSTRACE_HANDLE;
    }
    return header->HistoricalContext;
}

static struct etwas_enablement classic_enablement_of(etwas_trace_handle handle)
{
    struct etwas_enablement enablement = etwas_provider_enablement(handle);

    if (enablement.session == 0) {
        etwas_SetLastError(ERROR_INVALID_HANDLE);
    }
    return enablement;
}

uint8_t GetTraceEnableLevel(etwas_trace_handle handle)
{
    return classic_enablement_of(handle).level;
}

uint32_t GetTraceEnableFlags(etwas_trace_handle handle)
{
    const struct etwas_enablement enablement = classic_enablement_of(handle);

    return etwas_enablement_flags(&enablement);
}
