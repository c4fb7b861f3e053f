/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* A plugin that is a provider; dlclose_test.c loads and unloads it. */
#include "contract/provider_plugin.h"

#include <etwas/TraceLoggingProvider.h>
#include <stdint.h>

TRACELOGGING_DEFINE_PROVIDER(provider, "Etwas.Test.Plugin",
                             (0x93d70e5b, 0x6f24, 0x48c1, 0xa5, 0x7d, 0x18, 0xe0, 0x4c, 0x2b, 0x96,
                              0xf3));

static int begin(void)
{
    return (int)TraceLoggingRegister(provider);
}

static int write_events(uint32_t count)
{
    int written = 0;

    for (uint32_t number = 0; number < count; number++) {
        if (TraceLoggingProviderEnabled(provider, 4, 0)) {
            TraceLoggingWrite(provider, "FromPlugin", TraceLoggingLevel(4),
                              TraceLoggingUInt32(number), TraceLoggingString("plugin"));
            written++;
        }
    }
    return written;
}

static void end(void)
{
    TraceLoggingUnregister(provider);
}

static GUID id(void)
{
    return TraceLoggingProviderId(provider);
}

__attribute__((visibility("default")))
const struct provider_plugin contract_provider_plugin = {begin, write_events, end, id};
