/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Sessions of other processes, as this process knows them: by name, so that it can control them, and attached to those
 * that enable its providers. A static table; an entry's index is behind those of the session table, and with the gate of
 * the session's slots it makes handles.
 *
 *     FREE       nobody's, or of a session that is over
 *     KNOWN      a controller of this process has a handle
 *     AWAITED    its host has been asked for its pool, and has not answered yet: it stands still, or has much to do. The
 *                providers that it enables are, and their events are counted (buffer/unattached.h). What the host reads
 *                when it goes on it gets, also if this process has ended by then
 *     REFUSED    it cannot be attached to, and `refusal` says why: as AWAITED, and its host is told that. It is asked again
 *                when that may have passed
 *     ATTACHED   this process logs to it: a guest, with a connection to the host
 *     LEAVING    the session is over, and a thread has not come out of its pool yet; or its host has cut the connection,
 *                and lives: to others the session goes on
 *     ORPHANED   its host has died, its gates are closed: what was logged and not yet written is there until this process
 *                attaches to another session, or ends, for who recovers it
 *
 * With the lock of this table held, which is taken before the control lock, and held while a host is asked for
 * its pool, for a moment or until a deadline. A handler of the control thread does not take it.
 */
#ifndef ETWAS_SHARING_GUEST_H
#define ETWAS_SHARING_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "provider/description.h"
#include "provider/image_records.h"
#include "registry/session_entry.h"
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
    uint64_t used_at; /* counts up: of the KNOWN ones the one with the least is given up */
    struct etwas_shared_guest shared;
    int connection;
    uint64_t socket; /* the nonce of its host's, of which there is one a session */
    bool is_new;     /* asked by the look that goes on, which waits for the answer */
    uint32_t
        is_cut; /* stored by the control thread, which watches no more: the connection is at its end, or says something */
    uint32_t refusal;                          /* why it was REFUSED last; 0: it was not */
    uint32_t reported_refusal;                 /* the host knows of this one */
    struct etwas_applied applied;              /* by the host's entry */
    bool takes_stacks;                         /* the session wants them, or has wanted them */
    struct etwas_description_cursor described; /* what the host was told, */
    struct etwas_image_cursor images;          /* and of what is loaded here */
    uint64_t acknowledged; /* the number of the entry that the host was told this process acts by */
};

extern struct etwas_guest etwas_guests[ETWAS_GUEST_SESSIONS];

/* Cancellation waits meanwhile. The second: false, the deadline (CLOCK_MONOTONIC, ns) has passed. */
void etwas_guests_lock(void);
bool etwas_guests_lock_before(uint64_t deadline_ns);
void etwas_guests_unlock(void);

uint64_t etwas_guest_handle(const struct etwas_guest *guest);

/* Whether it is AWAITED or REFUSED: what is logged for it is lost, and counted where it can be. */
bool etwas_guest_is_counted(const struct etwas_guest *guest);

/* The one that knows the session; NULL: none does. */
struct etwas_guest *etwas_guest_find(const etwas_guid *session);

/* The one of a handle, also if its session is over; NULL: it is no such handle. */
struct etwas_guest *etwas_guest_of(uint64_t handle);

/* Knows it from here on, whose slots' gate is that. NULL: there is no room. */
struct etwas_guest *etwas_guest_add_known(const etwas_guid *session, uint32_t gate);

/*
 * Asks its host for its pool, as its entry says, and does not wait: it is AWAITED, or at once REFUSED where the pool's
 * layout is of another release, or its clock of another time namespace. NULL, with a code: ERROR_NOT_FOUND, the host is gone; else it is to be tried again: the host has
 * more to accept than it may; too many sessions; no more files; no memory.
 */
struct etwas_guest *etwas_guest_request_pool(const struct etwas_registry_entry *entry,
                                             uint32_t *code);

/* Asks once more, where it was REFUSED for want of what there may be now. */
void etwas_guest_request_pool_again(struct etwas_guest *guest);

/*
 * Waits for answers to those that were asked since the last call, until the deadline. Who has answered is ATTACHED then;
 * what cannot be attached to is REFUSED, or left where the session or its host has ended.
 */
void etwas_guests_await(uint64_t deadline_ns);

/*
 * Of an AWAITED or REFUSED one its providers' events are counted from here on, under the handle that it has, and the host is told
 * so, and why it was refused. False: they cannot be.
 */
bool etwas_guest_count(struct etwas_guest *guest);

/*
 * Sessions whose connections are cut: their providers are disabled, and they are left, or become orphans. The
 * connection alone says that: an entry may be unreadable for want of files, or be replaced while the folder is read.
 * And those whose hosts have answered at last.
 */
void etwas_guests_detach_cut(void);

/*
 * Tells the host what this process has described since it was told last, and if the session takes stacks what has been loaded. Waits until the deadline for a host that has
 * not heard yet what it was told before; what it could not be told then it is told the next time.
 */
void etwas_guest_describe(struct etwas_guest *guest, uint64_t deadline_ns);

/* A fork. In the child nothing is known. */
void etwas_guests_before_fork(void);
void etwas_guests_after_fork(bool is_child);

#endif
