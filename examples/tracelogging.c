/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records orders as self-describing events, which carry the names and types of their fields:
 * cc tracelogging.c $(pkg-config --cflags --libs etwas) && ./a.out && etwas dump tracelogging.etl
 */

#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <stdio.h>

ETWAS_TRACELOGGING_PROVIDER(shop, "Etwas.Examples.Shop");

enum {
    ORDERS = 1,
    STOCK = 2
};

static void sell(uint32_t number, double price, const char *customer)
{
    const uint16_t shelves[] = {(uint16_t)(number % 7), 12};
    GUID order;

    EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &order);
    TraceLoggingWriteActivity(
        shop, "Order", &order, NULL, TraceLoggingLevel(WINEVENT_LEVEL_INFO),
        TraceLoggingOpcode(WINEVENT_OPCODE_START), TraceLoggingKeyword(ORDERS),
        TraceLoggingUInt32(number), TraceLoggingFloat64(price, "Price"),
        TraceLoggingStruct(2, "Customer"), TraceLoggingUtf8String(customer, "Name"),
        TraceLoggingBoolean(number % 10 == 0, "IsNew"));
    TraceLoggingWriteActivity(shop, "Taken", &order, NULL, TraceLoggingLevel(WINEVENT_LEVEL_INFO),
                              TraceLoggingKeyword(ORDERS | STOCK),
                              TraceLoggingUInt16FixedArray(shelves, 2, "Shelves"));
    /* The session below does not enable this level, so the arguments are not even evaluated. */
    TraceLoggingWrite(shop, "Details", TraceLoggingLevel(WINEVENT_LEVEL_VERBOSE),
                      TraceLoggingString(customer));
    TraceLoggingWriteActivity(shop, "Order", &order, NULL, TraceLoggingLevel(WINEVENT_LEVEL_INFO),
                              TraceLoggingOpcode(WINEVENT_OPCODE_STOP),
                              TraceLoggingKeyword(ORDERS));
}

int main(int argc, char **argv)
{
    const char *file = argc > 1 ? argv[1] : "tracelogging.etl";
    const GUID provider = TraceLoggingProviderId(shop);
    etwas_session_counts counts;
    TRACEHANDLE session;
    ULONG error;

    TraceLoggingRegister(shop);
    error = etwas_start("tracelogging", file, NULL, &session);
    if (error == ERROR_SUCCESS) {
        error = EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER,
                               WINEVENT_LEVEL_INFO, ORDERS, 0, INFINITE, NULL);
    }
    if (error != ERROR_SUCCESS) {
        fprintf(stderr, "cannot record to %s: %s\n", file, etwas_error_text(error));
        return 1;
    }
    for (uint32_t number = 0; number < 1000; number++) {
        sell(number, number * 0.25, number % 2 == 0 ? "Ada" : "Grace");
    }
    etwas_stop(session, &counts);
    TraceLoggingUnregister(shop);
    printf("%s: %lu events, %lu lost\n", file, counts.recorded, counts.lost);
    return counts.recorded == 3000 ? 0 : 1;
}
