/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Followers: sessions of this process that are made of templates, of private sessions that another process has started
 * for it. A follower is a session like others, with its own buffers and file; what its template says
 * later it does, until the template is gone, because its session was stopped or its host is dead.
 *
 * One that has ended by itself, or was stopped here, is not started again; one for which there was no room is tried
 * again when its template changes, or another follower has ended.
 *
 * A static table, whose lock is held for moments; with it no other is taken. Who calls holds no lock of the library but that
 * of who looks (sharing/reconcile.c): sessions are started and stopped.
 */
#ifndef ETWAS_SHARING_PRIVATE_INSTANCE_H
#define ETWAS_SHARING_PRIVATE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"

enum {
    ETWAS_PRIVATE_INSTANCES = 64, /* templates that a process knows at one time */
};

/* Whether this process has acted by the template, or has tried to. */
bool etwas_private_instance_exists(const struct etwas_registry_entry *entry);

/*
 * Starts one if there is none, and acts by what the entry enables (`registers` as in apply.h). Callbacks that are due are the
 * caller's to call. Waits for the host until the deadline (CLOCK_MONOTONIC, ns).
 */
void etwas_private_instance_apply(const struct etwas_registry_entry *entry, bool registers,
                                  uint64_t deadline_ns);

/* Writes to its files what its template asks for, which takes as long as a disk does. One thread at a time. */
void etwas_private_instance_write(const struct etwas_registry_entry *entry);

/* Those whose templates are gone: etwas_private_instance_stop has to be called for each. Returns how many. */
uint32_t etwas_private_instances_expired(uint8_t expired[ETWAS_PRIVATE_INSTANCES]);

/* Stops it, and waits for the callbacks of its providers. Any thread, while looks go on. */
void etwas_private_instance_stop(uint32_t index);

/* Whether any is being stopped, by whichever thread; waits until none is. */
bool etwas_private_instances_are_stopping(void);
void etwas_private_instances_await_stop(uint64_t deadline_ns);

/* A fork: in the child nothing follows. */
void etwas_private_instances_before_fork(void);
void etwas_private_instances_after_fork(bool is_child);

#endif
