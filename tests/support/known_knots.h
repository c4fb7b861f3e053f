/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Sessions whose clock knots are known. */
#ifndef ETWAS_SUPPORT_KNOWN_KNOTS_H
#define ETWAS_SUPPORT_KNOWN_KNOTS_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "support/folder.h"
#include "support/start.h"

/*
 * A session without a thread reads its clocks at each flush when the interval is 0, as it is in
 * these tests: so they know how many knots there are. The teardown undoes the steps of clocks too.
 */
int knots_setup(void **state);
int knots_teardown(void **state);

#define KNOTS_TEST(test) cmocka_unit_test_setup_teardown(test, knots_setup, knots_teardown)

/* A session without a thread, of small buffers. `size`: the most for its file, as `mode` has it. */
etwas_trace_handle start_by_hand(const char *path, uint32_t mode, uint32_t size, uint32_t clock);

#endif
