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

enum etwas_fault_place {
    ETWAS_FAULT_NOWHERE,
    ETWAS_FAULT_EVENT,      /* perf_event_open, or what is then asked of the event */
    ETWAS_FAULT_RING,       /* mapping its ring */
    ETWAS_FAULT_TRACEFS,    /* it is not mounted, or may not be read */
    ETWAS_FAULT_TRACEPOINT, /* this kernel does not have it, or says nonsense of it */
    ETWAS_FAULT_TASKSTATS,  /* it does not say how processes end */
    ETWAS_FAULT_THREADS,    /* /proc does not say what threads the process has */
    ETWAS_FAULT_OWN_EVENT,  /* perf_event_open, for a thread of the own process */
    ETWAS_FAULT_OWN,        /* a flag that there is nothing for in the own process alone */
};

struct etwas_fault {
    enum etwas_fault_place place;
    int error; /* errno; of ETWAS_FAULT_OWN the bit that is wanted (requested_events.h) */
};

/*
 * ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED (the kernel cannot), ERROR_NOT_FOUND (a processor that is
 * not running), ERROR_PATH_NOT_FOUND (no tracefs, no /proc), ERROR_NOT_ENOUGH_MEMORY, else
 * ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_fault_code(const struct etwas_fault *fault);

/* Whether less memory would do. */
bool etwas_fault_is_room(const struct etwas_fault *fault);

/* Looks at the process's capabilities and the machine's settings. Cut where there is no room. */
void etwas_fault_explain(const struct etwas_fault *fault, char *text, size_t room);

#endif
