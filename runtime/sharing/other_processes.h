/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Providers of the other processes that have joined the registry, and the enablements of shared
 * sessions, at one moment; and publishing this process's own providers.
 */
#ifndef ETWAS_SHARING_OTHER_PROCESSES_H
#define ETWAS_SHARING_OTHER_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer/slot.h"
#include "provider/other_providers.h"
#include "session/sharing.h"

/*
 * etwas_sharing.read_others. The lists are empty at first, and stay so if this process has not
 * joined. Returns why there may be more: ERROR_NOT_ENOUGH_MEMORY, or the error of an entry that
 * cannot be read; ERROR_SUCCESS: these are all. Called without a lock of the library.
 */
uint32_t etwas_other_processes_read(struct etwas_other_processes *others);

/* etwas_sharing.each_provider. Returns the error of a list that cannot be read. */
uint32_t etwas_other_processes_each_provider(etwas_provider_visitor visit, void *context);

/*
 * Whether the other shared sessions of all processes leave a place for this session to enable the
 * provider or group, which it does not enable yet. A registered classic provider always has a
 * place: one session takes it from another. Called without a lock of the library.
 */
bool etwas_other_sessions_leave_room(const etwas_guid *session, const etwas_guid *guid,
                                     bool is_group);

/* Publishes this process's providers, after they have changed, if it has joined. */
void etwas_own_providers_publish(void);

/* Sessions that enable providers of this process, and that it cannot log into. */
struct etwas_own_unattached {
    uint32_t count;
    etwas_guid sessions[ETWAS_GUEST_SESSIONS]; /* more are left out */
};

/* Adds a session, unless it is in the list already. */
void etwas_own_unattached_add(struct etwas_own_unattached *unattached, const etwas_guid *session);

/* Publishes them with this process's providers, if they have changed. Called without a lock. */
void etwas_own_unattached_publish(const struct etwas_own_unattached *unattached);

/* Called in a fork's child: no thread is publishing. */
void etwas_own_providers_forget(void);

#endif
