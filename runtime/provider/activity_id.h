/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The activity id of a thread (R196), all 0 at first. Only the thread and its own signal handlers
 * read it. They see it whole, because one instruction loads or stores it. Async-signal-safe.
 */
#ifndef ETWAS_PROVIDER_ACTIVITY_ID_H
#define ETWAS_PROVIDER_ACTIVITY_ID_H

#include <etwas/etwas.h>
#include <stdint.h>

#include "platform/pair.h"

extern _Thread_local uint64_t etwas_activity_words[2];

static inline etwas_guid etwas_activity_id(void)
{
    etwas_guid id;

    etwas_pair_store(&id, etwas_pair_load(etwas_activity_words));
    return id;
}

static inline void etwas_activity_id_set(const etwas_guid *id)
{
    etwas_pair_store(etwas_activity_words, etwas_pair_load(id));
}

#endif
