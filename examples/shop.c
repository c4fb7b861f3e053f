/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The shortest program that logs: cc shop.c -o shop $(pkg-config --cflags --libs etwas)
 */

#include <etwas/TraceLoggingProvider.h>

ETWAS_TRACELOGGING_PROVIDER(shop, "Shop");

int main(void)
{
    TraceLoggingRegister(shop);
    for (uint32_t number = 1; number <= 1000; number++) {
        TraceLoggingWrite(shop, "Order", TraceLoggingLevel(WINEVENT_LEVEL_INFO),
                          TraceLoggingUInt32(number), TraceLoggingString("tea", "article"));
    }
    TraceLoggingUnregister(shop);
    return 0;
}
