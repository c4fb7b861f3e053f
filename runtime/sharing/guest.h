/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A guest of another process's session: it requests the pool from the host, attaches to it, and
 * leaves it. The states are those of guest_table.h. All functions are called with the lock of that
 * table held.
 */
#ifndef ETWAS_SHARING_GUEST_H
#define ETWAS_SHARING_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"
#include "sharing/guest_table.h"

/*
 * Requests the pool from the session's host, without waiting. The guest is then AWAITED. It is
 * REFUSED at once if the pool's layout is of another release, or its clock of another time
 * namespace. Returns NULL, with a code, on failure. ERROR_NOT_FOUND: the host has gone. Otherwise
 * the caller may try again: the host has too many connections to accept, or there are too many
 * sessions or files, or no memory.
 */
struct etwas_guest *etwas_guest_request_pool(const struct etwas_registry_entry *entry,
                                             uint32_t *code);

/* Requests the pool of a REFUSED guest again, if the refusal was for lack of files or memory. */
void etwas_guest_request_pool_again(struct etwas_guest *guest);

/*
 * Waits until the deadline for the answers of all hosts that received a request since the last
 * call. A guest whose host has answered is then ATTACHED or REFUSED, or FREE if the session or its
 * host has ended.
 */
void etwas_guests_await(uint64_t deadline_ns);

/*
 * Counts events for an AWAITED or REFUSED guest from here on, under its present handle. Sends the
 * host the page of the counts and the refusal. Returns false if they cannot be counted.
 */
bool etwas_guest_count(struct etwas_guest *guest);

/*
 * Detaches the guests whose connections have ended: disables their providers, and makes them free
 * or ABANDONED. Only the connection shows that a session is over: an entry may be unreadable for
 * lack of files, or be replaced while the folder is read. Also takes answers that have arrived
 * late.
 */
void etwas_guests_detach_cut(void);

/* Called around a fork. The child's table is empty. */
void etwas_guests_before_fork(void);
void etwas_guests_after_fork(bool is_child);

#endif
