/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Control callbacks: they inform a provider of what sessions request from it (R141, R191).
 *
 * Each registration has a short queue of requests. A change of an enablement adds to it, under the
 * control lock. One thread at a time, the runner, takes the requests out and calls the callback for
 * one after the other, without any lock.
 *
 *     added       requests ever added
 *     started     requests ever taken out, started <= added
 *     runner      the thread that calls the callback now; NULL: none
 *     running     the number of the request that the callback runs for
 *
 * Requests of all registrations share one sequence of numbers, so that a caller waits for its own
 * request and earlier ones, and not for what another thread adds later.
 *
 * Order: the callbacks of a registration run one after the other, each after the change that it
 * reports. Callbacks of different registrations do not wait for each other. The runner leaves when
 * its queue is empty, so it also runs what other threads add meanwhile. If a callback causes a
 * request for its own registration, the callback is called again inside itself, at once.
 *
 * Waiting: a thread may wait for a runner, also from inside a callback. It does not if that runner
 * waits for it, directly or through others: its request then runs when the callback that blocks it
 * returns. So callbacks may call everything and never wait for each other for ever, with one
 * exception: ProcessTrace on a session whose STOP waits for this callback.
 *
 * Limit: 16 requests wait for a registration at most. One more replaces the newest, so that the
 * last state reported is the last one requested; a request for state is refused instead.
 *
 * Fork: the child keeps the registrations, and a runner only if that is its own thread.
 */
#ifndef ETWAS_PROVIDER_CALLBACK_H
#define ETWAS_PROVIDER_CALLBACK_H

#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#define ETWAS_WAIT_FOREVER UINT32_MAX /* a timeout; INFINITE in programs */

/* What all sessions together enable of a modern provider, as its callback receives it (R195). */
struct etwas_combined_enablement {
    etwas_guid source;
    uint32_t is_enabled; /* EVENT_CONTROL_CODE_... */
    uint8_t level;
    uint64_t match_any_keyword;
    uint64_t match_all_keyword;
};

struct etwas_callback_request {
    uint64_t number; /* set when it is added */
    uint64_t session;
    WMIDPREQUESTCODE code;
    struct etwas_combined_enablement composite; /* for modern providers */
};

/* ---- with the control lock held -------------------------------------------------------------- */

/*
 * Adds a request to the queue of a registration; the caller has to complete or run it. Returns
 * false when the queue is full and the request is one for state; other requests always succeed.
 */
bool etwas_callback_enqueue(uint32_t registration, const struct etwas_callback_request *request);

/* Whether etwas_callback_enqueue would succeed. */
bool etwas_callback_has_room(uint32_t registration, WMIDPREQUESTCODE code);

/* Whether a callback of this entry runs, also one of a registration that has ended. */
bool etwas_callback_is_running(uint32_t registration);

/* The number of the newest request. */
uint64_t etwas_callback_newest_request(void);

/*
 * Runs the queue of a registration that no other thread can know yet, in this thread. Returns the
 * value of the first callback. Releases the control lock meanwhile.
 */
uint32_t etwas_callback_run_queued(uint32_t registration);

/*
 * Empties the queue of a registration that has just ended, and waits until none of its callbacks
 * runs, except in this thread or in one that waits for this thread. Releases the control lock
 * meanwhile.
 */
void etwas_callback_end(uint32_t registration);

/* Empties all queues in a fork's child. */
void etwas_callbacks_forget(void);

/* ---- without it ------------------------------------------------------------------------------ */

/* From here on requests are dropped and no callback is called: the process ends. */
void etwas_callbacks_disable(void);

/*
 * Runs the requests of a control GUID up to the request `newest`.
 *
 *     timeout_ms  0                   runs them in this thread; what another thread runs already is
 *                                     left to it
 *                 ETWAS_WAIT_FOREVER  runs them in this thread, and waits for what another thread
 *                                     runs
 *                 else                waits so long at most: a thread of the library runs them.
 *                                     Inside a callback of the same registration, and where no
 *                                     thread can be created, this one does
 *
 * Returns false when a timeout other than 0 has passed, or another thread waits for this one,
 * before all of them were run.
 */
bool etwas_callbacks_complete(const etwas_guid *control, bool is_group, uint64_t newest,
                              uint32_t timeout_ms);

/* Whether any request is queued, or any callback runs. */
bool etwas_callbacks_are_pending(void);

/* Runs all requests, with ETWAS_WAIT_FOREVER. */
void etwas_callbacks_complete_all(void);

#endif
