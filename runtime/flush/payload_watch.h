/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A sink that keeps nothing: it looks into the payloads of what is drained, before the others take it, and
 * asks flight recorders for windows. Whoever drains does it, mostly the flusher. Writers take no notice.
 */
#ifndef ETWAS_FLUSH_PAYLOAD_WATCH_H
#define ETWAS_FLUSH_PAYLOAD_WATCH_H

#include "provider/payload_filter.h"
#include "session/session.h"

enum {
    ETWAS_WATCH_FILTERS = 64, /* of one session */
};

/*
 * From now on what the filter matches is a trigger of `recorder`, until the session ends. Takes the filter
 * over on success. With the session's role held. ERROR_NO_SYSTEM_RESOURCES: there are so many;
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_payload_watch_add(struct etwas_session *session, struct etwas_session_key recorder,
                                 struct etwas_compiled_filter *filter);

#endif
