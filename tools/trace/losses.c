/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/losses.h"

#include <etwas/winerror.h>
#include <stdlib.h>

int64_t etwas_trace_time_ns(etwas_trace_handle trace, int64_t raw)
{
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(trace, raw, ETWAS_CLOCK_PROCESS_TRACE, &time);
    return time.value;
}

static void convert(struct etwas_trace_losses *losses, etwas_trace_handle trace,
                    const etwas_loss *found)
{
    for (uint32_t i = 0; i < losses->count; i++) {
        struct etwas_trace_loss *loss = &losses->list[i];

        *loss = (struct etwas_trace_loss){
            .from_ns = etwas_trace_time_ns(trace, found[i].from_raw),
            .until_ns = etwas_trace_time_ns(trace, found[i].until_raw),
            .events = found[i].events,
            .cause = found[i].cause,
            .processor = found[i].processor,
        };
        if (__builtin_add_overflow(losses->events, loss->events, &losses->events)) {
            losses->events = UINT64_MAX;
        }
    }
}

bool etwas_trace_losses_read(struct etwas_trace_losses *losses, etwas_trace_handle trace)
{
    etwas_loss *found;
    uint32_t count = 0;

    *losses = (struct etwas_trace_losses){0};
    (void)etwas_trace_query_losses(trace, NULL, 0, &count);
    if (count == 0) {
        return true;
    }
    found = calloc(count, sizeof *found);
    losses->list = calloc(count, sizeof *losses->list);
    if (found != NULL && losses->list != NULL &&
        etwas_trace_query_losses(trace, found, count, &count) == ERROR_SUCCESS) {
        losses->count = count;
        convert(losses, trace, found);
    }
    free(found);
    if (losses->count == 0) {
        etwas_trace_losses_free(losses);
    }
    return losses->count != 0;
}

void etwas_trace_losses_free(struct etwas_trace_losses *losses)
{
    free(losses->list);
    *losses = (struct etwas_trace_losses){0};
}
