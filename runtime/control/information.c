/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * TraceSetInformation and TraceQueryInformation: settings beside EVENT_TRACE_PROPERTIES.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "session/session.h"

enum {
    TRACE_PROCESSING_VERSION = 1 /* of OpenTrace and ProcessTrace here */
};

static uint32_t give(void *information, uint32_t room, uint32_t *return_bytes, const void *value,
                     uint32_t bytes)
{
    if (return_bytes != NULL) {
        *return_bytes = bytes;
    }
    if (room < bytes) {
        return ERROR_BAD_LENGTH;
    }
    if (information == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(information, value, bytes);
    return ERROR_SUCCESS;
}

uint32_t TraceQueryInformation(etwas_trace_handle session, TRACE_INFO_CLASS information_class,
                               void *information, uint32_t information_bytes,
                               uint32_t *return_bytes)
{
    static const TRACE_VERSION_INFO version = {.EtwTraceProcessingVersion =
                                                   TRACE_PROCESSING_VERSION};
    static const uint32_t loggers = ETWAS_SESSIONS;

    (void)session;
    switch ((uint32_t)information_class) {
    case TraceVersionInfo:
        return give(information, information_bytes, return_bytes, &version, sizeof version);
    case TraceMaxLoggersQuery:
        return give(information, information_bytes, return_bytes, &loggers, sizeof loggers);
    default:
        return ERROR_NOT_SUPPORTED;
    }
}

uint32_t TraceSetInformation(etwas_trace_handle session, TRACE_INFO_CLASS information_class,
                             void *information, uint32_t information_bytes)
{
    (void)session;
    (void)information_class;
    return information == NULL && information_bytes != 0 ? ERROR_INVALID_PARAMETER
                                                         : ERROR_NOT_SUPPORTED;
}
