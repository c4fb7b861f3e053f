/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions of other processes, as this process knows them: by name, to control them, and attached
 * where they enable its providers. The table is static. Indices of its entries follow those of the
 * session table. An index and the gate of the session's slots make a handle.
 *
 *     FREE       unused, or of a session that is over
 *     KNOWN      a controller of this process has a handle
 *     AWAITED    its pool has been requested, and its host has not answered: it is stopped or busy.
 *                Its enablements are applied, and events for it are counted (buffer/unattached.h).
 *                When the host goes on it reads the counts, even if this process has ended by then
 *     REFUSED    attaching has failed, and `refusal` says why. Events are counted as for AWAITED,
 *                and the reason is sent to the host. The pool is requested again when the reason
 *                may have passed
 *     ATTACHED   this process is a guest: it logs to the pool, and has a connection to the host
 *     LEAVING    the session is over and a thread has not left its pool yet; or its host has closed
 *                the connection and lives, and the session goes on for other guests
 *     ABANDONED  its host has died and its gates are closed. The pool, with logged events that are
 *                not written yet, stays mapped for recovery until this process attaches to another
 *                session, or ends
 *
 * All functions are called with the lock of this table held. It is taken before the control lock,
 * and held while a host is asked for its pool, for a moment or until a deadline. No handler of the
 * control thread takes it.
 */
#ifndef ETWAS_SHARING_GUEST_TABLE_H
#define ETWAS_SHARING_GUEST_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "provider/description.h"
#include "provider/image_records.h"
#include "shared/join.h"
#include "sharing/apply.h"

enum etwas_guest_state {
    ETWAS_GUEST_FREE,
    ETWAS_GUEST_KNOWN,
    ETWAS_GUEST_AWAITED,
    ETWAS_GUEST_REFUSED,
    ETWAS_GUEST_ATTACHED,
    ETWAS_GUEST_LEAVING,
    ETWAS_GUEST_ABANDONED,
};

struct etwas_guest {
    enum etwas_guest_state state;
    etwas_guid session;
    uint32_t index; /* in handles and attachments */
    uint32_t gate;
    uint64_t used_at; /* grows with each use: the KNOWN entry with the smallest is reused first */
    struct etwas_shared_guest shared;
    int connection;
    uint64_t socket; /* nonce of the host's socket, one for each session */
    bool is_new;     /* requested by the present reconcile pass, which waits for the answer */
    /*
     * stored by the control thread: the connection has ended or has a message, and is no longer
     * watched
     */
    uint32_t is_cut;
    uint32_t refusal;                          /* why it was REFUSED last; 0: it was not */
    uint32_t reported_refusal;                 /* the refusal that was sent to the host */
    struct etwas_applied applied;              /* what of the host's entry is applied */
    bool takes_stacks;                         /* the session takes stacks, or has taken them */
    struct etwas_description_cursor described; /* descriptions that the host has, … */
    struct etwas_image_cursor images;          /* … and images */
    uint64_t acknowledged; /* number of the entry that was acknowledged to the host */
};

extern struct etwas_guest etwas_guests[ETWAS_GUEST_SESSIONS];

/*
 * Take and release the lock. The thread cannot be cancelled while it holds the lock. The second
 * returns false if the deadline (CLOCK_MONOTONIC, ns) passes first.
 */
void etwas_guests_lock(void);
bool etwas_guests_lock_before(uint64_t deadline_ns);
void etwas_guests_unlock(void);

uint64_t etwas_guest_handle(const struct etwas_guest *guest);

/* Whether the guest is AWAITED or REFUSED: its events are lost, and counted where they can be. */
bool etwas_guest_is_counted(const struct etwas_guest *guest);

/*
 * Returns the entry of the session, if it is KNOWN, AWAITED, REFUSED or ATTACHED; NULL: there is
 * none.
 */
struct etwas_guest *etwas_guest_find(const etwas_guid *session);

/*
 * Returns the entry of a handle, also if its session is over; NULL: the handle is of no such
 * session.
 */
struct etwas_guest *etwas_guest_of(uint64_t handle);

/*
 * Returns a free entry, or else the KNOWN one that was used longest ago. It is zeroed except for
 * its index, and has no connection. Returns NULL if all are in use.
 */
struct etwas_guest *etwas_guest_claim_entry(void);

/* Marks the guest as the one used last. */
void etwas_guest_set_used(struct etwas_guest *guest);

/*
 * Returns the KNOWN entry for the session whose slots have this gate, making it if necessary.
 * Returns NULL if the table is full.
 */
struct etwas_guest *etwas_guest_add_known(const etwas_guid *session, uint32_t gate);

#endif
