/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A lock of the library keeps the state of cancellation of the thread that holds it, and a thread
 * that waits under it has its own again.
 */
#include <pthread.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/cancel.h"
#include "session/fixture.h"
#include "sharing/guest.h"
#include "sharing/service.h"

enum {
    WAITERS = 8,
    TURNS = 200,
};

static sem_t handling; /* the handler has begun */
static sem_t waiting;  /* a thread is about to wait for it */
static sem_t done;     /* it may end */

static enum etwas_service_answer handle_until_asked(int descriptor, uint64_t context)
{
    char byte;

    (void)context;
    (void)recv(descriptor, &byte, 1, MSG_DONTWAIT);
    (void)sem_post(&handling);
    (void)sem_wait(&done);
    return ETWAS_SERVICE_KEEP;
}

static enum etwas_service_answer handle_nothing(int descriptor, uint64_t context)
{
    (void)descriptor;
    (void)context;
    return ETWAS_SERVICE_KEEP;
}

struct waiter {
    pthread_t thread;
    int watched;
    bool forbids; /* as a thread does that has a lock of the library */
    bool kept;
};

/* The caller's own state, which the call must not change. */
static bool keeps(bool forbids)
{
    const int expected = forbids ? PTHREAD_CANCEL_DISABLE : PTHREAD_CANCEL_ENABLE;
    int before = etwas_cancel_forbid();

    etwas_cancel_allow(before);
    return before == expected;
}

static void *wait_for_the_handler(void *argument)
{
    struct waiter *waiter = argument;

    if (waiter->forbids) {
        (void)etwas_cancel_forbid();
        (void)pthread_cancel(pthread_self());
    }
    (void)sem_post(&waiting);
    (void)etwas_service_unwatch(waiter->watched, 1);
    pthread_testcancel();
    waiter->kept = keeps(waiter->forbids);
    return NULL;
}

/* Some hold a lock of the library and are cancelled; others neither. */
static void who_waits_for_a_handler_keeps_its_own_state_of_cancellation(void **state)
{
    struct waiter waiters[WAITERS];
    int other[2];
    int ends[2];

    (void)state;
    if (etwas_share() != ERROR_SUCCESS) {
        print_message("skipped: nothing is shared here\n");
        skip();
    }
    (void)sem_init(&handling, 0, 0);
    (void)sem_init(&waiting, 0, 0);
    (void)sem_init(&done, 0, 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, other), 0);
    assert_int_equal(etwas_service_watch(ends[0], false, handle_until_asked, 1), ERROR_SUCCESS);
    assert_int_equal(send(ends[1], "", 1, MSG_NOSIGNAL), 1);
    (void)sem_wait(&handling);
    for (int index = 0; index < WAITERS; index++) {
        waiters[index] = (struct waiter){.watched = ends[0], .forbids = index % 2 == 0};
        assert_int_equal(
            pthread_create(&waiters[index].thread, NULL, wait_for_the_handler, &waiters[index]), 0);
        (void)sem_wait(&waiting);
    }
    (void)usleep(20000); /* until they wait; a thread that comes later finds less, and no fault */
    assert_int_equal(etwas_service_watch(other[0], false, handle_nothing, 2), ERROR_SUCCESS);
    (void)sem_post(&done);
    for (int index = 0; index < WAITERS; index++) {
        void *result;

        assert_int_equal(pthread_join(waiters[index].thread, &result), 0);
        assert_ptr_equal(result, NULL);
        assert_true(waiters[index].kept);
    }
    assert_true(etwas_service_unwatch(other[0], 2));
    for (int end = 0; end < 2; end++) {
        (void)close(ends[end]);
        (void)close(other[end]);
    }
}

static void *take_turns(void *argument)
{
    struct waiter *waiter = argument;

    waiter->kept = true;
    if (waiter->forbids) {
        (void)etwas_cancel_forbid();
    }
    for (int turn = 0; turn < TURNS && waiter->kept; turn++) {
        etwas_guests_lock();
        waiter->kept = keeps(true);
        etwas_guests_unlock();
        waiter->kept = waiter->kept && keeps(waiter->forbids);
        if (etwas_guests_lock_before(0)) {
            etwas_guests_unlock();
        }
        waiter->kept = waiter->kept && keeps(waiter->forbids);
        etwas_service_wait_idle(0);
        waiter->kept = waiter->kept && keeps(waiter->forbids);
    }
    return NULL;
}

static void each_thread_has_its_own_state_back_when_it_lets_go_of_a_lock(void **state)
{
    struct waiter waiters[WAITERS];

    (void)state;
    for (int index = 0; index < WAITERS; index++) {
        waiters[index] = (struct waiter){.forbids = index % 2 == 0};
        assert_int_equal(pthread_create(&waiters[index].thread, NULL, take_turns, &waiters[index]),
                         0);
    }
    for (int index = 0; index < WAITERS; index++) {
        assert_int_equal(pthread_join(waiters[index].thread, NULL), 0);
        assert_true(waiters[index].kept);
    }
}

static bool keeps_in_scope(bool returns_early)
{
    ETWAS_UNCANCELLED_SCOPE;

    if (returns_early) {
        return keeps(true);
    }
    {
        ETWAS_UNCANCELLED_SCOPE;
    }
    return keeps(true); /* the inner scope's end restores the outer one's state */
}

static void a_scope_restores_the_state_of_cancellation_at_each_of_its_ends(void **state)
{
    (void)state;
    for (int round = 0; round < 2; round++) {
        assert_true(keeps_in_scope(round == 0));
        assert_true(keeps(false));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER_TEST(who_waits_for_a_handler_keeps_its_own_state_of_cancellation),
        FOLDER_TEST(a_scope_restores_the_state_of_cancellation_at_each_of_its_ends),
        FOLDER_TEST(each_thread_has_its_own_state_back_when_it_lets_go_of_a_lock),
    };

    return RUN_WITH_EACH_PROTOCOL(tests);
}
