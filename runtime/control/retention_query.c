/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The live gauge of a flight recorder: how far back each of its streams goes. Also reports what
 * happened to the events of a retention class.
 */
#include "buffer/retention.h"

#include <etwas/etwas.h>

#include "buffer/quota.h"
#include "clock/clock.h"
#include "platform/sized_struct.h"
#include "session/session.h"
#include "session/sharing.h"

/* 4,500 ticks at 3 GHz → 1,500 ns; 0 if the clock was set back. */
static uint64_t retention_ticks_to_ns(int64_t ticks, uint32_t clock)
{
    const uint64_t second_ns = (uint64_t)ETWAS_CLOCK_NS_PER_SECOND;
    uint64_t frequency = etwas_clock_frequency(clock);

    if (ticks <= 0 || frequency == 0) {
        return 0;
    }
    /* The remainder is less than the frequency, so that the product fits up to 18 GHz. */
    return (uint64_t)ticks / frequency * second_ns +
           (uint64_t)ticks % frequency * second_ns / frequency;
}

static int64_t retention_slot_started_at(const struct etwas_session *session)
{
    return etwas_clock_reading_stamp(&session->started, session->configuration.clock);
}

/* Returns the time span that the stream holds. `pool_lock` is held, and there is a pool. */
static uint64_t retention_held_ns(const struct etwas_session *session, uint32_t slot)
{
    uint32_t clock = session->configuration.clock;
    int64_t since;

    if (!etwas_retention_of(session->buffers.pool, slot, &since)) {
        since = retention_slot_started_at(session);
    }
    return retention_ticks_to_ns(etwas_clock_now(clock) - since, clock);
}

/* Measures a class row. `pool_lock` is held, and there is a pool. */
static void retention_measure(const struct etwas_session *session, etwas_retention *retention,
                              uint64_t *stream_ns, uint32_t room)
{
    *retention = (etwas_retention){.covered_ns = UINT64_MAX,
                                   .streams = etwas_pool_used_slots(session->buffers.pool)};
    for (uint32_t slot = 0; slot < retention->streams; slot++) {
        uint64_t held_ns = retention_held_ns(session, slot);

        if (held_ns < retention->covered_ns) {
            retention->covered_ns = held_ns;
            retention->shortest = slot;
        }
        if (held_ns > retention->longest_ns) {
            retention->longest_ns = held_ns;
        }
        if (slot < room) {
            stream_ns[slot] = held_ns;
        }
    }
}

uint32_t etwas_retention_query_sized(etwas_trace_handle handle, etwas_retention *retention,
                                     size_t retention_bytes, uint64_t *stream_ns, uint32_t room)
{
    etwas_retention known;
    struct etwas_session_key key;
    struct etwas_held_session held;
    uint32_t code;

    if (retention == NULL || (stream_ns == NULL && room != 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (!etwas_session_key_of(handle, &key)) {
        code = etwas_sharing.retention(handle, &known, stream_ns, room);
        if (code == ERROR_SUCCESS) {
            etwas_sized_write(retention, retention_bytes, &known, sizeof known);
        }
        return code;
    }
    code = etwas_session_hold(handle, &held);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (held.session->buffers.pool == NULL) {
        code = ERROR_INVALID_HANDLE;
    } else if (!etwas_configuration_is_buffering(&held.session->configuration)) {
        code = ERROR_NOT_SUPPORTED;
    } else {
        retention_measure(held.session, &known, stream_ns, room);
    }
    etwas_session_release(&held);
    if (code == ERROR_SUCCESS) {
        etwas_sized_write(retention, retention_bytes, &known, sizeof known);
    }
    return code;
}

/* ---- retention classes ----------------------------------------------------------------------- */

/* Returns the time span that every stream of the row holds. */
static uint64_t retention_covered_ns(const struct etwas_session *session, uint32_t row)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t slot = 0; slot < etwas_pool_used_slots(session->buffers.pool); slot++) {
        if (etwas_quota_class_row(session->buffers.pool, slot) == row) {
            uint64_t held_ns = retention_held_ns(session, slot);

            least = held_ns < least ? held_ns : least;
        }
    }
    return least;
}

static void retention_state_of(const struct etwas_session *session, uint32_t row,
                               etwas_retention_class_state *state)
{
    struct etwas_session_class_row counts;

    if (session->buffers.pool == NULL) {
        counts = session->buffers.last_class_rows[row];
    } else {
        etwas_session_count_class_row(session, row, &counts);
    }
    *state = (etwas_retention_class_state){
        .attempted = counts.recorded + counts.overwritten + counts.lost,
        .recorded = counts.recorded,
        .overwritten = counts.overwritten,
        .lost = counts.lost,
        .buffers = session->buffers.pool != NULL ? counts.buffers : 0,
        .share = counts.quota,
    };
    if (session->buffers.pool != NULL &&
        etwas_configuration_is_buffering(&session->configuration)) {
        state->covered_ns = retention_covered_ns(session, row);
    }
}

uint32_t etwas_retention_class_query_sized(etwas_trace_handle handle, uint32_t class_number,
                                           etwas_retention_class_state *state, size_t state_bytes)
{
    etwas_retention_class_state known;
    struct etwas_held_session held;
    uint32_t code =
        state != NULL ? etwas_session_hold(handle, &held) : (uint32_t)ERROR_INVALID_PARAMETER;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (class_number > held.session->configuration.class_count) {
        code = ERROR_INVALID_PARAMETER;
    } else {
        retention_state_of(held.session, class_number, &known);
    }
    etwas_session_release(&held);
    if (code == ERROR_SUCCESS) {
        etwas_sized_write(state, state_bytes, &known, sizeof known);
    }
    return code;
}
