/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/log_clock.h"

#include <etwas/clocks.h>
#include <string.h>

#include "clock/calibration.h"
#include "clock/clock.h"

static void describe_counter(struct etwas_etl_clock_trust *trust)
{
    trust->frequency_hz = etwas_clock_tsc_frequency_hz();
    trust->verdict =
        trust->frequency_hz != 0 ? ETWAS_CLOCK_VERDICT_TRUSTED : ETWAS_CLOCK_VERDICT_UNUSABLE;
}

void etwas_log_clock_describe(uint32_t requested, uint32_t clock,
                              struct etwas_etl_clock_trust *trust)
{
    *trust = (struct etwas_etl_clock_trust){
        .version = ETWAS_ETL_CLOCK_RECORD_VERSION,
        .requested_clock = requested != 0 ? requested : clock,
        .clock_type = clock,
    };
    if (trust->requested_clock == ETWAS_CLOCK_KIND_TSC) {
        describe_counter(trust);
    }
}
