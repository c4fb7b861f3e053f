/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "plugin.h"

#include <etwas/winerror.h>
#include <stddef.h>
#include <string.h>

static uint32_t register_provider(const GUID *provider, REGHANDLE *handle)
{
    return EventRegister(provider, NULL, NULL, handle);
}

static uint32_t write_event(REGHANDLE handle)
{
    static const EVENT_DESCRIPTOR descriptor = {.Id = 1, .Level = 4};

    return EventEnabled(handle, &descriptor) ? EventWrite(handle, &descriptor, 0, NULL)
                                             : ERROR_NOT_FOUND;
}

static uint32_t start(const char *session, const char *path, etwas_trace_handle *handle)
{
    return etwas_start(session, path, NULL, handle);
}

static uint32_t stop_by_name(const char *session)
{
    struct {
        EVENT_TRACE_PROPERTIES properties;
        char names[2][64];
    } request;

    memset(&request, 0, sizeof request);
    request.properties.Wnode.BufferSize = sizeof request;
    request.properties.LoggerNameOffset = offsetof(__typeof__(request), names[0]);
    request.properties.LogFileNameOffset = offsetof(__typeof__(request), names[1]);
    return ControlTraceA(0, session, &request.properties, EVENT_TRACE_CONTROL_STOP);
}

const struct plugin plugin_of_a_test = {
    .register_provider = register_provider,
    .unregister_provider = EventUnregister,
    .write = write_event,
    .start = start,
    .stop_by_name = stop_by_name,
};
