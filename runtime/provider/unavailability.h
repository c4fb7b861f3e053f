/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Why kernel events cannot be had. The source says what the reason means (source.h).
 */
#ifndef ETWAS_PROVIDER_UNAVAILABILITY_H
#define ETWAS_PROVIDER_UNAVAILABILITY_H

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
    ETWAS_UNAVAILABLE_BUILD,     /* the library was built without kernel events */
};

struct etwas_unavailability {
    enum etwas_unavailability_cause cause;
    /* errno; with ETWAS_UNAVAILABLE_OWN the number of the requested bit (requested_events.h). */
    int error;
};

#endif
