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
    NANOSECONDS_A_MILLISECOND = 1000000,
};
#define NO_DEADLINE UINT64_MAX

struct queue;

/* What a thread waits for; its address stands for the thread. Under the control lock. */
struct caller {
    const struct queue *waits_for;
};

/* Under the control lock. The counts go on when another registration takes the entry. */
struct queue {
    uint64_t asked;
    uint64_t started;
    uint64_t running; /* where callbacks run one inside the other: the outermost one's */
    const struct caller *runner;
    uint32_t depth; /* callbacks that run, one inside the other */
    struct etwas_callback_request requests[QUEUE_REQUESTS];
};

static struct queue queues[ETWAS_REGISTRATIONS];
static uint64_t newest_number; /* under the control lock, too */
static bool silenced;          /* likewise */
static _Thread_local struct caller self;

/* Incremented, under the control lock, whenever a callback that was not inside another returns. */
static struct ck_ec32 turns = CK_EC_INITIALIZER;

/* ---- asking ---------------------------------------------------------------------------------- */

bool etwas_callback_can_be_asked(uint32_t registration, WMIDPREQUESTCODE code)
{
    const struct queue *queue = &queues[registration];

    return code != WMI_CAPTURE_STATE || queue->asked - queue->started < QUEUE_REQUESTS;
}

bool etwas_callback_ask(uint32_t registration, const struct etwas_callback_request *request)
{
    struct queue *queue = &queues[registration];

    if (!etwas_callback_can_be_asked(registration, request->code)) {
        return false;
    }
    if (queue->asked - queue->started == QUEUE_REQUESTS) {
        queue->asked--;
    }
    queue->requests[queue->asked % QUEUE_REQUESTS] = *request;
    queue->requests[queue->asked % QUEUE_REQUESTS].number = ++newest_number;
    queue->asked++;
    return true;
}

uint64_t etwas_callback_newest(void)
{
    return newest_number;
}

bool etwas_callback_runs(uint32_t registration)
{
    return queues[registration].runner != NULL;
}

/* ---- running: with the control lock held, which a callback runs without ---------------------- */

static uint32_t call_modern(uint32_t registration, const struct etwas_composite *composite)
{
    PENABLECALLBACK callback = etwas_registrations[registration].enable_callback;
    void *context = etwas_registrations[registration].context;

    etwas_control_unlock();
    callback(&composite->source, composite->is_enabled, composite->level,
             composite->match_any_keyword, composite->match_all_keyword, NULL, context);
    etwas_control_lock();
    return ERROR_SUCCESS;
}

static uint32_t call_classic(uint32_t registration, const struct etwas_callback_request *request)
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

/* What waits for a registration that has ended was dropped with it, so every request has one. */
static uint32_t run_next(uint32_t registration)
{
    struct queue *queue = &queues[registration];
    struct etwas_callback_request request = queue->requests[queue->started % QUEUE_REQUESTS];
    uint32_t value;
    int cancelling;

    queue->started++;
    if (silenced) {
        return ERROR_SUCCESS;
    }
    queue->runner = &self;
    queue->running = queue->depth == 0 ? request.number : queue->running;
    queue->depth++;
    /* A thread that ended in a callback would be the runner for ever. */
    cancelling = etwas_cancel_forbid();
    value = etwas_registrations[registration].is_modern
                ? call_modern(registration, &request.composite)
                : call_classic(registration, &request);
    etwas_cancel_allow(cancelling);
    queue->depth--;
    if (queue->depth == 0) {
        queue->runner = NULL;
        ck_ec32_inc(&turns, &etwas_wait_mode);
    }
    return value;
}

static void run_all(uint32_t registration)
{
    struct queue *queue = &queues[registration];

    while (queue->started != queue->asked) {
        (void)run_next(registration);
    }
}

uint32_t etwas_callback_run(uint32_t registration)
{
    uint32_t value = run_next(registration);

    run_all(registration);
    return value;
}

/* What waits for the registrations under the control GUID, but for those that somebody runs already. */
static void run_waiting(uint32_t control)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        /* A runner runs everything before it leaves. */
        if (etwas_registration_is_under(index, control) && queues[index].runner == NULL) {
            run_all(index);
        }
    }
}

void etwas_callbacks_silence(void)
{
    etwas_control_lock();
    silenced = true;
    etwas_control_unlock();
}

/* ---- waiting --------------------------------------------------------------------------------- */

/*
 * Whether the runner of the queue waits for this thread. The chain ends: nobody begins to wait
 * where it would close a circle, and who becomes a runner does not wait.
 */
static bool waits_for_us(const struct queue *queue)
{
    while (queue != NULL && queue->runner != NULL) {
        if (queue->runner == &self) {
            return true;
        }
        queue = queue->runner->waits_for;
    }
    return false;
}

static void wait_a_turn(const struct queue *queue, uint64_t deadline_ns)
{
    uint32_t seen = ck_ec32_value(&turns);
    uint64_t now_ns = etwas_monotonic_ns();

    self.waits_for = queue;
    etwas_control_unlock();
    if (deadline_ns == NO_DEADLINE) {
        /* However long; the caller looks again. */
        etwas_wait(&turns, seen, (uint64_t)ETWAS_WAIT_FOREVER * NANOSECONDS_A_MILLISECOND);
    } else if (deadline_ns > now_ns) {
        etwas_wait(&turns, seen, deadline_ns - now_ns);
    }
    etwas_control_lock();
    self.waits_for = NULL;
}

static bool has_passed(uint64_t deadline_ns)
{
    return deadline_ns != NO_DEADLINE && etwas_monotonic_ns() >= deadline_ns;
}

void etwas_callback_end(uint32_t registration)
{
    struct queue *queue = &queues[registration];

    const uint64_t running = queue->running;

    queue->started = queue->asked;
    ck_ec32_inc(&turns, &etwas_wait_mode);
    /* An entry without a runner is free: who runs then may be another registration's. */
    while (queue->runner != NULL && queue->running == running && !waits_for_us(queue)) {
        wait_a_turn(queue, NO_DEADLINE);
    }
}

/* ---- settling -------------------------------------------------------------------------------- */

/* How long, and whether this thread may run what nobody runs. */
struct patience {
    uint64_t deadline_ns;
    bool leaves_to_others; /* does not wait for another thread */
    bool run_here;
};

/* Whether a request up to `newest` is yet to be run. */
static bool has_waiting(const struct queue *queue, uint64_t newest)
{
    return queue->started != queue->asked &&
           queue->requests[queue->started % QUEUE_REQUESTS].number <= newest;
}

static bool run_up_to(uint32_t registration, uint64_t newest, uint64_t deadline_ns)
{
    bool in_time;

    while (has_waiting(&queues[registration], newest)) {
        (void)run_next(registration);
    }
    in_time = !has_passed(deadline_ns);
    run_all(registration);
    return in_time;
}

/* What was asked of one registration up to `newest`. False: it is yet to be run. */
static bool settle(uint32_t registration, uint64_t newest, const struct patience *patience)
{
    const struct queue *queue = &queues[registration];

    while (has_waiting(queue, newest) || (queue->runner != NULL && queue->running <= newest)) {
        if (queue->runner == &self || (queue->runner == NULL && patience->run_here)) {
            return run_up_to(registration, newest, patience->deadline_ns);
        }
        if (patience->leaves_to_others || waits_for_us(queue) ||
            has_passed(patience->deadline_ns)) {
            return false;
        }
        wait_a_turn(queue, patience->deadline_ns);
    }
    return true;
}

/* Whether a callback under the GUID shall run and nobody runs it. */
static bool needs_runner(uint32_t control)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control) && queues[index].runner == NULL &&
            queues[index].started != queues[index].asked) {
            return true;
        }
    }
    return false;
}

/*
 * If the control GUID's entry has become another's meanwhile, callbacks of that one run here:
 * whoever asked for them leaves them to us, or waits for them.
 */
static void *run_waiting_in_thread(void *argument)
{
    uint32_t control = (uint32_t)(uintptr_t)argument;

    (void)pthread_setname_np(pthread_self(), "etwas-callback");
    etwas_control_lock();
    run_waiting(control);
    etwas_control_unlock();
    return NULL;
}

/*
 * Has a thread of the library run what waits, for a caller with a finite timeout. It ends when it finds
 * nothing more to run; nobody joins it. False: the system gives none.
 */
static bool start_thread(uint32_t control)
{
    pthread_t thread;
    int error =
        etwas_thread_create(&thread, NULL, run_waiting_in_thread, (void *)(uintptr_t)control);

    if (error == 0) {
        (void)pthread_detach(thread);
    }
    return error == 0;
}

/* Without the control lock, so that no thread is started under it. */
static struct patience patience_for(const etwas_guid *guid, bool is_group, uint32_t timeout_ms)
{
    struct patience patience = {
        .deadline_ns = NO_DEADLINE,
        .leaves_to_others = timeout_ms == 0,
        .run_here = true,
    };
    uint32_t control;
    bool needs_thread;

    if (timeout_ms != 0 && timeout_ms != ETWAS_WAIT_FOREVER) {
        patience.deadline_ns =
            etwas_monotonic_ns() + (uint64_t)timeout_ms * NANOSECONDS_A_MILLISECOND;
        etwas_control_lock();
        control = etwas_control_guid_find(guid, is_group);
        needs_thread = control != ETWAS_NO_CONTROL_GUID && needs_runner(control);
        etwas_control_unlock();
        patience.run_here = needs_thread && !start_thread(control);
    }
    return patience;
}

bool etwas_callbacks_settle(const etwas_guid *guid, bool is_group, uint64_t newest,
                            uint32_t timeout_ms)
{
    struct patience patience = patience_for(guid, is_group, timeout_ms);
    uint32_t control;
    bool all = true;

    etwas_control_lock();
    control = etwas_control_guid_find(guid, is_group);
    if (control != ETWAS_NO_CONTROL_GUID && patience.run_here) {
        /* First what nobody runs, so that it does not wait for what somebody does. */
        run_waiting(control);
    }
    /* Whoever registers under it meanwhile has heard of the change already. */
    for (uint32_t index = 0; control != ETWAS_NO_CONTROL_GUID && index < etwas_registrations_end();
         index++) {
        if (etwas_registration_is_under(index, control)) {
            all = settle(index, newest, &patience) && all;
        }
    }
    etwas_control_unlock();
    return all || timeout_ms == 0;
}

bool etwas_callbacks_are_due(void)
{
    bool are = false;

    etwas_control_lock();
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        are = are || queues[index].started != queues[index].asked || queues[index].runner != NULL;
    }
    etwas_control_unlock();
    return are;
}

void etwas_callbacks_settle_all(void)
{
    const struct patience patience = {.deadline_ns = NO_DEADLINE, .run_here = true};
    uint64_t newest;

    etwas_control_lock();
    newest = etwas_callback_newest();
    /* First what nobody runs, so that it does not wait for what somebody does. */
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registrations[index].used && queues[index].runner == NULL) {
            run_all(index);
        }
    }
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registrations[index].used) {
            (void)settle(index, newest, &patience);
        }
    }
    etwas_control_unlock();
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_callbacks_forget(void)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        struct queue *queue = &queues[index];

        queue->started = queue->asked;
        /* Where this thread forked inside a callback, it still has to come out of it. */
        if (queue->runner != &self) {
            queue->runner = NULL;
            queue->depth = 0;
        }
    }
    self.waits_for = NULL;
    /* A wait that a signal handler interrupted with its fork ends. */
    ck_ec32_inc(&turns, &etwas_wait_mode);
}
