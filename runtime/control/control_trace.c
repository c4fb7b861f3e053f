/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * ControlTrace and its short forms, A and W: query, flush, stop.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "control/life.h"
#include "control/prepare.h"
#include "control/properties.h"

/* The session that is meant: by name if there is one, else by handle. */
static uint32_t find(etwas_trace_handle handle, const void *name, enum etwas_text text,
                     struct etwas_session_key *key)
{
    etwas_wchar copy[ETWAS_NAME_UNITS + 1];
    struct etwas_session *session = NULL;
    uint32_t code = ERROR_WMI_INSTANCE_NOT_FOUND;
    bool ended_by_full_file;

    if (name != NULL) {
        if (etwas_copy_name(name, text, copy) != ERROR_SUCCESS) {
            return ERROR_INVALID_PARAMETER;
        }
    } else if (!etwas_session_key_of(handle, key)) {
        return ERROR_INVALID_PARAMETER;
    }
    etwas_control_lock();
    session = name != NULL ? etwas_session_find_name(copy) : etwas_session_find(*key);
    if (session != NULL) {
        *key = etwas_session_key(session);
        code = ERROR_SUCCESS;
    } else if (name == NULL) {
        ended_by_full_file =
            etwas_session_is_remembered(*key) && etwas_sessions[key->index].ended_by_full_file;
        code = ended_by_full_file ? ERROR_INVALID_HANDLE : ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    etwas_control_unlock();
    return code;
}

/* The file of a snapshot: named in the call, else in the session's own properties. */
static uint32_t snapshot(struct etwas_session_key key, const EVENT_TRACE_PROPERTIES *properties,
                         enum etwas_text text)
{
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
    uint32_t code = etwas_properties_file_name(properties, text, file_name);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (file_name[0] == 0) {
        return ERROR_BAD_PATHNAME;
    }
    return etwas_life_snapshot(key, file_name);
}

static uint32_t flush(struct etwas_session_key key, const EVENT_TRACE_PROPERTIES *properties,
                      enum etwas_text text)
{
    bool circular;

    etwas_control_lock();
    circular = etwas_configuration_is_circular(&etwas_sessions[key.index].configuration);
    etwas_control_unlock();
    return circular ? snapshot(key, properties, text) : etwas_life_flush(key);
}

struct reply {
    EVENT_TRACE_PROPERTIES *properties;
    enum etwas_text text;
    uint32_t code;
};

static void fill_at_end(const struct etwas_session *session, const etwas_session_counts *counts,
                        void *context)
{
    struct reply *reply = context;

    reply->code = etwas_properties_fill_from(reply->properties, reply->text, session, counts);
}

/*
 * The last numbers are taken before the place is given back: another session may take it at once.
 */
static uint32_t stop(struct etwas_session_key key, EVENT_TRACE_PROPERTIES *properties,
                     enum etwas_text text)
{
    struct reply reply = {properties, text, ERROR_SUCCESS};
    uint32_t code = etwas_life_stop(key, fill_at_end, &reply);

    return code == ERROR_SUCCESS ? reply.code : code;
}

static uint32_t control(etwas_trace_handle handle, const void *name,
                        EVENT_TRACE_PROPERTIES *properties, uint32_t control_code,
                        enum etwas_text text)
{
    struct etwas_session_key key;
    uint32_t code;

    etwas_prepare();
    code = etwas_properties_check(properties);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (name == NULL && handle == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    code = find(handle, name, text, &key);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    switch (control_code) {
    case EVENT_TRACE_CONTROL_QUERY:
        break;
    case EVENT_TRACE_CONTROL_FLUSH:
        code = flush(key, properties, text);
        break;
    case EVENT_TRACE_CONTROL_STOP:
        return stop(key, properties, text);
    default:
        code = ERROR_NOT_SUPPORTED;
        break;
    }
    return code == ERROR_SUCCESS ? etwas_properties_fill(properties, text, key) : code;
}

uint32_t ControlTraceA(etwas_trace_handle handle, const char *name,
                       EVENT_TRACE_PROPERTIES *properties, uint32_t control_code)
{
    return control(handle, name, properties, control_code, ETWAS_TEXT_A);
}

uint32_t ControlTraceW(etwas_trace_handle handle, const etwas_wchar *name,
                       EVENT_TRACE_PROPERTIES *properties, uint32_t control_code)
{
    return control(handle, name, properties, control_code, ETWAS_TEXT_W);
}

uint32_t StopTraceA(etwas_trace_handle handle, const char *name, EVENT_TRACE_PROPERTIES *properties)
{
    return control(handle, name, properties, EVENT_TRACE_CONTROL_STOP, ETWAS_TEXT_A);
}

uint32_t StopTraceW(etwas_trace_handle handle, const etwas_wchar *name,
                    EVENT_TRACE_PROPERTIES *properties)
{
    return control(handle, name, properties, EVENT_TRACE_CONTROL_STOP, ETWAS_TEXT_W);
}

uint32_t QueryTraceA(etwas_trace_handle handle, const char *name,
                     EVENT_TRACE_PROPERTIES *properties)
{
    return control(handle, name, properties, EVENT_TRACE_CONTROL_QUERY, ETWAS_TEXT_A);
}

uint32_t QueryTraceW(etwas_trace_handle handle, const etwas_wchar *name,
                     EVENT_TRACE_PROPERTIES *properties)
{
    return control(handle, name, properties, EVENT_TRACE_CONTROL_QUERY, ETWAS_TEXT_W);
}

uint32_t FlushTraceA(etwas_trace_handle handle, const char *name,
                     EVENT_TRACE_PROPERTIES *properties)
{
    return control(handle, name, properties, EVENT_TRACE_CONTROL_FLUSH, ETWAS_TEXT_A);
}

uint32_t FlushTraceW(etwas_trace_handle handle, const etwas_wchar *name,
                     EVENT_TRACE_PROPERTIES *properties)
{
    return control(handle, name, properties, EVENT_TRACE_CONTROL_FLUSH, ETWAS_TEXT_W);
}
