/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* For tests that look at the library's inside. None of them runs with the shipped library. */
#ifndef ETWAS_SUPPORT_INSIDE_H
#define ETWAS_SUPPORT_INSIDE_H

#include <etwas/etwas.h>

#include "session/session.h"

/*
 * How long flushers wait in tests for a writer inside a record before they abandon it
 * (flush/drain.h). On a busy machine a thread may be off its processor for longer than the
 * usual timeout; with this one, an event that is missing has another reason. Tests of abandonment
 * set etwas_drain_timeout_ns, and put this back.
 */
#define TEST_DRAIN_TIMEOUT_NS (UINT64_C(60) * 1000000000)

/* The entry of a running session. */
struct etwas_session *inside_of(etwas_trace_handle session);

#endif
