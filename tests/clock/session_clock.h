/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A session that asks for a clock: which one it says that it has, and its file. */
#ifndef ETWAS_TESTS_CLOCK_SESSION_CLOCK_H
#define ETWAS_TESTS_CLOCK_SESSION_CLOCK_H

#include <etwas/etwas.h>

/*
 * Starts, queries and reads back a session with ten events that asks for `clock`; all must say
 * `effective`. Its file is "trace.etl" in the test's folder. Returns the session, which is stopped,
 * and its counts.
 */
etwas_trace_handle expect_session_has_clock(uint32_t clock, uint32_t effective,
                                            etwas_session_counts *counts);

#endif
