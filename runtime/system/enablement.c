/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/enablement.h"

#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <string.h>

uint32_t etwas_system_enablement_add(struct etwas_system_enablement *enablement,
                                     const ENABLE_TRACE_PARAMETERS *parameters,
                                     const struct etwas_event_filter *events)
{
    if ((parameters->EnableProperty & ~EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0 ||
        (events->kinds & ~(uint32_t)(ETWAS_FILTER_EVENTS | ETWAS_FILTER_STACKS)) != 0) {
        return ERROR_NOT_SUPPORTED;
    }
    enablement->has_stacks = parameters->EnableProperty != 0;
    enablement->events = events->events;
    enablement->stacks = events->stacks;
    for (uint32_t index = 0; index < parameters->FilterDescCount; index++) {
        EVENT_FILTER_DESCRIPTOR one;

        memcpy(&one, &parameters->EnableFilterDesc[index],
               sizeof one); /* not necessarily aligned */
        if (one.Type == EVENT_FILTER_TYPE_EXECUTABLE_NAME) {
            return ERROR_NOT_SUPPORTED;
        }
        if (one.Type == EVENT_FILTER_TYPE_PID && one.Size <= sizeof enablement->processes) {
            memcpy(enablement->processes, (const void *)(uintptr_t)one.Ptr, one.Size);
            enablement->process_count = one.Size / (uint32_t)sizeof *enablement->processes;
        }
    }
    return ERROR_SUCCESS;
}
