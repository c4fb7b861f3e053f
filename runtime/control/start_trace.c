/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * StartTrace, A and W.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <string.h>

#include "control/lifecycle.h"
#include "control/prepare.h"
#include "control/properties.h"
#include "control/system_request.h"
#include "platform/cancel.h"
#include "session/file_name.h"
#include "session/sharing.h"

/* R1–R10, R20–R26: all checks that do not depend on the machine. */
static uint32_t read_request(const void *name, const EVENT_TRACE_PROPERTIES *properties,
                             enum etwas_name_encoding encoding,
                             struct etwas_configuration *configuration)
{
    uint32_t code = etwas_properties_check(properties);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* R2; the other control calls require only the sizes and offsets. */
    if (name == NULL || properties->LoggerNameOffset == 0 ||
        (properties->Wnode.Flags & WNODE_FLAG_TRACED_GUID) == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_copy_name(name, encoding, configuration->name);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!etwas_properties_has_room_for_name(properties, encoding, configuration->name)) {
        return ERROR_BAD_LENGTH;
    }
    code = etwas_properties_file_name(properties, encoding, configuration->file_name);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (properties->LogFileNameOffset != 0 && configuration->file_name[0] == 0) {
        return ERROR_BAD_PATHNAME;
    }
    etwas_properties_read(properties, configuration);
    code = etwas_system_request_check(configuration);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    code =
        etwas_properties_filters(properties, configuration->log_file_mode, &configuration->filters);
    if (code == ERROR_SUCCESS) {
        configuration->filtered_out = !etwas_filters_match(&configuration->filters);
        if (etwas_filters_are_any(&configuration->filters) && etwas_sharing.takes_part()) {
            configuration->reach = ETWAS_REACH_TEMPLATE;
            /* All its processes write next to each other. */
            code = etwas_file_name_make_absolute(configuration->file_name);
        }
    }
    return code;
}

static void start_trace_fill(const struct etwas_session *session,
                             const etwas_session_counts *counts, void *context)
{
    /* The room for the name was checked before. */
    (void)etwas_properties_fill_from(context, session, counts);
}

static uint32_t start_trace_here(etwas_trace_handle *handle, const void *name,
                                 EVENT_TRACE_PROPERTIES *properties,
                                 enum etwas_name_encoding encoding)
{
    static const etwas_flusher_options defaults;
    struct etwas_reply reply = {properties, encoding, .keeps_file_name = true};
    struct etwas_configuration configuration = {0};
    uint32_t code = etwas_prepare_to_serve();

    if (code == ERROR_SUCCESS) {
        code = read_request(name, properties, encoding, &configuration);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_sharing.complete(&configuration);
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_flusher_configuration_set(&configuration.flusher, &defaults);
    }
    return code == ERROR_SUCCESS
               ? etwas_lifecycle_start(&configuration, start_trace_fill, &reply, handle)
               : code;
}

static uint32_t start_trace_start(etwas_trace_handle *handle, const void *name,
                                  EVENT_TRACE_PROPERTIES *properties,
                                  enum etwas_name_encoding encoding)
{
    ETWAS_UNCANCELLED_SCOPE;

    if (handle == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    *handle = 0;
    return start_trace_here(handle, name, properties, encoding);
}

uint32_t StartTraceA(etwas_trace_handle *handle, const char *name,
                     EVENT_TRACE_PROPERTIES *properties)
{
    return start_trace_start(handle, name, properties, ETWAS_NAMES_UTF8);
}

uint32_t StartTraceW(etwas_trace_handle *handle, const etwas_wchar *name,
                     EVENT_TRACE_PROPERTIES *properties)
{
    return start_trace_start(handle, name, properties, ETWAS_NAMES_UTF16);
}
