/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Being a guest of another process's session: asking its host for the pool, attaching to it, and
 * leaving it; the states are those of guest_table.h. All functions are called with the lock of that
 * table held.
 */
#ifndef ETWAS_SHARING_GUEST_H
#define ETWAS_SHARING_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"
#include "sharing/guest_table.h"

/*
 * Asks the session's host for its pool, without waiting: the guest is AWAITED, or REFUSED at once
 * where the pool's layout is of another release, or its clock of another time namespace. NULL, with
 * a code: ERROR_NOT_FOUND, the host has gone; otherwise the caller may try again: the host has too
 * much to accept, or there are too many sessions or files, or no memory.
 */
struct etwas_guest *etwas_guest_request_pool(const struct etwas_registry_entry *entry,
                                             uint32_t *code);

/* Asks the host of a REFUSED guest again, if the refusal was for want of files or memory. */
void etwas_guest_request_pool_again(struct etwas_guest *guest);

/*
 * Waits until the deadline for the answers of all hosts that were asked since the last call. A
 * guest with an answer is ATTACHED then, or REFUSED, or, where the session or its host has ended,
 * FREE.
 */
void etwas_guests_await(uint64_t deadline_ns);

/*
 * Counts events for an AWAITED or REFUSED guest from here on, under the handle that it has, and
 * sends the host the page of the counts and the refusal. False: they cannot be counted.
 */
bool etwas_guest_count(struct etwas_guest *guest);

/*
 * Detaches the guests whose connections have ended: disables their providers, and makes them free
 * or ABANDONED. Only the connection says that a session is over: an entry may be unreadable for
 * want of files, or be replaced while the folder is read. Also takes answers that have come late.
 */
void etwas_guests_detach_cut(void);

/* Around a fork. In the child the table is empty. */
void etwas_guests_before_fork(void);
void etwas_guests_after_fork(bool is_child);

#endif
