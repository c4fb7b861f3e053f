/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* ControlTrace and its short forms, A and W: query, update, flush, next file, stop. */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/lifecycle.h"
#include "control/prepare.h"
#include "control/properties.h"
#include "platform/name_case.h"
#include "session/file_name.h"
#include "session/sharing.h"

/*
 * The session to control, with the properties that decide how it is controlled. The mode has only
 * the bits that UPDATE does not change.
 */
struct control_target {
    struct etwas_session_key key;
    uint32_t log_file_mode;
    bool is_template; /* the processes it is for have their own sessions, which do the same */
};

/* A LoggerId means the session that runs with it now. The caller holds the control lock. */
static struct etwas_session *find_by_handle(etwas_trace_handle handle,
                                            struct etwas_session_key *key)
{
    if (handle <= ETWAS_SESSION_ENTRIES) {
        *key = etwas_session_key(&etwas_sessions[handle - 1]);
    }
    return etwas_session_find(*key);
}

/* R43: the kernel logger's GUID belongs to its name. */
static bool control_is_other_session(const etwas_wchar *name,
                                     const EVENT_TRACE_PROPERTIES *properties)
{
    return memcmp(&properties->Wnode.Guid, &SystemTraceControlGuid, sizeof(etwas_guid)) == 0 &&
           !etwas_names_equal(name, KERNEL_LOGGER_NAMEW);
}

/* Finds a session by name if one is given, otherwise by a nonzero handle, or by LoggerId. */
static uint32_t control_trace_find(etwas_trace_handle handle, const void *name,
                                   enum etwas_name_encoding encoding,
                                   const EVENT_TRACE_PROPERTIES *properties,
                                   struct control_target *target)
{
    etwas_wchar copy[ETWAS_NAME_UNITS + 1];
    struct etwas_session_key key = {0};
    struct etwas_session *session = NULL;
    uint32_t code = ERROR_WMI_INSTANCE_NOT_FOUND;

    if (name != NULL) {
        if (etwas_copy_name(name, encoding, copy) != ERROR_SUCCESS ||
            control_is_other_session(copy, properties)) {
            return ERROR_INVALID_PARAMETER;
        }
    } else if (!etwas_session_key_of(handle, &key) && handle > ETWAS_SESSION_ENTRIES) {
        return etwas_writer_key_of(handle, &key) ? ERROR_WMI_INSTANCE_NOT_FOUND
                                                 : ERROR_INVALID_PARAMETER;
    }
    etwas_control_lock();
    session = name != NULL ? etwas_session_find_name(copy) : find_by_handle(handle, &key);
    if (session != NULL) {
        *target = (struct control_target){etwas_session_key(session),
                                          session->configuration.log_file_mode,
                                          session->configuration.reach == ETWAS_REACH_TEMPLATE};
        code = ERROR_SUCCESS;
    } else if (name == NULL && etwas_session_is_remembered(key) &&
               etwas_sessions[key.index].entry.ended_by_full_file) {
        code = ERROR_INVALID_HANDLE;
    }
    etwas_control_unlock();
    return code;
}

/*
 * Reads the file name in the block, for all requests that write to such a file; empty: there is
 * none.
 */
static uint32_t read_file_name(const struct control_target *target,
                               const EVENT_TRACE_PROPERTIES *properties,
                               enum etwas_name_encoding encoding,
                               etwas_wchar given[ETWAS_NAME_UNITS + 1])
{
    uint32_t code = etwas_properties_file_name(properties, encoding, given);

    return code == ERROR_SUCCESS && target->is_template ? etwas_file_name_make_absolute(given)
                                                        : code;
}

/* Writes a snapshot. Its file is the one named in the call, or else the session's. */
static uint32_t control_trace_snapshot(const struct control_target *target,
                                       const EVENT_TRACE_PROPERTIES *properties,
                                       enum etwas_name_encoding encoding)
{
    etwas_wchar given[ETWAS_NAME_UNITS + 1];
    etwas_wchar made[ETWAS_NAME_UNITS + 1];
    uint32_t code = read_file_name(target, properties, encoding, given);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (given[0] == 0) {
        etwas_control_lock();
        memcpy(given, etwas_sessions[target->key.index].configuration.file_name, sizeof given);
        etwas_control_unlock();
    }
    if (given[0] == 0) {
        return ERROR_BAD_PATHNAME;
    }
    code = etwas_file_name_make(given, target->log_file_mode, 1, (uint32_t)getpid(), made);
    return code == ERROR_SUCCESS ? etwas_lifecycle_snapshot(target->key, made) : code;
}

static uint32_t control_trace_flush(const struct control_target *target,
                                    const EVENT_TRACE_PROPERTIES *properties,
                                    enum etwas_name_encoding encoding)
{
    return (target->log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0
               ? control_trace_snapshot(target, properties, encoding)
               : etwas_lifecycle_flush(target->key);
}

/* R130–R137. */
static uint32_t control_trace_update(const struct control_target *target,
                                     const EVENT_TRACE_PROPERTIES *properties,
                                     enum etwas_name_encoding encoding)
{
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
    struct etwas_update wanted = {
        .flush_timer = properties->FlushTimer,
        .maximum_buffers = properties->MaximumBuffers,
        .log_file_mode = properties->LogFileMode,
        .enable_flags = properties->EnableFlags,
    };
    uint32_t code = read_file_name(target, properties, encoding, file_name);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    /* R133 */
    if (properties->LogFileNameOffset != 0 && file_name[0] == 0) {
        return ERROR_BAD_PATHNAME;
    }
    /* R136, R137 */
    if ((properties->Wnode.Flags & WNODE_FLAG_TRACED_GUID) == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    if (file_name[0] != 0) {
        wanted.file_name = file_name;
    }
    return etwas_lifecycle_update(target->key, &wanted);
}

struct last_reply {
    struct etwas_reply reply;
    uint32_t code;
};

static void control_fill_at_end(const struct etwas_session *session,
                                const etwas_session_counts *counts, void *context)
{
    struct last_reply *last = context;

    last->code = etwas_properties_fill_from(&last->reply, session, counts);
}

/*
 * The last counts are read before the entry is released, since another session may take it at once.
 */
static uint32_t control_trace_stop(struct etwas_session_key key, const struct etwas_reply *reply)
{
    struct last_reply last = {*reply, ERROR_SUCCESS};
    uint32_t code = etwas_lifecycle_stop(key, control_fill_at_end, &last);

    return code == ERROR_SUCCESS ? last.code : code;
}

/* Checks what can be checked before the session is looked up (2.2.2 of the ETW pages). */
static uint32_t control_trace_check(etwas_trace_handle handle, const void *name,
                                    const EVENT_TRACE_PROPERTIES *properties)
{
    uint32_t code = etwas_properties_check(properties);

    if (code == ERROR_SUCCESS && name == NULL && handle == 0) {
        code = ERROR_INVALID_PARAMETER;
    }
    return code;
}

/* Makes the private-session instances of other processes do what this process's session did. */
static uint32_t control_propagate(const struct control_target *target,
                                  const EVENT_TRACE_PROPERTIES *properties, uint32_t control_code,
                                  enum etwas_name_encoding encoding)
{
    etwas_wchar file_name[ETWAS_NAME_UNITS + 1];
    uint32_t code;

    if (!target->is_template || control_code == EVENT_TRACE_CONTROL_QUERY) {
        return ERROR_SUCCESS;
    }
    code = read_file_name(target, properties, encoding, file_name);
    return code == ERROR_SUCCESS
               ? etwas_sharing.control_instances(etwas_session_handle(target->key), control_code,
                                                 properties->FlushTimer, file_name)
               : code;
}

static uint32_t control_trace_control(etwas_trace_handle handle, const void *name,
                                      EVENT_TRACE_PROPERTIES *properties, uint32_t control_code,
                                      enum etwas_name_encoding encoding)
{
    struct etwas_reply reply = {.properties = properties, .encoding = encoding};
    struct control_target target;
    struct etwas_process_filters filters;
    uint32_t code = etwas_prepare_to_serve();

    if (code == ERROR_SUCCESS) {
        code = control_trace_check(handle, name, properties);
    }
    if (code == ERROR_SUCCESS) {
        code = control_trace_find(handle, name, encoding, properties, &target);
        if (code == ERROR_WMI_INSTANCE_NOT_FOUND) {
            return etwas_sharing.control(handle, name, &reply, control_code);
        }
    }
    /* R27: every call may contain the filters; they took effect at the start. */
    if (code == ERROR_SUCCESS) {
        code = etwas_properties_filters(properties, target.log_file_mode, &filters);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    switch (control_code) {
    case EVENT_TRACE_CONTROL_QUERY:
        break;
    case EVENT_TRACE_CONTROL_STOP:
        return control_trace_stop(target.key, &reply);
    case EVENT_TRACE_CONTROL_UPDATE:
        code = control_trace_update(&target, properties, encoding);
        break;
    case EVENT_TRACE_CONTROL_FLUSH:
        code = control_trace_flush(&target, properties, encoding);
        reply.keeps_file_name = (target.log_file_mode & EVENT_TRACE_BUFFERING_MODE) != 0;
        break;
    case EVENT_TRACE_CONTROL_INCREMENT_FILE:
        code = etwas_lifecycle_next_file(target.key);
        break;
    case EVENT_TRACE_CONTROL_CONVERT_TO_REALTIME:
        code = etwas_lifecycle_convert_to_realtime(target.key);
        break;
    default:
        code = ERROR_INVALID_PARAMETER;
        break;
    }
    if (code == ERROR_SUCCESS) {
        code = control_propagate(&target, properties, control_code, encoding);
    }
    return code == ERROR_SUCCESS ? etwas_properties_fill(&reply, target.key) : code;
}

uint32_t ControlTraceA(etwas_trace_handle handle, const char *name,
                       EVENT_TRACE_PROPERTIES *properties, uint32_t control_code)
{
    return control_trace_control(handle, name, properties, control_code, ETWAS_NAMES_UTF8);
}

uint32_t ControlTraceW(etwas_trace_handle handle, const etwas_wchar *name,
                       EVENT_TRACE_PROPERTIES *properties, uint32_t control_code)
{
    return control_trace_control(handle, name, properties, control_code, ETWAS_NAMES_UTF16);
}

/* ControlTrace with one code, A and W. */
#define SHORT_FORMS(function, control_code)                                                        \
    uint32_t function##A(etwas_trace_handle handle, const char *name,                              \
                         EVENT_TRACE_PROPERTIES *properties)                                       \
    {                                                                                              \
        return control_trace_control(handle, name, properties, control_code, ETWAS_NAMES_UTF8);    \
    }                                                                                              \
                                                                                                   \
    uint32_t function##W(etwas_trace_handle handle, const etwas_wchar *name,                       \
                         EVENT_TRACE_PROPERTIES *properties)                                       \
    {                                                                                              \
        return control_trace_control(handle, name, properties, control_code, ETWAS_NAMES_UTF16);   \
    }

SHORT_FORMS(QueryTrace, EVENT_TRACE_CONTROL_QUERY)
SHORT_FORMS(StopTrace, EVENT_TRACE_CONTROL_STOP)
SHORT_FORMS(UpdateTrace, EVENT_TRACE_CONTROL_UPDATE)
SHORT_FORMS(FlushTrace, EVENT_TRACE_CONTROL_FLUSH)
