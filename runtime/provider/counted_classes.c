/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Which classes have their instances counted: those whose provider's newest enablement, or that of
 * the class's own GUID, requests counters.
 */
#include "provider/counted_class.h"

#include <ck_pr.h>
#include <etwas/etwas.h>
#include <stdbool.h>
#include <string.h>

#include "provider/control_guid.h"
#include "provider/event_class.h"

static uint64_t counted_for[ETWAS_CLASSES]; /* the session; 0: none */

/* Returns the newest session that enables the GUID, if that session requests counters; else 0. */
static uint64_t asked_by(uint32_t control)
{
    const struct etwas_enablement *newest;

    if (control == ETWAS_NO_CONTROL_GUID) {
        return 0;
    }
    newest = etwas_control_guid_newest_enablement(&etwas_control_guids[control]);
    return (newest->property & ETWAS_ENABLE_PROPERTY_COUNTERS) != 0 ? newest->session : 0;
}

/*
 * Stores the session before the flag, so that a thread that sees the class counted also sees for
 * which session. A thread counts only for a session that it is logging to.
 */
static void count(uint32_t index, uint64_t session)
{
    struct etwas_class *entry = &etwas_classes[index];

    ck_pr_store_64(&counted_for[index], session);
    ck_pr_fence_store();
    ck_pr_store_64(&entry->generation,
                   entry->last_generation | (session != 0 ? ETWAS_CLASS_COUNTED : 0));
}

static bool concerns(uint32_t control, const struct etwas_class *entry)
{
    return control == ETWAS_NO_CONTROL_GUID ||
           etwas_registrations[entry->registration].control == control ||
           memcmp(entry->guid, &etwas_control_guids[control].guid, sizeof entry->guid) == 0;
}

void etwas_counted_classes_change(uint32_t control)
{
    for (uint32_t index = 0; index < ETWAS_CLASSES; index++) {
        const struct etwas_class *entry = &etwas_classes[index];
        uint64_t session;
        etwas_guid guid;

        if (entry->generation == 0 || !concerns(control, entry)) {
            continue;
        }
        session = asked_by(etwas_registrations[entry->registration].control);
        if (session == 0) {
            memcpy(&guid, entry->guid, sizeof guid);
            session = asked_by(etwas_control_guid_find(&guid, false));
        }
        count(index, session);
    }
}

/*
 * Works as etwas_class_look_up does. The class's flag may change meanwhile, if the handle still
 * names the same class.
 */
bool etwas_counted_classes_find(etwas_handle class_handle, etwas_pair *guid, uint64_t *session)
{
    uint64_t handle = (uint64_t)(uintptr_t)class_handle;
    uint32_t index = (uint32_t)(handle & ((1u << ETWAS_CLASS_INDEX_BITS) - 1)) - 1;
    uint64_t generation = handle >> ETWAS_CLASS_INDEX_BITS;
    const struct etwas_class *found;
    uint64_t before;

    if (index >= ETWAS_CLASSES || generation == 0) {
        return false;
    }
    found = &etwas_classes[index];
    before = ck_pr_load_64(&found->generation);
    ck_pr_fence_load();
    *guid = etwas_pair_load(found->guid);
    *session = (before & ETWAS_CLASS_COUNTED) != 0 ? ck_pr_load_64(&counted_for[index]) : 0;
    ck_pr_fence_load();
    return (before & ~ETWAS_CLASS_COUNTED) == generation &&
           (ck_pr_load_64(&found->generation) & ~ETWAS_CLASS_COUNTED) == generation;
}
