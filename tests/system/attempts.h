/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Tests that the kernel may spoil by losing events: on a busy machine its rings fill, and Linux
 * 6.18 leaves out some events by itself. Such a test begins again, after its teardown and setup.
 */
#ifndef ETWAS_TESTS_SYSTEM_ATTEMPTS_H
#define ETWAS_TESTS_SYSTEM_ATTEMPTS_H

#include "session/fixture.h"

enum {
    KERNEL_ATTEMPTS = 5
};

/* As _cmocka_run_group_tests, of tests that call skip_if_lost. */
int run_in_attempts(const char *name, const struct CMUnitTest *tests, size_t count);

/*
 * Unless nothing was lost, does not return: the test is run again. Where events were lost each time
 * it is skipped if the machine is loaded, and has failed on any other. Frees the events first. The
 * test must have ended what it began.
 */
void skip_if_lost(uint64_t lost, struct events *events);

#endif
