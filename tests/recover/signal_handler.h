/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Snapshots as a signal handler takes them: what it may not call ends the process. Programs are
 * linked with --wrap for each of these (CMakeLists.txt).
 */
#ifndef ETWAS_TESTS_RECOVER_SIGNAL_HANDLER_H
#define ETWAS_TESTS_RECOVER_SIGNAL_HANDLER_H

#include <etwas/etwas.h>

#include "session/fixture.h"

extern etwas_trace_handle session;
extern etwas_prepared_snapshot *prepared; /* of that session */
extern _Thread_local bool in_handler;     /* the thread may do only what a handler may */

extern const etwas_session_options recorder;
extern const etwas_session_options filing; /* no flusher: its buffers wait for a flush */

/* etwas_snapshot_signal_safe(prepared), which has to keep errno. */
uint32_t snapshot_as_handler(void);

/* A new file, as a snapshot needs it. */
int open_file(const char *path);

#endif
