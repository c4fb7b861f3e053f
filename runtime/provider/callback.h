/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Control callbacks: telling the registered what sessions ask of them (R141, R191).
 *
 * Each registration has a short queue of requests. Whoever asks adds to it, under the control lock.
 * One thread at a time, the runner, calls the callback for one request after the other, without any
 * lock.
 *
 *     asked       requests ever added
 *     started     requests ever taken out, started <= asked
 *     runner      the thread that calls the callback now; NULL: nobody
 *     running     the number of the request that it is called for
 *
 * Requests of all registrations are numbered as they are asked, so that a caller waits for its own
 * and those before it, and not for what another thread asks later.
 *
 * Order: the callbacks of a registration run one after the other, each after the change it tells of.
 *     Those of different registrations do not wait for each other. The runner leaves when its queue
 *     is empty, so it also runs what other threads ask meanwhile. If a callback causes a request for
 *     its own registration, the callback is called again inside itself, at once.
 * Waiting: a thread may wait for a runner, also from inside a callback. It does not if that runner
 *     waits for it, directly or through others: its request is then run when the callback that is in
 *     the way returns. So callbacks may call everything and never wait for each other for ever, with
 *     one exception: ProcessTrace on a session whose STOP waits for this callback.
 * Limit: 16 requests wait for a registration at most. One more replaces the newest, so
 *     that what is told last is what was asked last; a request for state is refused instead.
 * Fork: the child keeps the registrations, and a runner only if that is its own thread.
 */
#ifndef ETWAS_PROVIDER_CALLBACK_H
#define ETWAS_PROVIDER_CALLBACK_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#define ETWAS_WAIT_FOREVER UINT32_MAX /* a timeout; INFINITE in programs */

/* What all sessions together ask of a modern provider, as its callback is told (R195). */
struct etwas_combined_enablement {
    etwas_guid source;
    uint32_t is_enabled; /* EVENT_CONTROL_CODE_... */
    uint8_t level;
    uint64_t match_any_keyword;
    uint64_t match_all_keyword;
};

struct etwas_callback_request {
    uint64_t number; /* set when it is asked */
    uint64_t session;
    WMIDPREQUESTCODE code;
    struct etwas_combined_enablement composite; /* for modern providers */
};

/* ---- with the control lock held -------------------------------------------------------------- */

/*
 * Adds a request for a registration; somebody has to settle or run it. False: the callback is so
 * far behind that a request for its state cannot wait; other requests always can.
 */
bool etwas_callback_enqueue(uint32_t registration, const struct etwas_callback_request *request);

/* Whether etwas_callback_enqueue would succeed. */
bool etwas_callback_has_room(uint32_t registration, WMIDPREQUESTCODE code);

/* Whether a callback of this entry runs, also of a registration that has ended. */
bool etwas_callback_is_running(uint32_t registration);

/* The number of the newest request. */
uint64_t etwas_callback_newest_request(void);

/*
 * Runs what is asked of a registration that nobody else can know yet, in this thread; returns the
 * value of the first callback. The lock is let go meanwhile.
 */
uint32_t etwas_callback_run_queued(uint32_t registration);

/*
 * Drops what is asked of a registration that has just ended, and waits until none of its callbacks
 * runs but in this thread, or in one that waits for it. The lock is let go meanwhile.
 */
void etwas_callback_end(uint32_t registration);

/* In a fork's child. */
void etwas_callbacks_forget(void);

/* ---- without it ------------------------------------------------------------------------------ */

/* From here on what is asked is done with, and no callback is called: the process ends. */
void etwas_callbacks_disable(void);

/*
 * Sees to it that what was asked under a control GUID up to the request `newest` is run.
 *
 *     timeout_ms  0                   runs it in this thread; what another thread runs already is
 *                                     left to that one
 *                 ETWAS_WAIT_FOREVER  runs it in this thread, and waits for what another runs
 *                 else                waits so long at most: a thread of the library runs it.
 *                                     Inside a callback of the same registration, and where there
 *                                     can be no such thread, this one does.
 *
 * False: a timeout that is not 0 has passed, or somebody waits for this thread, before all of it
 * was run.
 */
bool etwas_callbacks_complete(const etwas_guid *control, bool is_group, uint64_t newest,
                              uint32_t timeout_ms);

/* Whether any callback waits, or runs. */
bool etwas_callbacks_are_pending(void);

/* The same as with ETWAS_WAIT_FOREVER, for all that has been asked. */
void etwas_callbacks_complete_all(void);

#endif
