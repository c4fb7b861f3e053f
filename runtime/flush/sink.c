/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "flush/sink.h"

#include <etwas/winerror.h>

/* Stands for a sink that is not in use: it has no functions. */
static const struct etwas_sink none;

static const struct etwas_sink *sink_at(const struct etwas_session *session, uint32_t index)
{
    return session->drain.sinks[index] != NULL ? session->drain.sinks[index] : &none;
}

void etwas_sinks_account(struct etwas_session *session)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        if (sink_at(session, index)->account != NULL) {
            sink_at(session, index)->account(session);
        }
    }
}

uint32_t etwas_sinks_room(struct etwas_session *session, uint32_t most, bool last)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        if (sink_at(session, index)->room != NULL) {
            most = sink_at(session, index)->room(session, most, last);
        }
    }
    return most;
}

void etwas_sinks_accept(struct etwas_session *session, struct etwas_batch *batch)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        if (sink_at(session, index)->accept != NULL) {
            sink_at(session, index)->accept(session, batch);
        }
    }
}

void etwas_sinks_flushed(struct etwas_session *session, int64_t bound)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        if (sink_at(session, index)->flushed != NULL) {
            sink_at(session, index)->flushed(session, bound);
        }
    }
}

bool etwas_sinks_want_flush(const struct etwas_session *session, uint64_t bytes)
{
    bool wanted = false;

    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        uint64_t limit = sink_at(session, index)->flush_bytes;

        wanted = wanted || (limit != 0 && bytes >= limit);
    }
    return wanted;
}

uint32_t etwas_sinks_sync(struct etwas_session *session)
{
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        if (sink_at(session, index)->sync != NULL) {
            uint32_t refused = sink_at(session, index)->sync(session);

            code = code != ERROR_SUCCESS ? code : refused;
        }
    }
    return code;
}

void etwas_sinks_read_clocks(struct etwas_session *session,
                             const struct etwas_clock_reading *reading, bool quiet)
{
    for (uint32_t index = 0; index < ETWAS_SESSION_SINKS; index++) {
        if (sink_at(session, index)->read_clocks != NULL) {
            sink_at(session, index)->read_clocks(session, reading, quiet);
        }
    }
}

void etwas_sinks_end(struct etwas_session *session)
{
    for (uint32_t index = ETWAS_SESSION_SINKS; index-- > 0;) {
        if (sink_at(session, index)->end != NULL) {
            sink_at(session, index)->end(session);
        }
    }
}
