/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_guests.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <pthread.h>
#include <time.h>

#include "buffer/pool_join.h"
#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "registry/connection.h"
#include "shared/mapping.h"
#include "sharing/host_unattached.h"

enum {
    NANOSECONDS_A_MILLISECOND = 1000000,
    PAUSE_NS = 500000,
};

struct row {
    int connection;        /* -1: the row is free */
    uint64_t acknowledged; /* number of the entry that the guest has acknowledged */
    bool lingers;          /* its connection has ended, and it still has the pool and may log */
    bool is_awaited;       /* a thread waits until it has released the pool */
};

/* Indexed by the session's index in the table. Guarded by `lock`. */
static struct guests {
    uint64_t session; /* its handle; 0: no process may attach */
    uint32_t gate;
    uint32_t count; /* including those that linger */
    struct row rows[ETWAS_HOST_GUESTS];
} guests_by_session[ETWAS_SESSION_ENTRIES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/*
 * Returns the guests of a session by its handle; NULL: the session has ended. Called with the lock
 * held.
 */
static struct guests *guests_of(uint64_t session)
{
    struct guests *guests = &guests_by_session[etwas_handle_index(session) - 1];

    return guests->session == session ? guests : NULL;
}

/* Returns the session's place in the table, which another one may have by now. */
static struct etwas_session *guests_session_of(uint64_t handle)
{
    return &etwas_sessions[etwas_handle_index(handle) - 1];
}

/* Returns the row of a guest's connection; NULL: it is no guest's. Called with the lock held. */
static struct row *guests_row_of(struct guests *guests, int connection)
{
    for (uint32_t row = 0; guests != NULL && row < ETWAS_HOST_GUESTS; row++) {
        if (guests->rows[row].connection == connection) {
            return &guests->rows[row];
        }
    }
    return NULL;
}

void etwas_host_guests_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void etwas_host_guests_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

bool etwas_host_guests_set_awaited(uint64_t session, uint32_t row, bool is_awaited)
{
    struct guests *guests = guests_of(session);

    if (guests != NULL) {
        guests->rows[row].is_awaited = is_awaited;
    }
    return guests != NULL;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/*
 * Claims a slot of the session's pool, with the row's number. ERROR_WMI_INSTANCE_NOT_FOUND: the
 * session has ended; ERROR_NO_SYSTEM_RESOURCES: there are too many guests, and a slot may become
 * free.
 */
static uint32_t guest_claim_slot(uint64_t session, uint32_t *number)
{
    struct etwas_held_session held;
    uint32_t code = ERROR_SUCCESS;

    if (etwas_session_hold(session, &held) != ERROR_SUCCESS) {
        return ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    if (held.session->buffers.pool == NULL) {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    } else if (!etwas_guest_slot_claim(held.session->buffers.pool, number)) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    }
    etwas_session_release(&held);
    return code;
}

/* Releases the slot of a process that has died or not joined. */
static void guest_release_slot(uint64_t session, uint32_t number)
{
    struct etwas_held_session held;

    if (etwas_session_hold(session, &held) == ERROR_SUCCESS) {
        if (held.session->buffers.pool != NULL) {
            etwas_guest_slot_died(held.session->buffers.pool, number);
        }
        etwas_session_release(&held);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

void etwas_host_guests_free_row(uint64_t session, uint32_t number)
{
    struct guests *guests;
    bool is_ours = false;

    (void)pthread_mutex_lock(&lock);
    guests = guests_of(session);
    if (guests != NULL) {
        is_ours = guests->rows[number].lingers;
        guests->rows[number].lingers = false;
        if (is_ours && --guests->count == 0) {
            /* what guests have committed is visible: pairs with shut_down.c */
            ck_pr_fence_release();
            ck_pr_store_32(&guests_session_of(session)->guests, ETWAS_GUESTS_ARE_GONE);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    if (is_ours) {
        guest_release_slot(session, number);
    }
}

/* Frees the rows that do not linger any more and that no thread waits for. */
static void guests_free_rows(uint64_t session)
{
    bool lingering[ETWAS_HOST_GUESTS] = {false};
    const struct guests *guests;

    (void)pthread_mutex_lock(&lock);
    guests = guests_of(session);
    for (uint32_t row = 0; guests != NULL && row < ETWAS_HOST_GUESTS; row++) {
        lingering[row] = guests->rows[row].lingers && !guests->rows[row].is_awaited;
    }
    (void)pthread_mutex_unlock(&lock);
    for (uint32_t row = 0; row < ETWAS_HOST_GUESTS; row++) {
        if (lingering[row] && !etwas_lingering_has_pool(session, row)) {
            etwas_host_guests_free_row(session, row);
        }
    }
}

/* Releases the row of a connection that ends. Returns whether there was one. */
bool etwas_host_guests_release(uint64_t session, int connection)
{
    struct guests *guests;
    uint32_t number = 0;
    struct row *row;

    (void)pthread_mutex_lock(&lock);
    guests = guests_of(session);
    row = guests_row_of(guests, connection);
    if (row != NULL) {
        row->connection = -1;
        row->lingers = true;
        number = (uint32_t)(row - guests->rows);
    }
    (void)pthread_mutex_unlock(&lock);
    if (row != NULL) {
        etwas_lingering_await_or_free(session, number);
    }
    return row != NULL;
}

/* Claims a row for the connection. Errors as for the slot. */
static uint32_t guest_claim_row(uint64_t session, int connection,
                                struct etwas_attach_answer *answer)
{
    struct guests *guests;
    uint32_t code;

    guests_free_rows(session);
    code = guest_claim_slot(session, &answer->row);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    (void)pthread_mutex_lock(&lock);
    guests = guests_of(session);
    if (guests != NULL) {
        /*
         * This store comes before the guest has the pool and finds a gate open; STOP closes the
         * gates and then reads it. At least one sees the other: the call that sends the descriptor
         * is a full fence.
         */
        ck_pr_store_32(&guests_session_of(session)->guests, ETWAS_GUESTS_MAY_BE_THERE);
        guests->rows[answer->row] = (struct row){.connection = connection};
        guests->count++;
        answer->gate = guests->gate;
    }
    (void)pthread_mutex_unlock(&lock);
    return guests != NULL ? ERROR_SUCCESS : ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* ---- attaching: in the control thread -------------------------------------------------------- */

/* Sends the pool's descriptor. The mapping stays while the session is held. */
static uint32_t guest_answer_attach(uint64_t session, int connection,
                                    const struct etwas_attach_answer *body)
{
    struct etwas_message answer = {.op = ETWAS_MESSAGE_ATTACH, .bytes = sizeof *body};
    struct etwas_held_session held;
    uint32_t code = etwas_session_hold(session, &held);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (held.session->mapping != NULL) {
        answer.descriptor = held.session->mapping->file.descriptor;
        answer.lock = etwas_lingering_lock_byte(body->row);
        code = etwas_message_send(connection, &answer, body, 0);
    } else {
        code = ERROR_WMI_INSTANCE_NOT_FOUND;
    }
    etwas_session_release(&held);
    return code;
}

/* Whether the process has ended since its request. Its other messages are still received. */
static bool guest_has_hung_up(int connection)
{
    struct pollfd what = {.fd = connection, .events = POLLRDHUP};

    return poll(&what, 1, 0) > 0 && (what.revents & (POLLHUP | POLLRDHUP)) != 0;
}

enum etwas_service_answer etwas_host_guests_attach(uint64_t session, int connection)
{
    struct etwas_attach_answer body = {0};
    struct etwas_peer peer;
    struct etwas_message refusal = {.op = ETWAS_MESSAGE_ATTACH, .descriptor = -1};

    if (guest_has_hung_up(connection)) {
        return ETWAS_SERVICE_KEEP;
    }
    refusal.code = guest_claim_row(session, connection, &body);
    if (refusal.code != ERROR_SUCCESS) {
        (void)etwas_message_send(connection, &refusal, NULL, 0);
        return ETWAS_SERVICE_KEEP;
    }
    if (etwas_registry_peer_of(connection, &peer) == ERROR_SUCCESS) {
        body.process_id = peer.process_id;
    }
    etwas_host_unattached_attached(session, connection);
    if (guest_answer_attach(session, connection, &body) != ERROR_SUCCESS) {
        (void)etwas_host_guests_release(session, connection);
        return guest_has_hung_up(connection) ? ETWAS_SERVICE_KEEP : ETWAS_SERVICE_CLOSE;
    }
    return ETWAS_SERVICE_KEEP;
}

bool etwas_host_guests_acknowledge(uint64_t session, int connection, uint64_t number)
{
    struct row *row;

    (void)pthread_mutex_lock(&lock);
    row = guests_row_of(guests_of(session), connection);
    if (row != NULL) {
        row->acknowledged = number;
    }
    (void)pthread_mutex_unlock(&lock);
    return row != NULL;
}

/* ---- begin, wait, end ------------------------------------------------------------------------ */

void etwas_host_guests_begin(struct etwas_session *session)
{
    struct guests *guests = &guests_by_session[session->index];

    (void)pthread_mutex_lock(&lock);
    guests->count = 0;
    guests->gate = session->entry.generation;
    for (uint32_t row = 0; row < ETWAS_HOST_GUESTS; row++) {
        guests->rows[row] = (struct row){.connection = -1};
    }
    ck_pr_store_32(&session->guests, ETWAS_GUESTS_NEVER_CAME);
    guests->session = etwas_session_handle(etwas_session_key(session));
    (void)pthread_mutex_unlock(&lock);
}

uint32_t etwas_host_guests_count(const struct etwas_session *session)
{
    uint32_t count;

    guests_free_rows(etwas_session_handle(etwas_session_key(session)));
    (void)pthread_mutex_lock(&lock);
    count = guests_by_session[session->index].count;
    (void)pthread_mutex_unlock(&lock);
    return count;
}

static bool guests_all_have_acknowledged(const struct guests *guests, uint64_t number)
{
    bool all_have = true;

    (void)pthread_mutex_lock(&lock);
    for (uint32_t row = 0; row < ETWAS_HOST_GUESTS; row++) {
        all_have = all_have &&
                   (guests->rows[row].connection < 0 || guests->rows[row].acknowledged >= number);
    }
    (void)pthread_mutex_unlock(&lock);
    return all_have;
}

void etwas_host_guests_wait(const struct etwas_session *session, uint64_t number,
                            uint32_t milliseconds)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    uint64_t end_ns = etwas_monotonic_ns() + (uint64_t)milliseconds * NANOSECONDS_A_MILLISECOND;

    while ((!guests_all_have_acknowledged(&guests_by_session[session->index], number) ||
            !etwas_host_unattached_have_acknowledged(guests_by_session[session->index].session,
                                                     number)) &&
           etwas_monotonic_ns() < end_ns) {
        (void)nanosleep(&pause, NULL);
    }
}

/* Connections that arrive from here on find no session by their handle. */
void etwas_host_guests_end(struct etwas_session *session)
{
    struct guests *guests = &guests_by_session[session->index];
    int connections[ETWAS_HOST_GUESTS];
    uint64_t handle;
    uint32_t count = 0;

    (void)pthread_mutex_lock(&lock);
    handle = guests->session;
    guests->session = 0;
    for (uint32_t row = 0; row < ETWAS_HOST_GUESTS; row++) {
        if (guests->rows[row].connection >= 0 && guests->count != 0) {
            connections[count++] = guests->rows[row].connection;
            guests->rows[row].connection = -1;
        }
    }
    guests->count = 0;
    (void)pthread_mutex_unlock(&lock);
    for (uint32_t index = 0; index < count; index++) {
        if (etwas_service_unwatch(connections[index], handle)) {
            etwas_descriptor_close(connections[index]);
        }
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_host_guests_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

void etwas_host_guests_after_fork(bool is_child)
{
    for (uint32_t index = 0; is_child && index < ETWAS_SESSION_ENTRIES; index++) {
        guests_by_session[index].session = 0;
        guests_by_session[index].count = 0;
    }
    if (is_child) {
        etwas_lingering_forget();
        etwas_host_unattached_forget();
    }
    (void)pthread_mutex_unlock(&lock);
}
