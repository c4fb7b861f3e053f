/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/callback.h"

#include <ck_ec.h>
#include <etwas/winerror.h>
#include <pthread.h>

#include "platform/cancel.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "provider/control_guid.h"
#include "provider/registration.h"
#include "session/session.h"

enum {
    QUEUE_REQUESTS = 16,
};
#define NO_DEADLINE UINT64_MAX

struct callback_queue;

/*
 * What a thread waits for; the address of this struct identifies the thread. The control lock
 * guards it.
 */
struct callback_runner {
    const struct callback_queue *waits_for;
};

/*
 * The queue of a registration, which the control lock guards. The counts continue when another
 * registration gets the entry.
 */
struct callback_queue {
    uint64_t added;
    uint64_t started;
    uint64_t running; /* where callbacks run one inside the other: the outermost one's */
    const struct callback_runner *runner;
    uint32_t depth; /* callbacks that run, one inside the other */
    struct etwas_callback_request requests[QUEUE_REQUESTS];
};

static struct callback_queue queues[ETWAS_REGISTRATIONS];
static uint64_t newest_number; /* under the control lock, too */
static bool silenced;          /* likewise */
static _Thread_local struct callback_runner self;

/* Incremented, under the control lock, whenever a callback that was not inside another returns. */
static struct ck_ec32 turns = CK_EC_INITIALIZER;

/* ---- adding ---------------------------------------------------------------------------------- */

bool etwas_callback_has_room(uint32_t registration, WMIDPREQUESTCODE code)
{
    const struct callback_queue *queue = &queues[registration];

    return code != WMI_CAPTURE_STATE || queue->added - queue->started < QUEUE_REQUESTS;
}

bool etwas_callback_enqueue(uint32_t registration, const struct etwas_callback_request *request)
{
    struct callback_queue *queue = &queues[registration];

    if (!etwas_callback_has_room(registration, request->code)) {
        return false;
    }
    if (queue->added - queue->started == QUEUE_REQUESTS) {
        queue->added--;
    }
    queue->requests[queue->added % QUEUE_REQUESTS] = *request;
    queue->requests[queue->added % QUEUE_REQUESTS].number = ++newest_number;
    queue->added++;
    return true;
}

uint64_t etwas_callback_newest_request(void)
{
    return newest_number;
}

bool etwas_callback_is_running(uint32_t registration)
{
    return queues[registration].runner != NULL;
}

/* ---- running: with the control lock held, which a callback runs without ---------------------- */

static uint32_t callback_call_modern(uint32_t registration,
                                     const struct etwas_combined_enablement *composite)
{
    PENABLECALLBACK callback = etwas_registrations[registration].enable_callback;
    void *context = etwas_registrations[registration].context;

    etwas_control_unlock();
    callback(&composite->source, composite->is_enabled, composite->level,
             composite->match_any_keyword, composite->match_all_keyword, NULL, context);
    etwas_control_lock();
    return ERROR_SUCCESS;
}

static uint32_t callback_call_classic(uint32_t registration,
                                      const struct etwas_callback_request *request)
{
    const struct etwas_registration *registered = &etwas_registrations[registration];
    WMIDPREQUEST callback = registered->callback;
    void *context = registered->context;
    uint32_t buffer_bytes = sizeof(WNODE_HEADER);
    WNODE_HEADER header = {
        .BufferSize = sizeof header,
        .HistoricalContext = etwas_session_handle_for(request->session, registration),
        .Guid = etwas_control_guids[registered->control].guid,
        .Flags = WNODE_FLAG_TRACED_GUID,
    };
    uint32_t value;

    etwas_control_unlock();
    value = callback(request->code, context, &buffer_bytes, &header);
    etwas_control_lock();
    return value;
}

/*
 * The requests of a registration that has ended were dropped with it, so each request has a
 * registration.
 */
static uint32_t callback_run_next(uint32_t registration)
{
    struct callback_queue *queue = &queues[registration];
    struct etwas_callback_request request = queue->requests[queue->started % QUEUE_REQUESTS];
    uint32_t value;
    ETWAS_UNCANCELLED_SCOPE; /* a thread that ended in a callback would be the runner for ever */

    queue->started++;
    if (silenced) {
        return ERROR_SUCCESS;
    }
    queue->runner = &self;
    queue->running = queue->depth == 0 ? request.number : queue->running;
    queue->depth++;
    value = etwas_registrations[registration].is_modern
                ? callback_call_modern(registration, &request.composite)
                : callback_call_classic(registration, &request);
    queue->depth--;
    if (queue->depth == 0) {
        queue->runner = NULL;
        ck_ec32_inc(&turns, &etwas_wait_mode);
    }
    return value;
}

static void callback_run_registration(uint32_t registration)
{
    struct callback_queue *queue = &queues[registration];

    while (queue->started != queue->added) {
        (void)callback_run_next(registration);
    }
}

uint32_t etwas_callback_run_queued(uint32_t registration)
{
    uint32_t value = callback_run_next(registration);

    callback_run_registration(registration);
    return value;
}

/*
 * Runs the queues of the registrations under the control GUID, except those that another thread
 * runs.
 */
static void callback_run_control(uint32_t control)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        /* A runner runs everything before it leaves. */
        if (etwas_registration_is_under(index, control) && queues[index].runner == NULL) {
            callback_run_registration(index);
        }
    }
}

void etwas_callbacks_disable(void)
{
    etwas_control_lock();
    silenced = true;
    etwas_control_unlock();
}

/* ---- waiting --------------------------------------------------------------------------------- */

/*
 * Whether the runner of the queue waits for this thread. The chain ends: no thread starts a wait
 * that would close a circle, and a runner does not wait.
 */
static bool callback_waits_for_this_thread(const struct callback_queue *queue)
{
    while (queue != NULL && queue->runner != NULL) {
        if (queue->runner == &self) {
            return true;
        }
        queue = queue->runner->waits_for;
    }
    return false;
}

static void callback_wait_for_runner(const struct callback_queue *queue, uint64_t deadline_ns)
{
    uint32_t seen = ck_ec32_value(&turns);
    uint64_t now_ns = etwas_monotonic_ns();

    self.waits_for = queue;
    etwas_control_unlock();
    if (deadline_ns == NO_DEADLINE) {
        /* Any length: the caller checks again. */
        etwas_wait(&turns, seen, (uint64_t)ETWAS_WAIT_FOREVER * ETWAS_NS_A_MILLISECOND);
    } else if (deadline_ns > now_ns) {
        etwas_wait(&turns, seen, deadline_ns - now_ns);
    }
    etwas_control_lock();
    self.waits_for = NULL;
}

static bool callback_deadline_has_passed(uint64_t deadline_ns)
{
    return deadline_ns != NO_DEADLINE && etwas_monotonic_ns() >= deadline_ns;
}

void etwas_callback_end(uint32_t registration)
{
    struct callback_queue *queue = &queues[registration];

    const uint64_t running = queue->running;

    queue->started = queue->added;
    ck_ec32_inc(&turns, &etwas_wait_mode);
    /* An entry without a runner is free: its next runner may be another registration's. */
    while (queue->runner != NULL && queue->running == running &&
           !callback_waits_for_this_thread(queue)) {
        callback_wait_for_runner(queue, NO_DEADLINE);
    }
}

/* ---- completing ------------------------------------------------------------------------------ */

/* How long to wait, and whether this thread may run requests that no other runs. */
struct callback_timeout {
    uint64_t deadline_ns;
    bool leaves_to_others; /* does not wait for another thread */
    bool run_here;
};

/* Whether a request up to `newest` has not run yet. */
static bool callback_has_queued(const struct callback_queue *queue, uint64_t newest)
{
    return queue->started != queue->added &&
           queue->requests[queue->started % QUEUE_REQUESTS].number <= newest;
}

static bool callback_run_up_to(uint32_t registration, uint64_t newest, uint64_t deadline_ns)
{
    bool in_time;

    while (callback_has_queued(&queues[registration], newest)) {
        (void)callback_run_next(registration);
    }
    in_time = !callback_deadline_has_passed(deadline_ns);
    callback_run_registration(registration);
    return in_time;
}

/*
 * Completes the requests of one registration up to `newest`. Returns false if some have not run
 * yet.
 */
static bool callback_complete(uint32_t registration, uint64_t newest,
                              const struct callback_timeout *timeout)
{
    const struct callback_queue *queue = &queues[registration];

    while (callback_has_queued(queue, newest) ||
           (queue->runner != NULL && queue->running <= newest)) {
        if (queue->runner == &self || (queue->runner == NULL && timeout->run_here)) {
            return callback_run_up_to(registration, newest, timeout->deadline_ns);
        }
        if (timeout->leaves_to_others || callback_waits_for_this_thread(queue) ||
            callback_deadline_has_passed(timeout->deadline_ns)) {
            return false;
        }
        callback_wait_for_runner(queue, timeout->deadline_ns);
    }
    return true;
}

/* Whether a request under the GUID is queued that no thread runs. */
static bool callback_needs_thread(uint32_t control)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control) && queues[index].runner == NULL &&
            queues[index].started != queues[index].added) {
            return true;
        }
    }
    return false;
}

/*
 * The thread's function. If the entry has another control GUID by now, the callbacks of that one
 * run here: the thread that queued them leaves them to this one, or waits for them.
 */
static void *callback_thread(void *argument)
{
    uint32_t control = (uint32_t)(uintptr_t)argument;

    (void)pthread_setname_np(pthread_self(), "etwas-callback");
    etwas_control_lock();
    callback_run_control(control);
    etwas_control_unlock();
    return NULL;
}

/*
 * Starts a thread of the library that runs the queues, for a caller with a finite timeout. It ends
 * when the queues are empty and is never joined. Returns false if no thread can be created.
 */
static bool callback_start_thread(uint32_t control)
{
    pthread_t thread;
    int error = etwas_thread_create(&thread, NULL, callback_thread, (void *)(uintptr_t)control);

    if (error == 0) {
        (void)pthread_detach(thread);
    }
    return error == 0;
}

/* Called without the control lock, so that no thread is started under it. */
static struct callback_timeout callback_deadline_for(const etwas_guid *guid, bool is_group,
                                                     uint32_t timeout_ms)
{
    struct callback_timeout timeout = {
        .deadline_ns = NO_DEADLINE,
        .leaves_to_others = timeout_ms == 0,
        .run_here = true,
    };
    uint32_t control;
    bool needs_thread;

    if (timeout_ms != 0 && timeout_ms != ETWAS_WAIT_FOREVER) {
        timeout.deadline_ns = etwas_monotonic_ns() + (uint64_t)timeout_ms * ETWAS_NS_A_MILLISECOND;
        etwas_control_lock();
        control = etwas_control_guid_find(guid, is_group);
        needs_thread = control != ETWAS_NO_CONTROL_GUID && callback_needs_thread(control);
        etwas_control_unlock();
        timeout.run_here = needs_thread && !callback_start_thread(control);
    }
    return timeout;
}

bool etwas_callbacks_complete(const etwas_guid *guid, bool is_group, uint64_t newest,
                              uint32_t timeout_ms)
{
    struct callback_timeout timeout = callback_deadline_for(guid, is_group, timeout_ms);
    uint32_t control;
    bool all = true;

    etwas_control_lock();
    control = etwas_control_guid_find(guid, is_group);
    if (control != ETWAS_NO_CONTROL_GUID && timeout.run_here) {
        /* Queues without a runner first, so that they do not wait for those with one. */
        callback_run_control(control);
    }
    /* A provider that registers under it meanwhile has received the change already. */
    for (uint32_t index = 0; control != ETWAS_NO_CONTROL_GUID && index < etwas_registrations_end();
         index++) {
        if (etwas_registration_is_under(index, control)) {
            all = callback_complete(index, newest, &timeout) && all;
        }
    }
    etwas_control_unlock();
    return all || timeout_ms == 0;
}

bool etwas_callbacks_are_pending(void)
{
    bool are = false;

    etwas_control_lock();
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        are = are || queues[index].started != queues[index].added || queues[index].runner != NULL;
    }
    etwas_control_unlock();
    return are;
}

void etwas_callbacks_complete_all(void)
{
    const struct callback_timeout timeout = {.deadline_ns = NO_DEADLINE, .run_here = true};
    uint64_t newest;

    etwas_control_lock();
    newest = etwas_callback_newest_request();
    /* Queues without a runner first, so that they do not wait for those with one. */
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registrations[index].used && queues[index].runner == NULL) {
            callback_run_registration(index);
        }
    }
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registrations[index].used) {
            (void)callback_complete(index, newest, &timeout);
        }
    }
    etwas_control_unlock();
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_callbacks_forget(void)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        struct callback_queue *queue = &queues[index];

        queue->started = queue->added;
        /* Where this thread forked inside a callback, it still has to return from it. */
        if (queue->runner != &self) {
            queue->runner = NULL;
            queue->depth = 0;
        }
    }
    self.waits_for = NULL;
    /* A wait that a signal handler interrupted with its fork ends. */
    ck_ec32_inc(&turns, &etwas_wait_mode);
}
