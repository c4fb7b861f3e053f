/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_guests.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "sharing/descriptions.h"
#include "sharing/host_consumers.h"
#include "sharing/host_request.h"
#include "sharing/host_unattached.h"

enum {
    NO_FILES_PAUSE_NS = 10000000,
    TURN_AWAY_NS = 20000000, /* for a request, which comes right after its connection */
};

/* ---- spare descriptors ----------------------------------------------------------------------- */

/*
 * A fork waits for both users of the spares: the thread that starts or stops a session, which holds
 * the lock of host.c, and handlers of the control thread.
 */
static pthread_mutex_t spares_lock = PTHREAD_MUTEX_INITIALIZER;
static struct etwas_spares spares = ETWAS_REGISTRY_NO_SPARES;
static uint32_t hosted_sessions;

void etwas_host_spares_begin(void)
{
    (void)pthread_mutex_lock(&spares_lock);
    hosted_sessions++;
    (void)etwas_registry_fill_spares(&spares);
    (void)pthread_mutex_unlock(&spares_lock);
}

void etwas_host_spares_end(void)
{
    (void)pthread_mutex_lock(&spares_lock);
    if (--hosted_sessions == 0) {
        etwas_registry_free_spares(&spares);
    }
    (void)pthread_mutex_unlock(&spares_lock);
}

/*
 * After ERROR_NO_SYSTEM_RESOURCES the caller closes the connection soon and calls spares_return.
 */
static uint32_t spares_accept(int listener, int *connection, struct etwas_peer *peer)
{
    uint32_t code;

    (void)pthread_mutex_lock(&spares_lock);
    code = etwas_registry_accept(listener, &spares, connection, peer);
    (void)pthread_mutex_unlock(&spares_lock);
    return code;
}

/*
 * Called around a message that may carry a descriptor. Closes the spares if no more files may be
 * open, and opens them again.
 */
static void spares_lend(int connection)
{
    if (!etwas_registry_can_open(connection, 1)) {
        (void)pthread_mutex_lock(&spares_lock);
        etwas_registry_free_spares(&spares);
        (void)pthread_mutex_unlock(&spares_lock);
    }
}

/* A connection may outlive the last session, which closed the spares. */
static void spares_return(void)
{
    (void)pthread_mutex_lock(&spares_lock);
    if (hosted_sessions != 0) {
        (void)etwas_registry_fill_spares(&spares);
    }
    (void)pthread_mutex_unlock(&spares_lock);
}

void etwas_host_spares_forget(void)
{
    etwas_registry_free_spares(&spares);
    hosted_sessions = 0;
}

/* ---- received messages ----------------------------------------------------------------------- */

struct received {
    int connection;
    uint64_t session; /* the handle of the session that it is to */
    const struct etwas_message *message;
    const void *body;
};

static enum etwas_service_answer receive_attach(const struct received *received)
{
    return etwas_host_guests_attach(received->session, received->connection);
}

/* A guest reports which entry it has applied and, while it is not attached, its count. */
static enum etwas_service_answer receive_acknowledge(const struct received *received)
{
    const struct etwas_message *message = received->message;
    const int connection = received->connection;
    uint64_t number;

    if ((message->descriptor >= 0 || message->bytes == sizeof(struct etwas_unattached_report)) &&
        etwas_host_unattached_receive(received->session, connection, message->descriptor,
                                      received->body, message->bytes)) {
        /* it does not use the pool that it was given */
        (void)etwas_host_guests_release(received->session, connection);
    }
    if (message->bytes == sizeof number) {
        memcpy(&number, received->body, sizeof number);
        if (!etwas_host_guests_acknowledge(received->session, connection, number)) {
            etwas_host_unattached_acknowledge(received->session, connection, number);
        }
    }
    etwas_host_unattached_read(received->session, connection);
    return ETWAS_SERVICE_KEEP;
}

static enum etwas_service_answer receive_descriptions(const struct received *received)
{
    etwas_host_store_descriptions(received->body, received->message->bytes);
    return ETWAS_SERVICE_KEEP;
}

static enum etwas_service_answer receive_consumer(const struct received *received)
{
    return etwas_host_consume(received->connection, received->session) ? ETWAS_SERVICE_GIVE
                                                                       : ETWAS_SERVICE_CLOSE;
}

/* The request owns the connection from here on; otherwise it is closed. */
static enum etwas_service_answer receive_request(const struct received *received)
{
    return etwas_host_request(received->connection, received->session, received->message,
                              received->body)
               ? ETWAS_SERVICE_GIVE
               : ETWAS_SERVICE_CLOSE;
}

/* There is a route for each op. Messages of later builds have no route. */
static const struct route {
    enum etwas_service_answer (*receive)(const struct received *received);
    bool is_guests;       /* sent by a process while it is a guest */
    bool has_descriptor;  /* which the handler owns */
    bool is_request;      /* is answered by a separate thread */
    bool is_of_recorders; /* recorders that only this process knows also take it */
} routes[] = {
    [ETWAS_MESSAGE_ATTACH] = {.receive = receive_attach},
    [ETWAS_MESSAGE_CONTROL] = {.receive = receive_request, .is_request = true},
    [ETWAS_MESSAGE_ENABLE] = {.receive = receive_request, .is_request = true},
    [ETWAS_MESSAGE_DESCRIBE] = {.receive = receive_descriptions, .is_guests = true},
    [ETWAS_MESSAGE_ACKNOWLEDGE] = {.receive = receive_acknowledge,
                                   .is_guests = true,
                                   .has_descriptor = true},
    [ETWAS_MESSAGE_SNAPSHOT] = {.receive = receive_request,
                                .is_request = true,
                                .is_of_recorders = true},
    [ETWAS_MESSAGE_CONSUME] = {.receive = receive_consumer},
    [ETWAS_MESSAGE_ACCOUNT] = {.receive = receive_request, .is_request = true},
};

static const struct route *receive_route_of(uint16_t op)
{
    static const struct route none;

    return op < sizeof routes / sizeof *routes ? &routes[op] : &none;
}

/* Receives the message of a connection, or its end. */
static enum etwas_service_answer receive_message(int connection, uint64_t session)
{
    static uint8_t body[ETWAS_MESSAGE_BYTES] __attribute__((aligned(16))); /* the thread's */
    struct etwas_message message;
    const struct received received = {connection, session, &message, body};
    const struct route *route;
    uint32_t code = etwas_message_receive(connection, &message, body, sizeof body, 0);

    if (code == ERROR_TIMEOUT) {
        return ETWAS_SERVICE_KEEP;
    }
    if (code != ERROR_SUCCESS) {
        /* it has ended, or sends garbage */
        (void)etwas_host_guests_release(session, connection);
        return ETWAS_SERVICE_CLOSE;
    }
    route = receive_route_of(message.op);
    if (message.descriptor >= 0 && !route->has_descriptor) {
        (void)close(message.descriptor);
    }
    /*
     * A guest sends no further requests. Otherwise its connection would belong to two rows, or to a
     * row and a request.
     */
    if (!route->is_guests && etwas_host_guests_release(session, connection)) {
        return ETWAS_SERVICE_CLOSE;
    }
    return route->receive != NULL ? route->receive(&received) : ETWAS_SERVICE_CLOSE;
}

/* ---- handlers of connections ----------------------------------------------------------------- */

/* When a process is no longer watched its count is final. */
static enum etwas_service_answer connection_receive(int connection, uint64_t session)
{
    enum etwas_service_answer answer;

    spares_lend(connection);
    answer = receive_message(connection, session);
    if (answer != ETWAS_SERVICE_KEEP) {
        etwas_host_unattached_end(session, connection);
    }
    spares_return();
    return answer;
}

static enum etwas_service_answer connection_receive_of_recorder(int connection, uint64_t session)
{
    struct etwas_snapshot_request body;
    struct etwas_message message;
    uint32_t code = etwas_message_receive(connection, &message, &body, sizeof body, 0);

    if (code == ERROR_TIMEOUT) {
        return ETWAS_SERVICE_KEEP;
    }
    if (code == ERROR_SUCCESS && message.descriptor >= 0) {
        (void)close(message.descriptor);
    }
    return code == ERROR_SUCCESS && receive_route_of(message.op)->is_of_recorders
               ? receive_request(&(struct received){connection, session, &message, &body})
               : ETWAS_SERVICE_CLOSE;
}

/*
 * Handles a connection that cannot be kept. A request is still answered, so that a session can be
 * queried and stopped. A guest is turned away: the events that it has counted are added to the lost
 * ones, and the session's account says that it cannot log.
 */
static void connection_turn_away(int connection, uint64_t session, etwas_service_handler receive,
                                 const struct etwas_peer *peer, uint32_t code)
{
    uint16_t op = etwas_message_next_op(connection, etwas_monotonic_ns() + TURN_AWAY_NS);

    if (receive_route_of(op)->is_request) {
        if (receive(connection, session) == ETWAS_SERVICE_GIVE) {
            return;
        }
    } else {
        spares_lend(connection);
        etwas_host_unattached_turn_away(session, connection, peer->process_id, code);
    }
    etwas_descriptor_close(connection);
    spares_return();
}

/* ---- accepting ------------------------------------------------------------------------------- */

static enum etwas_service_answer connection_accept(int listener, uint64_t session,
                                                   etwas_service_handler receive)
{
    const struct timespec pause = {.tv_nsec = NO_FILES_PAUSE_NS};
    struct etwas_peer peer;
    int connection;
    uint32_t code = spares_accept(listener, &connection, &peer);

    if (code == ERROR_SUCCESS) {
        code = etwas_service_watch(connection, true, receive, session);
    }
    etwas_host_unattached_refresh(session); /* before a query is answered, by any of these ways */
    if (code == ERROR_NO_SYSTEM_RESOURCES || code == ERROR_NOT_ENOUGH_MEMORY) {
        connection_turn_away(connection, session, receive, &peer, code);
    } else if (code == ERROR_BUSY) {
        /* poll reports it again at once, until the program closes files */
        (void)nanosleep(&pause, NULL);
    }
    return ETWAS_SERVICE_KEEP;
}

enum etwas_service_answer etwas_host_accept(int listener, uint64_t session)
{
    return connection_accept(listener, session, connection_receive);
}

enum etwas_service_answer etwas_host_accept_controller(int listener, uint64_t session)
{
    return connection_accept(listener, session, connection_receive_of_recorder);
}
