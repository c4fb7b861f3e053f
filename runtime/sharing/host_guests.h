/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Connections to a shared session. A guest has a row until its connection ends; the kernel ends it
 * however a process dies. A controller or a consumer has its own thread, since it may take as long
 * as a disk or another process does.
 */
#ifndef ETWAS_SHARING_HOST_GUESTS_H
#define ETWAS_SHARING_HOST_GUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"
#include "sharing/service.h"

enum {
    ETWAS_HOST_GUESTS = ETWAS_GUEST_SLOTS, /* of a session at one time */
};

/* The answer to ATTACH, beside the descriptor of the pool. */
struct etwas_attach_answer {
    uint32_t row; /* the number of the guest's slot */
    uint32_t gate;
    uint32_t process_id; /* the guest's id in the host's namespace; 0: it has none there */
    uint32_t reserved;
};

/*
 * The report that an AWAITED or REFUSED guest (sharing/guest.h) sends with ACKNOWLEDGE. The
 * descriptor of the page in which it counts events (buffer/unattached.h) comes with it, if it has
 * one.
 */
struct etwas_unattached_report {
    uint32_t word; /* of the page: its count */
    uint32_t reserved;
    uint64_t refusal; /* why it cannot log into the session; 0: the host has not answered yet */
};

/* Accepts connections from here on. The session's gates are open. */
void etwas_host_guests_begin(struct etwas_session *session);

/*
 * What the control thread does for a guest's connection to the session with this handle. It
 * attaches the guest; stores which entry the guest has acknowledged; releases the row of a
 * connection that ends. The last two return whether the connection is a guest's.
 */
enum etwas_service_answer etwas_host_guests_attach(uint64_t session, int connection);
bool etwas_host_guests_acknowledge(uint64_t session, int connection, uint64_t number);
bool etwas_host_guests_release(uint64_t session, int connection);

/*
 * Returns the number of guests, including those whose connections have ended and that still have
 * the pool.
 */
uint32_t etwas_host_guests_count(const struct etwas_session *session);

/*
 * Waits until all living guests, and all processes that could not attach, have acknowledged the
 * entry with this number, or until the timeout.
 */
void etwas_host_guests_wait(const struct etwas_session *session, uint64_t number,
                            uint32_t milliseconds);

/* Ends the guests' connections after the gates were closed, so that the guests leave. */
void etwas_host_guests_end(struct etwas_session *session);

/*
 * For host_lingering.c: the lock of the guests; whether a thread awaits the end of the guest in a
 * row; and freeing the row of a guest that no longer has the pool, so that its slot is reaped. The
 * second is called with the lock held, and returns false if the session has ended.
 */
void etwas_host_guests_lock(void);
void etwas_host_guests_unlock(void);
bool etwas_host_guests_set_awaited(uint64_t session, uint32_t row, bool is_awaited);
void etwas_host_guests_free_row(uint64_t session, uint32_t row);

void etwas_host_guests_before_fork(void);
void etwas_host_guests_after_fork(bool is_child);

/*
 * Connections of other processes to the sessions of this one: how they are accepted, and the single
 * dispatcher of all messages received over them. Everything here runs in the control thread.
 *
 * The spare descriptors (registry/connection.h) let it accept a connection when no more files may
 * be open. It answers a request, and receives what a guest has counted, before it closes the
 * connection.
 */

/*
 * Handlers of the sockets on which sessions listen (service.h). The first is for a session that
 * other processes may log into or control. The second is for a recorder that only this process
 * knows: it takes SNAPSHOT only. `session` is the handle.
 */
enum etwas_service_answer etwas_host_accept(int listener, uint64_t session);
enum etwas_service_answer etwas_host_accept_controller(int listener, uint64_t session);

/*
 * The first records that the process hosts one more session, the second one less. The end of the
 * last session closes the spares.
 */
void etwas_host_spares_begin(void);
void etwas_host_spares_end(void);

/* Called in a fork's child, which hosts nothing. */
void etwas_host_spares_forget(void);

/*
 * Guests that have lost their connection and may still have the pool: they are dying, or their
 * program has closed the connection. The row of such a guest lingers until it no longer has the
 * pool. Callers hold no lock of the library, unless a function says otherwise.
 */

/*
 * Returns the byte of the pool's file that stays locked as long as the guest of this row has the
 * pool.
 */
uint32_t etwas_lingering_lock_byte(uint32_t row);

/* Whether the guest of this row still has the session's pool. */
bool etwas_lingering_has_pool(uint64_t session, uint32_t row);

/*
 * Frees the row of a guest without a connection, or has a thread wait until it has released
 * the pool.
 */
void etwas_lingering_await_or_free(uint64_t session, uint32_t row);

/* Called in a fork's child, with the lock of the guests held: the threads are the parent's. */
void etwas_lingering_forget(void);

#endif
