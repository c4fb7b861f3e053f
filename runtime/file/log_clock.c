/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "file/log_clock.h"

#include <string.h>

#include "clock/clock.h"
#include "clock/trust.h"

static void describe_counter(struct etwas_etl_clock_trust *record, const etwas_clock_trust *trust)
{
    record->verdict = trust->verdict;
    record->reasons = trust->reasons;
    record->stated_by = trust->stated_by;
    record->frequency_hz = trust->frequency_hz;
    record->stated_hz = trust->stated_hz;
    record->frequency_error_ppb = trust->frequency_error_ppb;
    memcpy(record->clocksource, trust->clocksource, sizeof record->clocksource);
    memcpy(record->hypervisor, trust->hypervisor, sizeof record->hypervisor);
}

/* Only who asked for the counter waits until it is measured. */
void etwas_log_clock_describe(uint32_t requested, uint32_t clock,
                              struct etwas_etl_clock_trust *record)
{
    *record = (struct etwas_etl_clock_trust){
        .version = ETWAS_ETL_CLOCK_RECORD_VERSION,
        .requested_clock = requested != 0 ? requested : clock,
        .clock_type = clock,
    };
    describe_counter(record, record->requested_clock == ETWAS_CLOCK_KIND_TSC
                                 ? etwas_clock_trust_here()
                                 : etwas_clock_trust_so_far());
}
