/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/enabling.h"

#include <ck_pr.h>
#include <etwas/evntprov.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "buffer/unattached.h"
#include "platform/testpoint.h"
#include "platform/wait.h"
#include "provider/callback.h"
#include "provider/counted_class.h"
#include "provider/event_items.h"
#include "provider/event_provider.h"
#include "provider/image_records.h"
#include "provider/name_pattern.h"
#include "provider/registration.h"
#include "session/session.h"

enum {
    GATE_LEVEL_SHIFT = 32,
    EVERY_LEVEL = 255,
};

/* ---- gates and enablements: with the control lock held --------------------------------------- */

/* Level 0 is every level and flags 0 is every flag, so that the gate is one comparison of each. */
static uint64_t registration_gate(const struct etwas_enablement *enablement)
{
    uint64_t level = enablement->level != 0 ? enablement->level : EVERY_LEVEL;
    uint32_t flags = etwas_enablement_flags(enablement);

    if (enablement->session == 0) {
        return 0;
    }
    return (level + 1) << GATE_LEVEL_SHIFT | (flags != 0 ? flags : UINT32_MAX);
}

/*
 * Returns the enablements of a registration: those of its own GUID, and of its group's as many as
 * there is room for.
 */
static struct etwas_control_guid registration_listeners_state(uint32_t registration)
{
    const struct etwas_registration *registered = &etwas_registrations[registration];
    struct etwas_control_guid all = etwas_control_guids[registered->control];

    if (registered->group != ETWAS_NO_CONTROL_GUID) {
        const struct etwas_control_guid *group = &etwas_control_guids[registered->group];

        for (uint32_t index = 0; index < group->enablement_count; index++) {
            const struct etwas_enablement *one = &group->enablements[index];

            if (all.enablement_count < ETWAS_LISTENERS &&
                etwas_control_guid_enablement(&all, one->session) == NULL) {
                all.enablements[all.enablement_count++] = *one;
            }
        }
    }
    return all;
}

static void registration_set_gate(uint32_t registration)
{
    struct etwas_registration *registered = &etwas_registrations[registration];
    const struct etwas_control_guid *entry = &etwas_control_guids[registered->control];

    if (registered->is_modern) {
        const struct etwas_control_guid all = registration_listeners_state(registration);

        etwas_event_provider_listen(registration, &all);
    } else {
        ck_pr_store_64(&registered->provider.gate,
                       registration_gate(etwas_control_guid_newest_enablement(entry)));
    }
}

static void control_guid_set_gates(uint32_t control)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registration_is_under(index, control)) {
            registration_set_gate(index);
        }
    }
    etwas_counted_class_enablement_changed(control);
}

void etwas_providers_forget_enablements(void)
{
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        etwas_control_guid_disable_others(&etwas_control_guids[control], 0);
    }
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (etwas_registrations[index].used) {
            registration_set_gate(index);
        }
    }
    etwas_counted_class_enablement_changed(ETWAS_NO_CONTROL_GUID);
    etwas_callbacks_forget();
}

static uint32_t enabling_count_enabled(void)
{
    uint32_t count = 0;

    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        count += etwas_control_guids[control].enablement_count != 0 ? 1 : 0;
    }
    return count;
}

/* ---- notifying: with the control lock held --------------------------------------------------- */

/*
 * R195: the highest level, every keyword that any session wants, and the keywords that all sessions
 * require. Level 0 is the highest of all.
 */
static struct etwas_combined_enablement combined_enablement_of(
    const struct etwas_control_guid *entry)
{
    struct etwas_combined_enablement composite = {0};
    bool every_level = false;

    if (entry->enablement_count != 0) {
        composite.is_enabled = EVENT_CONTROL_CODE_ENABLE_PROVIDER;
        composite.match_all_keyword = UINT64_MAX;
    }
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_enablement *one = &entry->enablements[index];

        every_level = every_level || one->level == 0;
        composite.level = one->level > composite.level ? one->level : composite.level;
        composite.match_any_keyword |=
            one->match_any_keyword != 0 ? one->match_any_keyword : UINT64_MAX;
        composite.match_all_keyword &= one->match_all_keyword;
    }
    if (every_level) {
        composite.level = 0;
    }
    return composite;
}

/* A change to report to callbacks; to those of classic providers only if the session is theirs. */
struct enabling_change {
    struct etwas_callback_request request;
    bool for_classic;
};

static struct enabling_change enabling_change_of(uint32_t control, WMIDPREQUESTCODE code,
                                                 uint64_t session, const etwas_guid *source)
{
    struct etwas_control_guid *entry = &etwas_control_guids[control];
    struct enabling_change change = {
        .request = {.session = session, .code = code},
        .for_classic = entry->newest == session,
    };

    if (source != NULL) {
        change.request.composite.source = *source;
    }
    return change;
}

/* The request for one registration. */
static struct etwas_callback_request enabling_request_for(uint32_t registration,
                                                          const struct enabling_change *change)
{
    const struct etwas_control_guid all = registration_listeners_state(registration);
    struct etwas_callback_request request = change->request;

    request.composite = combined_enablement_of(&all);
    request.composite.source = change->request.composite.source;
    if (request.code == WMI_CAPTURE_STATE) {
        request.composite.is_enabled = EVENT_CONTROL_CODE_CAPTURE_STATE;
    }
    return request;
}

static bool enabling_concerns(uint32_t registration, uint32_t control,
                              const struct enabling_change *change)
{
    const struct etwas_registration *registered = &etwas_registrations[registration];

    return etwas_registration_is_under(registration, control) &&
           (registered->is_modern ? registered->enable_callback != NULL : change->for_classic);
}

/*
 * Queues the request for every registration concerned. Returns false if one's queue is full; then
 * none is queued.
 */
static bool enabling_enqueue_all(uint32_t control, const struct enabling_change *change)
{
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (enabling_concerns(index, control, change) &&
            !etwas_callback_has_room(index, change->request.code)) {
            return false;
        }
    }
    for (uint32_t index = 0; index < etwas_registrations_end(); index++) {
        if (enabling_concerns(index, control, change)) {
            const struct etwas_callback_request request = enabling_request_for(index, change);

            (void)etwas_callback_enqueue(index, &request);
        }
    }
    return true;
}

bool etwas_registration_apply_enablement(uint32_t registration)
{
    const struct etwas_registration *registered = &etwas_registrations[registration];
    struct etwas_control_guid *entry = &etwas_control_guids[registered->control];
    struct etwas_callback_request request;
    struct enabling_change change;

    if (etwas_control_guid_is_classic(entry)) {
        etwas_control_guid_disable_others(entry, entry->newest);
    }
    registration_set_gate(registration);
    etwas_counted_class_enablement_changed(registered->control);
    change = enabling_change_of(registered->control, WMI_ENABLE_EVENTS, entry->newest, NULL);
    change.for_classic = entry->newest != 0;
    request = enabling_request_for(registration, &change);
    return entry->enablement_count != 0 &&
           enabling_concerns(registration, registered->control, &change) &&
           etwas_callback_enqueue(registration, &request);
}

void etwas_registration_join_group(uint32_t registration, const etwas_guid *guid)
{
    struct etwas_registration *registered = &etwas_registrations[registration];
    uint32_t group = etwas_control_guid_find_or_add(guid, true);
    const struct etwas_control_guid *entry = &etwas_control_guids[group];
    struct etwas_callback_request request;
    struct enabling_change change;

    etwas_control_guids[group].registrations++;
    registered->group = group;
    registration_set_gate(registration);
    change = enabling_change_of(group, WMI_ENABLE_EVENTS, entry->newest, NULL);
    request = enabling_request_for(registration, &change);
    if (entry->enablement_count != 0 && enabling_concerns(registration, group, &change)) {
        (void)etwas_callback_enqueue(registration, &request);
    }
}

/* Removes a session's enablement. */
static void enabling_disable(uint32_t control, uint64_t session, const etwas_guid *source)
{
    struct etwas_control_guid *entry = &etwas_control_guids[control];
    bool for_classic = entry->newest == session;
    struct enabling_change change;

    etwas_control_guid_disable(entry, session);
    control_guid_set_gates(control);
    change = enabling_change_of(control, WMI_DISABLE_EVENTS, session, source);
    change.for_classic = for_classic;
    (void)enabling_enqueue_all(control, &change);
}

/* ---- what a controller requests: with the control lock held ---------------------------------- */

/* A session whose request by name another one's has replaced, or 0. The control lock guards it. */
static uint64_t taken_over;

/* R192: only one session enables a classic provider. */
static void enabling_take_over(struct etwas_control_guid *entry, uint64_t session)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_enablement *one = &entry->enablements[index];

        if (one->session != session && one->name != NULL) {
            taken_over = one->session;
        }
    }
    etwas_control_guid_disable_others(entry, session);
}

/* Finds or adds the session's enablement; NULL: too many sessions or providers. */
static struct etwas_enablement *enabling_find_or_add(uint32_t control, uint64_t session)
{
    struct etwas_control_guid *entry = &etwas_control_guids[control];
    struct etwas_enablement *enablement;

    if (entry->enablement_count == 0 && enabling_count_enabled() == ETWAS_ENABLED_PROVIDERS) {
        return NULL;
    }
    if (etwas_control_guid_is_classic(entry)) {
        enabling_take_over(entry, session);
    }
    enablement = etwas_control_guid_enablement(entry, session);
    if (enablement == NULL && entry->enablement_count < ETWAS_LISTENERS) {
        enablement = &entry->enablements[entry->enablement_count++];
        *enablement = (struct etwas_enablement){0};
    }
    return enablement;
}

/*
 * Whether another session has enabled the provider after this request was made. The requests of
 * sessions of several hosts arrive in any order.
 */
static bool enabling_is_overtaken(uint32_t control, const struct etwas_enable_request *request)
{
    const struct etwas_control_guid *entry = &etwas_control_guids[control];

    return entry->newest != 0 && entry->newest != request->enablement.session &&
           request->asked_ns != 0 && entry->newest_asked_ns > request->asked_ns;
}

static void enabling_set_newest(uint32_t control, const struct etwas_enable_request *request)
{
    if (!enabling_is_overtaken(control, request)) {
        etwas_control_guids[control].newest = request->enablement.session;
        etwas_control_guids[control].newest_asked_ns = request->asked_ns;
    }
}

static uint32_t enabling_enable(const struct etwas_enable_request *request, bool independent)
{
    uint32_t control = etwas_control_guid_find_or_add(request->control, request->is_group);
    uint64_t session = request->enablement.session;
    struct etwas_enablement *enablement =
        control != ETWAS_NO_CONTROL_GUID ? enabling_find_or_add(control, session) : NULL;
    struct enabling_change change;

    if (enablement == NULL) {
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    /* A copy has no identity: the original request has set it. */
    if ((request->enablement.property & ETWAS_ITEM_PROPERTIES) != 0 &&
        !request->enablement.by_name) {
        etwas_event_items_set_identity(&request->identity);
    }
    etwas_enablement_set(enablement, &request->enablement);
    enablement->asked_ns = request->asked_ns;
    enablement->independent = independent;
    enabling_set_newest(control, request);
    control_guid_set_gates(control);
    change = enabling_change_of(control, WMI_ENABLE_EVENTS, session, &request->source);
    (void)enabling_enqueue_all(control, &change);
    return ERROR_SUCCESS;
}

/* Enables with copies of the requested filter and name. */
static uint32_t enabling_enable_filtered(struct etwas_enable_request *request, bool independent)
{
    const uint32_t kinds = request->filter != NULL ? request->filter->kinds : 0;
    struct etwas_enablement *wanted = &request->enablement;
    bool is_whole = true;
    uint32_t code;

    if ((kinds & ~(uint32_t)ETWAS_FILTER_PROVIDER_NAME) != 0) {
        wanted->filter = etwas_event_filter_acquire(request->filter);
        is_whole = wanted->filter != NULL;
    }
    if ((kinds & ETWAS_FILTER_PROVIDER_NAME) != 0) {
        wanted->name = strdup(request->filter->provider_name);
        is_whole = is_whole && wanted->name != NULL;
    }
    code = is_whole ? enabling_enable(request, independent) : (uint32_t)ERROR_NOT_ENOUGH_MEMORY;
    if (code != ERROR_SUCCESS) {
        etwas_event_filter_release(wanted->filter);
        free(wanted->name);
    }
    return code;
}

static uint32_t enabling_capture_state(uint32_t control, const struct etwas_enable_request *request)
{
    struct enabling_change change = enabling_change_of(
        control, WMI_CAPTURE_STATE, request->enablement.session, &request->source);

    return enabling_enqueue_all(control, &change) ? ERROR_SUCCESS : ERROR_NO_SYSTEM_RESOURCES;
}

/* R192: whether another session has a classic provider already, by a later request. */
static bool enabling_is_accepted(uint32_t control, const struct etwas_enable_request *request)
{
    return control != ETWAS_NO_CONTROL_GUID &&
           etwas_control_guid_is_classic(&etwas_control_guids[control]) &&
           enabling_is_overtaken(control, request);
}

/* ---- providers by name: with the control lock held ------------------------------------------- */

static bool enabling_has_name(const struct etwas_control_guid *provider, const char *name)
{
    return etwas_control_guid_is_used(provider) && !provider->is_group && provider->name != NULL &&
           etwas_name_pattern_matches(name, (uint32_t)strlen(name), provider->name, true);
}

/*
 * Returns the session's newest enablement whose pattern matches the provider; NULL: there is none.
 */
static const struct etwas_enablement *enabling_find_by_name(uint32_t control, uint64_t session)
{
    const struct etwas_enablement *newest = NULL;

    for (uint32_t index = 0; index < etwas_control_guids_end(); index++) {
        const struct etwas_enablement *one =
            etwas_control_guid_enablement(&etwas_control_guids[index], session);

        if (one != NULL && one->name != NULL &&
            (newest == NULL || one->asked_ns > newest->asked_ns) &&
            enabling_has_name(&etwas_control_guids[control], one->name)) {
            newest = one;
        }
    }
    return newest;
}

/* Enables the provider with a copy of an enablement by name. Sets *changed if it does. */
static uint32_t enabling_copy(uint32_t control, const struct etwas_enablement *original,
                              bool *changed)
{
    uint32_t code = ERROR_SUCCESS;

    struct etwas_enable_request request = {
        .control = &etwas_control_guids[control].guid,
        .asked_ns = original->asked_ns,
        .filter = original->filter,
        .enablement = *original,
    };

    request.enablement.filter = NULL;
    request.enablement.name = NULL;
    request.enablement.by_name = true;
    if (!enabling_is_accepted(control, &request)) {
        code = enabling_enable_filtered(&request, original->independent);
        *changed = code == ERROR_SUCCESS || *changed;
    }
    return code;
}

/*
 * Updates the provider to what the session requests by name, unless the session has enabled the
 * provider by its GUID. Sets *changed if that is a change.
 */
static uint32_t enabling_follow(uint32_t control, uint64_t session, bool *changed)
{
    const struct etwas_enablement *current =
        etwas_control_guid_enablement(&etwas_control_guids[control], session);
    const struct etwas_enablement *wanted;

    if (current != NULL && !current->by_name) {
        return ERROR_SUCCESS;
    }
    wanted = enabling_find_by_name(control, session);
    if (wanted == NULL && current != NULL) {
        enabling_disable(control, session, NULL);
        *changed = true;
        return ERROR_SUCCESS;
    }
    return wanted != NULL && (current == NULL || current->asked_ns != wanted->asked_ns)
               ? enabling_copy(control, wanted, changed)
               : (uint32_t)ERROR_SUCCESS;
}

/* If a provider cannot be enabled, the others still are, and the first such code is returned. */
static uint32_t enabling_follow_all(uint64_t session, bool *changed)
{
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        if (!etwas_control_guids[control].is_group && etwas_control_guids[control].name != NULL) {
            uint32_t of_one = enabling_follow(control, session, changed);

            code = code == ERROR_SUCCESS ? of_one : code;
        }
    }
    return code;
}

/* Requests the state of the providers that are enabled by this name. */
static uint32_t enabling_capture_named(const char *name, const struct etwas_enable_request *request)
{
    uint32_t code = ERROR_SUCCESS;

    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        const struct etwas_enablement *one = etwas_control_guid_enablement(
            &etwas_control_guids[control], request->enablement.session);

        if (one != NULL && one->by_name && enabling_has_name(&etwas_control_guids[control], name)) {
            uint32_t of_one = enabling_capture_state(control, request);

            code = code == ERROR_SUCCESS ? of_one : code;
        }
    }
    return code;
}

/* Requests the state of the GUID's providers, and of those that its enablement enables by name. */
static uint32_t enabling_capture(uint32_t control, const struct etwas_enable_request *request)
{
    const struct etwas_enablement *own =
        etwas_control_guid_enablement(&etwas_control_guids[control], request->enablement.session);
    uint32_t code = enabling_capture_state(control, request);

    return code == ERROR_SUCCESS && own->name != NULL ? enabling_capture_named(own->name, request)
                                                      : code;
}

bool etwas_provider_follow_names(uint32_t control)
{
    bool any = false;

    for (uint32_t key = 0; etwas_named_enablements() != 0 && key < etwas_control_guids_end();
         key++) {
        for (uint32_t index = 0; index < etwas_control_guids[key].enablement_count; index++) {
            const struct etwas_enablement *one = &etwas_control_guids[key].enablements[index];

            if (one->name != NULL) {
                (void)enabling_follow(control, one->session, &any);
            }
        }
    }
    return any;
}

bool etwas_provider_is_named(const char *name)
{
    bool is_here = false;

    etwas_control_lock();
    for (uint32_t control = 0; !is_here && control < etwas_control_guids_end(); control++) {
        is_here = etwas_control_guids[control].registrations != 0 &&
                  enabling_has_name(&etwas_control_guids[control], name);
    }
    etwas_control_unlock();
    return is_here;
}

/* ---- what a controller requests -------------------------------------------------------------- */

/* The session that requests: one of this process, or one that it is a guest of. */
struct enabling_requester {
    struct etwas_session *session; /* NULL: of another process */
    bool is_independent;
};

/* Applies the request to its GUID. *changed is as in enabling_apply_request. */
static uint32_t enabling_apply_to_guid(struct etwas_enable_request *request,
                                       const struct enabling_requester *requester, bool *changed)
{
    uint32_t control = etwas_control_guid_find(request->control, request->is_group);
    struct etwas_session *session = requester->session;
    bool excluded = request->excluded || (session != NULL && session->configuration.filtered_out);
    bool is_ours = control != ETWAS_NO_CONTROL_GUID &&
                   etwas_control_guid_enablement(&etwas_control_guids[control],
                                                 request->enablement.session) != NULL;

    *changed = is_ours;
    switch (request->control_code) {
    case EVENT_CONTROL_CODE_ENABLE_PROVIDER:
        /* Set even if filters exclude this process, because its guests may take stacks. */
        if (session != NULL &&
            (request->enablement.property & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0) {
            ck_pr_store_32(&session->takes_stacks, 1);
        }
        if (!excluded && enabling_is_accepted(control, request)) {
            return ERROR_SUCCESS;
        }
        if (!excluded) {
            *changed = true;
            return enabling_enable_filtered(request, requester->is_independent);
        }
        __attribute__((fallthrough));
    case EVENT_CONTROL_CODE_DISABLE_PROVIDER:
        if (is_ours) {
            enabling_disable(control, request->enablement.session, &request->source);
        }
        return ERROR_SUCCESS;
    default:
        *changed = is_ours && !excluded;
        return *changed ? enabling_capture(control, request) : ERROR_SUCCESS;
    }
}

/*
 * *changed says whether there are callbacks to run, *named whether providers by name have some,
 * too. No caller waits for callbacks that other calls caused.
 */
static uint32_t enabling_apply_request(struct etwas_enable_request *request,
                                       const struct enabling_requester *requester, bool *changed,
                                       bool *named)
{
    bool has_names = etwas_named_enablements() != 0;
    uint32_t code = enabling_apply_to_guid(request, requester, changed);

    has_names = has_names || etwas_named_enablements() != 0;
    *named = false;
    if (has_names && code == ERROR_SUCCESS) {
        *named = request->control_code == EVENT_CONTROL_CODE_CAPTURE_STATE;
        code = enabling_follow_all(request->enablement.session, named);
    }
    /* Each turn removes a request by name, so the loop ends. */
    while (taken_over != 0) {
        const uint64_t session = taken_over;

        taken_over = 0;
        (void)enabling_follow_all(session, named);
    }
    return code;
}

/* Finds the session that requests; NULL: it does not run, and *code says why (R93). */
static struct etwas_session *enabling_find_session(uint64_t handle, uint32_t *code)
{
    struct etwas_session_key key;
    struct etwas_session *session;

    *code = ERROR_INVALID_PARAMETER;
    if (!etwas_session_key_of(handle, &key)) {
        return NULL;
    }
    session = etwas_session_find(key);
    if (session == NULL && etwas_session_is_remembered(key) &&
        etwas_sessions[key.index].entry.ended_by_full_file) {
        *code = ERROR_INVALID_HANDLE;
    }
    return session != NULL && session->entry.state == ETWAS_SESSION_RUNNING &&
                   !session->configuration.system_logger
               ? session
               : NULL;
}

/*
 * Whether this process is a guest of the session, which is attached with open gates, or not yet
 * attached.
 */
static bool enabling_is_guest_of(uint64_t handle)
{
    struct etwas_session_key key;

    return etwas_writer_key_of(handle, &key) && key.index >= ETWAS_SESSION_ENTRIES &&
           (etwas_unattached_is_counting(key.index, key.generation) ||
            (etwas_slots_are_attached() &&
             ck_pr_load_32(&etwas_slot_of(key.index, 0)->gate) == key.generation));
}

/* Returns ERROR_SUCCESS, or why there is none. */
static uint32_t enabling_find_requester(const struct etwas_enable_request *request,
                                        struct enabling_requester *requester)
{
    uint32_t code = ERROR_SUCCESS;

    *requester = (struct enabling_requester){.is_independent = request->is_independent};
    if (enabling_is_guest_of(request->enablement.session)) {
        return ERROR_SUCCESS;
    }
    requester->session = enabling_find_session(request->enablement.session, &code);
    if (requester->session == NULL) {
        return code;
    }
    requester->is_independent = (requester->session->configuration.log_file_mode &
                                 EVENT_TRACE_INDEPENDENT_SESSION_MODE) != 0;
    return ERROR_SUCCESS;
}

/* ---- enabling -------------------------------------------------------------------------------- */

void etwas_enable_request_prepare(struct etwas_enable_request *request)
{
    const uint32_t property = request->enablement.property;

    if ((property & ETWAS_ITEM_PROPERTIES) != 0) {
        etwas_identity_read(&request->identity);
    }
    if ((property & EVENT_ENABLE_PROPERTY_STACK_TRACE) != 0) {
        etwas_image_records_update();
    }
    if ((property & ETWAS_ENABLE_PROPERTY_COUNTERS) != 0) {
        etwas_thread_counters_prepare();
    }
}

/* What is left to do after a request. */
struct enabling_outcome {
    bool changed; /* as in enabling_apply_request */
    bool named;
    uint64_t newest; /* the request */
};

static uint32_t enabling_request(struct etwas_enable_request *request,
                                 struct enabling_outcome *outcome)
{
    struct enabling_requester requester;
    uint32_t code;

    *outcome = (struct enabling_outcome){.changed = false};
    etwas_control_lock();
    code = enabling_find_requester(request, &requester);
    if (code == ERROR_SUCCESS) {
        code = enabling_apply_request(request, &requester, &outcome->changed, &outcome->named);
    }
    outcome->newest = etwas_callback_newest_request();
    etwas_control_unlock();
    return code;
}

uint32_t etwas_provider_enable_without_callbacks(struct etwas_enable_request *request)
{
    struct enabling_outcome outcome;

    return enabling_request(request, &outcome);
}

/* Returns what is left of a timeout: at least 1 ms, unless it is 0 or unlimited. */
static uint32_t enabling_timeout_left(uint32_t timeout_ms, uint64_t since_ns)
{
    uint64_t passed_ms = (etwas_monotonic_ns() - since_ns) / ETWAS_NS_A_MILLISECOND;

    if (timeout_ms == 0 || timeout_ms == ETWAS_WAIT_FOREVER) {
        return timeout_ms;
    }
    return passed_ms < timeout_ms ? timeout_ms - (uint32_t)passed_ms : 1;
}

bool etwas_provider_complete_named(uint64_t newest, uint32_t timeout_ms)
{
    const uint64_t since_ns = etwas_monotonic_ns();
    bool all = true;

    for (uint32_t control = 0; control < ETWAS_CONTROL_GUIDS; control++) {
        const struct etwas_control_guid *provider = &etwas_control_guids[control];
        etwas_guid guid;
        bool is_named;

        etwas_control_lock();
        is_named = control < etwas_control_guids_end() && provider->registrations != 0 &&
                   !provider->is_group && provider->name != NULL;
        guid = provider->guid;
        etwas_control_unlock();
        all =
            (!is_named || etwas_callbacks_complete(&guid, false, newest,
                                                   enabling_timeout_left(timeout_ms, since_ns))) &&
            all;
    }
    return all;
}

uint32_t etwas_provider_enable(struct etwas_enable_request *request)
{
    struct enabling_outcome outcome;
    uint32_t code = enabling_request(request, &outcome);
    const uint64_t since_ns = etwas_monotonic_ns();
    bool is_settled = true;

    ETWAS_TESTPOINT(ETWAS_POINT_ENABLE_ASKED);
    if (code == ERROR_SUCCESS && outcome.changed) {
        is_settled = etwas_callbacks_complete(request->control, request->is_group, outcome.newest,
                                              request->timeout_ms);
    }
    if (outcome.named) {
        is_settled = etwas_provider_complete_named(
                         outcome.newest, enabling_timeout_left(request->timeout_ms, since_ns)) &&
                     is_settled;
    }
    return is_settled || code != ERROR_SUCCESS ? code : (uint32_t)ERROR_TIMEOUT;
}

bool etwas_provider_is_registered(const etwas_guid *guid, bool is_group)
{
    uint32_t control;
    bool is_here;

    etwas_control_lock();
    control = etwas_control_guid_find(guid, is_group);
    is_here = control != ETWAS_NO_CONTROL_GUID && etwas_control_guids[control].registrations != 0;
    etwas_control_unlock();
    return is_here;
}

void etwas_providers_disable_without_callbacks(uint64_t session)
{
    etwas_control_lock();
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        if (etwas_control_guid_enablement(&etwas_control_guids[control], session) != NULL) {
            enabling_disable(control, session, NULL);
        }
    }
    etwas_control_unlock();
}

void etwas_providers_disable_session(uint64_t session)
{
    etwas_control_lock();
    /*
     * A provider that gets a name while a callback runs then no longer follows the ending session.
     */
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        etwas_control_guid_forget_name(&etwas_control_guids[control], session);
    }
    for (uint32_t control = 0; control < etwas_control_guids_end(); control++) {
        if (etwas_control_guid_enablement(&etwas_control_guids[control], session) != NULL) {
            etwas_guid guid = etwas_control_guids[control].guid;
            bool is_group = etwas_control_guids[control].is_group;
            uint64_t newest;

            enabling_disable(control, session, NULL);
            newest = etwas_callback_newest_request();
            etwas_control_unlock();
            (void)etwas_callbacks_complete(&guid, is_group, newest, ETWAS_WAIT_FOREVER);
            etwas_control_lock();
        }
    }
    etwas_control_unlock();
}

struct etwas_enablement etwas_provider_enablement(uint64_t handle)
{
    uint32_t index = etwas_handle_registration(handle);
    struct etwas_enablement enablement = {0};
    struct etwas_session_key key;

    if (!etwas_writer_key_of(handle, &key) || index >= ETWAS_REGISTRATIONS) {
        return enablement;
    }
    etwas_control_lock();
    if (etwas_registrations[index].used) {
        enablement = *etwas_control_guid_newest_enablement(
            &etwas_control_guids[etwas_registrations[index].control]);
    }
    etwas_control_unlock();
    return enablement.session == etwas_session_handle(key) ? enablement
                                                           : (struct etwas_enablement){0};
}
