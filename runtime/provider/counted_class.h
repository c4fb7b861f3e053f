/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The START and END of instances and activities whose session asks for the counters of the thread that logs
 * them (ETWAS_ENABLE_PROPERTY_COUNTERS). What is read, and of which classes, is not a provider's concern
 * (system/thread_counters.h): it asks who counts, if there is anybody.
 */
#ifndef ETWAS_PROVIDER_COUNTED_CLASS_H
#define ETWAS_PROVIDER_COUNTED_CLASS_H

#include <ck_pr.h>
#include <etwas/evntrace.h>
#include <stdbool.h>

#include "buffer/publish.h"
#include "platform/pair.h"

typedef uint32_t etwas_publisher(uint32_t session, uint32_t generation, uint32_t given_bytes,
                                 const struct etwas_record *record);

struct etwas_counter_hooks {
    /* etwas_publish, and counters beside the record if it is a START or END. Async-signal-safe. */
    etwas_publisher *publish;
    /* Sessions ask otherwise of this control GUID; ETWAS_NO_CONTROL_GUID: of all. With the control lock held. */
    void (*change)(uint32_t control);
    /* The GUID of a class, and the session that it is counted for; 0: none. False: it is not registered. */
    bool (*find)(etwas_handle class_handle, etwas_pair *guid, uint64_t *session);
};

/* NULL until the first session asks for counters. */
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

#endif
