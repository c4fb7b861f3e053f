/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A provider in a program of its own, as in ETW's page "Writing Manifest-based Events". It knows
 * nothing of sessions; controller.c enables it from another program.
 */

#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <stdio.h>

ETWAS_TRACELOGGING_PROVIDER(provider, "Etwas.Examples.Provider");

enum {
    TEMPERATURES = 100
};

int main(void)
{
    /* A session that has already enabled the provider receives its events from the first one on. */
    TraceLoggingRegister(provider);
    for (uint32_t reading = 0; reading < TEMPERATURES; reading++) {
        TraceLoggingWrite(provider, "Temperature", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
                          TraceLoggingUInt32(reading),
                          TraceLoggingFloat64(20 + reading / 10.0, "Celsius"));
    }
    puts(TraceLoggingProviderEnabled(provider, WINEVENT_LEVEL_INFO, 0)
             ? "a session has had these events"
             : "no session wanted them");
    TraceLoggingUnregister(provider);
    return 0;
}
