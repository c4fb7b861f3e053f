/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/other_providers.h"

#include <etwas/winerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "provider/control_guid.h"
#include "provider/name_pattern.h"
#include "session/session.h"
#include "shared/layout.h"

void etwas_other_processes_free(struct etwas_other_processes *others)
{
    for (uint32_t index = 0; index < others->provider_count; index++) {
        free(others->providers[index].name);
    }
    free(others->providers);
    free(others->unattached);
    free(others->enablements);
}

uint32_t etwas_other_processes_add_enabled(struct etwas_other_processes *others)
{
    const size_t count = (size_t)others->provider_count + others->enablement_count;
    struct etwas_other_provider *more = realloc(others->providers, (count + 1) * sizeof *more);

    if (more == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    others->providers = more;
    for (uint32_t index = 0; index < others->enablement_count; index++) {
        more[others->provider_count++] = (struct etwas_other_provider){
            .guid = others->enablements[index].guid,
            .is_group = others->enablements[index].is_group,
        };
    }
    return ERROR_SUCCESS;
}

/* ---- enablements ----------------------------------------------------------------------------- */

/* The number that stands for a session in events and log files. */
static uint16_t others_logger_id(uint64_t session)
{
    struct etwas_session_key key = {0};

    return etwas_writer_key_of(session, &key) ? (uint16_t)(key.index + 1) : 0;
}

TRACE_ENABLE_INFO etwas_enable_info(const struct etwas_enablement *enablement)
{
    const uint32_t events = ETWAS_FILTER_EVENTS | ETWAS_FILTER_NAMES;
    const bool chooses = enablement->filter != NULL && (enablement->filter->kinds & events) != 0;

    return (TRACE_ENABLE_INFO){
        .IsEnabled = 1,
        .Level = enablement->level,
        .LoggerId = others_logger_id(enablement->session),
        .EnableProperty = enablement->property,
        .Reserved2 = chooses ? ETWAS_ENABLE_FILTERED_EVENTS : 0,
        .MatchAnyKeyword = enablement->match_any_keyword,
        .MatchAllKeyword = enablement->match_all_keyword,
    };
}

static bool others_is_own_shared(uint64_t session, etwas_guid *guid)
{
    struct etwas_session_key key;

    if (!etwas_session_key_of(session, &key) ||
        !etwas_configuration_is_shared(&etwas_sessions[key.index].configuration)) {
        return false;
    }
    *guid = etwas_sessions[key.index].configuration.guid;
    return true;
}

/* The list so far. */
struct listing {
    const etwas_guid *guid;
    bool is_group;
    const char *name; /* the provider's name in another process; NULL: not known */
    struct etwas_other_enablement *list;
    uint32_t count;
};

static bool others_has_name(const struct listing *listing, const char *pattern)
{
    return listing->name != NULL && pattern[0] != 0 &&
           etwas_name_pattern_matches(pattern, (uint32_t)strlen(pattern), listing->name, true);
}

/* An enablement of the GUID itself precedes those by name, of which the newest comes first. */
static void others_list_one(struct listing *listing, const struct etwas_other_enablement *one)
{
    bool is_of_guid = one->is_group == listing->is_group &&
                      memcmp(&one->guid, listing->guid, sizeof one->guid) == 0;
    struct etwas_other_enablement *known = listing->list;

    if (!is_of_guid && !others_has_name(listing, one->name)) {
        return;
    }
    while (known < listing->list + listing->count &&
           memcmp(&known->session, &one->session, sizeof one->session) != 0) {
        known++;
    }
    if (known < listing->list + listing->count && !is_of_guid &&
        (memcmp(&known->guid, listing->guid, sizeof known->guid) == 0 ||
         one->asked_ns < known->asked_ns)) {
        return;
    }
    listing->count += known == listing->list + listing->count;
    *known = *one;
}

static void others_list_own(struct listing *listing)
{
    etwas_control_lock();
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        const struct etwas_control_guid *entry = &etwas_control_guids[control];

        for (uint32_t index = 0; index < entry->enablement_count; index++) {
            const struct etwas_enablement *own = &entry->enablements[index];
            struct etwas_other_enablement one = {.info = etwas_enable_info(own),
                                                 .guid = entry->guid,
                                                 .asked_ns = own->asked_ns,
                                                 .is_group = entry->is_group,
                                                 .layout = ETWAS_SHARED_MAJOR};

            if (others_is_own_shared(own->session, &one.session)) {
                (void)snprintf(one.name, sizeof one.name, "%s", own->name != NULL ? own->name : "");
                others_list_one(listing, &one);
            }
        }
    }
    etwas_control_unlock();
}

static const char *others_name_of(const struct etwas_other_processes *others,
                                  const etwas_guid *guid)
{
    for (uint32_t index = 0; index < others->provider_count; index++) {
        const struct etwas_other_provider *one = &others->providers[index];

        if (!one->is_group && one->name != NULL && memcmp(&one->guid, guid, sizeof *guid) == 0) {
            return one->name;
        }
    }
    return NULL;
}

uint32_t etwas_other_processes_enablements(const struct etwas_other_processes *others,
                                           const etwas_guid *guid, bool is_group,
                                           struct etwas_other_enablement **enables)
{
    struct listing listing = {
        .guid = guid,
        .is_group = is_group,
        .name = is_group ? NULL : others_name_of(others, guid),
    };

    *enables = malloc((others->enablement_count + ETWAS_SESSIONS) * sizeof **enables);
    if (*enables == NULL) {
        return 0;
    }
    listing.list = *enables;
    others_list_own(&listing);
    for (uint32_t index = 0; index < others->enablement_count; index++) {
        others_list_one(&listing, &others->enablements[index]);
    }
    return listing.count;
}

bool etwas_other_process_logs(const struct etwas_other_processes *others,
                              const struct etwas_other_provider *provider,
                              const struct etwas_other_enablement *enablement)
{
    bool logs = enablement->layout == provider->layout;

    for (uint32_t index = 0; logs && index < others->unattached_count; index++) {
        const struct etwas_other_unattached *one = &others->unattached[index];

        logs = one->process_id != provider->process_id ||
               one->process_start != provider->process_start ||
               memcmp(&one->session, &enablement->session, sizeof one->session) != 0;
    }
    return logs;
}

/* ---- what other processes know --------------------------------------------------------------- */

static bool others_is_same(const struct etwas_other_provider *one, const etwas_guid *guid,
                           bool is_group)
{
    return one->is_group == is_group && memcmp(&one->guid, guid, sizeof *guid) == 0;
}

static bool others_is_known(const etwas_guid *guid, bool is_group, bool registered_only)
{
    uint32_t control = etwas_control_guid_find(guid, is_group);

    return control != ETWAS_NO_CONTROL_GUID &&
           (!registered_only || etwas_control_guids[control].registrations != 0);
}

void etwas_other_processes_remove_known(struct etwas_other_processes *others, bool groups,
                                        bool registered_only)
{
    uint32_t remaining = 0;

    for (uint32_t index = 0; index < others->provider_count; index++) {
        const struct etwas_other_provider one = others->providers[index];
        bool is_new =
            one.is_group == groups && !others_is_known(&one.guid, groups, registered_only);

        for (uint32_t before = 0; is_new && before < remaining; before++) {
            is_new = !others_is_same(&others->providers[before], &one.guid, groups);
        }
        if (is_new) {
            others->providers[remaining++] = one;
        } else {
            free(one.name);
        }
    }
    others->provider_count = remaining;
}
