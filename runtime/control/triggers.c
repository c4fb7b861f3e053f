/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The triggers of recorder.h, and those by payload. */
#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock/clock.h"
#include "control/lifecycle.h"
#include "control/properties.h"
#include "file/recorder.h"
#include "flush/payload_watch.h"
#include "platform/sized_struct.h"
#include "provider/event_class.h"
#include "provider/source.h"
#include "session/file_name.h"
#include "session/session.h"
#include "session/sharing.h"

enum {
    MS_A_SECOND = 1000,
    US_A_SECOND = 1000000,
    NS_A_MS = 1000000,
    BYTES_A_KB = 1024,
    LONGEST_SENTENCE = 256,
};

/* (500, QPC) → 500,000,000 */
static int64_t trigger_ticks_of(uint32_t milliseconds, uint32_t clock)
{
    return (int64_t)(etwas_clock_frequency(clock) * milliseconds / MS_A_SECOND);
}

static uint32_t read_options(const etwas_trigger_options *given,
                             struct etwas_recorder_options *options)
{
    etwas_wchar made[ETWAS_NAME_UNITS + 1];

    if (given->log_file == NULL ||
        etwas_copy_name(given->log_file, ETWAS_NAMES_UTF8, options->file_name) != ERROR_SUCCESS) {
        return ERROR_BAD_PATHNAME;
    }
    options->after_ns = (uint64_t)given->after_ms * NS_A_MS;
    options->least_gap_ns = (uint64_t)given->least_gap_ms * NS_A_MS;
    options->spare_buffers = given->spare_buffers;
    options->maximum_files = given->maximum_files;
    options->maximum_bytes =
        given->maximum_kb > UINT64_MAX / BYTES_A_KB ? UINT64_MAX : given->maximum_kb * BYTES_A_KB;
    options->prepare = etwas_kernel_source.before_snapshot;
    options->begun = given->pass_on != 0 ? etwas_sharing.propagate : NULL;
    return etwas_file_name_make(options->file_name, EVENT_TRACE_FILE_MODE_NEWFILE, UINT32_MAX, 0,
                                made);
}

/* Why this thread could not arm a recorder. needed 0: a lack of buffers was not the reason. */
static _Thread_local struct {
    uint32_t needed;
    uint32_t allocated;
} last_refusal;

size_t etwas_trigger_refusal(char *text, size_t room)
{
    char sentence[LONGEST_SENTENCE] = "";

    if (last_refusal.needed != 0) {
        (void)snprintf(sentence, sizeof sentence,
                       "windows of this recorder need %u buffers, and it has %u and room for no"
                       " more: start it with MinimumBuffers of %u",
                       last_refusal.needed, last_refusal.allocated, last_refusal.needed);
    }
    if (text != NULL && room != 0) {
        (void)snprintf(text, room, "%s", sentence);
    }
    return strlen(sentence);
}

uint32_t etwas_trigger_arm_sized(etwas_trace_handle handle, const etwas_trigger_options *given,
                                 size_t given_bytes)
{
    struct etwas_recorder_options options = {0};
    etwas_trigger_options known;
    struct etwas_session_key key;
    struct etwas_session *session;
    uint32_t code;

    last_refusal.needed = 0;
    if (!etwas_sized_read(&known, sizeof known, given, given_bytes)) {
        return ERROR_NOT_SUPPORTED;
    }
    if (!etwas_session_key_of(handle, &key)) {
        return ERROR_INVALID_HANDLE;
    }
    code = read_options(&known, &options);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    session = etwas_lifecycle_acquire_role(key);
    if (session == NULL) {
        return ERROR_INVALID_HANDLE;
    }
    options.before_ticks = known.before_ms != 0
                               ? trigger_ticks_of(known.before_ms, session->configuration.clock)
                               : INT64_MAX;
    code = etwas_recorder_arm(session, &options, &last_refusal.needed);
    last_refusal.allocated = etwas_pool_allocated(session->buffers.pool);
    etwas_lifecycle_release_role(session);
    return code;
}

uint32_t etwas_trigger(etwas_trace_handle handle)
{
    struct etwas_session_key key;

    return etwas_session_key_of(handle, &key) ? etwas_trigger_pull(key) : ERROR_INVALID_HANDLE;
}

uint32_t etwas_trigger_mark(etwas_trace_handle handle, etwas_handle class_handle,
                            uint64_t threshold_us)
{
    const struct etwas_session *session;
    uint32_t code = ERROR_INVALID_HANDLE;

    etwas_control_lock();
    session = etwas_session_find_handle(handle);
    if (session != NULL) {
        uint32_t clock = session->configuration.clock;
        uint64_t frequency = etwas_clock_frequency(clock);
        uint64_t most_us = (uint64_t)INT64_MAX / frequency * US_A_SECOND;
        uint64_t us = threshold_us < most_us ? threshold_us : most_us;
        uint64_t ticks = us / US_A_SECOND * frequency + us % US_A_SECOND * frequency / US_A_SECOND;

        code = etwas_slow_class_set_limit(class_handle,
                                          etwas_session_handle(etwas_session_key(session)),
                                          ticks != 0 || us == 0 ? ticks : 1, clock)
                   ? ERROR_SUCCESS
                   : ERROR_INVALID_PARAMETER;
    }
    etwas_control_unlock();
    return code;
}

uint32_t etwas_trigger_query_sized(etwas_trace_handle handle, etwas_trigger_counts *counts,
                                   size_t counts_bytes)
{
    etwas_trigger_counts known;
    struct etwas_held_session held;
    const struct etwas_trigger *trigger;
    uint32_t code =
        counts != NULL ? etwas_session_hold(handle, &held) : (uint32_t)ERROR_INVALID_PARAMETER;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    trigger = &held.session->trigger;
    known = (etwas_trigger_counts){
        .windows = trigger->windows,
        .joined = trigger->joined,
        .limited = trigger->limited,
        .capped = trigger->capped,
        .files = trigger->files,
        .failed = trigger->failed,
        .bytes = trigger->bytes,
        .passed_on = trigger->passed_on,
        .last_error = trigger->last_code,
        .asked = ck_pr_load_64(&trigger->asked),
    };
    etwas_session_release(&held);
    known.waiting = known.asked - known.windows - known.joined - known.limited - known.capped;
    etwas_sized_write(counts, counts_bytes, &known, sizeof known);
    return ERROR_SUCCESS;
}

/* ---- payload triggers ------------------------------------------------------------------------ */

/* ERROR_INVALID_HANDLE: the session does not run; ERROR_NOT_SUPPORTED: it is no recorder. */
static uint32_t payload_trigger_find_recorder(etwas_trace_handle handle,
                                              struct etwas_session_key *key)
{
    const struct etwas_session *session;
    uint32_t code = ERROR_INVALID_HANDLE;

    etwas_control_lock();
    session = etwas_session_find_handle(handle);
    if (session != NULL) {
        *key = etwas_session_key(session);
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
    uint32_t code =
        counts != NULL ? etwas_session_hold(handle, &held) : (uint32_t)ERROR_INVALID_PARAMETER;

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
