/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * QueryAllTraces, A and W: the ordinary sessions of the process, then those that other processes
 * share, each in a block of the caller's.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "control/prepare.h"
#include "control/properties.h"
#include "session/sharing.h"

/* Lists the sessions that exist at one moment; private ones have other entries. */
static uint32_t list_sessions(struct etwas_session_key keys[ETWAS_SESSIONS])
{
    uint32_t count = 0;

    etwas_control_lock();
    for (uint32_t index = 0; index < ETWAS_SESSIONS; index++) {
        struct etwas_session_key key = etwas_session_key(&etwas_sessions[index]);

        if (etwas_session_find(key) != NULL) {
            keys[count++] = key;
        }
    }
    etwas_control_unlock();
    return count;
}

/*
 * Checks every block before one is written to. Filters are not allowed, since no session here has
 * any.
 */
static uint32_t query_all_check(EVENT_TRACE_PROPERTIES *const *array, uint32_t count)
{
    if (array == NULL || count == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < count; index++) {
        uint32_t code = etwas_properties_check(array[index]);
        struct etwas_process_filters filters;

        if (code == ERROR_SUCCESS) {
            code = etwas_properties_filters(array[index], 0, &filters);
        }
        if (code != ERROR_SUCCESS) {
            return code;
        }
    }
    return ERROR_SUCCESS;
}

static void query_own(struct etwas_replies *replies)
{
    struct etwas_session_key keys[ETWAS_SESSIONS];
    uint32_t count = list_sessions(keys);

    for (uint32_t index = 0; index < count; index++) {
        const struct etwas_reply reply = etwas_replies_next(replies, 0);

        etwas_replies_store(replies, reply.properties != NULL
                                         ? etwas_properties_fill(&reply, keys[index])
                                         : (uint32_t)ERROR_MORE_DATA);
    }
}

static uint32_t query_all(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                          uint32_t *session_count, enum etwas_name_encoding encoding)
{
    struct etwas_replies replies = {
        .array = array, .array_count = array_count, .encoding = encoding};
    uint32_t code = etwas_prepare_to_serve();

    if (code == ERROR_SUCCESS) {
        code =
            session_count != NULL ? query_all_check(array, array_count) : ERROR_INVALID_PARAMETER;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    query_own(&replies);
    etwas_sharing.query_all(&replies);
    *session_count = replies.found;
    return replies.code;
}

uint32_t QueryAllTracesA(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                         uint32_t *session_count)
{
    return query_all(array, array_count, session_count, ETWAS_NAMES_UTF8);
}

uint32_t QueryAllTracesW(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                         uint32_t *session_count)
{
    return query_all(array, array_count, session_count, ETWAS_NAMES_UTF16);
}
