/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_guests.h"

#include <errno.h>
#include <etwas/winerror.h>
#include <fcntl.h>
#include <stdlib.h>

#include "platform/fork.h"
#include "platform/own_descriptor.h"
#include "session/session.h"
#include "shared/mapping.h"
#include "sharing/service.h"

/*
 * A program may close descriptors that it did not open (daemon), and goes on logging through the
 * mapping. So a guest gets the pool by a descriptor with a lock on the byte of its row, which the
 * kernel keeps as long as the descriptor or the mapping exists. Byte 0 is the host's
 * (shared/mapping.h).
 */
uint32_t etwas_lingering_lock_byte(uint32_t row)
{
    return 1 + row;
}

/*
 * Without a mapping there is no session. If the program has closed the pool's descriptor the answer
 * is not known, and a slot whose guest may live is not reaped.
 */
bool etwas_lingering_has_pool(uint64_t session, uint32_t row)
{
    struct flock lock = {.l_type = F_WRLCK,
                         .l_whence = SEEK_SET,
                         .l_start = (off_t)etwas_lingering_lock_byte(row),
                         .l_len = 1};
    struct etwas_held_session held;
    bool has = false;

    if (etwas_session_hold(session, &held) != ERROR_SUCCESS) {
        return false;
    }
    if (held.session->mapping != NULL) {
        int descriptor = held.session->mapping->file.descriptor;

        has = !etwas_descriptor_is_own(descriptor) || fcntl(descriptor, F_OFD_GETLK, &lock) != 0 ||
              lock.l_type != F_UNLCK;
    }
    etwas_session_release(&held);
    return has;
}

/*
 * A process that dies loses its connection a moment before its memory. A process that lives may
 * keep the pool for long, even after the session has ended. A thread waits for the lock, which the
 * kernel releases then. A fork waits while such a thread begins or ends, since the child closes
 * their descriptors.
 */
static struct lingering {
    struct lingering *next;
    uint64_t session;
    uint32_t row;
    int descriptor;   /* of the pool's file, opened anew: it shares no lock with the host's */
} * lingering_guests; /* guarded by the lock of the guests */

static void lingering_stop_waiting(struct lingering *lingering)
{
    struct lingering **link = &lingering_guests;

    etwas_fork_forbid();
    etwas_host_guests_lock();
    while (*link != lingering) {
        link = &(*link)->next;
    }
    *link = lingering->next;
    (void)etwas_host_guests_set_awaited(lingering->session, lingering->row, false);
    etwas_host_guests_unlock();
    etwas_descriptor_close(
        lingering->descriptor); /* and releases the lock, which the row's next guest takes */
    etwas_fork_allow();
}

static void *lingering_await_end(void *argument)
{
    struct lingering *lingering = argument;
    struct flock wanted = {.l_type = F_WRLCK,
                           .l_whence = SEEK_SET,
                           .l_start = (off_t)etwas_lingering_lock_byte(lingering->row),
                           .l_len = 1};

    while (fcntl(lingering->descriptor, F_OFD_SETLKW, &wanted) != 0 && errno == EINTR) {
    }
    lingering_stop_waiting(lingering);
    if (!etwas_lingering_has_pool(lingering->session, lingering->row)) {
        etwas_host_guests_free_row(lingering->session, lingering->row);
    }
    free(lingering);
    return NULL;
}

/* Opens the pool's file anew. Returns -1 if the session has ended, or the file cannot be opened. */
static int lingering_open_pool(uint64_t session)
{
    struct etwas_held_session held;
    int descriptor = -1;

    if (etwas_session_hold(session, &held) == ERROR_SUCCESS) {
        if (held.session->mapping != NULL &&
            etwas_descriptor_is_own(held.session->mapping->file.descriptor)) {
            descriptor = etwas_descriptor_protect(
                etwas_descriptor_reopen(held.session->mapping->file.descriptor));
        }
        etwas_session_release(&held);
    }
    return descriptor;
}

/*
 * Starts a thread that waits. Called with the lock held, so that the thread finds the state that it
 * has to undo.
 */
static bool lingering_start_waiting(struct lingering *lingering)
{
    if (lingering->descriptor < 0 ||
        !etwas_host_guests_set_awaited(lingering->session, lingering->row, true)) {
        return false;
    }
    if (!etwas_service_spawn(lingering_await_end, lingering, "etwas-linger")) {
        (void)etwas_host_guests_set_awaited(lingering->session, lingering->row, false);
        return false;
    }
    lingering->next = lingering_guests;
    lingering_guests = lingering;
    return true;
}

/* Without a thread the next guest that attaches, or the end of the session, frees the row. */
void etwas_lingering_await_or_free(uint64_t session, uint32_t row)
{
    struct lingering *lingering;
    bool waits;

    if (!etwas_lingering_has_pool(session, row)) {
        etwas_host_guests_free_row(session, row);
        return;
    }
    lingering = malloc(sizeof *lingering);
    if (lingering == NULL) {
        return;
    }
    etwas_fork_forbid();
    *lingering = (struct lingering){
        .session = session, .row = row, .descriptor = lingering_open_pool(session)};
    etwas_host_guests_lock();
    waits = lingering_start_waiting(lingering);
    etwas_host_guests_unlock();
    if (!waits) {
        etwas_descriptor_close(lingering->descriptor);
        free(lingering);
    }
    etwas_fork_allow();
}

void etwas_lingering_forget(void)
{
    for (const struct lingering *one = lingering_guests; one != NULL; one = one->next) {
        etwas_descriptor_close(one->descriptor);
    }
    lingering_guests = NULL;
}
