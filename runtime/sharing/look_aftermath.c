/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/look_aftermath.h"

#include <ck_pr.h>
#include <stdlib.h>
#include <string.h>

#include "platform/wait.h"
#include "provider/callback.h"
#include "registry/message.h"
#include "sharing/service.h"

#define ANSWER_NS UINT64_C(500000000)
#define END_NS UINT64_C(5000000000)

enum {
    CALLERS = 8, /* threads that wait for callbacks, at most */
};

static uint32_t callers; /* threads that wait for callbacks */

/* A thread that registers a provider, and has seen nothing new, waits for no lock here. */
static void say_to_hosts(const struct etwas_look_aftermath *aftermath)
{
    const struct etwas_message message = {
        .op = ETWAS_MESSAGE_SEEN, .bytes = sizeof(uint64_t), .descriptor = -1};

    if (aftermath->seen_count == 0) {
        return;
    }
    etwas_guests_lock();
    for (uint32_t index = 0; index < aftermath->seen_count; index++) {
        const struct etwas_look_seen *seen = &aftermath->seen[index];
        const struct etwas_guest *guest = etwas_guest_of(seen->guest);

        if (guest != NULL &&
            (guest->state == ETWAS_GUEST_ATTACHED || guest->state == ETWAS_GUEST_REFUSED)) {
            (void)etwas_message_send(guest->connection, &message, &seen->number, 0);
        }
    }
    etwas_guests_unlock();
}

static void say(const struct etwas_look_aftermath *aftermath)
{
    /* Of many that answer at once some find no room at first; the one that asked may also be stopped. */
    const uint64_t deadline_ns = etwas_monotonic_ns() + ANSWER_NS;

    say_to_hosts(aftermath);
    for (uint32_t index = 0; index < aftermath->answer_count; index++) {
        struct etwas_tell answer = aftermath->answers[index];
        char name[ETWAS_REGISTRY_FILE_BYTES];

        memcpy(name, answer.sender, sizeof name);
        answer.op = ETWAS_TELL_SEEN;
        answer.sender[0] = '\0';
        (void)etwas_registry_tell(name, &answer, deadline_ns);
    }
}

/* Both call callbacks. */
static void stop_and_call(const struct etwas_look_aftermath *aftermath)
{
    for (uint32_t index = 0; index < aftermath->over_count; index++) {
        etwas_follower_stop(aftermath->over[index]);
    }
    etwas_followers_await_end(etwas_monotonic_ns() + END_NS);
    etwas_callbacks_settle_all();
}

static void *call_and_say(void *argument)
{
    struct etwas_look_aftermath *aftermath = argument;

    stop_and_call(aftermath);
    say(aftermath);
    free(aftermath);
    ck_pr_dec_32(&callers);
    return NULL;
}

void etwas_look_finish(const struct etwas_look_aftermath *seen)
{
    struct etwas_look_aftermath *aftermath;

    if (!etwas_followers_are_ending() && !etwas_callbacks_are_due()) {
        say(seen);
        return;
    }
    aftermath = ck_pr_load_32(&callers) < CALLERS ? malloc(sizeof *aftermath) : NULL;
    if (aftermath != NULL) {
        *aftermath = *seen;
        ck_pr_inc_32(&callers);
        if (etwas_service_spawn(call_and_say, aftermath, "etwas-callback")) {
            return;
        }
        ck_pr_dec_32(&callers);
        free(aftermath);
    }
    stop_and_call(seen);
    say(seen);
}

void etwas_look_aftermath_forget(void)
{
    ck_pr_store_32(&callers, 0);
}
