/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What EnableTraceEx2 requests from a system provider besides keywords: filters and stacks.
 */
#ifndef ETWAS_SYSTEM_ENABLEMENT_H
#define ETWAS_SYSTEM_ENABLEMENT_H

#include <etwas/evntrace.h>
#include <stdint.h>

#include "system/settings.h"

/*
 * Adds filters and stacks to the enablement. The caller has checked the filters; `events` is the
 * parsed filter by event id. Returns ERROR_NOT_SUPPORTED for any property but
 * EVENT_ENABLE_PROPERTY_STACK_TRACE, and for any filter but those by process id, by event id and,
 * for stacks, by event id.
 */
uint32_t etwas_system_enablement_add(struct etwas_system_enablement *enablement,
                                     const ENABLE_TRACE_PARAMETERS *parameters,
                                     const struct etwas_event_filter *events);

/* Whether the filter passes events with this hook. */
static inline bool etwas_hook_passes(const struct etwas_id_filter *filter, uint16_t hook)
{
    bool is_there = false;

    for (uint32_t index = 0; index < filter->count; index++) {
        is_there = is_there || filter->ids[index] == hook;
    }
    return filter->count == 0 || is_there == (filter->in != 0);
}

/* Whether a filter keeps some of the events that the keywords request from being recorded. */
static inline bool etwas_system_enablement_is_filtered(
    const struct etwas_system_enablement *enablement)
{
    return enablement->process_count != 0 || enablement->events.count != 0;
}

#endif
