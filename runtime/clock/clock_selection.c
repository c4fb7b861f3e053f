/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "clock/trust.h"

#include "clock/clock.h"

#include <etwas/etwas.h>

#ifdef ETWAS_TESTPOINTS
uint64_t etwas_clock_system_step;
#endif

uint64_t etwas_clock_tsc_frequency_hz(void)
{
    const etwas_clock_trust *trust = etwas_clock_trust_here();

    return trust->verdict != ETWAS_CLOCK_VERDICT_UNUSABLE ? trust->frequency_hz : 0;
}

bool etwas_clock_tsc_trusted(void)
{
    return etwas_clock_tsc_frequency_hz() != 0;
}

uint32_t etwas_clock_select(uint32_t requested)
{
    switch (requested) {
    case 0:
    case ETWAS_CLOCK_KIND_QPC:
        return ETWAS_CLOCK_KIND_QPC;
    case ETWAS_CLOCK_KIND_SYSTEM:
        return ETWAS_CLOCK_KIND_SYSTEM;
    case ETWAS_CLOCK_KIND_TSC:
        return etwas_clock_tsc_trusted() ? ETWAS_CLOCK_KIND_TSC : ETWAS_CLOCK_KIND_SYSTEM;
    default:
        return 0;
    }
}

uint32_t etwas_clock_effective(uint32_t clock)
{
    return etwas_clock_select(clock);
}

int64_t etwas_clock_read(uint32_t clock)
{
    if (clock < ETWAS_CLOCK_KIND_QPC || clock > ETWAS_CLOCK_KIND_TSC) {
        return 0;
    }
    return etwas_clock_now(clock);
}

uint64_t etwas_clock_frequency(uint32_t clock)
{
    switch (clock) {
    case ETWAS_CLOCK_KIND_QPC:
        return (uint64_t)ETWAS_CLOCK_NS_PER_SECOND;
    case ETWAS_CLOCK_KIND_SYSTEM:
        return (uint64_t)ETWAS_CLOCK_FILETIME_PER_SECOND;
    case ETWAS_CLOCK_KIND_TSC:
        return etwas_clock_tsc_frequency_hz();
    default:
        return 0;
    }
}
