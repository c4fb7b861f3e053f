/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/control_guid.h"

#include <string.h>

struct etwas_control_guid etwas_control_guids[ETWAS_CONTROL_GUIDS];

static uint32_t end; /* under the control lock */

uint32_t etwas_control_guids_end(void)
{
    return end;
}

uint32_t etwas_control_guid_find(const etwas_guid *guid)
{
    for (uint32_t index = 0; index < end; index++) {
        if (etwas_control_guid_is_used(&etwas_control_guids[index]) &&
            memcmp(&etwas_control_guids[index].guid, guid, sizeof *guid) == 0) {
            return index;
        }
    }
    return ETWAS_NO_CONTROL_GUID;
}

uint32_t etwas_control_guid_take(const etwas_guid *guid)
{
    uint32_t index = etwas_control_guid_find(guid);

    if (index != ETWAS_NO_CONTROL_GUID) {
        return index;
    }
    for (index = 0; index < ETWAS_CONTROL_GUIDS; index++) {
        if (!etwas_control_guid_is_used(&etwas_control_guids[index])) {
            etwas_control_guids[index].guid = *guid;
            end = index < end ? end : index + 1;
            return index;
        }
    }
    return ETWAS_NO_CONTROL_GUID;
}
