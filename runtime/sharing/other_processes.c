/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/other_processes.h"

#include <etwas/winerror.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "platform/identity.h"
#include "platform/thread.h"
#include "provider/control_guid.h"
#include "registry/process.h"
#include "registry/sessions.h"
#include "session/session.h"
#include "shared/layout.h"
#include "sharing/guest.h"
#include "sharing/remote.h"
#include "sharing/service.h"

/* ---- reading --------------------------------------------------------------------------------- */

struct gathering {
    struct etwas_other_processes *others;
    uint32_t room;
    uint32_t unattached_room;
    uint32_t code;
};

/* Another PID namespace may have a process of the same id. */
static bool others_is_own(const struct etwas_registry_guid_list *list)
{
    return list->process_start == etwas_identity_start_ticks() &&
           list->process_id == etwas_process_id_peek();
}

static bool others_gather_unattached(const struct etwas_registry_guid_list *list,
                                     struct gathering *gathering)
{
    struct etwas_other_processes *others = gathering->others;
    const uint32_t count = others->unattached_count + list->unattached_count;

    if (count > gathering->unattached_room) {
        struct etwas_other_unattached *more =
            realloc(others->unattached, 2 * (size_t)count * sizeof *more);

        if (more == NULL) {
            return false;
        }
        others->unattached = more;
        gathering->unattached_room = 2 * count;
    }
    for (uint32_t index = 0; index < list->unattached_count; index++) {
        others->unattached[others->unattached_count++] = (struct etwas_other_unattached){
            list->process_start, list->process_id, list->unattached[index]};
    }
    return true;
}

static bool others_gather_list(const struct etwas_registry_guid_list *list, void *context)
{
    struct gathering *gathering = context;
    struct etwas_other_processes *others = gathering->others;

    if (others_is_own(list)) {
        return true;
    }
    if (others->provider_count + list->count > gathering->room) {
        uint32_t room = 2 * (others->provider_count + list->count);
        struct etwas_other_provider *more = realloc(others->providers, room * sizeof *more);

        if (more == NULL) {
            gathering->code = ERROR_NOT_ENOUGH_MEMORY;
            return false;
        }
        others->providers = more;
        gathering->room = room;
    }
    if (!others_gather_unattached(list, gathering)) {
        gathering->code = ERROR_NOT_ENOUGH_MEMORY;
        return false;
    }
    for (uint32_t index = 0; index < list->count; index++) {
        const struct etwas_registry_guid *one = &list->guids[index];

        others->providers[others->provider_count++] = (struct etwas_other_provider){
            .guid = one->guid,
            .group = one->group != 0 ? list->guids[one->group - 1].guid : one->guid,
            .process_start = list->process_start,
            .process_id = list->process_id,
            .layout = list->layout,
            .is_group = one->is_group,
            .is_classic = one->is_classic,
            .has_group = one->group != 0,
        };
    }
    return true;
}

uint32_t etwas_other_processes_read(struct etwas_other_processes *others)
{
    struct gathering gathering = {.others = others, .code = ERROR_SUCCESS};
    uint32_t processes;
    uint32_t sessions;

    memset(others, 0, sizeof *others);
    if (!etwas_remote_is_available()) {
        return ERROR_SUCCESS;
    }
    processes = etwas_registry_each_process(others_gather_list, &gathering);
    others->entry_count = etwas_remote_list(&others->entries, &sessions);
    return gathering.code != ERROR_SUCCESS ? gathering.code
           : processes != ERROR_SUCCESS    ? processes
                                           : sessions;
}

uint32_t etwas_other_processes_add_enabled(struct etwas_other_processes *others)
{
    struct etwas_other_provider *more;
    uint32_t count = others->provider_count;

    for (uint32_t index = 0; index < others->entry_count; index++) {
        count += others->entries[index]->enablement_count;
    }
    more = realloc(others->providers, (count + 1) * sizeof *more);
    if (more == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    others->providers = more;
    for (uint32_t index = 0; index < others->entry_count; index++) {
        const struct etwas_registry_entry *entry = others->entries[index];

        for (uint32_t place = 0; place < entry->enablement_count; place++) {
            more[others->provider_count++] = (struct etwas_other_provider){
                .guid = entry->enablements[place].provider,
                .is_group = entry->enablements[place].is_group,
            };
        }
    }
    return ERROR_SUCCESS;
}

void etwas_other_processes_free(struct etwas_other_processes *others)
{
    free(others->providers);
    free(others->unattached);
    for (uint32_t index = 0; index < others->entry_count; index++) {
        free(others->entries[index]);
    }
    free(others->entries);
}

static bool others_is_same(const struct etwas_other_provider *one, const etwas_guid *guid,
                           bool is_group)
{
    return one->is_group == is_group && memcmp(&one->guid, guid, sizeof *guid) == 0;
}

/* The logger id that handles of the session have in this process; 0: there is none. */
static uint16_t others_logger_id_of(const etwas_guid *session)
{
    const struct etwas_guest *guest;
    uint16_t id = 0;

    etwas_guests_lock();
    guest = etwas_guest_find(session);
    if (guest != NULL) {
        id = (uint16_t)(guest->index + 1);
    }
    etwas_guests_unlock();
    return id;
}

/* Returns the entry's enablement of a provider or group; NULL: there is none. */
static const struct etwas_registry_enablement *others_enablement_of(
    const struct etwas_registry_entry *entry, const etwas_guid *guid, bool is_group)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *enablement = &entry->enablements[index];

        if (enablement->is_group == is_group &&
            memcmp(&enablement->provider, guid, sizeof *guid) == 0) {
            return enablement;
        }
    }
    return NULL;
}

static bool others_describe(const struct etwas_registry_entry *entry, const etwas_guid *guid,
                            bool is_group, struct etwas_other_enablement *enable)
{
    const struct etwas_registry_enablement *enablement =
        others_enablement_of(entry, guid, is_group);

    if (enablement != NULL) {
        enable->session = entry->session;
        enable->layout = entry->unshared == 0 ? entry->layout : 0; /* no process logs to it */
        enable->info = (TRACE_ENABLE_INFO){
            .IsEnabled = 1,
            .Level = enablement->level,
            .LoggerId = others_logger_id_of(&entry->session),
            .EnableProperty = enablement->property,
            .MatchAnyKeyword = enablement->match_any,
            .MatchAllKeyword = enablement->match_all,
        };
    }
    return enablement != NULL;
}

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
        !etwas_sessions[key.index].configuration.is_shared) {
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
                                           struct etwas_other_enablement **list)
{
    uint32_t count;

    *list = malloc((others->entry_count + ETWAS_LISTENERS) * sizeof **list);
    if (*list == NULL) {
        return 0;
    }
    count = others_describe_own(guid, is_group, *list);
    for (uint32_t index = 0; index < others->entry_count; index++) {
        count += others_describe(others->entries[index], guid, is_group, &(*list)[count]);
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

/* ---- room for one more ----------------------------------------------------------------------- */

struct kind {
    const etwas_guid *guid;
    bool is_classic;
};

static bool others_find_classic(const struct etwas_registry_guid_list *list, void *context)
{
    struct kind *kind = context;

    for (uint32_t index = 0; index < list->count; index++) {
        const struct etwas_registry_guid *one = &list->guids[index];

        kind->is_classic = kind->is_classic || (one->is_classic && memcmp(&one->guid, kind->guid,
                                                                          sizeof one->guid) == 0);
    }
    return !kind->is_classic;
}

static bool others_is_classic(const etwas_guid *guid)
{
    struct kind kind = {.guid = guid};

    (void)etwas_registry_each_process(others_find_classic, &kind);
    return kind.is_classic;
}

bool etwas_other_sessions_leave_room(const etwas_guid *session, const etwas_guid *guid,
                                     bool is_group)
{
    etwas_guid *sessions = NULL;
    uint32_t session_count = 0;
    uint32_t count = 0;

    (void)etwas_registry_list(&sessions, &session_count);
    for (uint32_t index = 0; index < session_count; index++) {
        struct etwas_registry_entry *entry;

        if (memcmp(&sessions[index], session, sizeof *session) != 0 &&
            etwas_registry_read(&sessions[index], &entry) == ERROR_SUCCESS) {
            count += entry->kind == ETWAS_REGISTRY_SHARED && entry->unshared == 0 &&
                     others_enablement_of(entry, guid, is_group) != NULL;
            free(entry);
        }
    }
    free(sessions);
    return count < ETWAS_LISTENERS || (!is_group && others_is_classic(guid));
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

/* ---- publishing ------------------------------------------------------------------------------ */

/* One thread at a time publishes, so that the newest list is the one that stays. */
static pthread_mutex_t publishing = PTHREAD_MUTEX_INITIALIZER;
static uint16_t places[ETWAS_CONTROL_GUIDS]; /* positions in the list */
static struct etwas_own_unattached own_unattached;
static bool is_published; /* with own_unattached, and what was registered then */

/* A provider that is registered in several groups is listed in the last of them. */
static void others_list_groups(struct etwas_registry_guid_list *list)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        const struct etwas_registration *one = &etwas_registrations[index];

        if (one->used && one->group != ETWAS_NO_CONTROL_GUID) {
            list->guids[places[one->control]].group = places[one->group] + 1u;
        }
    }
}

static void others_list_own(struct etwas_registry_guid_list *list)
{
    etwas_control_lock();
    for (uint32_t index = 0; index < etwas_control_guids_end(); index++) {
        const struct etwas_control_guid *provider = &etwas_control_guids[index];

        if (provider->registrations != 0) {
            places[index] = (uint16_t)list->count;
            list->guids[list->count++] = (struct etwas_registry_guid){
                .guid = provider->guid,
                .is_group = provider->is_group,
                .is_classic = etwas_control_guid_is_classic(provider),
                .name = provider->name != NULL ? strdup(provider->name) : NULL,
            };
        }
    }
    others_list_groups(list);
    etwas_control_unlock();
}

void etwas_own_providers_publish(void)
{
    struct etwas_registry_guid_list list = {0};

    if (!etwas_service_runs()) {
        return;
    }
    list.guids = malloc(ETWAS_CONTROL_GUIDS * sizeof *list.guids);
    if (list.guids == NULL) {
        return; /* they are published with the next change */
    }
    (void)pthread_mutex_lock(&publishing);
    list.unattached = own_unattached.sessions;
    list.unattached_count = own_unattached.count;
    others_list_own(&list);
    is_published = etwas_service_publish(&list);
    (void)pthread_mutex_unlock(&publishing);
    for (uint32_t index = 0; index < list.count; index++) {
        free((char *)(uintptr_t)list.guids[index].name);
    }
    free(list.guids);
}

void etwas_own_unattached_add(struct etwas_own_unattached *unattached, const etwas_guid *session)
{
    uint32_t index = 0;

    while (index < unattached->count &&
           memcmp(&unattached->sessions[index], session, sizeof *session) != 0) {
        index++;
    }
    if (index < ETWAS_GUEST_SESSIONS) {
        unattached->sessions[index] = *session;
        unattached->count += index == unattached->count;
    }
}

/* What could not be published is published by the next pass, which may have files or memory. */
void etwas_own_unattached_publish(const struct etwas_own_unattached *unattached)
{
    const size_t bytes = unattached->count * sizeof *unattached->sessions;
    bool is_new;

    (void)pthread_mutex_lock(&publishing);
    is_new = unattached->count != own_unattached.count ||
             memcmp(unattached->sessions, own_unattached.sessions, bytes) != 0 ||
             (own_unattached.count != 0 && !is_published);
    own_unattached = *unattached;
    (void)pthread_mutex_unlock(&publishing);
    if (is_new) {
        etwas_own_providers_publish();
    }
}

void etwas_own_providers_forget(void)
{
    own_unattached.count = 0;
    (void)pthread_mutex_init(&publishing, NULL);
}
