/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What EnableTraceEx2 says of a system provider beside its keywords: filters, and whether there are stacks.
 */
#ifndef ETWAS_SYSTEM_ENABLEMENT_H
#define ETWAS_SYSTEM_ENABLEMENT_H

#include <etwas/evntrace.h>
#include <stdint.h>

#include "system/settings.h"

/*
 * Adds it to the enablement. The filters are sound, and `events` is what those of events say.
 * ERROR_NOT_SUPPORTED: a property but EVENT_ENABLE_PROPERTY_STACK_TRACE, or a filter but those by process id, event id
 * and, of stacks, event id.
 */
uint32_t etwas_system_enablement_add(struct etwas_system_enablement *enablement,
                                     const ENABLE_TRACE_PARAMETERS *parameters,
                                     const struct etwas_event_filter *events);

/* Whether the filter lets an event of the hook through. */
static inline bool etwas_hook_passes(const struct etwas_id_filter *filter, uint16_t hook)
{
    bool is_there = false;

    for (uint32_t index = 0; index < filter->count; index++) {
        is_there = is_there || filter->ids[index] == hook;
    }
    return filter->count == 0 || is_there == (filter->in != 0);
}

/* Whether there is something that it does not record of what its keywords want. */
static inline bool etwas_system_enablement_is_filtered(
    const struct etwas_system_enablement *enablement)
{
    return enablement->process_count != 0 || enablement->events.count != 0;
}

#endif
