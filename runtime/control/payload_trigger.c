/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The payload triggers of recorder.h.
 */
#include <etwas/etwas.h>
#include <stdlib.h>

#include "control/lifecycle.h"
#include "flush/payload_watch.h"
#include "platform/sized_struct.h"

/* ERROR_INVALID_HANDLE: it does not run; ERROR_NOT_SUPPORTED: it is none. */
static uint32_t payload_trigger_find_recorder(etwas_trace_handle handle,
                                              struct etwas_session_key *key)
{
    const struct etwas_session *session;
    uint32_t code = ERROR_INVALID_HANDLE;

    if (!etwas_session_key_of(handle, key)) {
        return code;
    }
    etwas_control_lock();
    session = etwas_session_find(*key);
    if (session != NULL) {
        code = etwas_configuration_is_buffering(&session->configuration) ? ERROR_SUCCESS
                                                                         : ERROR_NOT_SUPPORTED;
    }
    etwas_control_unlock();
    return code;
}

static uint32_t payload_trigger_add(struct etwas_session_key key, struct etwas_session_key recorder,
                                    struct etwas_compiled_filter *filter)
{
    struct etwas_session *session = etwas_lifecycle_acquire_role(key);
    uint32_t code = ERROR_NOT_SUPPORTED;

    if (session == NULL) {
        return ERROR_INVALID_HANDLE;
    }
    if (etwas_session_has_sink(session)) {
        code = etwas_payload_watch_add(session, recorder, filter);
    }
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_trigger_on_payload_sized(etwas_trace_handle session, etwas_trace_handle recorder,
                                        const etwas_payload_filter *given, size_t given_bytes,
                                        const char **fault)
{
    etwas_payload_filter known;
    struct etwas_compiled_filter *filter;
    struct etwas_session_key key;
    struct etwas_session_key recorder_key;
    const char *unused;
    uint32_t code;

    fault = fault != NULL ? fault : &unused;
    *fault = NULL;
    if (!etwas_sized_read(&known, sizeof known, given, given_bytes)) {
        return ERROR_NOT_SUPPORTED;
    }
    code = payload_trigger_find_recorder(recorder, &recorder_key);
    if (code != ERROR_SUCCESS || !etwas_session_key_of(session, &key)) {
        return code != ERROR_SUCCESS ? code : ERROR_INVALID_HANDLE;
    }
    filter = etwas_payload_filter_compile(&known, &code, fault);
    if (filter == NULL) {
        return code;
    }
    code = payload_trigger_add(key, recorder_key, filter);
    if (code != ERROR_SUCCESS) {
        free(filter);
    }
    return code;
}

uint32_t etwas_payload_query_sized(etwas_trace_handle handle, etwas_payload_counts *counts,
                                   size_t counts_bytes)
{
    etwas_payload_counts known;
    struct etwas_held_session held;
    uint32_t code;

    if (counts == NULL) {
        return ERROR_INVALID_PARAMETER;
    }
    code = etwas_session_hold(handle, &held);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    known = (etwas_payload_counts){
        .tested = held.session->watch_counts.tested,
        .matched = held.session->watch_counts.matched,
        .unfit = held.session->watch_counts.unfit,
        .refused = held.session->watch_counts.refused,
    };
    etwas_session_release(&held);
    etwas_sized_write(counts, counts_bytes, &known, sizeof known);
    return ERROR_SUCCESS;
}
