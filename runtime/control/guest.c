/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "control/guest.h"

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "control/host_guests.h"
#include "control/look.h"
#include "control/service.h"
#include "platform/cancel.h"
#include "platform/own_descriptor.h"
#include "platform/wait.h"
#include "provider/enabling.h"
#include "registry/connection.h"
#include "registry/message.h"
#include "session/session.h"

enum {
    PAUSE_NS = 1000000,
    LOOKS_AT_LOCK = 10,
};

struct etwas_guest etwas_guests[ETWAS_GUEST_SESSIONS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cancelling; /* of who has the lock, as it was before */
static uint64_t uses;

void etwas_guests_lock(void)
{
    int before = etwas_cancel_forbid();

    (void)pthread_mutex_lock(&lock);
    cancelling = before;
}

bool etwas_guests_lock_before(uint64_t deadline_ns)
{
    int before = etwas_cancel_forbid();

    if (!etwas_lock_before(&lock, deadline_ns)) {
        etwas_cancel_allow(before);
        return false;
    }
    cancelling = before;
    return true;
}

void etwas_guests_unlock(void)
{
    int before = cancelling;

    (void)pthread_mutex_unlock(&lock);
    etwas_cancel_allow(before);
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

/* ---- leaving ----------------------------------------------------------------------------------- */

/* Of a host that dies the connection may end a moment before its lock does. */
static bool host_is_dead(const struct etwas_guest *guest)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    bool is_dead = !etwas_shared_host_lives(&guest->shared);

    for (uint32_t look = 1; !is_dead && look < LOOKS_AT_LOCK; look++) {
        (void)nanosleep(&pause, NULL);
        is_dead = !etwas_shared_host_lives(&guest->shared);
    }
    return is_dead;
}

/* A session that its host has not ended is closed to all its guests when the host is dead, and only then. */
static void leave(struct etwas_guest *guest)
{
    if (!etwas_shared_has_ended(&guest->shared) && host_is_dead(guest)) {
        etwas_shared_close_gates(&guest->shared);
        guest->state = ETWAS_GUEST_ORPHANED;
    } else {
        guest->state = etwas_shared_leave(&guest->shared) ? ETWAS_GUEST_FREE : ETWAS_GUEST_LEAVING;
    }
}

static void detach(struct etwas_guest *guest)
{
    etwas_providers_drop_session(etwas_guest_handle(guest));
    /* Its handler has said that it is cut, and may not have returned yet. */
    (void)etwas_service_unwatch(guest->connection, (uint64_t)(guest - etwas_guests));
    etwas_own_close(guest->connection);
    guest->connection = -1;
    etwas_acting_end(&guest->acting);
    leave(guest);
}

void etwas_guests_leave_cut(void)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if (guest->state == ETWAS_GUEST_ATTACHED && ck_pr_load_32(&guest->is_cut) != 0) {
            detach(guest);
        } else if (guest->state == ETWAS_GUEST_LEAVING) {
            leave(guest);
        }
    }
}

static void give_up_orphans(void)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if (guest->state == ETWAS_GUEST_ORPHANED && etwas_shared_leave(&guest->shared)) {
            guest->state = ETWAS_GUEST_FREE;
        }
    }
}

/* ---- attaching --------------------------------------------------------------------------------- */

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

/* What has been joined and never logged to is left at once, with the session as it was. */
static void leave_unused(struct etwas_guest *guest)
{
    if (!etwas_shared_leave(&guest->shared)) {
        guest->state = ETWAS_GUEST_LEAVING;
    }
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
        leave_unused(guest);
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
    guest->connection = etwas_own_keep(guest->connection);
    code = join(guest, deadline_ns);
    if (code == ERROR_SUCCESS) {
        code = etwas_service_watch(guest->connection, true, hear_end,
                                   (uint64_t)(guest - etwas_guests));
        if (code != ERROR_SUCCESS) {
            leave_unused(guest);
        }
    }
    if (code != ERROR_SUCCESS) {
        etwas_own_close(guest->connection);
        guest->connection = -1;
    }
    return code;
}

struct etwas_guest *etwas_guest_attach(const struct etwas_registry_entry *entry,
                                       uint64_t deadline_ns, uint32_t *code)
{
    struct etwas_guest *guest;

    give_up_orphans();
    guest = etwas_guest_find(&entry->session);
    if (guest == NULL) {
        guest = take_entry();
    }
    if (guest == NULL) {
        *code = ERROR_NO_SYSTEM_RESOURCES;
        return NULL;
    }
    guest->session = entry->session;
    guest->socket = entry->socket;
    guest->is_cut = 0;
    *code = connect_and_join(guest, entry, deadline_ns);
    if (*code != ERROR_SUCCESS) {
        return NULL;
    }
    guest->state = ETWAS_GUEST_ATTACHED;
    guest->gate = guest->shared.gate;
    guest->used_at = ++uses;
    guest->acting = (struct etwas_acting){
        .session = etwas_guest_handle(guest),
        .is_independent = (guest->shared.log_file_mode & EVENT_TRACE_INDEPENDENT_SESSION_MODE) != 0,
    };
    return guest;
}

/* ---- what the host is told --------------------------------------------------------------------- */

static _Alignas(uint64_t) uint8_t body[ETWAS_MESSAGE_BYTES]; /* of who has the lock */

static uint32_t describe_one(const struct etwas_guest *guest, const struct etwas_description *next,
                             uint64_t deadline_ns)
{
    struct etwas_message message = {.op = ETWAS_MESSAGE_DESCRIBE, .descriptor = -1};

    if (next->bytes > sizeof body - sizeof next->subject) {
        return ERROR_SUCCESS; /* what is larger is told of in no file either: a record has 64 KB at most */
    }
    memcpy(body, &next->subject, sizeof next->subject);
    memcpy(body + sizeof next->subject, next->records, next->bytes);
    message.bytes = (uint32_t)(sizeof next->subject + next->bytes);
    return etwas_message_send(guest->connection, &message, body, deadline_ns);
}

/* By one message as many as are in it. Takes the loader's lock. */
static void tell_images(struct etwas_guest *guest, uint64_t deadline_ns)
{
    const struct etwas_description_subject subject = {.guid = ImageLoadGuid};
    struct etwas_message message = {.op = ETWAS_MESSAGE_DESCRIBE, .descriptor = -1};
    uint32_t code = ERROR_SUCCESS;

    etwas_image_records_update();
    memcpy(body, &subject, sizeof subject);
    while (code == ERROR_SUCCESS && etwas_image_records_have_more(&guest->images)) {
        struct etwas_image_cursor told = guest->images;

        message.bytes = etwas_image_records_read(&told, body, sizeof subject, sizeof body, 0);
        if (message.bytes > sizeof subject) {
            code = etwas_message_send(guest->connection, &message, body, deadline_ns);
        }
        guest->images = code == ERROR_SUCCESS ? told : guest->images;
    }
}

void etwas_guest_describe(struct etwas_guest *guest, uint64_t deadline_ns)
{
    struct etwas_description_cursor told = guest->described;
    const struct etwas_description *next;

    while ((next = etwas_descriptions_next(&told)) != NULL &&
           describe_one(guest, next, deadline_ns) == ERROR_SUCCESS) {
        guest->described = told;
    }
    if (guest->takes_stacks) {
        tell_images(guest, deadline_ns);
    }
}

/* ---- fork -------------------------------------------------------------------------------------- */

void etwas_guests_before_fork(void)
{
    etwas_guests_lock();
}

/* Connections are closed by the service, whose they are until they are cut. */
void etwas_guests_after_fork(bool is_child)
{
    for (uint32_t index = 0; is_child && index < ETWAS_GUEST_SESSIONS; index++) {
        if (etwas_guests[index].is_cut != 0 && etwas_guests[index].connection >= 0) {
            etwas_own_close(etwas_guests[index].connection);
        }
        etwas_acting_end(&etwas_guests[index].acting);
        etwas_guests[index] = (struct etwas_guest){0};
    }
    if (is_child) {
        etwas_shared_guests_forget();
    }
    etwas_guests_unlock();
}
