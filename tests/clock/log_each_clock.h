/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Several threads' records in sessions of each clock, counted and read back exactly. */
#ifndef ETWAS_TESTS_CLOCK_LOG_EACH_CLOCK_H
#define ETWAS_TESTS_CLOCK_LOG_EACH_CLOCK_H

/*
 * Logs with each clock in turn, calls `meanwhile` (NULL: nothing) in the middle of it, and fails
 * the test unless counts and file are exact.
 */
void log_with_each_clock(void (*meanwhile)(void));

#endif
