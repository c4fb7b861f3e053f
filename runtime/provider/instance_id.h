/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Instance ids: unique in the process, never 0 (R115). CreateTraceInstanceId allocates them. */
#ifndef ETWAS_PROVIDER_INSTANCE_ID_H
#define ETWAS_PROVIDER_INSTANCE_ID_H

#include <stdint.h>

/*
 * Makes the next block begin at `first`, for tests of the wrap. No other thread may allocate ids
 * meanwhile.
 */
void etwas_instance_id_restart(uint32_t first);

#endif
