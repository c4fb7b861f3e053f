/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "flush/log_clock.h"

#include <string.h>

#include "clock/clock.h"
#include "clock/trust.h"

static void describe_counter(struct etwas_etl_clock_trust *trust)
{
    const etwas_clock_trust *here = etwas_clock_trust_here();

    trust->verdict = here->verdict;
    trust->reasons = here->reasons;
    trust->stated_by = here->stated_by;
    trust->frequency_hz = here->frequency_hz;
    trust->stated_hz = here->stated_hz;
    trust->frequency_error_ppb = here->frequency_error_ppb;
    memcpy(trust->clocksource, here->clocksource, sizeof trust->clocksource);
    memcpy(trust->hypervisor, here->hypervisor, sizeof trust->hypervisor);
}

/* The other two clocks depend on it too. */
static void describe_clocksource(struct etwas_etl_clock_trust *trust)
{
    char line[sizeof trust->clocksource];

    if (etwas_machine_here.text("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                                line, sizeof line)) {
        memcpy(trust->clocksource, line, strcspn(line, "\n"));
    }
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
    } else {
        describe_clocksource(trust);
    }
}
