/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/flusher.h"

#include <stdbool.h>

#include "flush/sink.h"
#include "platform/wait.h"
#include "shared/mapping.h"

static void session_clock_store_history(const struct etwas_session *session)
{
    if (session->mapping != NULL) {
        etwas_shared_set_history(session->mapping, &session->drain.clock_history);
    }
}

void etwas_session_clock_begin(struct etwas_session *session)
{
    session->started = etwas_clock_read_together();
    etwas_clock_history_begin(&session->drain.clock_history, &session->started);
    session_clock_store_history(session);
    session->drain.clock_read_ns = etwas_monotonic_ns();
    session->drain.clock_events = 0;
}

/* Whether no event was logged, or lost, since the last reading. */
static bool session_clock_was_idle(struct etwas_session *session)
{
    uint64_t before = session->drain.clock_events;
    etwas_session_counts counts;

    etwas_session_count(session, &counts);
    session->drain.clock_events = counts.recorded + counts.overwritten + counts.lost;
    return session->drain.clock_events == before;
}

void etwas_session_clock_read_if_due(struct etwas_session *session)
{
    struct etwas_clock_reading reading;

    if (etwas_session_clock_left_ns(session) != 0) {
        return;
    }
    session->drain.clock_read_ns = etwas_monotonic_ns();
    reading = etwas_clock_read_together();
    etwas_clock_history_add(&session->drain.clock_history, &reading);
    session_clock_store_history(session);
    etwas_sinks_read_clocks(session, &reading, session_clock_was_idle(session));
}

uint64_t etwas_session_clock_left_ns(const struct etwas_session *session)
{
    uint64_t passed_ns = etwas_monotonic_ns() - session->drain.clock_read_ns;

    if (session->drain.clock_history.count == 0) {
        return UINT64_MAX;
    }
    return passed_ns < etwas_clock_snapshot_interval_ns
               ? etwas_clock_snapshot_interval_ns - passed_ns
               : 0;
}
