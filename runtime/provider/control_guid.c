/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/control_guid.h"

#include <stdlib.h>
#include <string.h>

struct etwas_control_guid etwas_control_guids[ETWAS_CONTROL_GUIDS];

static uint32_t end; /* under the control lock */

uint32_t etwas_control_guids_end(void)
{
    return end;
}

uint32_t etwas_control_guid_find(const etwas_guid *guid, bool is_group)
{
    for (uint32_t index = 0; index < end; index++) {
        if (etwas_control_guid_is_used(&etwas_control_guids[index]) &&
            etwas_control_guids[index].is_group == is_group &&
            memcmp(&etwas_control_guids[index].guid, guid, sizeof *guid) == 0) {
            return index;
        }
    }
    return ETWAS_NO_CONTROL_GUID;
}

uint32_t etwas_control_guid_find_or_add(const etwas_guid *guid, bool is_group)
{
    uint32_t index = etwas_control_guid_find(guid, is_group);

    if (index != ETWAS_NO_CONTROL_GUID) {
        return index;
    }
    for (index = 0; index < ETWAS_CONTROL_GUIDS; index++) {
        if (!etwas_control_guid_is_used(&etwas_control_guids[index])) {
            free(etwas_control_guids[index].name);
            etwas_control_guids[index].name = NULL;
            etwas_control_guids[index].guid = *guid;
            etwas_control_guids[index].is_group = is_group;
            end = index < end ? end : index + 1;
            return index;
        }
    }
    return ETWAS_NO_CONTROL_GUID;
}

void etwas_control_guid_set_name(struct etwas_control_guid *entry, const char *name)
{
    char *copy = strndup(name, ETWAS_PROVIDER_NAME_BYTES);

    if (copy != NULL) {
        free(entry->name);
        entry->name = copy;
        entry->name_is_described = false;
    }
}

/* ---- enablements ----------------------------------------------------------------------------- */

static uint32_t named; /* under the control lock */

uint32_t etwas_named_enablements(void)
{
    return named;
}

static void control_guid_drop(struct etwas_enablement *enablement)
{
    etwas_event_filter_release(enablement->filter);
    named -= enablement->name != NULL ? 1 : 0;
    free(enablement->name);
}

void etwas_enablement_set(struct etwas_enablement *enablement,
                          const struct etwas_enablement *replacement)
{
    control_guid_drop(enablement);
    named += replacement->name != NULL ? 1 : 0;
    *enablement = *replacement;
}

struct etwas_enablement *etwas_control_guid_enablement(struct etwas_control_guid *entry,
                                                       uint64_t session)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        if (entry->enablements[index].session == session) {
            return &entry->enablements[index];
        }
    }
    return NULL;
}

const struct etwas_enablement *etwas_control_guid_newest_enablement(
    const struct etwas_control_guid *entry)
{
    static const struct etwas_enablement nobody;

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        if (entry->enablements[index].session == entry->newest) {
            return &entry->enablements[index];
        }
    }
    return &nobody;
}

void etwas_control_guid_disable_others(struct etwas_control_guid *entry, uint64_t session)
{
    const struct etwas_enablement *own = etwas_control_guid_enablement(entry, session);

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        if (&entry->enablements[index] != own) {
            control_guid_drop(&entry->enablements[index]);
        }
    }
    if (own == NULL) {
        entry->enablement_count = 0;
        entry->newest = 0;
    } else {
        entry->enablements[0] = *own;
        entry->enablement_count = 1;
        entry->newest = session;
    }
}

void etwas_control_guid_forget_name(struct etwas_control_guid *entry, uint64_t session)
{
    struct etwas_enablement *enablement = etwas_control_guid_enablement(entry, session);

    if (enablement != NULL && enablement->name != NULL) {
        free(enablement->name);
        enablement->name = NULL;
        named--;
    }
}

void etwas_control_guid_disable(struct etwas_control_guid *entry, uint64_t session)
{
    struct etwas_enablement *dropped = etwas_control_guid_enablement(entry, session);

    if (dropped == NULL) {
        return;
    }
    control_guid_drop(dropped);
    entry->enablement_count--;
    memmove(dropped, dropped + 1,
            (size_t)(&entry->enablements[entry->enablement_count] - dropped) * sizeof *dropped);
    if (entry->newest == session) {
        entry->newest = 0;
    }
}
