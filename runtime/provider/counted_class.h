/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Counters of the logging thread, recorded beside the START and END of instances and activities. A
 * session requests them with ETWAS_ENABLE_PROPERTY_COUNTERS. thread_counters.c reads the counters,
 * counted_classes.c knows the counted classes. Their functions are reached through
 * etwas_counter_hooks.
 */
#ifndef ETWAS_PROVIDER_COUNTED_CLASS_H
#define ETWAS_PROVIDER_COUNTED_CLASS_H

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/publish.h"
#include "platform/pair.h"

typedef uint32_t etwas_publisher(uint32_t session, uint32_t generation, uint32_t given_bytes,
                                 const struct etwas_unstamped_record *record);

struct etwas_counter_hooks {
    /*
     * Calls etwas_publish, and records counters as well if the record is a START or END.
     * Async-signal-safe.
     */
    etwas_publisher *publish;
    /*
     * Records the counters of an instance or activity whose event has this type, START or END.
     * Async-signal-safe.
     */
    void (*log)(uint32_t session, uint32_t generation, uint8_t type,
                const struct etwas_unstamped_record *record);
    /*
     * Called when the enablement of this control GUID has changed; ETWAS_NO_CONTROL_GUID: those of
     * all have. The control lock is held.
     */
    void (*change)(uint32_t control);
    /*
     * Finds the GUID of a class, and the session that counts it, or 0. Returns false if the class
     * is not registered.
     */
    bool (*find)(etwas_handle class_handle, etwas_pair *guid, uint64_t *session);
};

/* NULL until the first session requests counters. */
extern const struct etwas_counter_hooks *etwas_counter_hooks;

static inline etwas_publisher *etwas_publisher_for(bool counted)
{
    const struct etwas_counter_hooks *counting =
        counted ? ck_pr_load_ptr(&etwas_counter_hooks) : NULL;

    return counting != NULL ? counting->publish : etwas_publish;
}

static inline bool etwas_counted_class_find(etwas_handle class_handle, etwas_pair *guid,
                                            uint64_t *session)
{
    const struct etwas_counter_hooks *counting = ck_pr_load_ptr(&etwas_counter_hooks);

    return counting != NULL && counting->find(class_handle, guid, session);
}

static inline void etwas_counted_class_enablement_changed(uint32_t control)
{
    const struct etwas_counter_hooks *counting = ck_pr_load_ptr(&etwas_counter_hooks);

    if (counting != NULL) {
        counting->change(control);
    }
}

/* Which classes have their instances counted: two of the functions in etwas_counter_hooks. */

void etwas_counted_classes_change(uint32_t control);

/*
 * Finds the class of a handle and its session; *session is 0 if it is not counted, or not any more.
 */
bool etwas_counted_classes_find(etwas_handle class_handle, etwas_pair *guid, uint64_t *session);

/*
 * The kernel's counters of a thread, which the thread reads itself, without any privilege. In
 * sessions that request them, a record follows the START of an instance or activity, and another
 * precedes its END (etl/own_record.h).
 */

/* Called before the first session requests counters. Thread-safe. */
void etwas_thread_counters_prepare(void);

/* In a fork's child: closes the files that the parent's threads keep open. */
void etwas_thread_counters_forget(void);

#endif
