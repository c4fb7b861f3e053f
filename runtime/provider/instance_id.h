/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Instance ids: unique in the process, never 0 (R115).
 *
 * Each processor takes ids from a block of its own, so that no counter is contended: a cell holds
 * the next id and how many are left. Async-signal-safe; lock-free.
 */
#ifndef ETWAS_PROVIDER_INSTANCE_ID_H
#define ETWAS_PROVIDER_INSTANCE_ID_H

#include <stdint.h>

uint32_t etwas_instance_id_next(void);

#ifdef ETWAS_TESTPOINTS
/* Makes the next block begin at `first`, for tests of the wrap. Not while others take ids. */
void etwas_instance_id_restart(uint32_t first);
#endif

#endif
