/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What the tests of UPDATE and INCREMENT_FILE share. */
#ifndef ETWAS_TESTS_CONTROL_UPDATE_H
#define ETWAS_TESTS_CONTROL_UPDATE_H

#include "session/fixture.h"

/* UpdateTraceA by handle. A block of prepare_block says nothing but what R137 asks for. */
uint32_t update(etwas_trace_handle session, struct block *block);

/* What must be the same after a refusal. */
void expect_unchanged(etwas_trace_handle session, const EVENT_TRACE_PROPERTIES *before);

/* QUERY says that the session writes to `path`. */
void expect_name(etwas_trace_handle session, const char *path);

bool exists(const char *path);

#endif
