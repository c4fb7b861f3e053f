/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_LOSSES_H
#define ETWAS_TOOLS_TRACE_LOSSES_H

/*
 * Losses of a trace: when its session lost how many events and why, according to the file. Times
 * are those of ProcessTrace.
 */

#include <etwas/etwas.h>

struct etwas_trace_loss {
    int64_t from_ns; /* since 1970 */
    int64_t until_ns;
    uint64_t events;
    uint32_t cause;     /* ETWAS_LOST_* */
    uint32_t processor; /* as events number it; ETWAS_LOST_ANYWHERE: not known */
};

/* The losses of one trace; all zeroes: there are none. */
struct etwas_trace_losses {
    struct etwas_trace_loss *list; /* the oldest first */
    uint32_t count;
    uint64_t events; /* the total of the list */
};

/*
 * Returns the time of a raw stamp of an open trace, in nanoseconds since 1970, as ProcessTrace
 * reports it.
 */
int64_t etwas_trace_time_ns(etwas_trace_handle trace, int64_t raw);

/*
 * Reads the losses of an open trace; the caller frees them. Returns false, with none, if there is
 * no memory.
 */
bool etwas_trace_losses_read(struct etwas_trace_losses *losses, etwas_trace_handle trace);

void etwas_trace_losses_free(struct etwas_trace_losses *losses);

#endif
