/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What crash-safe sessions do, and recovery, for tests that have it done where little is allowed:
 * in places of each kind, with every request for their memory, with triggers and snapshots.
 */
#ifndef ETWAS_TESTS_CONTRACT_SANDBOX_LIFE_H
#define ETWAS_TESTS_CONTRACT_SANDBOX_LIFE_H

#include <stdbool.h>

/*
 * Before anything is forbidden: paths below the test's folder, and what a process left that was
 * killed.
 */
void sandbox_prepare(void);

/*
 * In a child, before anything is forbidden: memory will not be locked, and the root is where it is.
 */
void sandbox_limit(void);

/* In a child, in the root folder. */
void sandbox_live(void);

#endif
