/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sources: they supply those events of a session that no caller writes. The kernel is the only one:
 * a session with EnableFlags or system providers has a system logger, which system/ implements.
 *
 * A source is a table of functions. The table of the kernel, etwas_kernel_source, is defined once
 * in each library: by system/source.c, or by provider/source_none.c in a build without system/
 * (ETWAS_SYSTEM=OFF). No other folder includes a head of system/.
 *
 * A source writes to slots of its session that no provider writes to (etwas_session_gate), and
 * counts what it has lost itself in the session's `lost_in_kernel`.
 */
#ifndef ETWAS_PROVIDER_SOURCE_H
#define ETWAS_PROVIDER_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "provider/system_providers.h"
#include "session/session.h"

/* Why kernel events are not available. The source's `explain` says what the reason means. */

enum etwas_unavailability_cause {
    ETWAS_UNAVAILABLE_NOTHING,
    ETWAS_UNAVAILABLE_EVENT,   /* perf_event_open failed, or a later call on the event */
    ETWAS_UNAVAILABLE_RING,    /* the ring cannot be mapped */
    ETWAS_UNAVAILABLE_TRACEFS, /* tracefs is not mounted, or may not be read */
    /* This kernel does not have the tracepoint, or its description is invalid. */
    ETWAS_UNAVAILABLE_TRACEPOINT,
    ETWAS_UNAVAILABLE_TASKSTATS, /* the kernel does not report how threads ended */
    ETWAS_UNAVAILABLE_THREADS,   /* /proc does not list the threads of the process */
    ETWAS_UNAVAILABLE_OWN_EVENT, /* perf_event_open failed for a thread of the own process */
    ETWAS_UNAVAILABLE_OWN,       /* a flag that has no events in the own process alone */
    ETWAS_UNAVAILABLE_BUILD,     /* the library was built without kernel events */
};

struct etwas_unavailability {
    enum etwas_unavailability_cause cause;
    /* errno; with ETWAS_UNAVAILABLE_OWN the number of the requested bit (system/keywords.h). */
    int error;
};

/* ---- the source ------------------------------------------------------------------------------ */

/* The public state of a running source. It changes only under the control lock. */
struct etwas_source_state {
    struct etwas_system_settings settings; /* the settings in force */
    uint32_t rung;                         /* ETWAS_KERNEL_RUNG_*; constant */
};

/* No function is NULL. */
struct etwas_source {
    /* ---- for the process: any thread calls them, with or without a lock ---- */

    /* Returns the EnableFlags that a session may request. */
    uint64_t (*flags)(void);

    /*
     * Returns those of the flags that are accepted and have no events. Unless `text` is NULL, it
     * receives a sentence that says why they have none, cut to `room`; empty: all flags have
     * events.
     */
    uint32_t (*silent)(uint32_t flags, char *text, size_t room);

    /* Returns the keywords of a system provider (system_providers.h) that deliver events. */
    uint64_t (*keywords)(uint32_t provider);

    /*
     * Writes what the reason, which is not ETWAS_UNAVAILABLE_NOTHING, means into `text`, cut to
     * `room`. Reads the process's capabilities and the machine's settings.
     */
    void (*explain)(const struct etwas_unavailability *reason, char *text, size_t room);

    /* ---- for a session ---- */

    /*
     * Opens what the settings request, for a session that is being started. Where the kernel
     * refuses events of the own process, the source runs without events, and *reason says why. On
     * failure there is nothing to end; returns the code of *reason, ERROR_NOT_ENOUGH_MEMORY or
     * ERROR_NO_SYSTEM_RESOURCES.
     */
    uint32_t (*begin)(struct etwas_session *session, const struct etwas_system_settings *settings,
                      struct etwas_unavailability *reason);

    /* Starts recording; records pass once the session runs. Does nothing without a source. */
    void (*start)(struct etwas_session *session);

    /*
     * Waits until the first rundown is emitted, so that what begins from now on is recorded as
     * beginning, or until the session of this key has no source any more. The caller does not hold
     * the control lock.
     */
    void (*await_run_down)(struct etwas_session_key key);

    /*
     * Returns the state of the session's source; NULL: it has none. The caller holds the control
     * lock or the session's role, and the result is valid while it does.
     */
    const struct etwas_source_state *(*state)(const struct etwas_session *session);

    /*
     * Applies other settings while the source runs; all earlier events are recorded by the old
     * settings. On failure the old ones stay in force, except for what cannot be opened any more,
     * and the code is as in `begin`. The session's EnableFlags say what is in force.
     * ERROR_WMI_INSTANCE_NOT_FOUND: the source has ended. The caller holds the session's role.
     */
    uint32_t (*update)(struct etwas_session *session, const struct etwas_system_settings *settings,
                       struct etwas_unavailability *reason);

    /*
     * Emits once more the rundown of everything in force that this system provider requests. The
     * caller holds the session's role, and the session has a source.
     */
    void (*run_down)(struct etwas_session *session, uint32_t provider);

    /*
     * Emits what the following snapshot needs: the functions of all kernel addresses recorded so
     * far. Does nothing without a source. The caller holds the session's role.
     */
    void (*before_snapshot)(struct etwas_session *session);

    /* Records everything that happened before, and ends. Does nothing without a source. */
    void (*end)(struct etwas_session *session);

    /* In a fork's child; the control lock was taken before the fork. */
    void (*forget)(struct etwas_session *session);
};

extern const struct etwas_source etwas_kernel_source;

#endif
