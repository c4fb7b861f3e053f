/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/other_processes.h"

#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/identity.h"
#include "platform/thread.h"
#include "provider/control_guid.h"
#include "provider/registration.h"
#include "registry/joined_process.h"
#include "registry/sessions.h"
#include "sharing/apply.h"
#include "sharing/guest_table.h"
#include "sharing/remote.h"
#include "sharing/service.h"

/* ---- reading --------------------------------------------------------------------------------- */

struct gathering {
    struct etwas_other_processes *others;
    uint32_t room;
    uint32_t unattached_room;
    uint32_t code;
};

/* A process of another PID namespace may have the same id. */
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
            .name = one->name[0] != '\0' ? strdup(one->name) : NULL,
        };
    }
    return true;
}

/* Returns the logger id that handles of the session have in this process; 0: there is none. */
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

/* ETWAS_ENABLE_FILTERED_... */
static uint32_t others_filtered_by(const struct etwas_registry_enablement *enablement)
{
    static const struct {
        uint32_t type;
        uint32_t bit;
    } bits[] = {
        {EVENT_FILTER_TYPE_PID, ETWAS_ENABLE_FILTERED_PROCESSES},
        {EVENT_FILTER_TYPE_EXECUTABLE_NAME, ETWAS_ENABLE_FILTERED_PROGRAMS},
        {EVENT_FILTER_TYPE_EVENT_ID, ETWAS_ENABLE_FILTERED_EVENTS},
        {EVENT_FILTER_TYPE_EVENT_NAME, ETWAS_ENABLE_FILTERED_EVENTS},
        {ETWAS_FILTER_TYPE_EVENT_PATTERN, ETWAS_ENABLE_FILTERED_EVENTS},
    };
    uint32_t found = 0;

    for (uint32_t index = 0; index < enablement->filter_count; index++) {
        for (size_t at = 0; at < sizeof bits / sizeof *bits; at++) {
            found |= enablement->filters[index].type == bits[at].type ? bits[at].bit : 0;
        }
    }
    return found;
}

/* Appends the enablements of an entry; the caller has made room for them. */
static void others_gather_entry(const struct etwas_registry_entry *entry,
                                struct etwas_other_processes *others)
{
    const uint16_t logger_id = others_logger_id_of(&entry->session);

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *one = &entry->enablements[index];
        struct etwas_other_enablement *added = &others->enablements[others->enablement_count++];
        const char *name = etwas_enablement_name(one);

        *added = (struct etwas_other_enablement){
            .info = {.IsEnabled = 1,
                     .Level = one->level,
                     .LoggerId = logger_id,
                     .EnableProperty = one->property,
                     .Reserved2 = others_filtered_by(one),
                     .MatchAnyKeyword = one->match_any,
                     .MatchAllKeyword = one->match_all},
            .guid = one->provider,
            .asked_ns = one->asked_ns,
            .is_group = one->is_group,
            .layout = entry->unshared == 0 ? entry->layout : 0,
            .session = entry->session,
        };
        if (name != NULL) {
            (void)snprintf(added->name, sizeof added->name, "%s", name);
        }
    }
}

/* Reads how the sessions of other processes enable providers. */
static uint32_t others_gather_enablements(struct etwas_other_processes *others)
{
    struct etwas_registry_entry **entries;
    uint32_t code;
    uint32_t count = etwas_remote_list(&entries, &code);
    uint32_t enablements = 0;

    for (uint32_t index = 0; index < count; index++) {
        enablements += entries[index]->enablement_count;
    }
    others->enablements = malloc((enablements + 1) * sizeof *others->enablements);
    if (others->enablements == NULL) {
        code = ERROR_NOT_ENOUGH_MEMORY;
    }
    for (uint32_t index = 0; index < count; index++) {
        if (others->enablements != NULL) {
            others_gather_entry(entries[index], others);
        }
        free(entries[index]);
    }
    free(entries);
    return code;
}

uint32_t etwas_other_processes_read(struct etwas_other_processes *others)
{
    struct gathering gathering = {.others = others, .code = ERROR_SUCCESS};
    uint32_t processes;
    uint32_t sessions;

    if (!etwas_remote_is_available()) {
        return ERROR_SUCCESS;
    }
    processes = etwas_registry_each_process(others_gather_list, &gathering);
    sessions = others_gather_enablements(others);
    return gathering.code != ERROR_SUCCESS ? gathering.code
           : processes != ERROR_SUCCESS    ? processes
                                           : sessions;
}

/* ---- names ----------------------------------------------------------------------------------- */

struct visit {
    etwas_provider_visitor visit;
    void *context;
};

static bool others_visit_list(const struct etwas_registry_guid_list *list, void *context)
{
    const struct visit *visit = context;
    bool goes_on = true;

    for (uint32_t index = 0; goes_on && index < list->count; index++) {
        const struct etwas_registry_guid *one = &list->guids[index];

        goes_on = visit->visit(&one->guid, one->is_group, one->name, visit->context);
    }
    return goes_on;
}

uint32_t etwas_other_processes_each_provider(etwas_provider_visitor visit, void *context)
{
    struct visit visiting = {visit, context};

    return etwas_remote_is_available() ? etwas_registry_each_process(others_visit_list, &visiting)
                                       : ERROR_SUCCESS;
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

/* ---- publishing ------------------------------------------------------------------------------ */

/* Only one thread at a time publishes, so that the newest list is the one that stays. */
static pthread_mutex_t publishing = PTHREAD_MUTEX_INITIALIZER;
static uint16_t places[ETWAS_CONTROL_GUIDS]; /* positions in the list */
static struct etwas_own_unattached own_unattached;
static bool is_published; /* with own_unattached and the providers registered then */

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

/*
 * Anything that could not be published is published by the next pass, which may have files or
 * memory.
 */
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
