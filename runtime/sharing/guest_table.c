/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/guest_table.h"

#include <pthread.h>
#include <string.h>

#include "platform/cancel.h"
#include "platform/wait.h"
#include "session/session.h"

struct etwas_guest etwas_guests[ETWAS_GUEST_SESSIONS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* cancellation state of the thread that holds the lock, from before it took it */
static int cancelling;
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

    if (!etwas_mutex_lock_until(&lock, deadline_ns)) {
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

uint64_t etwas_guest_handle(const struct etwas_guest *guest)
{
    return etwas_session_handle((struct etwas_session_key){guest->index, guest->gate});
}

bool etwas_guest_is_counted(const struct etwas_guest *guest)
{
    return guest->state == ETWAS_GUEST_AWAITED || guest->state == ETWAS_GUEST_REFUSED;
}

/* Whether providers may be enabled with its handle. */
static bool guest_is_bound(const struct etwas_guest *guest)
{
    return guest->state == ETWAS_GUEST_ATTACHED || etwas_guest_is_counted(guest);
}

struct etwas_guest *etwas_guest_find(const etwas_guid *session)
{
    for (uint32_t index = 0; index < ETWAS_GUEST_SESSIONS; index++) {
        struct etwas_guest *guest = &etwas_guests[index];

        if ((guest->state == ETWAS_GUEST_KNOWN || guest_is_bound(guest)) &&
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

struct etwas_guest *etwas_guest_claim_entry(void)
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

void etwas_guest_set_used(struct etwas_guest *guest)
{
    guest->used_at = ++uses;
}

/* Another session of the same GUID has another gate. */
struct etwas_guest *etwas_guest_add_known(const etwas_guid *session, uint32_t gate)
{
    struct etwas_guest *guest = etwas_guest_find(session);

    if (guest == NULL || (guest->gate != gate && guest_is_bound(guest))) {
        guest = etwas_guest_claim_entry();
    }
    if (guest != NULL && !guest_is_bound(guest)) {
        guest->state = ETWAS_GUEST_KNOWN;
        guest->session = *session;
        guest->gate = gate;
    }
    if (guest != NULL) {
        etwas_guest_set_used(guest);
    }
    return guest;
}
