/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Event classes: a handle for each GUID that a provider registered. Writers look it up without a
 * lock.
 *
 *     handle    47..16 generation   15..0 index + 1
 *
 * An entry is in use while its generation is not 0. Registering stores the GUID before the
 * generation (release). A reader loads the generation, the GUID and the generation again (acquire):
 * if both are the handle's, the GUID is the class's.
 *
 * A class whose instances are counted (counted_class.h) has a generation that no handle has. So the
 * inlined hot path does not find it, and the general path logs its events.
 */
#ifndef ETWAS_PROVIDER_EVENT_CLASS_H
#define ETWAS_PROVIDER_EVENT_CLASS_H

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/pair.h"
#include "provider/registration.h"

enum {
    ETWAS_CLASS_INDEX_BITS = 16
};
#define ETWAS_CLASS_COUNTED UINT64_C(0x80000000) /* a bit of a generation */

struct etwas_class {
    uint64_t generation; /* 0: not in use */
    uint64_t guid[2];
    uint32_t last_generation;
    uint32_t registration;
};

extern struct etwas_class etwas_classes[ETWAS_CLASSES] __attribute__((visibility("hidden")));

/*
 * Allocates handles for `count` classes of a registration, all or none. The caller holds the
 * control lock.
 */
bool etwas_classes_add(uint32_t registration, TRACE_GUID_REGISTRATION *classes, uint32_t count);

/* Frees the handles of a registration. The caller holds the control lock. */
void etwas_classes_remove(uint32_t registration);

/*
 * The GUID of a class handle. Returns false when the handle is not, or no longer, registered.
 * Lock-free; async-signal-safe.
 */
bool etwas_class_guid(etwas_handle class_handle, etwas_guid *guid);

/* Returns the address of the GUID if the handle is registered; else of any GUID, or of zeroes. */
static inline const void *etwas_class_guid_at(etwas_handle class_handle)
{
    static const uint64_t none[2];
    uint64_t handle = (uint64_t)(uintptr_t)class_handle;
    uint32_t index = (uint32_t)(handle & ((1u << ETWAS_CLASS_INDEX_BITS) - 1)) - 1;

    return index < ETWAS_CLASSES ? etwas_classes[index].guid : none;
}

/* etwas_class_guid, inlined into the hot path, with the GUID in a register. */
static inline bool etwas_class_look_up(etwas_handle class_handle, etwas_pair *guid)
{
    uint64_t handle = (uint64_t)(uintptr_t)class_handle;
    uint32_t index = (uint32_t)(handle & ((1u << ETWAS_CLASS_INDEX_BITS) - 1)) - 1;
    uint64_t generation = handle >> ETWAS_CLASS_INDEX_BITS; /* wider than a class's */
    const struct etwas_class *found;

    if (__builtin_expect(index >= ETWAS_CLASSES, 0) || __builtin_expect(generation == 0, 0)) {
        return false;
    }
    found = &etwas_classes[index];
    if (__builtin_expect(ck_pr_load_64(&found->generation) != generation, 0)) {
        return false;
    }
    ck_pr_fence_load();
    *guid = etwas_pair_load(found->guid);
    ck_pr_fence_load();
    return __builtin_expect(ck_pr_load_64(&found->generation) == generation, 1);
}

/*
 * Classes whose instances trigger a flight recorder when they take too long.
 *
 *     set     under the control lock: limit 0, then the session, then the limit
 *     read    any thread: the limit, the session, and the limit again; if it changed meanwhile
 *             nothing is triggered
 */

/*
 * From now on an instance of the class that takes longer than `ticks` of `clock` triggers
 * `session`, a handle; 0 ticks: none does. Returns false if the class is not registered.
 */
bool etwas_slow_class_set_limit(etwas_handle class_handle, etwas_trace_handle session,
                                uint64_t ticks, uint32_t clock);

#endif
