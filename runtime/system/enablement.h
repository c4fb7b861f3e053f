/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the filters of a system provider's enablement pass (provider/system_settings.h).
 */
#ifndef ETWAS_SYSTEM_ENABLEMENT_H
#define ETWAS_SYSTEM_ENABLEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "provider/system_settings.h"

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
