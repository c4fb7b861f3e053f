/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "system/event_count.h"

#include <string.h>

uint32_t count_class(const struct events *events, const etwas_guid *class_guid)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += memcmp(&events->items[index].record.EventHeader.ProviderId, class_guid,
                        sizeof *class_guid) == 0;
    }
    return count;
}

uint32_t count_saying(const struct events *events, const etwas_guid *class_guid, uint8_t type,
                      size_t offset, uint32_t number)
{
    uint32_t count = 0;

    for (size_t index = 0; index < events->count; index++) {
        count += is_kernel_event(&events->items[index], class_guid, type) &&
                 u32_at(&events->items[index], offset) == number;
    }
    return count;
}

uint32_t count_switches_to(const struct events *events, uint32_t thread_id)
{
    return count_saying(events, &thread_class, SWITCH, 0, thread_id);
}
