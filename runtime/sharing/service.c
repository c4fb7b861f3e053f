/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/service.h"

#include <ck_pr.h>
#include <errno.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "platform/cancel.h"
#include "platform/own_descriptor.h"
#include "platform/rseq.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "registry/joined_process.h"
#include "registry/removal.h"
#include "shared/folder.h"
#include "sharing/sharing.h"

enum {
    RETRY_MS = 1000, /* without memory for a first list, or without a thread */
    /* between checks of its files if the system does not report their removal */
    UNNOTICED_MS = 5000,
    SETTLE_PAUSE_NS = 100000,
    FIRST_ROOM = 16, /* watches */
};

struct watch {
    int descriptor;
    bool is_owned;
    etwas_service_handler handler;
    uint64_t context;
    uint64_t number; /* of this watch: the descriptor's number may be reused */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/* cancellation state of the thread that holds the lock, from before it took it */
static int cancelling;
static pthread_cond_t handled = PTHREAD_COND_INITIALIZER;

/* Guarded by the lock. */
static struct watch *watches;
static uint32_t watch_count;
static uint32_t watch_room;
static uint64_t next_number = 1;
static uint64_t running;    /* the watch whose handler runs; 0: none */
static uint64_t idle_turns; /* turns after a wake-up in which no descriptor was ready */
static struct etwas_registry_process process = {.guids = {.lock = -1}, .socket = -1};
static int wake_sockets[2] = {
    -1, -1}; /* to read and to write: wake the thread when the watches have changed */
static uint32_t is_running;
static uint32_t not_restored; /* why its files could not be restored, the last time */
static bool has_ended; /* set when the process ends; its other threads may run for a moment */

/* Constant once the process has joined. */
static void (*receive_handler)(const struct etwas_notification *notification);
static void (*missing_handler)(void);
static bool
    has_removal_watch; /* whether removals are reported; otherwise it checks from time to time */

static void *deferred_call; /* a function that is to be called; NULL: none */

/*
 * Cancellation is disabled while the lock is held, since the code under it has cancellation points.
 */
static void service_lock(void)
{
    int before = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&mutex);
    cancelling = before;
}

static void service_unlock(void)
{
    int before = cancelling;

    (void)pthread_mutex_unlock(&mutex);
    etwas_cancel_allow(before);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* The polled descriptors, and the watch of each. The wake socket comes first, and has no watch. */
struct listening {
    struct pollfd *polls;
    uint64_t *numbers;
    uint32_t room;
    uint32_t count;
};

/* The first room is enough for most processes, so a session that begins needs no memory here. */
static bool service_make_room(struct listening *listening, uint32_t count)
{
    uint32_t room = count < FIRST_ROOM ? FIRST_ROOM : 2 * count;
    struct pollfd *polls;
    uint64_t *numbers;

    if (count <= listening->room) {
        return true;
    }
    polls = realloc(listening->polls, room * sizeof *polls);
    if (polls != NULL) {
        listening->polls = polls;
    }
    numbers = realloc(listening->numbers, room * sizeof *numbers);
    if (numbers != NULL) {
        listening->numbers = numbers;
    }
    if (polls == NULL || numbers == NULL) {
        return false;
    }
    listening->room = room;
    return true;
}

/*
 * If there is no memory for more, the thread polls the old list, and tries again at the next
 * wake-up. Called with the lock held.
 */
static void service_list_watches(struct listening *listening)
{
    uint32_t count = 1;

    if (!service_make_room(listening, watch_count + 1)) {
        return;
    }
    listening->polls[0] = (struct pollfd){.fd = wake_sockets[0], .events = POLLIN};
    listening->numbers[0] = 0;
    for (uint32_t index = 0; index < watch_count; index++) {
        listening->polls[count] =
            (struct pollfd){.fd = watches[index].descriptor, .events = POLLIN};
        listening->numbers[count++] = watches[index].number;
    }
    listening->count = count;
}

/* Called with the lock held. Returns NULL if it is no longer watched. */
static struct watch *service_find_number(uint64_t number)
{
    for (uint32_t index = 0; index < watch_count; index++) {
        if (watches[index].number == number) {
            return &watches[index];
        }
    }
    return NULL;
}

static void service_remove_watch(struct watch *watch)
{
    *watch = watches[--watch_count];
}

/*
 * Called with the lock held; the handler runs without it. A descriptor that the program has closed
 * is no longer watched.
 */
static void service_handle(uint64_t number)
{
    struct watch *found = service_find_number(number);
    enum etwas_service_answer answer;
    struct watch watch;

    if (found == NULL) {
        return;
    }
    if (!etwas_descriptor_is_own(found->descriptor)) {
        service_remove_watch(found);
        return;
    }
    watch = *found;
    running = number;
    service_unlock();
    answer = watch.handler(watch.descriptor, watch.context);
    service_lock();
    running = 0;
    /* Changes of other watches may have moved it. */
    found = service_find_number(number);
    if (answer != ETWAS_SERVICE_KEEP && found != NULL) {
        service_remove_watch(found);
        if (answer == ETWAS_SERVICE_CLOSE) {
            etwas_descriptor_close(watch.descriptor);
        }
    }
    (void)pthread_cond_broadcast(&handled);
}

/*
 * Waits until it is woken or a descriptor is ready. Returns false if the program has closed the
 * wake socket; nothing more can be received then.
 */
static bool service_listen_once(struct listening *listening)
{
    int ready = poll(listening->polls, listening->count,
                     listening->count == 0 || ck_pr_load_ptr(&deferred_call) != NULL ? RETRY_MS
                     : has_removal_watch                                             ? -1
                                         : UNNOTICED_MS);
    char wakes[64];

    if (ready <= 0) {
        if (ready < 0 && errno != EINTR) {
            /* more descriptors than the program may open now, or no memory */
            (void)poll(NULL, 0, RETRY_MS);
        }
        if (ready == 0 && listening->count != 0 && !has_removal_watch) {
            missing_handler();
        }
        listening->count = 0;
        return true;
    }
    if (listening->polls[0].revents != 0) {
        if (!etwas_descriptor_is_own(listening->polls[0].fd)) {
            return false;
        }
        while (recv(listening->polls[0].fd, wakes, sizeof wakes, MSG_DONTWAIT) > 0) {
        }
    }
    return true;
}

/* Called with the lock held. */
static void service_handle_ready(const struct listening *listening)
{
    bool any = false;

    for (uint32_t index = 1; index < listening->count; index++) {
        if (listening->polls[index].revents != 0) {
            service_handle(listening->numbers[index]);
            any = true;
        }
    }
    idle_turns += !any;
}

static void *service_call(void *work)
{
    ((void (*)(void))(uintptr_t)work)();
    return NULL;
}

/*
 * Called with the lock held, which is released to start a thread. If there is no thread it is tried
 * again.
 */
static void service_run_deferred_call(void)
{
    void *work = ck_pr_load_ptr(&deferred_call);

    if (work != NULL && ck_pr_cas_ptr(&deferred_call, work, NULL)) {
        service_unlock();
        if (!etwas_service_spawn(service_call, work, "etwas-look")) {
            (void)ck_pr_cas_ptr(&deferred_call, NULL, work);
        }
        service_lock();
    }
}

static void *service_thread(void *argument)
{
    static struct listening
        listening; /* kept for the thread of a fork's child, which begins with it */

    service_lock();
    for (;;) {
        bool goes_on;

        service_list_watches(&listening);
        service_unlock();
        goes_on = service_listen_once(&listening);
        service_lock();
        if (!goes_on) {
            break;
        }
        service_handle_ready(&listening);
        service_run_deferred_call();
    }
    service_unlock();
    return argument;
}

static void service_wake(void)
{
    if (etwas_descriptor_is_own(wake_sockets[1])) {
        (void)send(wake_sockets[1], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
}

void etwas_service_defer_call(void (*work)(void))
{
    const int error = errno;

    if (etwas_service_runs()) {
        ck_pr_store_ptr(&deferred_call, (void *)(uintptr_t)work);
        service_wake();
    }
    errno = error;
}

/* ---- watching -------------------------------------------------------------------------------- */

static uint32_t service_add_watch(const struct watch *watch)
{
    if (watch_count == watch_room) {
        uint32_t room = watch_room == 0 ? FIRST_ROOM : 2 * watch_room;
        struct watch *more = realloc(watches, room * sizeof *more);

        if (more == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        watches = more;
        watch_room = room;
    }
    watches[watch_count] = *watch;
    watches[watch_count++].number = next_number++;
    return ERROR_SUCCESS;
}

uint32_t etwas_service_watch(int descriptor, bool is_owned, etwas_service_handler handler,
                             uint64_t context)
{
    const struct watch watch = {descriptor, is_owned, handler, context, 0};
    uint32_t code;

    service_lock();
    code = service_add_watch(&watch);
    service_wake();
    service_unlock();
    return code;
}

bool etwas_service_unwatch(int descriptor, uint64_t context)
{
    uint64_t number = 0;
    int before;

    service_lock();
    for (uint32_t index = 0; number == 0 && index < watch_count; index++) {
        if (watches[index].descriptor == descriptor && watches[index].context == context) {
            number = watches[index].number;
        }
    }
    before = cancelling; /* a thread that has the lock while this waits stores its own */
    while (number != 0 && running == number) {
        (void)pthread_cond_wait(&handled, &mutex);
    }
    cancelling = before;
    if (number != 0 && service_find_number(number) != NULL) {
        service_remove_watch(service_find_number(number));
        service_wake();
    } else {
        number = 0;
    }
    service_unlock();
    return number != 0;
}

void etwas_service_wait_idle(uint64_t deadline_ns)
{
    const struct timespec pause = {.tv_nsec = SETTLE_PAUSE_NS};
    uint64_t before;
    bool is_over;

    service_lock();
    before = idle_turns;
    service_unlock();
    /* Two turns, because the first may have begun before this call. */
    do {
        service_lock();
        service_wake();
        service_unlock();
        (void)nanosleep(&pause, NULL);
        service_lock();
        is_over = idle_turns - before > 1 || is_running == 0;
        service_unlock();
    } while (!is_over && etwas_monotonic_ns() < deadline_ns);
}

bool etwas_service_spawn(void *(*work)(void *argument), void *argument, const char *name)
{
    pthread_t thread;

    if (etwas_thread_create(&thread, NULL, work, argument) != 0) {
        return false;
    }
    (void)pthread_setname_np(thread, name);
    (void)pthread_detach(thread);
    return true;
}

/* ---- joining --------------------------------------------------------------------------------- */

static enum etwas_service_answer service_receive(int descriptor, uint64_t context)
{
    struct etwas_notification notification;

    (void)descriptor;
    (void)context;
    if (etwas_registry_receive(&process, &notification) == ERROR_SUCCESS) {
        receive_handler(&notification);
    }
    return ETWAS_SERVICE_KEEP;
}

static enum etwas_service_answer service_receive_removal(int descriptor, uint64_t context)
{
    (void)context;
    etwas_removal_receive(descriptor);
    missing_handler();
    return ETWAS_SERVICE_KEEP;
}

/* If this fails the process still joins. */
static void service_watch_removals(void)
{
    const struct watch watch = {.descriptor = etwas_removal_begin(),
                                .handler = service_receive_removal};

    has_removal_watch = watch.descriptor >= 0 && service_add_watch(&watch) == ERROR_SUCCESS;
    if (!has_removal_watch) {
        etwas_removal_end();
    }
    etwas_removal_watch(process.name);
}

static uint32_t service_start_thread(void)
{
    pthread_t thread;

    if (etwas_thread_create(&thread, NULL, service_thread, NULL) != 0) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    (void)pthread_setname_np(thread, "etwas-control");
    (void)pthread_detach(thread);
    return ERROR_SUCCESS;
}

static void service_close_bell(void)
{
    for (int end = 0; end < 2; end++) {
        etwas_descriptor_close(wake_sockets[end]);
        wake_sockets[end] = -1;
    }
}

static uint32_t service_join(void)
{
    const struct watch own = {.handler = service_receive};
    uint32_t code;

    /*
     * Every guest does this. The system does it quickly only while a process has one thread;
     * otherwise it takes 10 ms.
     */
    etwas_rseq_set_trial_storage(&etwas_sequences_keeper);
    (void)etwas_rseq_prepare();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, wake_sockets) != 0) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    wake_sockets[0] = etwas_descriptor_protect(wake_sockets[0]);
    wake_sockets[1] = etwas_descriptor_protect(wake_sockets[1]);
    code = etwas_registry_join(&process);
    if (code == ERROR_SUCCESS) {
        code = service_add_watch(&own);
    }
    if (code == ERROR_SUCCESS) {
        watches[0].descriptor = process.socket;
        service_watch_removals();
        code = etwas_descriptors_leave_room() ? service_start_thread()
                                              : (uint32_t)ERROR_NO_SYSTEM_RESOURCES;
    }
    if (code != ERROR_SUCCESS) {
        watch_count = 0;
        etwas_removal_end();
        etwas_registry_leave(&process);
        service_close_bell();
    }
    return code;
}

uint32_t etwas_service_begin(void (*receive)(const struct etwas_notification *notification),
                             void (*files_missing)(void))
{
    uint32_t code = ERROR_SUCCESS;

    service_lock();
    if (has_ended) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    } else if (is_running == 0) {
        receive_handler = receive;
        missing_handler = files_missing;
        code = service_join();
        ck_pr_store_32(&is_running, code == ERROR_SUCCESS);
    }
    service_unlock();
    return code;
}

bool etwas_service_runs(void)
{
    return ck_pr_load_32(&is_running) != 0;
}

const char *etwas_service_name(void)
{
    return process.name;
}

bool etwas_service_restore(void)
{
    bool is_anew = false;

    service_lock();
    if (is_running != 0) {
        etwas_sharing_store_restored(&not_restored, etwas_registry_rejoin(&process, &is_anew));
        if (is_anew) {
            service_wake();
        }
    }
    service_unlock();
    return is_anew;
}

void etwas_service_refresh(void)
{
    service_lock();
    service_wake();
    service_unlock();
}

bool etwas_service_publish(const struct etwas_registry_guid_list *list)
{
    bool is_published;

    service_lock();
    is_published = is_running != 0 && etwas_registry_publish_guids(&process, list) == ERROR_SUCCESS;
    service_unlock();
    return is_published;
}

/* The thread keeps sleeping: nothing is watched any more. */
void etwas_service_end(void)
{
    service_lock();
    has_ended = true;
    if (is_running != 0) {
        watch_count = 0;
        ck_pr_store_32(&is_running, 0);
        etwas_registry_leave(&process);
    }
    service_unlock();
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_service_before_fork(void)
{
    service_lock();
}

void etwas_service_after_fork(bool is_child)
{
    if (is_child) {
        for (uint32_t index = 0; index < watch_count; index++) {
            if (watches[index].is_owned) {
                etwas_descriptor_close(watches[index].descriptor);
            }
        }
        watch_count = 0;
        running = 0;
        deferred_call = NULL;
        has_ended = false;
        service_close_bell();
        etwas_removal_end();
        etwas_registry_process_forget(&process);
        ck_pr_store_32(&is_running, 0);
        handled = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    }
    service_unlock();
}
