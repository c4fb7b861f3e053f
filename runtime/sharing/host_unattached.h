/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that processes have counted for a session of this process before they were attached, or
 * because they could not be (buffer/unattached.h). The host adds them to the session's account
 * whether the process lives or has ended. It also adds the number of processes that cannot attach,
 * and why.
 *
 * All functions except the last three are for the control thread.
 */
#ifndef ETWAS_SHARING_HOST_UNATTACHED_H
#define ETWAS_SHARING_HOST_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Stores the report of a process that is connected to the session: the page it counts in
 * (descriptor -1: it has none), and why it cannot log into the session. Closes the descriptor. An
 * invalid page is ignored. Returns whether the process cannot attach, and so is no guest.
 */
bool etwas_host_unattached_receive(uint64_t session, int connection, int descriptor,
                                   const void *report, uint32_t report_bytes);

/*
 * For a connection that is closed next because the host lacks descriptors or memory for it. If it
 * is a guest's, adds the events that the guest has counted, and closes that count. The process then
 * counts as one that cannot log until it attaches or ends.
 */
void etwas_host_unattached_turn_away(uint64_t session, int connection, uint32_t process_id,
                                     uint32_t code);

/* Drops the processes that were turned away and have ended since. */
void etwas_host_unattached_refresh(uint64_t session);

/* Adds what the process has counted since the last reading. */
void etwas_host_unattached_read(uint64_t session, int connection);

/* Records that the process has received the pool. */
void etwas_host_unattached_attached(uint64_t session, int connection);

/* Records that the process has acknowledged the entry with this number. */
void etwas_host_unattached_acknowledge(uint64_t session, int connection, uint64_t number);

/* Adds the count of a connection that ends for the last time, and closes it. */
void etwas_host_unattached_end(uint64_t session, int connection);

/*
 * Whether all processes that cannot log into the session have acknowledged the entry with this
 * number.
 */
bool etwas_host_unattached_have_acknowledged(uint64_t session, uint64_t number);

/* Does the same for all processes that are connected to the session; the session ends. */
void etwas_host_unattached_end_all(uint64_t session);

/* Called in a fork's child: there are no counts. */
void etwas_host_unattached_forget(void);

#endif
