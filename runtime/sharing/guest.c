/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/guest.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <poll.h>
#include <unistd.h>

#include "buffer/unattached.h"
#include "clock/clock.h"
#include "platform/own_descriptor.h"
#include "platform/processor.h"
#include "platform/thread.h"
#include "platform/time_namespace.h"
#include "platform/wait.h"
#include "provider/enabling.h"
#include "registry/connection.h"
#include "session/session.h"
#include "shared/layout.h"
#include "sharing/host_guests.h"
#include "sharing/reconcile.h"
#include "sharing/service.h"
#include "sharing/sharing.h"

enum {
    PAUSE_NS = 1000000,
    NS_A_MILLISECOND = 1000000,
    LOCK_CHECKS = 10,
};

/* ---- leaving --------------------------------------------------------------------------------- */

/* Whether the host has died. Its connection may end a moment before its lock is released. */
static bool guest_host_is_dead(const struct etwas_guest *guest)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    bool is_dead = !etwas_shared_host_lives(&guest->shared);

    for (uint32_t attempt = 1; !is_dead && attempt < LOCK_CHECKS; attempt++) {
        (void)nanosleep(&pause, NULL);
        is_dead = !etwas_shared_host_lives(&guest->shared);
    }
    return is_dead;
}

/*
 * Leaves the pool. If the host has died without ending the session, also closes the gates for all
 * of its guests; otherwise leaves them alone.
 */
static void guest_leave(struct etwas_guest *guest)
{
    if (!etwas_shared_has_ended(&guest->shared) && guest_host_is_dead(guest)) {
        etwas_shared_close_gates(&guest->shared);
        guest->state = ETWAS_GUEST_ABANDONED;
    } else {
        guest->state = etwas_shared_leave(&guest->shared) ? ETWAS_GUEST_FREE : ETWAS_GUEST_LEAVING;
    }
}

/* The handler may not have returned yet. */
static void guest_end_connection(struct etwas_guest *guest)
{
    (void)etwas_service_unwatch(guest->connection, (uint64_t)(guest - etwas_guests));
    etwas_descriptor_close(guest->connection);
    guest->connection = -1;
}

static void guest_detach(struct etwas_guest *guest)
{
    etwas_providers_disable_without_callbacks(etwas_guest_handle(guest));
    guest_end_connection(guest);
    etwas_apply_forget(&guest->applied);
    guest_leave(guest);
}

/* Frees a guest that will not be attached. */
static void guest_release(struct etwas_guest *guest)
{
    etwas_providers_disable_without_callbacks(etwas_guest_handle(guest));
    etwas_unattached_end(guest->index);
    guest_end_connection(guest);
    etwas_apply_forget(&guest->applied);
    if (etwas_guest_is_counted(guest)) {
        guest->state = ETWAS_GUEST_FREE;
    }
}

static void guest_release_abandoned(void)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if (guest->state == ETWAS_GUEST_ABANDONED && etwas_shared_leave(&guest->shared)) {
            guest->state = ETWAS_GUEST_FREE;
        }
    }
}

/* ---- attaching ------------------------------------------------------------------------------- */

/*
 * Handler of the control thread. A host sends one answer and nothing else, so this is the answer,
 * the end, or garbage.
 */
static enum etwas_service_answer guest_receive_cut(int connection, uint64_t index)
{
    (void)connection;
    ck_pr_store_32(&etwas_guests[index].is_cut, 1);
    etwas_reconcile_soon(NULL);
    return ETWAS_SERVICE_GIVE;
}

static bool guest_watch(struct etwas_guest *guest)
{
    ck_pr_store_32(&guest->is_cut, 0);
    return etwas_service_watch(guest->connection, true, guest_receive_cut,
                               (uint64_t)(guest - etwas_guests)) == ERROR_SUCCESS;
}

static bool guest_prepare_slots(void)
{
    bool are_prepared;

    (void)etwas_processor_count(); /* reads a file the first time */
    etwas_control_lock();
    are_prepared = etwas_slots_prepare();
    etwas_control_unlock();
    return are_prepared;
}

/* Counts the guest's events from here on. */
static void guest_refuse(struct etwas_guest *guest, uint32_t refusal)
{
    etwas_sharing_store_refusal(refusal);
    guest->refusal = refusal;
    guest->state = ETWAS_GUEST_REFUSED;
    if (!guest_watch(guest)) {
        guest_release(guest);
    }
}

static uint32_t guest_send_request(const struct etwas_guest *guest)
{
    const struct etwas_message request = {.op = ETWAS_MESSAGE_ATTACH, .descriptor = -1};

    return etwas_message_send(guest->connection, &request, NULL, 0);
}

/*
 * Returns why the pool is not requested; ERROR_SUCCESS: it is. In another time namespace QPC's
 * stamps would differ.
 */
static uint32_t guest_refusal_of(const struct etwas_registry_entry *entry)
{
    const int64_t offset_ns = etwas_time_offset_ns();

    if (entry->layout != ETWAS_SHARED_MAJOR) {
        return ERROR_NOT_SUPPORTED;
    }
    return entry->clock == ETWAS_CLOCK_KIND_QPC &&
                   (entry->time_offset_ns != offset_ns || offset_ns == ETWAS_TIME_OFFSET_UNKNOWN)
               ? ERROR_INVALID_FUNCTION
               : ERROR_SUCCESS;
}

/* Does not wait. If the host has too many connections to accept, the next pass tries again. */
static uint32_t guest_connect(struct etwas_guest *guest, const struct etwas_registry_entry *entry)
{
    struct etwas_peer peer;
    uint32_t code = guest_prepare_slots()
                        ? etwas_registry_connect(entry, 0, &guest->connection, &peer)
                        : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    guest->connection = etwas_descriptor_protect(guest->connection);
    code = guest_refusal_of(entry) == ERROR_SUCCESS ? guest_send_request(guest)
                                                    : (uint32_t)ERROR_SUCCESS;
    if (code != ERROR_SUCCESS) {
        etwas_descriptor_close(guest->connection);
        guest->connection = -1;
    }
    return code == ERROR_BROKEN_PIPE ? (uint32_t)ERROR_NOT_FOUND : code;
}

struct etwas_guest *etwas_guest_request_pool(const struct etwas_registry_entry *entry,
                                             uint32_t *code)
{
    struct etwas_guest *guest;

    guest_release_abandoned();
    guest = etwas_guest_find(&entry->session);
    if (guest == NULL) {
        guest = etwas_guest_claim_entry();
    }
    *code = guest != NULL ? guest_connect(guest, entry) : (uint32_t)ERROR_NO_SYSTEM_RESOURCES;
    if (*code != ERROR_SUCCESS) {
        return NULL;
    }
    guest->state = ETWAS_GUEST_AWAITED;
    guest->session = entry->session;
    guest->socket = entry->socket;
    guest->gate = entry->gate;
    guest->is_cut = 0;
    guest->is_new = true;
    guest->acknowledged = 0;
    guest->refusal = 0;
    guest->reported_refusal = 0;
    etwas_guest_set_used(guest);
    guest->applied = (struct etwas_applied){
        .session = etwas_guest_handle(guest),
        .is_independent = (entry->log_file_mode & EVENT_TRACE_INDEPENDENT_SESSION_MODE) != 0,
    };
    if (guest_refusal_of(entry) != ERROR_SUCCESS) {
        guest->is_new = false;
        guest_refuse(guest, guest_refusal_of(entry));
    }
    return guest;
}

/* Whether the reason for a refusal may no longer hold at the next attempt. */
static bool guest_refusal_may_pass(uint32_t refusal)
{
    return refusal == ERROR_NO_SYSTEM_RESOURCES || refusal == ERROR_NOT_ENOUGH_MEMORY;
}

void etwas_guest_request_pool_again(struct etwas_guest *guest)
{
    if (guest_refusal_may_pass(guest->refusal) &&
        etwas_service_unwatch(guest->connection, (uint64_t)(guest - etwas_guests))) {
        guest->state = ETWAS_GUEST_AWAITED;
        guest->is_new = true;
        if (guest_send_request(guest) != ERROR_SUCCESS) {
            guest_release(guest);
        }
    }
}

/*
 * Receives the descriptor of the pool and the data that come with it. ERROR_TIMEOUT: there is no
 * answer yet.
 */
static uint32_t guest_receive_answer(int connection, struct etwas_attach_answer *body,
                                     int *descriptor)
{
    struct etwas_message answer = {.descriptor = -1};
    uint32_t code = etwas_message_receive(connection, &answer, body, sizeof *body, 0);

    if (code == ERROR_SUCCESS) {
        code = answer.code;
    }
    if (code == ERROR_SUCCESS && (answer.op != ETWAS_MESSAGE_ATTACH || answer.descriptor < 0 ||
                                  answer.bytes != sizeof *body)) {
        code = ERROR_INVALID_DATA;
    }
    if (code != ERROR_SUCCESS && answer.descriptor >= 0) {
        (void)close(answer.descriptor);
    }
    *descriptor = answer.descriptor;
    return code;
}

/* The pool cannot be left while the session runs (shared/join.h). */
static uint32_t guest_leave_unused(struct etwas_guest *guest)
{
    if (!etwas_shared_leave(&guest->shared)) {
        guest->state = ETWAS_GUEST_LEAVING;
    }
    return ERROR_WMI_INSTANCE_NOT_FOUND;
}

/* Joins the pool. Events are counted until it can be used. */
static uint32_t guest_join(struct etwas_guest *guest, int descriptor, uint32_t row)
{
    uint32_t code;

    guest->shared.gate = guest->gate;
    guest->shared.session = guest->session;
    code = etwas_shared_join(descriptor, guest->index, row, &guest->shared);
    if (code != ERROR_SUCCESS) {
        return code;
    }
    if (!guest_watch(guest)) {
        return guest_leave_unused(guest);
    }
    etwas_unattached_end(guest->index);
    guest->state = ETWAS_GUEST_ATTACHED;
    guest->gate = guest->shared.gate;
    guest->applied.session = etwas_guest_handle(guest);
    return ERROR_SUCCESS;
}

/*
 * Whether the session or its host has ended, or the program has closed the connection. There is no
 * host to notify then.
 */
static bool guest_session_is_over(uint32_t code)
{
    return code == ERROR_BROKEN_PIPE || code == ERROR_WMI_INSTANCE_NOT_FOUND ||
           code == ERROR_INVALID_HANDLE;
}

/*
 * Reads the host's answer. Returns false if there is none yet. Otherwise the guest is ATTACHED,
 * REFUSED or free.
 */
static bool guest_take_answer(struct etwas_guest *guest)
{
    struct etwas_attach_answer body;
    int descriptor = -1;
    uint32_t code = etwas_descriptor_is_own(guest->connection)
                        ? guest_receive_answer(guest->connection, &body, &descriptor)
                        : (uint32_t)ERROR_INVALID_HANDLE;

    if (code == ERROR_TIMEOUT) {
        return false;
    }
    /*
     * Set before the guest's first event. Processes of several PID namespaces have different ids in
     * the host's file.
     */
    if (code == ERROR_SUCCESS && body.process_id != 0) {
        etwas_process_id_set(body.process_id);
    }
    if (code == ERROR_SUCCESS) {
        code = guest_join(guest, descriptor, body.row);
        (void)close(descriptor);
    }
    if (guest_session_is_over(code)) {
        guest_release(guest);
    } else if (code != ERROR_SUCCESS) {
        guest_refuse(guest, code);
    }
    return true;
}

/* Lists the connections of guests that their hosts have not answered. */
static uint32_t guest_list_unanswered(struct pollfd polls[ETWAS_GUEST_SESSIONS])
{
    uint32_t count = 0;

    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if (guest->state == ETWAS_GUEST_AWAITED && guest->is_new) {
            guest->is_new = !guest_take_answer(guest);
        }
        if (guest->state == ETWAS_GUEST_AWAITED && guest->is_new) {
            polls[count++] = (struct pollfd){.fd = guest->connection, .events = POLLIN};
        }
    }
    return count;
}

void etwas_guests_await(uint64_t deadline_ns)
{
    struct pollfd polls[ETWAS_GUEST_SESSIONS];
    uint64_t now_ns;
    uint32_t count;

    while ((count = guest_list_unanswered(polls)) != 0 &&
           (now_ns = etwas_monotonic_ns()) < deadline_ns) {
        (void)poll(polls, count, (int)((deadline_ns - now_ns) / NS_A_MILLISECOND) + 1);
    }
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if (guest->state == ETWAS_GUEST_AWAITED && guest->is_new) {
            guest->is_new = false;
            if (!guest_watch(guest)) {
                guest_release(guest);
            }
        }
    }
}

bool etwas_guest_count(struct etwas_guest *guest)
{
    const uint32_t refusal = guest->state == ETWAS_GUEST_REFUSED ? guest->refusal : 0;
    const struct etwas_unattached_report report = {
        .word = etwas_unattached_word(guest->index),
        .refusal = refusal,
    };
    const struct etwas_message message = {.op = ETWAS_MESSAGE_ACKNOWLEDGE,
                                          .bytes = sizeof report,
                                          .descriptor = etwas_unattached_page()};
    bool is_counted = etwas_unattached_is_counting(guest->index, guest->gate);

    if (is_counted && refusal == guest->reported_refusal) {
        return true;
    }
    if (etwas_message_send(guest->connection, &message, &report, 0) != ERROR_SUCCESS) {
        return is_counted;
    }
    guest->reported_refusal = refusal;
    if (!is_counted && guest->gate != 0 && message.descriptor >= 0) {
        etwas_unattached_begin(guest->index, guest->gate);
        is_counted = true;
    }
    return is_counted;
}

void etwas_guests_detach_cut(void)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];
        bool is_cut = ck_pr_load_32(&guest->is_cut) != 0;

        if (guest->state == ETWAS_GUEST_ATTACHED && is_cut) {
            guest_detach(guest);
        } else if (guest->state == ETWAS_GUEST_AWAITED && is_cut) {
            if (!guest_take_answer(guest)) {
                guest_release(guest);
            }
        } else if (guest->state == ETWAS_GUEST_REFUSED && is_cut) {
            guest_release(guest); /* its host sends nothing more */
        } else if (guest->state == ETWAS_GUEST_LEAVING) {
            guest_leave(guest);
        }
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

void etwas_guests_before_fork(void)
{
    etwas_guests_lock();
}

/* The service closes the connections that it owns: those whose is_cut is not set. */
void etwas_guests_after_fork(bool is_child)
{
    for (uint32_t index = 0; is_child && index < ETWAS_GUEST_SESSIONS; index++) {
        if (etwas_guests[index].is_cut != 0 && etwas_guests[index].connection >= 0) {
            etwas_descriptor_close(etwas_guests[index].connection);
        }
        etwas_apply_forget(&etwas_guests[index].applied);
        etwas_guests[index] = (struct etwas_guest){0};
    }
    if (is_child) {
        etwas_unattached_forget();
        etwas_shared_guests_forget();
    }
    etwas_guests_unlock();
}
