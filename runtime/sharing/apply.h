/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Acting by an entry of the registry: what it enables is asked of this process's providers, for one session, and only
 * what has changed since the entry was acted by last.
 */
#ifndef ETWAS_SHARING_APPLY_H
#define ETWAS_SHARING_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"

/* An enablement of the entry that this process acts by. */
struct etwas_applied_enablement {
    etwas_guid provider;
    bool is_group;
    uint64_t number;
};

struct etwas_applied {
    uint64_t session;    /* the handle that events are logged with */
    bool is_independent; /* what it loses by a full disk is no matter of the others' */
    uint64_t number;     /* of the entry that was acted by last; 0: none was */
    struct etwas_applied_enablement *enablements;
    uint32_t enablement_count;
};

/*
 * One thread at a time. Callbacks that are due are the caller's to call (provider/callback.h). `registers`: the first
 * provider that the entry enables is only being registered, so what was asked of it before is nobody's here.
 */
void etwas_apply_entry(struct etwas_applied *applied, const struct etwas_registry_entry *entry,
                       bool registers);

/* Forgets it; asks nobody for anything. */
void etwas_apply_forget(struct etwas_applied *applied);

#endif
