/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A provider of its own program, as ETW's page "Writing Manifest-based Events" has one: it knows
 * nothing of sessions. controller.c enables it, from another program.
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
    /* When this returns, a session that enables the provider has its events from the first on. */
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
