/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Records orders, each with a query inside it, for `etwas spans`. Two runs give the two files that
 * `etwas diff` compares. See docs/howto/spans.md.
 */

#include <etwas/TraceLoggingActivity.h>
#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ETWAS_TRACELOGGING_PROVIDER(shop, "Shop");

int main(int argc, char **argv) /* FILE MICROSECONDS: the least duration of a query */
{
    const GUID provider = TraceLoggingProviderId(shop);
    const char *file = argc > 1 ? argv[1] : "spans.etl";
    unsigned query_us = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
    TRACEHANDLE session;

    TraceLoggingRegister(shop);
    if (etwas_start("orders", file, NULL, &session) ||
        EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL)) {
        fprintf(stderr, "cannot record to %s\n", file);
        return 1;
    }
    for (unsigned i = 0; i < 2000; i++) {
        TraceLoggingSpanStart(order, shop, "Order", TraceLoggingUInt32(i, "number"));
        TraceLoggingSpanStart(query, shop, "Query"); /* nested in the thread's current span */
        usleep(query_us + i % 100);
        TraceLoggingSpanStop(query, "Query");
        usleep(50);
        TraceLoggingSpanStop(order, "Order");
    }
    return (int)etwas_stop(session, NULL);
}
