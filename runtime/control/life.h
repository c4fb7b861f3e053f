/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The life of a session, whichever function asked: start, control, stop.
 */
#ifndef ETWAS_CONTROL_LIFE_H
#define ETWAS_CONTROL_LIFE_H

#include <stdint.h>

#include "session/session.h"

/*
 * A look at a session while nobody else can end it and its place cannot be taken: before it is
 * opened, or after its last buffer. NULL: no look.
 */
typedef void (*etwas_life_look)(const struct etwas_session *session,
                                const etwas_session_counts *counts, void *context);

/*
 * Starts a session with a configuration that is complete. On success it runs and *handle is its
 * handle. Takes over the flusher configuration's memory, also on failure.
 */
uint32_t etwas_life_start(struct etwas_configuration *configuration, etwas_life_look look,
                          void *context, etwas_trace_handle *handle);

/*
 * Stops the session of a key. ERROR_WMI_INSTANCE_NOT_FOUND when it does not run,
 * ERROR_ACTIVE_CONNECTIONS while another thread stops it.
 */
uint32_t etwas_life_stop(struct etwas_session_key key, etwas_life_look look, void *context);

/* Writes what is recorded to the session's file, durably. ERROR_NOT_SUPPORTED in buffering mode. */
uint32_t etwas_life_flush(struct etwas_session_key key);

/* Writes a snapshot of a buffering-mode session; `file_name` is UTF-16. */
uint32_t etwas_life_snapshot(struct etwas_session_key key, const etwas_wchar *file_name);

#endif
