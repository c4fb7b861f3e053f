/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Orders, each with a query inside of it: two files for `etwas spans` and `etwas diff`. See
 * docs/howto/spans.md.
 */

#include <etwas/TraceLoggingProvider.h>
#include <etwas/etwas.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

ETWAS_TRACELOGGING_PROVIDER(shop, "Shop");

/* What `work` does is one span, an activity of its own, inside of `parent`, or NULL. */
#define SPAN(name, id, parent, work)                                                               \
    EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, id);                                     \
    TraceLoggingWriteActivity(shop, name, id, parent, TraceLoggingOpcode(WINEVENT_OPCODE_START));  \
    work;                                                                                          \
    TraceLoggingWriteActivity(shop, name, id, parent, TraceLoggingOpcode(WINEVENT_OPCODE_STOP))

int main(int argc, char **argv) /* FILE MICROSECONDS: how long a query takes at least */
{
    const GUID provider = TraceLoggingProviderId(shop);
    const char *file = argc > 1 ? argv[1] : "spans.etl";
    unsigned query_us = argc > 2 ? (unsigned)atoi(argv[2]) : 200;
    TRACEHANDLE session;
    GUID order, query;

    TraceLoggingRegister(shop);
    if (etwas_start("orders", file, NULL, &session) ||
        EnableTraceEx2(session, &provider, EVENT_CONTROL_CODE_ENABLE_PROVIDER, 5, 0, 0, 0, NULL)) {
        fprintf(stderr, "cannot record to %s\n", file);
        return 1;
    }
    for (unsigned i = 0; i < 2000; i++) {
        SPAN("Order", &order, NULL, SPAN("Query", &query, &order, usleep(query_us + i % 100));
             usleep(50));
    }
    return (int)etwas_stop(session, NULL);
}
