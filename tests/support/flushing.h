/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the tests of flush/, file/ and realtime/ share: writers that lose nothing, and real time.
 */
#ifndef ETWAS_TESTS_SUPPORT_FLUSHING_H
#define ETWAS_TESTS_SUPPORT_FLUSHING_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "support/consumer.h"
#include "support/folder.h"
#include "support/start.h"
#include "support/writer.h"

/* ---- events ---------------------------------------------------------------------------------- */

/* A writer of events with at most 100 bytes of payload, instances too. */
struct writer *small_writer(etwas_trace_handle session);

/* The same without instances. */
struct writer *plain_writer(etwas_trace_handle session);

/* Logs so many events; fails the test when one is not recorded. */
void log_events(struct writer *writer, uint64_t events);

/* The same, and then a flush of the writer's session. */
void log_and_flush(struct writer *writer, uint64_t events);

/* ---- real time ------------------------------------------------------------------------------- */

/* A session with a flusher that delivers every 5 ms. start_realtime starts it without a file. */
etwas_session_options realtime_options(void);
etwas_trace_handle start_realtime(void);

/* The same without a thread: what is flushed, and when, is the test's choice. */
etwas_session_options realtime_by_hand_options(void);
etwas_trace_handle start_realtime_by_hand(void);

/* CONTROL_CONVERT_TO_REALTIME; fails the test when it is refused. */
void convert_to_realtime(etwas_trace_handle session);

/* Opens a trace on the session, and runs ProcessTrace in a thread. */
void consume(struct consumer *consumer, etwas_trace_handle session);

/* Stops the session, and waits for the consumer to come to its end. */
void stop_and_join(etwas_trace_handle session, etwas_session_counts *counts,
                   struct consumer *consumer);

/* Consumes, stops the session, and joins; fails the test for anything wrong that was consumed. */
void consume_to_the_end(struct consumer *consumer, etwas_trace_handle session,
                        etwas_session_counts *counts);

#endif
