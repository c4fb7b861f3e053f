/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/other_providers.h"

#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "provider/control_guid.h"
#include "session/session.h"
#include "shared/layout.h"

void etwas_other_processes_free(struct etwas_other_processes *others)
{
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
    return (TRACE_ENABLE_INFO){
        .IsEnabled = 1,
        .Level = enablement->level,
        .LoggerId = others_logger_id(enablement->session),
        .EnableProperty = enablement->property,
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

static uint32_t others_describe_own(const etwas_guid *guid, bool is_group,
                                    struct etwas_other_enablement *list)
{
    uint32_t count = 0;
    uint32_t control;

    etwas_control_lock();
    control = etwas_control_guid_find(guid, is_group);
    for (uint32_t index = 0;
         control != ETWAS_NO_CONTROL_GUID && index < etwas_control_guids[control].enablement_count;
         index++) {
        const struct etwas_enablement *one = &etwas_control_guids[control].enablements[index];

        if (others_is_own_shared(one->session, &list[count].session)) {
            list[count].info = etwas_enable_info(one);
            list[count++].layout = ETWAS_SHARED_MAJOR;
        }
    }
    etwas_control_unlock();
    return count;
}

uint32_t etwas_other_processes_enablements(const struct etwas_other_processes *others,
                                           const etwas_guid *guid, bool is_group,
                                           struct etwas_other_enablement **enables)
{
    uint32_t count;

    *enables = malloc((others->enablement_count + ETWAS_LISTENERS) * sizeof **enables);
    if (*enables == NULL) {
        return 0;
    }
    count = others_describe_own(guid, is_group, *enables);
    for (uint32_t index = 0; index < others->enablement_count; index++) {
        const struct etwas_other_enablement *one = &others->enablements[index];

        if (one->is_group == is_group && memcmp(&one->guid, guid, sizeof *guid) == 0) {
            (*enables)[count++] = *one;
        }
    }
    return count;
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

/* ---- what this process does not know --------------------------------------------------------- */

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
        }
    }
    others->provider_count = remaining;
}
