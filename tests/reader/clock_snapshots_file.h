/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Files with readings of the clocks, made second by second, and what they must say. */
#ifndef ETWAS_TESTS_READER_CLOCK_SNAPSHOTS_FILE_H
#define ETWAS_TESTS_READER_CLOCK_SNAPSHOTS_FILE_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "builder.h"
#include "collect.h"
#include "etl/own_record.h"

#define SECOND INT64_C(1000000000)
#define QPC0 INT64_C(77000000000)
#define REAL_HZ INT64_C(3001500000) /* 500 ppm more than header and calibration say */

/* ---- making one ------------------------------------------------------------------------------ */

extern struct builder builder;

/* The cycle counter, of 3 GHz as the header and the calibration have it. */
struct builder_options cycles(void);

/* Buffer 0 up to where clock snapshots may follow. */
void begin_file(const struct builder_options *options);

/* Ends it; returns its path. */
const char *finish(unsigned slot);

/* Second n of a file whose counter began at 1,000. */
int64_t raw_of(int64_t n);

/* A clock snapshot at second n, by clocks of which the system's is 5 ppm fast. */
struct etwas_etl_clock_snapshot clock_snapshot_of(int64_t n, uint32_t reason);

/* Running clock snapshots at each second from `from` to `to`. */
void put_clock_snapshots(int64_t from, int64_t to);

/* What a session noted of its clock. */
void put_trust(void);

/* Events at every half second up to `seconds`, on two processors. */
void put_events(int64_t seconds);

/* ---- looking at one -------------------------------------------------------------------------- */

/* Event n, after the header event, was n half seconds after the start, by QPC. */
void expect_events(int64_t seconds);

/* etwas_trace_query_clock and etwas_trace_convert_time of a trace that is opened for them. */
etwas_trace_clock clock_of(const char *path);
etwas_clock_time time_in(const char *path, int64_t raw, uint32_t clock);

#endif
