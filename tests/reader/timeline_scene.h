/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A made-up timeline: clock snapshots that a test puts down, and the times that stamps mean between
 * them.
 */
#ifndef ETWAS_TESTS_READER_TIMELINE_SCENE_H
#define ETWAS_TESTS_READER_TIMELINE_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reader/timeline.h"

#define SECOND INT64_C(1000000000)
#define START INT64_C(133500000000000000) /* FILETIME */

extern struct etwas_clock_snapshot_list clock_snapshot_list;
extern struct etwas_timeline *timeline;

void put(int64_t raw, int64_t qpc_ns, int64_t filetime);

/* The timeline of the clock snapshots that were put. */
void build(uint32_t clock_type);

/* Called before and after each test. */
int forget(void **state);

etwas_clock_time qpc_at(int64_t raw);
etwas_clock_time system_at(int64_t raw);

#define TIMELINE_TEST(test) cmocka_unit_test_setup_teardown(test, forget, forget)

#endif
