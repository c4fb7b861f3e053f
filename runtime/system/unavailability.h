/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Why kernel events cannot be had: as one of ETW's codes, and as a sentence that names what is missing.
 */
#ifndef ETWAS_SYSTEM_UNAVAILABILITY_H
#define ETWAS_SYSTEM_UNAVAILABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum etwas_unavailability_cause {
    ETWAS_UNAVAILABLE_NOTHING,
    ETWAS_UNAVAILABLE_EVENT,      /* perf_event_open, or what is then asked of the event */
    ETWAS_UNAVAILABLE_RING,       /* mapping its ring */
    ETWAS_UNAVAILABLE_TRACEFS,    /* it is not mounted, or may not be read */
    ETWAS_UNAVAILABLE_TRACEPOINT, /* this kernel does not have it, or says nonsense of it */
    ETWAS_UNAVAILABLE_TASKSTATS,  /* it does not say how processes end */
    ETWAS_UNAVAILABLE_THREADS,    /* /proc does not say what threads the process has */
    ETWAS_UNAVAILABLE_OWN_EVENT,  /* perf_event_open, for a thread of the own process */
    ETWAS_UNAVAILABLE_OWN,        /* a flag that there is nothing for in the own process alone */
};

struct etwas_unavailability {
    enum etwas_unavailability_cause cause;
    int error; /* errno; of ETWAS_UNAVAILABLE_OWN the bit that is wanted (requested_events.h) */
};

/*
 * ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED (the kernel cannot), ERROR_NOT_FOUND (a processor that is
 * not running), ERROR_PATH_NOT_FOUND (no tracefs, no /proc), ERROR_NOT_ENOUGH_MEMORY, else
 * ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_unavailability_code(const struct etwas_unavailability *reason);

/* Whether less memory would do. */
bool etwas_unavailability_is_memory(const struct etwas_unavailability *reason);

/* Looks at the process's capabilities and the machine's settings. Cut where there is no room. */
void etwas_unavailability_explain(const struct etwas_unavailability *reason, char *text,
                                  size_t room);

#endif
