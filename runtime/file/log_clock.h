/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a file says of its session's clock: the payload of the clock record in buffer 0.
 */
#ifndef ETWAS_FILE_LOG_CLOCK_H
#define ETWAS_FILE_LOG_CLOCK_H

#include "etl/own_record.h"

/*
 * A session asked for clock `requested` (0: the one it got) and got `clock`. Of the cycle counter
 * all is said that is known; it is measured if the session asked for it, which else would delay the
 * start for nothing.
 */
void etwas_log_clock_describe(uint32_t requested, uint32_t clock,
                              struct etwas_etl_clock_trust *record);

#endif
