/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EventAccessControl, EventAccessQuery and EventAccessRemove: refused, since permissions mean
 * nothing among the sessions and providers of one process.
 */
#include <etwas/evntcons.h>
#include <etwas/winerror.h>

static uint32_t event_access_refuse(const etwas_guid *guid)
{
    return guid != NULL ? ERROR_NOT_SUPPORTED : ERROR_INVALID_PARAMETER;
}

uint32_t EventAccessControl(etwas_guid *guid, uint32_t operation, void *sid, uint32_t rights,
                            uint8_t allow)
{
    (void)operation;
    (void)sid;
    (void)rights;
    (void)allow;
    return event_access_refuse(guid);
}

uint32_t EventAccessQuery(etwas_guid *guid, void *descriptor, uint32_t *bytes)
{
    (void)descriptor;
    (void)bytes;
    return event_access_refuse(guid);
}

uint32_t EventAccessRemove(etwas_guid *guid)
{
    return event_access_refuse(guid);
}
