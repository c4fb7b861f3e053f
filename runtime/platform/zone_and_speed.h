/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* What a log file header states of the machine, beside the session itself. */
#ifndef ETWAS_PLATFORM_ZONE_AND_SPEED_H
#define ETWAS_PLATFORM_ZONE_AND_SPEED_H

#include <stdint.h>

#include "etl/layout.h"

/* The local time zone as it is now: its offset and name, without a rule for daylight saving. */
void etwas_system_time_zone(struct etwas_etl_time_zone *zone);

/* The processor's nominal speed as the system reports it; 1000 where it does not. Never 0. */
uint32_t etwas_system_cpu_speed_mhz(void);

#endif
