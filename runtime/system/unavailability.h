/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Why kernel events cannot be had: one of ETW's error codes, and a sentence that names what is
 * missing.
 */
#ifndef ETWAS_SYSTEM_UNAVAILABILITY_H
#define ETWAS_SYSTEM_UNAVAILABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_unavailability_cause {
    ETWAS_UNAVAILABLE_NOTHING,
    ETWAS_UNAVAILABLE_EVENT,   /* perf_event_open failed, or a later call on the event */
    ETWAS_UNAVAILABLE_RING,    /* the ring cannot be mapped */
    ETWAS_UNAVAILABLE_TRACEFS, /* tracefs is not mounted, or may not be read */
    /* This kernel does not have the tracepoint, or its description makes no sense. */
    ETWAS_UNAVAILABLE_TRACEPOINT,
    ETWAS_UNAVAILABLE_TASKSTATS, /* the kernel does not report how threads ended */
    ETWAS_UNAVAILABLE_THREADS,   /* /proc does not list the threads of the process */
    ETWAS_UNAVAILABLE_OWN_EVENT, /* perf_event_open failed for a thread of the own process */
    ETWAS_UNAVAILABLE_OWN,       /* a flag that has no events in the own process alone */
};

struct etwas_unavailability {
    enum etwas_unavailability_cause cause;
    /* errno; with ETWAS_UNAVAILABLE_OWN the number of the requested bit (requested_events.h). */
    int error;
};

/*
 * Returns ERROR_SUCCESS, ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED (by this kernel), ERROR_NOT_FOUND
 * (the processor does not run), ERROR_PATH_NOT_FOUND (no tracefs, no /proc),
 * ERROR_NOT_ENOUGH_MEMORY, or else ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_unavailability_code(const struct etwas_unavailability *reason);

/* Whether a smaller ring may succeed. */
bool etwas_unavailability_is_memory(const struct etwas_unavailability *reason);

/*
 * Writes the sentence into `text`, cut to `room`. Reads the process's capabilities and the
 * machine's settings.
 */
void etwas_unavailability_explain(const struct etwas_unavailability *reason, char *text,
                                  size_t room);

#endif
