/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * usage: named_work COUNT [PROGRAM ARGUMENT...]
 *
 * A program that lives for a moment. COUNT times it logs events of providers that have names:
 *
 *   Etwas.Tests.Till    OrderBegin, OrderEnd and Sale; its GUID is made of the name
 *   Etwas.Tests.Stock   Refill; its GUID is another, as those of the next are
 *   Etwas.Tests.Plain   events with the ids 7 and 8, and no names
 *   Etwas.Tests.Idle    none
 *
 * Then it becomes another program.
 */
#include <etwas/TraceLoggingProvider.h>
#include <etwas/evntprov.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <unistd.h>

TRACELOGGING_DEFINE_PROVIDER(till, "Etwas.Tests.Till",
                             (0xca093a34, 0x3e99, 0x504b, 0xae, 0xd8, 0x76, 0x8b, 0x1d, 0xf8, 0x4e,
                              0x8d));
TRACELOGGING_DEFINE_PROVIDER(stock, "Etwas.Tests.Stock",
                             (0x5a0c0001, 0x91e5, 0x4f6a, 0x8b, 0x27, 1, 2, 3, 4, 5, 6));
TRACELOGGING_DEFINE_PROVIDER(idle, "Etwas.Tests.Idle",
                             (0x5a0c0002, 0x91e5, 0x4f6a, 0x8b, 0x27, 1, 2, 3, 4, 5, 6));

/* What it calls itself stands behind the size of all. */
static REGHANDLE register_plain(void)
{
    static const GUID guid = {0x5a0c0003, 0x91e5, 0x4f6a, {0x8b, 0x27, 1, 2, 3, 4, 5, 6}};
    static struct {
        uint16_t bytes;
        char name[sizeof "Etwas.Tests.Plain"];
    } traits = {sizeof traits.bytes + sizeof traits.name, "Etwas.Tests.Plain"};
    REGHANDLE provider = 0;

    (void)EventRegister(&guid, NULL, NULL, &provider);
    (void)EventSetInformation(provider, EventProviderSetTraits, &traits, traits.bytes);
    return provider;
}

int main(int count, char **arguments)
{
    static const EVENT_DESCRIPTOR plain[] = {{.Id = 7, .Level = 4}, {.Id = 8, .Level = 4}};
    unsigned long events = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
    REGHANDLE provider = register_plain();

    if (TraceLoggingRegister(till) != ERROR_SUCCESS ||
        TraceLoggingRegister(stock) != ERROR_SUCCESS ||
        TraceLoggingRegister(idle) != ERROR_SUCCESS) {
        return 1;
    }
    for (unsigned long i = 0; i < events; i++) {
        TraceLoggingWrite(till, "OrderBegin", TraceLoggingLevel(4));
        TraceLoggingWrite(till, "OrderEnd", TraceLoggingLevel(4));
        TraceLoggingWrite(till, "Sale", TraceLoggingLevel(3));
        TraceLoggingWrite(stock, "Refill", TraceLoggingLevel(4));
        (void)EventWrite(provider, &plain[0], 0, NULL);
        (void)EventWrite(provider, &plain[1], 0, NULL);
    }
    if (count > 2) {
        (void)execvp(arguments[2], arguments + 2);
    }
    TraceLoggingUnregister(idle);
    TraceLoggingUnregister(stock);
    TraceLoggingUnregister(till);
    (void)EventUnregister(provider);
    return 0;
}
