/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * QueryAllTraces, A and W: the ordinary sessions of the process, each in a block of the caller's.
 */
#include <etwas/evntrace.h>
#include <etwas/winerror.h>

#include "control/prepare.h"
#include "control/properties.h"

/* The sessions there are at one moment; private ones have other entries. */
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

/* Every block, before one is written to: there are no filters, since no session here has them. */
static uint32_t check(EVENT_TRACE_PROPERTIES *const *array, uint32_t count)
{
    if (array == NULL || count == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < count; index++) {
        uint32_t code = etwas_properties_check(array[index]);
        bool matches;

        if (code == ERROR_SUCCESS) {
            code = etwas_properties_filters(array[index], 0, &matches);
        }
        if (code != ERROR_SUCCESS) {
            return code;
        }
    }
    return ERROR_SUCCESS;
}

static uint32_t query_all(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                          uint32_t *session_count, enum etwas_text text)
{
    struct etwas_session_key keys[ETWAS_SESSIONS];
    uint32_t found;
    uint32_t filled = 0;
    uint32_t code = etwas_prepare_to_serve();

    if (code == ERROR_SUCCESS) {
        code = session_count != NULL ? check(array, array_count) : ERROR_INVALID_PARAMETER;
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    found = list_sessions(keys);
    *session_count = 0;
    for (uint32_t index = 0; index < found; index++) {
        uint32_t fill_code = ERROR_MORE_DATA;

        if (filled < array_count) {
            const struct etwas_reply reply = {.properties = array[filled], .text = text};

            fill_code = etwas_properties_fill(&reply, keys[index]);
        }
        /* It has ended meanwhile, and another has its entry. */
        if (fill_code == ERROR_WMI_INSTANCE_NOT_FOUND) {
            continue;
        }
        if (filled < array_count) {
            filled++;
        }
        (*session_count)++;
        code = fill_code != ERROR_SUCCESS ? fill_code : code;
    }
    return code;
}

uint32_t QueryAllTracesA(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                         uint32_t *session_count)
{
    return query_all(array, array_count, session_count, ETWAS_TEXT_A);
}

uint32_t QueryAllTracesW(EVENT_TRACE_PROPERTIES **array, uint32_t array_count,
                         uint32_t *session_count)
{
    return query_all(array, array_count, session_count, ETWAS_TEXT_W);
}
