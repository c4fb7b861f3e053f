/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Starting and stopping sessions, and the sum that must always be right. */
#ifndef ETWAS_SUPPORT_START_H
#define ETWAS_SUPPORT_START_H

#include <etwas/etwas.h>

/* cmocka's headers in the order they ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/*
 * Starts a session with a name of its own; `path` NULL: none. Fails the test when it does not
 * start.
 */
etwas_trace_handle start_session(const char *path, const etwas_session_options *options);

/*
 * The same with the shared protocol, whatever the options say: for tests that hold a thread at the
 * test points of that protocol (platform/testpoint.h), or look at what only its slots have.
 */
etwas_trace_handle start_shared_session(const char *path, const etwas_session_options *options);

/*
 * What start_session asks for where the options leave it open. ETWAS_PROTOCOL_BEST if nobody set
 * it.
 */
extern uint32_t session_protocol;

/* Whether sessions can have restartable sequences here. */
bool can_have_sequences(void);

/* Whether start_session gives them restartable sequences now. */
bool sessions_have_sequences(void);

/* cmocka's group setups that set session_protocol. */
int use_sequences(void **state);
int use_shared(void **state);

/* Runs a group of tests once with each protocol that sessions can have here. main calls it. */
#define RUN_WITH_EACH_PROTOCOL(tests)                                                              \
    ((can_have_sequences()                                                                         \
          ? cmocka_run_group_tests_name("restartable sequences", tests, use_sequences, NULL)       \
          : 0) +                                                                                   \
     cmocka_run_group_tests_name("shared protocol", tests, use_shared, NULL))

/* Stops it; `counts` may be NULL. Fails the test when it does not stop. */
void stop_session(etwas_trace_handle session, etwas_session_counts *counts);

etwas_session_counts counts_of(etwas_trace_handle session);

/* What QUERY says of a running session. */
EVENT_TRACE_PROPERTIES query_session(etwas_trace_handle session);

/* And its name, for OpenTrace; valid until the thread asks for another. */
etwas_wchar *session_name(etwas_trace_handle session);

/* Fails the test when something was lost, and says of each cause how much. */
#define expect_nothing_lost(counts) expect_nothing_lost_at(counts, __FILE__, __LINE__)
void expect_nothing_lost_at(etwas_session_counts counts, const char *file, int line);

/*
 * Returns whether half of the buffers that the session may have are free. A writer that logs only
 * then, and little at a time, loses nothing to a flusher that seldom runs. Must not be called for
 * recorders.
 */
bool has_room(etwas_trace_handle session);
void wait_for_room(etwas_trace_handle session);

/*
 * Keeps the calling thread, and those it starts, on one processor: all of them then share a slot.
 * Undone by leave_one_processor.
 */
void stay_on_one_processor(void);
void leave_one_processor(void);

/*
 * attempted = recorded + overwritten + lost (R74, R139, I4): what the writers of this session
 * (writer.h) attempted and were not refused, against the counts; and what each protocol committed.
 * Fails the test when they differ.
 */
void expect_exact_account(etwas_trace_handle session, const etwas_session_counts *counts);

#endif
