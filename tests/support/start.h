/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Starting and stopping sessions, and the sum that must always be right. */
#ifndef ETWAS_SUPPORT_START_H
#define ETWAS_SUPPORT_START_H

#include <etwas/etwas.h>

/* cmocka's headers in the order they ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session/session.h"

/* Starts a session with a name of its own; `path` NULL: none. Fails the test when it does not start. */
etwas_trace_handle start_session(const char *path, const etwas_session_options *options);

/* Stops it; `counts` may be NULL. Fails the test when it does not stop. */
void stop_session(etwas_trace_handle session, etwas_session_counts *counts);

etwas_session_counts counts_of(etwas_trace_handle session);

/* What QUERY says of a running session. */
EVENT_TRACE_PROPERTIES query_session(etwas_trace_handle session);

/* The place of a running session, for tests that look inside. */
struct etwas_session *inside_of(etwas_trace_handle session);

/*
 * Keeps the calling thread, and those it starts, on one processor: all of them then share a slot. Undone by
 * leave_one_processor.
 */
void stay_on_one_processor(void);
void leave_one_processor(void);

/*
 * attempted = recorded + overwritten + lost (R74, R139, I4): what the writers of this session (writer.h)
 * attempted and were not refused, against the counts. Fails the test when they differ.
 */
void expect_exact_account(etwas_trace_handle session, const etwas_session_counts *counts);

#endif
