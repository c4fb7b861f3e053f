/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The names of providers, in this and in other processes: by GUID, and by name. */
#include <etwas/shared.h>
#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/control_guid.h"
#include "provider/name_pattern.h"
#include "provider/other_providers.h"
#include "session/session.h"
#include "session/sharing.h"

/* ---- the name of a GUID ---------------------------------------------------------------------- */

struct name_query {
    const etwas_guid *guid;
    char name[ETWAS_PROVIDER_NAME_BYTES + 1];
};

static void provider_names_store_name(struct name_query *query, const char *name)
{
    (void)snprintf(query->name, sizeof query->name, "%s", name);
}

/* Stops at the first provider that has the name. */
static bool provider_names_read(const etwas_guid *provider, bool is_group, const char *name,
                                void *context)
{
    struct name_query *query = context;
    bool has = name[0] != 0 && memcmp(provider, query->guid, sizeof *provider) == 0;

    (void)is_group;
    if (has) {
        provider_names_store_name(query, name);
    }
    return !has;
}

static void provider_names_read_own(struct name_query *query)
{
    uint32_t control;

    etwas_control_lock();
    control = etwas_control_guid_find(query->guid, false);
    if (control != ETWAS_NO_CONTROL_GUID && etwas_control_guids[control].name != NULL) {
        provider_names_store_name(query, etwas_control_guids[control].name);
    }
    etwas_control_unlock();
}

/* Reads the name with which a session enables the GUID, if no provider has another. */
static void provider_names_read_enabled(struct name_query *query)
{
    struct etwas_other_processes others = {0};
    struct etwas_other_enablement *enables;
    uint32_t count;

    (void)etwas_sharing.read_others(&others);
    count = etwas_other_processes_enablements(&others, query->guid, false, &enables);
    for (uint32_t index = 0; index < count; index++) {
        if (enables[index].name[0] != 0) {
            provider_names_store_name(query, enables[index].name);
        }
    }
    free(enables);
    etwas_other_processes_free(&others);
}

uint32_t etwas_provider_name(const etwas_guid *provider, char *text, size_t room)
{
    struct name_query query = {.guid = provider};
    uint32_t unread = ERROR_SUCCESS;

    if (provider == NULL || text == NULL || room == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    provider_names_read_own(&query);
    if (query.name[0] == 0) {
        unread = etwas_sharing.each_provider(provider_names_read, &query);
    }
    if (query.name[0] == 0) {
        provider_names_read_enabled(&query);
    }
    (void)snprintf(text, room, "%s", query.name);
    return query.name[0] != 0        ? (uint32_t)ERROR_SUCCESS
           : unread != ERROR_SUCCESS ? unread
                                     : (uint32_t)ERROR_NOT_FOUND;
}

/* ---- the GUIDs of a name --------------------------------------------------------------------- */

struct guid_query {
    const char *name;
    etwas_guid *guids;
    uint32_t room;
    uint32_t count;
};

/* Stores each GUID once. */
static void provider_names_store_guid(struct guid_query *query, const etwas_guid *guid)
{
    for (uint32_t index = 0; index < query->count && index < query->room; index++) {
        if (memcmp(&query->guids[index], guid, sizeof *guid) == 0) {
            return;
        }
    }
    if (query->count < query->room) {
        query->guids[query->count] = *guid;
    }
    query->count++;
}

bool etwas_provider_name_matches(const char *pattern, const char *name)
{
    return etwas_name_pattern_matches(pattern, (uint32_t)strlen(pattern), name, true);
}

static bool provider_names_find(const etwas_guid *provider, bool is_group, const char *name,
                                void *context)
{
    struct guid_query *query = context;

    if (!is_group && etwas_provider_name_matches(query->name, name)) {
        provider_names_store_guid(query, provider);
    }
    return true;
}

static void find_own(struct guid_query *query)
{
    etwas_control_lock();
    for (uint32_t index = 0; index < etwas_control_guids_end(); index++) {
        const struct etwas_control_guid *provider = &etwas_control_guids[index];

        if (provider->registrations != 0 && !provider->is_group && provider->name != NULL &&
            etwas_provider_name_matches(query->name, provider->name)) {
            provider_names_store_guid(query, &provider->guid);
        }
    }
    etwas_control_unlock();
}

uint32_t etwas_provider_guids(const char *name, etwas_guid *guids, uint32_t room, uint32_t *count)
{
    struct guid_query query = {.name = name, .guids = guids, .room = room};
    uint32_t unread;

    if (name == NULL || name[0] == '\0' || count == NULL || (guids == NULL && room != 0)) {
        return ERROR_INVALID_PARAMETER;
    }
    find_own(&query);
    unread = etwas_sharing.each_provider(provider_names_find, &query);
    *count = query.count < room ? query.count : room;
    return query.count > room        ? (uint32_t)ERROR_MORE_DATA
           : unread != ERROR_SUCCESS ? unread
           : query.count == 0        ? (uint32_t)ERROR_NOT_FOUND
                                     : (uint32_t)ERROR_SUCCESS;
}
