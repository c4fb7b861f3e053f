/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Applying an entry of the registry: this process's providers are asked to do for one session what
 * the entry enables, as far as it has changed since the entry was applied last.
 */
#ifndef ETWAS_SHARING_APPLY_H
#define ETWAS_SHARING_APPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "registry/session_entry.h"

/* An enablement that has been applied. */
struct etwas_applied_enablement {
    etwas_guid provider;
    bool is_group;
    uint64_t number;
};

struct etwas_applied {
    uint64_t session;    /* the handle that events are logged with */
    bool is_independent; /* its events are lost alone when its disk is full */
    uint64_t number;     /* number of the entry applied last; 0: none was */
    struct etwas_applied_enablement *enablements;
    uint32_t enablement_count;
};

/*
 * Applies the entry. The caller sees to it that one thread at a time does so, and calls the
 * callbacks that become due (provider/callback.h). `registers`: the first provider that the entry
 * enables is just being registered, so no request to capture state from before is for this process.
 */
void etwas_apply_entry(struct etwas_applied *applied, const struct etwas_registry_entry *entry,
                       bool registers);

/* Frees the list of what was applied. Disables nothing. */
void etwas_apply_forget(struct etwas_applied *applied);

#endif
