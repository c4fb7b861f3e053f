/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_LOSSES_H
#define ETWAS_TOOLS_TRACE_LOSSES_H

/*
 * When the session of a file lost what, as the file says, by the times that ProcessTrace gives.
 */

#include <etwas/etwas.h>

struct etwas_trace_loss {
    int64_t from_ns; /* since 1970 */
    int64_t until_ns;
    uint64_t events;
    uint32_t cause;     /* ETWAS_LOST_* */
    uint32_t processor; /* as events have it; ETWAS_LOST_ANYWHERE: not known */
};

/* Zeroed: none. */
struct etwas_trace_losses {
    struct etwas_trace_loss *list; /* the oldest first */
    uint32_t count;
    uint64_t events; /* of all */
};

/* A moment of an open trace by the same times: since 1970. */
int64_t etwas_trace_time_ns(etwas_trace_handle trace, int64_t raw);

/* Of a trace that is open. False: no memory, and there are none. */
bool etwas_trace_losses_read(struct etwas_trace_losses *losses, etwas_trace_handle trace);

void etwas_trace_losses_free(struct etwas_trace_losses *losses);

#endif
