/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "clock/trust.h"

#include <math.h>

uint32_t etwas_clock_trust_verdict(uint32_t reasons)
{
    const uint32_t unusable = ETWAS_CLOCK_REASON_NO_COUNTER | ETWAS_CLOCK_REASON_NOT_INVARIANT |
                              ETWAS_CLOCK_REASON_KERNEL_DROPPED_IT;
    const uint32_t doubtful = ETWAS_CLOCK_REASON_EMULATED | ETWAS_CLOCK_REASON_WRONG_FREQUENCY |
                              ETWAS_CLOCK_REASON_BACKWARDS | ETWAS_CLOCK_REASON_APART;

    if ((reasons & unusable) != 0) {
        return ETWAS_CLOCK_VERDICT_UNUSABLE;
    }
    if ((reasons & doubtful) != 0 || ((reasons & ETWAS_CLOCK_REASON_HYPERVISOR) != 0 &&
                                      (reasons & ETWAS_CLOCK_REASON_KERNEL_USES_IT) == 0)) {
        return ETWAS_CLOCK_VERDICT_DOUBTFUL;
    }
    return ETWAS_CLOCK_VERDICT_TRUSTED;
}

double etwas_clock_stated_difference_ppm(const etwas_clock_trust *trust)
{
    double measured = (double)trust->frequency_hz;

    if (trust->frequency_hz == 0 || trust->stated_hz == 0) {
        return 0;
    }
    return ((double)trust->stated_hz - measured) / measured * 1e6;
}

bool etwas_clock_stated_agrees(const etwas_clock_trust *trust)
{
    return trust->frequency_hz != 0 && trust->stated_hz != 0 &&
           fabs(etwas_clock_stated_difference_ppm(trust)) * 1000 <= trust->frequency_error_ppb;
}
