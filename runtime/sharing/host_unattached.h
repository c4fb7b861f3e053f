/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events that processes have counted for a session of this process before they were attached, or
 * because they could not be (buffer/unattached.h). They are added to the session's account, whether
 * the process lives or has ended, as is the number of processes that cannot attach, and why.
 *
 * All functions but the last three are for the control thread.
 */
#ifndef ETWAS_SHARING_HOST_UNATTACHED_H
#define ETWAS_SHARING_HOST_UNATTACHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Stores the report of a process that is connected to the session: the page it counts in
 * (descriptor -1: it has none), and why it cannot log into the session. Closes the descriptor. A
 * page that is not as expected is ignored. Returns whether the process cannot attach, and so is no
 * guest.
 */
bool etwas_host_unattached_receive(uint64_t session, int connection, int descriptor,
                                   const void *report, uint32_t report_bytes);

/*
 * For a connection that is closed next, since the host lacks descriptors or memory for it. If it is
 * a guest's, adds what the guest has counted until now, and closes that count; the process is one
 * that cannot log until it attaches or ends.
 */
void etwas_host_unattached_turn_away(uint64_t session, int connection, uint32_t process_id,
                                     uint32_t code);

/* Drops the processes that were turned away and have ended since. */
void etwas_host_unattached_refresh(uint64_t session);

/* Adds what the process has counted since the last reading. */
void etwas_host_unattached_read(uint64_t session, int connection);

/* The process has been given the pool. */
void etwas_host_unattached_attached(uint64_t session, int connection);

/* The process has acknowledged the entry of this number. */
void etwas_host_unattached_acknowledge(uint64_t session, int connection, uint64_t number);

/* Adds its count for the last time, and closes it: its connection ends. */
void etwas_host_unattached_end(uint64_t session, int connection);

/*
 * Whether all processes that cannot log into the session have acknowledged the entry of this
 * number.
 */
bool etwas_host_unattached_have_acknowledged(uint64_t session, uint64_t number);

/* Does the same for all processes that are connected to the session, which ends. */
void etwas_host_unattached_end_all(uint64_t session);

/* In a fork's child: there are no counts. */
void etwas_host_unattached_forget(void);

#endif
