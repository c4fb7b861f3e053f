/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Sessions with known clock snapshots. */
#ifndef ETWAS_SUPPORT_KNOWN_CLOCK_SNAPSHOTS_H
#define ETWAS_SUPPORT_KNOWN_CLOCK_SNAPSHOTS_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "support/folder.h"
#include "support/start.h"

/*
 * A session without a thread reads its clocks at each flush when the interval is 0, as it is in
 * these tests: so they know how many clock snapshots there are. The teardown undoes the steps of
 * clocks too.
 */
int clock_snapshots_setup(void **state);
int clock_snapshots_teardown(void **state);

#define CLOCK_SNAPSHOTS_TEST(test)                                                                 \
    cmocka_unit_test_setup_teardown(test, clock_snapshots_setup, clock_snapshots_teardown)

/* A session without a thread, of small buffers. `size`: the most for its file, as `mode` has it. */
etwas_trace_handle start_by_hand(const char *path, uint32_t mode, uint32_t size, uint32_t clock);

#endif
