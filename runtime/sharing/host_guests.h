/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Who is connected to a shared session: guests, each with a row, until its connection ends, which the kernel sees to
 * however a process dies; and controllers and consumers, who each have a thread of their own, since they may take as long
 * as a disk or somebody else does.
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
    uint32_t process_id; /* the guest's, as its host sees it; 0: it does not */
    uint32_t reserved;
};

/*
 * What an AWAITED or REFUSED guest (sharing/guest.h) says with SEEN, and with the descriptor of the page in which it counts
 * (buffer/unattached.h), if it has one.
 */
struct etwas_unattached_report {
    uint32_t word; /* of the page: its count */
    uint32_t reserved;
    uint64_t refusal; /* why it cannot log into the session; 0: nobody has answered it yet */
};

/* The gates are open, and connections come from here on. */
void etwas_host_guests_begin(struct etwas_session *session);

/* For the control thread: a connection to the session of this handle says something, or is at its end. */
enum etwas_service_answer etwas_host_guests_receive(int connection, uint64_t session);

/* Those too whose connections have ended, and that have the pool still. */
uint32_t etwas_host_guests_count(const struct etwas_session *session);

/*
 * Until all guests that live, and all processes that cannot be guests, have said that they act by the entry of this
 * number, so long at most.
 */
void etwas_host_guests_wait(const struct etwas_session *session, uint64_t number,
                            uint32_t milliseconds);

/* Ends their connections: the gates are closed, and they leave. */
void etwas_host_guests_end(struct etwas_session *session);

void etwas_host_guests_before_fork(void);
void etwas_host_guests_after_fork(bool is_child);

#endif
