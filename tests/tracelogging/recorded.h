/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of TraceLogging share: a session with a file, and the file's events with their
 * items.
 */
#ifndef ETWAS_TESTS_TRACELOGGING_RECORDED_H
#define ETWAS_TESTS_TRACELOGGING_RECORDED_H

#include <etwas/TraceLoggingProvider.h>
#include <etwas/evntcons.h>

#include "support/folder.h"
#include "support/start.h"

/* A session that writes f.etl in the test's folder. */
etwas_trace_handle start_recording(void);

/* EnableTraceEx2, which waits; fails the test unless it succeeds. */
void enable(etwas_trace_handle session, TraceLoggingHProvider provider, uint8_t level, uint64_t any,
            uint64_t all);
void disable(etwas_trace_handle session, TraceLoggingHProvider provider);

struct bytes {
    const uint8_t *data;
    uint32_t count;
};

struct recorded {
    EVENT_HEADER header;
    const etwas_guid *related; /* NULL: none */
    struct bytes traits;
    struct bytes schema;
    struct bytes data;
};

struct recording {
    struct recorded *events;
    size_t count;
};

/*
 * Stops the session and reads its file, in the order of the events. Fails the test unless the file
 * is undamaged and each event has the two items, traits before the schema, and one before them at
 * most. Valid until the next call.
 */
struct recording stop_recording(etwas_trace_handle session);

/* Fails the test unless the bytes are these. `what` is told. */
void expect_bytes(const char *what, struct bytes bytes, const void *expected, size_t count);

/* Fails the test unless the schema is that of an event without fields and tag. */
void expect_name(const struct recorded *event, const char *name);

#endif
