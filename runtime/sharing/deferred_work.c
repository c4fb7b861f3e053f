/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/deferred_work.h"

#include <ck_pr.h>
#include <stdlib.h>
#include <string.h>

#include "platform/wait.h"
#include "provider/callback.h"
#include "registry/connection.h"
#include "sharing/service.h"

#define ANSWER_TIMEOUT_NS UINT64_C(500000000)
#define STOP_TIMEOUT_NS UINT64_C(5000000000)

enum {
    CALLBACK_THREADS = 8, /* threads that wait for callbacks, at most */
};

static uint32_t callback_threads; /* threads that wait for callbacks */

/* Takes no lock if there is nothing to acknowledge, so a registration does not wait here. */
static void deferred_work_acknowledge_hosts(const struct etwas_deferred_work *work)
{
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_ACKNOWLEDGE, .bytes = sizeof(uint64_t), .descriptor = -1};

    if (work->acknowledgement_count == 0) {
        return;
    }
    etwas_guests_lock();
    for (uint32_t index = 0; index < work->acknowledgement_count; index++) {
        const struct etwas_acknowledgement *acknowledgements = &work->acknowledgements[index];
        const struct etwas_guest *guest = etwas_guest_of(acknowledgements->guest);

        if (guest != NULL &&
            (guest->state == ETWAS_GUEST_ATTACHED || guest->state == ETWAS_GUEST_REFUSED)) {
            (void)etwas_message_send(guest->connection, &message, &acknowledgements->number, 0);
        }
    }
    etwas_guests_unlock();
}

static void deferred_work_acknowledge(const struct etwas_deferred_work *work)
{
    /*
     * If many processes answer at once, some find no room at first. The notifying process may also
     * be stopped.
     */
    const uint64_t deadline_ns = etwas_monotonic_ns() + ANSWER_TIMEOUT_NS;

    deferred_work_acknowledge_hosts(work);
    for (uint32_t index = 0; index < work->answer_count; index++) {
        struct etwas_notification answer = work->answers[index];
        char name[ETWAS_REGISTRY_FILE_BYTES];

        memcpy(name, answer.sender, sizeof name);
        answer.op = ETWAS_NOTIFY_ACKNOWLEDGED;
        answer.sender[0] = '\0';
        (void)etwas_registry_notify(name, &answer, deadline_ns);
    }
}

/*
 * Stops the instances and calls the callbacks that are due. Both may take as long as callbacks
 * take.
 */
static void deferred_work_stop_and_call(const struct etwas_deferred_work *work)
{
    for (uint32_t index = 0; index < work->expired_count; index++) {
        etwas_private_instance_stop(work->expired[index]);
    }
    etwas_private_instances_await_stop(etwas_monotonic_ns() + STOP_TIMEOUT_NS);
    etwas_callbacks_complete_all();
}

static void *deferred_work_thread(void *argument)
{
    struct etwas_deferred_work *work = argument;

    deferred_work_stop_and_call(work);
    deferred_work_acknowledge(work);
    free(work);
    ck_pr_dec_32(&callback_threads);
    return NULL;
}

void etwas_deferred_work_run(const struct etwas_deferred_work *acknowledgements)
{
    struct etwas_deferred_work *work;

    if (!etwas_private_instances_are_stopping() && !etwas_callbacks_are_pending()) {
        deferred_work_acknowledge(acknowledgements);
        return;
    }
    work = ck_pr_load_32(&callback_threads) < CALLBACK_THREADS ? malloc(sizeof *work) : NULL;
    if (work != NULL) {
        *work = *acknowledgements;
        ck_pr_inc_32(&callback_threads);
        if (etwas_service_spawn(deferred_work_thread, work, "etwas-deferred")) {
            return;
        }
        ck_pr_dec_32(&callback_threads);
        free(work);
    }
    deferred_work_stop_and_call(acknowledgements);
    deferred_work_acknowledge(acknowledgements);
}

void etwas_deferred_work_forget(void)
{
    ck_pr_store_32(&callback_threads, 0);
}
