/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A traced service of a small shop. It takes orders over a socket, calls other services for each,
 * and answers. If --orders is given, it makes that many orders itself; otherwise it serves until
 * SIGTERM.
 *
 * usage: service NAME FOLDER [--orders N [--threads N] [--pause MICROSECONDS]]
 *                [--call NAME,NAME]...
 *
 *   FOLDER  holds the sockets NAME.socket of this service and of those it calls. Events go to
 *           FOLDER/NAME/spool, their counts to FOLDER/NAME/counts
 *   --call  calls one of these for each order, and the others if that one does not answer
 *
 * Exit code: 0 on success, 1 on failure, 2 for a wrong call.
 */

#include "trace.h"

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    MOST_CALLS = 4,
    MOST_NAMES = 4,
    MOST_THREADS = 64,
    TIMEOUT_S = 2,
    ONE_IN_SOLD_OUT = 200,
    ONE_IN_SLOW = 100,
    WORK_US = 300,
    SLOW_US = 20000
};

static const char *name;
static const char *folder;
static unsigned long orders;
static unsigned long threads = 4;
static unsigned long pause_us = 1000;
static unsigned call_count;
static struct {
    unsigned name_count;
    char *names[MOST_NAMES];
} calls[MOST_CALLS];

/* The message on a socket, in both directions. */
struct message {
    struct shop_order order;
    uint32_t outcome;
};

/* A thread's connections to the services that it calls; -1: not connected. */
struct peers {
    int socket[MOST_CALLS][MOST_NAMES];
    unsigned seed;
};

static void open_peers(struct peers *peers)
{
    memset(peers->socket, 0xff, sizeof peers->socket);
    peers->seed = (unsigned)(uintptr_t)peers ^ (unsigned)getpid();
}

static void close_peers(struct peers *peers)
{
    for (unsigned i = 0; i < MOST_CALLS * MOST_NAMES; i++) {
        if ((&peers->socket[0][0])[i] >= 0) {
            (void)close((&peers->socket[0][0])[i]);
        }
    }
}

/* ---- calling others ---- */

static bool address_of(const char *service, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return snprintf(address->sun_path, sizeof address->sun_path, "%s/%s.socket", folder, service) <
           (int)sizeof address->sun_path;
}

static int connect_to(const char *service)
{
    const struct timeval timeout = {.tv_sec = TIMEOUT_S};
    struct sockaddr_un address;
    int peer = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (peer >= 0 && address_of(service, &address) &&
        connect(peer, (struct sockaddr *)&address, sizeof address) == 0 &&
        setsockopt(peer, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) == 0) {
        return peer;
    }
    if (peer >= 0) {
        (void)close(peer);
    }
    return -1;
}

/* Calls one service. Returns false if it does not answer. */
static bool ask(int *peer, const char *service, const struct shop_order *order,
                enum shop_outcome *outcome)
{
    struct message message = {.order = *order};

    if (*peer < 0) {
        *peer = connect_to(service);
    }
    if (*peer >= 0 && send(*peer, &message, sizeof message, MSG_NOSIGNAL) == sizeof message &&
        recv(*peer, &message, sizeof message, 0) == sizeof message &&
        message.outcome <= SHOP_FAILED) {
        *outcome = message.outcome;
        return true;
    }
    if (*peer >= 0) {
        (void)close(*peer);
        *peer = -1;
    }
    return false;
}

/* Calls a random service of a --call, and the next one if that does not answer. */
static enum shop_outcome call(unsigned which, struct peers *peers, const struct shop_order *order,
                              EVENT_INSTANCE_INFO *request)
{
    const unsigned first = (unsigned)rand_r(&peers->seed);
    enum shop_outcome outcome = SHOP_FAILED;
    bool is_answered = false;

    for (unsigned i = 0; i < calls[which].name_count && !is_answered; i++) {
        unsigned at = (first + i) % calls[which].name_count;
        const char *service = calls[which].names[at];
        EVENT_INSTANCE_INFO self;

        shop_trace_begin(SHOP_CALL, &self, request, order, service);
        is_answered = ask(&peers->socket[which][at], service, order, &outcome);
        if (!is_answered) {
            char reason[64];

            (void)snprintf(reason, sizeof reason, "%s does not answer", service);
            shop_trace_trouble(order, name, reason);
        }
        shop_trace_end(&self, request, order, outcome);
    }
    return outcome;
}

/* ---- one order ---- */

static enum shop_outcome work(struct peers *peers, const struct shop_order *order,
                              EVENT_INSTANCE_INFO *request)
{
    bool is_sold_out = call_count == 0 && rand_r(&peers->seed) % ONE_IN_SOLD_OUT == 0;
    bool is_slow = rand_r(&peers->seed) % ONE_IN_SLOW == 0;
    enum shop_outcome outcome = is_sold_out ? SHOP_REFUSED : SHOP_DONE;
    EVENT_INSTANCE_INFO self;

    shop_trace_begin(SHOP_WORK, &self, request, order, name);
    (void)usleep(is_slow ? SLOW_US : WORK_US / 2 + (unsigned)rand_r(&peers->seed) % WORK_US);
    if (is_sold_out) {
        shop_trace_trouble(order, name, "sold out");
    }
    shop_trace_end(&self, request, order, outcome);
    return outcome;
}

static enum shop_outcome handle(struct peers *peers, const struct shop_order *order)
{
    EVENT_INSTANCE_INFO request;
    enum shop_outcome outcome;

    shop_trace_received(order, name);
    shop_trace_begin(SHOP_REQUEST, &request, NULL, order, name);
    outcome = work(peers, order, &request);
    for (unsigned i = 0; i < call_count && outcome == SHOP_DONE; i++) {
        outcome = call(i, peers, order, &request);
    }
    shop_trace_end(&request, NULL, order, outcome);
    shop_trace_answered(order, name, outcome);
    return outcome;
}

/* ---- serving ---- */

static void *serve_one(void *argument)
{
    int client = (int)(intptr_t)argument;
    struct message message;
    struct peers peers;

    open_peers(&peers);
    while (recv(client, &message, sizeof message, 0) == sizeof message) {
        message.outcome = handle(&peers, &message.order);
        if (send(client, &message, sizeof message, MSG_NOSIGNAL) != sizeof message) {
            break;
        }
    }
    close_peers(&peers);
    (void)close(client);
    return NULL;
}

static void *serve_all(void *argument)
{
    int listener = (int)(intptr_t)argument;

    for (;;) {
        int client = accept(listener, NULL, NULL);
        pthread_t thread;

        if (client >= 0 &&
            pthread_create(&thread, NULL, serve_one, (void *)(intptr_t)client) == 0) {
            (void)pthread_detach(thread);
        } else if (client >= 0) {
            (void)close(client);
        }
    }
    return NULL;
}

static bool serve_until_signal(const sigset_t *ends)
{
    struct sockaddr_un address;
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    pthread_t thread;
    int signal;

    if (listener < 0 || !address_of(name, &address) ||
        bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, SOMAXCONN) != 0 ||
        pthread_create(&thread, NULL, serve_all, (void *)(intptr_t)listener) != 0) {
        fprintf(stderr, "%s cannot serve: %s\n", name, strerror(errno));
        return false;
    }
    return sigwait(ends, &signal) == 0;
}

/* ---- ordering ---- */

static void *order_some(void *unused)
{
    static _Atomic uint32_t ordered;
    struct peers peers;
    uint32_t number;

    open_peers(&peers);
    while ((number = atomic_fetch_add(&ordered, 1)) < orders) {
        struct shop_order order = {.number = number + 1,
                                   .amount = rand_r(&peers.seed) % 10000 / 100.0};

        (void)EventActivityIdControl(EVENT_ACTIVITY_CTRL_CREATE_ID, &order.activity);
        (void)handle(&peers, &order);
        (void)usleep((useconds_t)pause_us);
    }
    close_peers(&peers);
    return unused;
}

static bool order_all(void)
{
    pthread_t thread[MOST_THREADS];
    unsigned started = 0;

    while (started < threads && pthread_create(&thread[started], NULL, order_some, NULL) == 0) {
        started++;
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(thread[i], NULL);
    }
    return started == threads;
}

/* ---- the command line ---- */

static bool read_number(const char *text, unsigned long most, unsigned long *value)
{
    char *end;

    errno = 0;
    *value = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && *value > 0 && *value <= most;
}

static bool add_call(char *list)
{
    char *rest = list;
    char *service;

    if (call_count == MOST_CALLS) {
        return false;
    }
    while ((service = strtok_r(rest, ",", &rest)) != NULL) {
        if (calls[call_count].name_count == MOST_NAMES) {
            return false;
        }
        calls[call_count].names[calls[call_count].name_count++] = service;
    }
    return calls[call_count++].name_count > 0;
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {{"orders", required_argument, NULL, 'o'},
                                            {"threads", required_argument, NULL, 't'},
                                            {"pause", required_argument, NULL, 'p'},
                                            {"call", required_argument, NULL, 'c'},
                                            {NULL, 0, NULL, 0}};
    bool is_right = true;
    int option;

    while (is_right && (option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        is_right = option == 'o'   ? read_number(optarg, UINT32_MAX - MOST_THREADS, &orders)
                   : option == 't' ? read_number(optarg, MOST_THREADS, &threads)
                   : option == 'p' ? read_number(optarg, 999999, &pause_us)
                                   : option == 'c' && add_call(optarg);
    }
    if (!is_right || argc - optind != 2) {
        return false;
    }
    name = argv[optind];
    folder = argv[optind + 1];
    return true;
}

int main(int argc, char **argv)
{
    char spool[4096];
    char counts[4096];
    sigset_t ends;
    bool is_done;

    if (!read_options(argc, argv)) {
        fprintf(stderr, "usage: service NAME FOLDER [--orders N [--threads N] [--pause US]] "
                        "[--call NAME,NAME]...\n");
        return 2;
    }
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    (void)pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in every thread, for sigwait */
    (void)snprintf(spool, sizeof spool, "%s/%s/spool", folder, name);
    (void)snprintf(counts, sizeof counts, "%s/%s/counts", folder, name);
    if (shop_trace_start(name, spool, counts) != ERROR_SUCCESS) {
        return 1;
    }
    is_done = orders > 0 ? order_all() : serve_until_signal(&ends);
    return shop_trace_stop() == ERROR_SUCCESS && is_done ? 0 : 1;
}
