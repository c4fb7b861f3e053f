/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A sink that stores nothing. It tests the payloads of what is drained, before the other sinks get
 * it, and requests windows from flight recorders. It runs in the thread that drains, mostly the
 * flusher. Writers are not affected.
 */
#ifndef ETWAS_FLUSH_PAYLOAD_WATCH_H
#define ETWAS_FLUSH_PAYLOAD_WATCH_H

#include "provider/payload_filter.h"
#include "session/session.h"

enum {
    ETWAS_WATCH_FILTERS = 64, /* the most filters of one session */
};

/*
 * Makes each event that the filter matches a trigger of `recorder`, until the session ends. Owns
 * the filter on success. Role held. Returns ERROR_NO_SYSTEM_RESOURCES when the session has
 * ETWAS_WATCH_FILTERS already, or ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_payload_watch_add(struct etwas_session *session, struct etwas_session_key recorder,
                                 struct etwas_compiled_filter *filter);

#endif
