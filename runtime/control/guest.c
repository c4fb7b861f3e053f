/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/guest.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/host_guests.h"
#include "control/look.h"
#include "control/service.h"
#include "registry/connection.h"
#include "registry/message.h"
#include "session/session.h"

struct etwas_guest etwas_guests[ETWAS_GUEST_SESSIONS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t uses;

void etwas_guests_lock(void)
{
    (void)pthread_mutex_lock(&lock);
}

void etwas_guests_unlock(void)
{
    (void)pthread_mutex_unlock(&lock);
}

/* ---- the table --------------------------------------------------------------------------------- */

uint64_t etwas_guest_handle(const struct etwas_guest *guest)
{
    return etwas_session_handle((struct etwas_session_key){guest->index, guest->gate});
}

struct etwas_guest *etwas_guest_find(const etwas_guid *session)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if ((guest->state == ETWAS_GUEST_KNOWN || guest->state == ETWAS_GUEST_ATTACHED) &&
            memcmp(&guest->session, session, sizeof *session) == 0) {
            return guest;
        }
    }
    return NULL;
}

struct etwas_guest *etwas_guest_of(uint64_t handle)
{
    struct etwas_session_key key;
    struct etwas_guest *guest;

    if (!etwas_writer_key_of(handle, &key) || key.index < ETWAS_SESSION_ENTRIES) {
        return NULL;
    }
    guest = &etwas_guests[key.index - ETWAS_SESSION_ENTRIES];
    return guest->gate == key.generation ? guest : NULL;
}

/* One that is free, else the one that a controller asked for longest ago. NULL: all are attached. */
static struct etwas_guest *take_entry(void)
{
    struct etwas_guest *oldest = NULL;

    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if (guest->state == ETWAS_GUEST_FREE) {
            oldest = guest;
            break;
        }
        if (guest->state == ETWAS_GUEST_KNOWN &&
            (oldest == NULL || guest->used_at < oldest->used_at)) {
            oldest = guest;
        }
    }
    if (oldest != NULL) {
        *oldest = (struct etwas_guest){
            .index = ETWAS_SESSION_ENTRIES + (uint32_t)(oldest - etwas_guests), .connection = -1};
    }
    return oldest;
}

/* Another session under the GUID has another gate. */
struct etwas_guest *etwas_guest_know(const etwas_guid *session, uint32_t gate)
{
    struct etwas_guest *guest = etwas_guest_find(session);

    if (guest == NULL || (guest->gate != gate && guest->state == ETWAS_GUEST_ATTACHED)) {
        guest = take_entry();
    }
    if (guest != NULL && guest->state != ETWAS_GUEST_ATTACHED) {
        guest->state = ETWAS_GUEST_KNOWN;
        guest->session = *session;
        guest->gate = gate;
    }
    if (guest != NULL) {
        guest->used_at = ++uses;
    }
    return guest;
}

/* ---- attaching --------------------------------------------------------------------------------- */

static void give_up_orphans(void)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if ((guest->state == ETWAS_GUEST_ORPHANED || guest->state == ETWAS_GUEST_LEAVING) &&
            etwas_shared_leave(&guest->shared)) {
            guest->state = ETWAS_GUEST_FREE;
        }
    }
}

/* In the control thread: a host says nothing by itself, so this is the end, or madness. */
static enum etwas_service_answer hear_end(int connection, uint64_t index)
{
    (void)connection;
    ck_pr_store_32(&etwas_guests[index].is_cut, 1);
    etwas_look_soon(NULL);
    return ETWAS_SERVICE_GIVE;
}

/* The descriptor of the pool, and what is said with it. */
static uint32_t ask(int connection, uint64_t deadline_ns, struct etwas_attach_answer *body,
                    int *descriptor)
{
    const struct etwas_message request = {.op = ETWAS_MESSAGE_ATTACH, .descriptor = -1};
    struct etwas_message answer = {.descriptor = -1};
    uint32_t code = etwas_message_send(connection, &request, NULL, deadline_ns);

    if (code == ERROR_SUCCESS) {
        code = etwas_message_receive(connection, &answer, body, sizeof *body, deadline_ns);
    }
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

static uint32_t join(struct etwas_guest *guest, uint64_t deadline_ns)
{
    struct etwas_attach_answer body;
    int descriptor;
    uint32_t code = ask(guest->connection, deadline_ns, &body, &descriptor);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = etwas_shared_join(descriptor, guest->index, body.row, &guest->shared);
    (void)close(descriptor);
    if (code == ERROR_SUCCESS &&
        memcmp(&guest->shared.session, &guest->session, sizeof guest->session) != 0) {
        /* It answers for another session than it listens for. */
        etwas_shared_close_gates(&guest->shared);
        (void)etwas_shared_leave(&guest->shared);
        code = ERROR_INVALID_DATA;
    }
    return code;
}

static bool prepare_slots(void)
{
    bool are_prepared;

    etwas_control_lock();
    are_prepared = etwas_slots_prepare();
    etwas_control_unlock();
    return are_prepared;
}

static uint32_t connect_and_join(struct etwas_guest *guest,
                                 const struct etwas_registry_entry *entry, uint64_t deadline_ns)
{
    struct etwas_peer peer;
    uint32_t code = ERROR_NOT_ENOUGH_MEMORY;

    if (prepare_slots()) {
        code = etwas_registry_connect(entry, deadline_ns, &guest->connection, &peer);
    }
    if (code != ERROR_SUCCESS) {
        return code;
    }
    code = join(guest, deadline_ns);
    if (code != ERROR_SUCCESS) {
        (void)close(guest->connection);
    }
    return code;
}

struct etwas_guest *etwas_guest_attach(const struct etwas_registry_entry *entry,
                                       uint64_t deadline_ns, uint32_t *code)
{
    struct etwas_guest *guest = etwas_guest_find(&entry->session);

    give_up_orphans();
    if (guest == NULL) {
        guest = take_entry();
    }
    if (guest == NULL) {
        *code = ERROR_NO_SYSTEM_RESOURCES;
        return NULL;
    }
    guest->session = entry->session;
    *code = connect_and_join(guest, entry, deadline_ns);
    if (*code != ERROR_SUCCESS) {
        return NULL;
    }
    guest->state = ETWAS_GUEST_ATTACHED;
    guest->gate = guest->shared.gate;
    guest->used_at = ++uses;
    guest->is_cut = 0;
    /* Without memory to watch it, nobody tells of its end; the next look finds that the session is gone. */
    (void)etwas_service_watch(guest->connection, true, hear_end, (uint64_t)(guest - etwas_guests));
    return guest;
}

void etwas_guest_detach(struct etwas_guest *guest)
{
    bool is_orphan =
        !etwas_shared_has_ended(&guest->shared) && !etwas_shared_host_lives(&guest->shared);

    (void)etwas_service_unwatch(guest->connection);
    (void)close(guest->connection);
    guest->connection = -1;
    free(guest->enablements);
    guest->enablements = NULL;
    guest->enablement_count = 0;
    if (is_orphan) {
        etwas_shared_close_gates(&guest->shared);
        guest->state = ETWAS_GUEST_ORPHANED;
        return;
    }
    /* Where the host lives and has only let this guest go, the gates are other guests', too. */
    guest->state = etwas_shared_leave(&guest->shared) ? ETWAS_GUEST_FREE : ETWAS_GUEST_LEAVING;
}

/* ---- what the host is told --------------------------------------------------------------------- */

void etwas_guest_describe(struct etwas_guest *guest)
{
    static uint8_t body[ETWAS_MESSAGE_BYTES];
    const struct etwas_message message = {.op = ETWAS_MESSAGE_DESCRIBE, .descriptor = -1};
    const struct etwas_description *next;

    while ((next = etwas_descriptions_next(&guest->described)) != NULL) {
        struct etwas_message one = message;

        if (next->bytes > sizeof body - sizeof next->subject) {
            continue; /* what is larger is told of in no file either: a record has 64 KB at most */
        }
        memcpy(body, &next->subject, sizeof next->subject);
        memcpy(body + sizeof next->subject, next->records, next->bytes);
        one.bytes = (uint32_t)(sizeof next->subject + next->bytes);
        (void)etwas_message_send(guest->connection, &one, body, 0);
    }
}

/* ---- fork -------------------------------------------------------------------------------------- */

void etwas_guests_before_fork(void)
{
    (void)pthread_mutex_lock(&lock);
}

/* Connections are closed by the service, whose they are. */
void etwas_guests_after_fork(bool is_child)
{
    for (uint32_t index = 0; is_child && index < ETWAS_GUEST_SESSIONS; index++) {
        free(etwas_guests[index].enablements);
        etwas_guests[index] = (struct etwas_guest){0};
    }
    if (is_child) {
        etwas_shared_guests_forget();
    }
    (void)pthread_mutex_unlock(&lock);
}
