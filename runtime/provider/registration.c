/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/registration.h"

#include <ck_pr.h>
#include <etwas/winerror.h>
#include <pthread.h>
#include <string.h>

#include "provider/event_class.h"
#include "session/session.h"

enum {
    REGISTRATION_INDEX_BITS = 16,
    GATE_LEVEL_SHIFT = 32,
    EVERY_LEVEL = 255,
};
/* Tells a registration's handle from a session's. */
#define REGISTRATION_TAG (UINT64_C(1) << 62)

/*
 * What a controller asked for a control GUID; kept also while nobody is registered for it (R190).
 */
struct enablement {
    etwas_guid control;
    uint64_t session; /* 0: not in use */
    uint8_t level;
    uint32_t flags;
};

struct registration {
    etwas_provider provider; /* first, and public: the inline gate */
    bool used;
    uint32_t generation;
    etwas_guid control;
    WMIDPREQUEST callback;
    void *context;
};

static struct registration registrations[ETWAS_REGISTRATIONS];
static struct enablement enablements[ETWAS_REGISTRATIONS];
static pthread_mutex_t callbacks;

static bool same_guid(const etwas_guid *left, const etwas_guid *right)
{
    return memcmp(left, right, sizeof *left) == 0;
}

void etwas_providers_prepare(void)
{
    pthread_mutexattr_t attributes;

    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(&callbacks, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

void etwas_providers_forget_enablements(void)
{
    memset(enablements, 0, sizeof enablements);
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        ck_pr_store_64(&registrations[index].provider.gate, 0);
    }
    etwas_providers_prepare();
}

/* ---- gates and enablements: with the control lock held --------------------------------------- */

static struct enablement *find_enablement(const etwas_guid *control)
{
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        if (enablements[index].session != 0 && same_guid(&enablements[index].control, control)) {
            return &enablements[index];
        }
    }
    return NULL;
}

static struct enablement *unused_enablement(void)
{
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        if (enablements[index].session == 0) {
            return &enablements[index];
        }
    }
    return NULL;
}

/* Level 0 is every level and flags 0 is every flag, so that the gate is one comparison of each. */
static uint64_t gate_of(const struct enablement *enablement)
{
    uint64_t level = enablement->level != 0 ? enablement->level : EVERY_LEVEL;
    uint32_t flags = enablement->flags != 0 ? enablement->flags : UINT32_MAX;

    return (level + 1) << GATE_LEVEL_SHIFT | flags;
}

static void set_gates(const etwas_guid *control, uint64_t gate)
{
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        if (registrations[index].used && same_guid(&registrations[index].control, control)) {
            ck_pr_store_64(&registrations[index].provider.gate, gate);
        }
    }
}

static struct registration *registration_of(uint64_t handle)
{
    uint32_t index = (uint32_t)(handle & ((1u << REGISTRATION_INDEX_BITS) - 1)) - 1;
    uint32_t generation = (uint32_t)(handle >> REGISTRATION_INDEX_BITS);

    if (index >= ETWAS_REGISTRATIONS || !registrations[index].used ||
        registrations[index].generation != generation ||
        handle >> (REGISTRATION_INDEX_BITS + 32) !=
            REGISTRATION_TAG >> (REGISTRATION_INDEX_BITS + 32)) {
        return NULL;
    }
    return &registrations[index];
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void callbacks_lock(void)
{
    (void)pthread_mutex_lock(&callbacks);
}

static void callbacks_unlock(void)
{
    (void)pthread_mutex_unlock(&callbacks);
}

/* Tells one registration of an enablement (R191). With the callback lock held. */
static uint32_t notify(uint32_t index, WMIDPREQUESTCODE request, uint64_t session)
{
    WNODE_HEADER header;
    WMIDPREQUEST callback;
    uint32_t buffer_bytes = sizeof header;
    void *context;

    memset(&header, 0, sizeof header);
    header.BufferSize = sizeof header;
    header.HistoricalContext = etwas_session_handle_for(session, index);
    header.Flags = WNODE_FLAG_TRACED_GUID;
    etwas_control_lock();
    callback = registrations[index].used ? registrations[index].callback : NULL;
    context = registrations[index].context;
    header.Guid = registrations[index].control;
    etwas_control_unlock();
    return callback != NULL ? callback(request, context, &buffer_bytes, &header) : ERROR_SUCCESS;
}

static bool is_registered_for(uint32_t index, const etwas_guid *control)
{
    bool result;

    etwas_control_lock();
    result = registrations[index].used && same_guid(&registrations[index].control, control);
    etwas_control_unlock();
    return result;
}

static void notify_all(const etwas_guid *control, WMIDPREQUESTCODE request, uint64_t session)
{
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        if (is_registered_for(index, control)) {
            (void)notify(index, request, session);
        }
    }
}

/* ---- registering ----------------------------------------------------------------------------- */

/* A free place, filled; UINT32_MAX: none. With the control lock held. */
static uint32_t take_place(const struct etwas_registration_request *request)
{
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        struct registration *registration = &registrations[index];

        if (registration->used) {
            continue;
        }
        if (!etwas_classes_add(index, request->classes, request->class_count)) {
            return UINT32_MAX;
        }
        registration->used = true;
        registration->generation =
            registration->generation == UINT32_MAX ? 1 : registration->generation + 1;
        registration->control = *request->control;
        registration->callback = request->callback;
        registration->context = request->context;
        return index;
    }
    return UINT32_MAX;
}

uint32_t etwas_provider_register(const struct etwas_registration_request *request, uint64_t *handle)
{
    const struct enablement *enablement = NULL;
    uint64_t session = 0;
    uint32_t code = ERROR_SUCCESS;
    uint32_t index;

    callbacks_lock();
    etwas_control_lock();
    index = take_place(request);
    if (index != UINT32_MAX) {
        *handle = REGISTRATION_TAG |
                  (uint64_t)registrations[index].generation << REGISTRATION_INDEX_BITS |
                  (index + 1);
        enablement = find_enablement(request->control);
    }
    if (enablement != NULL) {
        session = enablement->session;
        ck_pr_store_64(&registrations[index].provider.gate, gate_of(enablement));
    }
    etwas_control_unlock();
    if (index == UINT32_MAX) {
        code = ERROR_NO_SYSTEM_RESOURCES;
    } else if (session != 0) {
        code = notify(index, WMI_ENABLE_EVENTS, session);
    }
    callbacks_unlock();
    return code;
}

uint32_t etwas_provider_unregister(uint64_t handle)
{
    struct registration *registration;

    /* Waits for a callback that runs in another thread; inside one's own it goes on. */
    callbacks_lock();
    etwas_control_lock();
    registration = registration_of(handle);
    if (registration != NULL) {
        etwas_classes_remove((uint32_t)(registration - registrations));
        ck_pr_store_64(&registration->provider.gate, 0);
        registration->used = false;
    }
    etwas_control_unlock();
    callbacks_unlock();
    return registration != NULL ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

const etwas_provider *etwas_provider_of(etwas_trace_handle handle)
{
    struct registration *registration;

    etwas_control_lock();
    registration = registration_of(handle);
    etwas_control_unlock();
    return registration != NULL ? &registration->provider : NULL;
}

/* ---- enabling -------------------------------------------------------------------------------- */

/* Notes the wish of a controller. False: the table is full. With the control lock held. */
static bool note_enablement(const struct enablement *wish)
{
    struct enablement *enablement = find_enablement(&wish->control);

    if (enablement == NULL) {
        enablement = unused_enablement();
    }
    if (enablement == NULL) {
        return false;
    }
    *enablement = *wish;
    set_gates(&wish->control, gate_of(wish));
    return true;
}

/* Forgets it, if this session is the one that enables. With the control lock held. */
static bool drop_enablement(const etwas_guid *control, uint64_t session)
{
    struct enablement *enablement = find_enablement(control);

    if (enablement == NULL || enablement->session != session) {
        return false;
    }
    enablement->session = 0;
    set_gates(control, 0);
    return true;
}

uint32_t etwas_provider_enable(const etwas_guid *control, uint64_t session, bool enable,
                               uint8_t level, uint32_t flags)
{
    const struct enablement wish = {*control, session, level, flags};
    struct etwas_session_key key;
    uint32_t code = ERROR_SUCCESS;
    bool changed = false;

    (void)etwas_session_key_of(session, &key);
    callbacks_lock();
    etwas_control_lock();
    if (etwas_session_find(key) == NULL ||
        etwas_session_find(key)->state != ETWAS_SESSION_RUNNING) {
        code = ERROR_INVALID_PARAMETER;
    } else if (!enable) {
        changed = drop_enablement(control, session);
    } else if (note_enablement(&wish)) {
        changed = true;
    } else {
        code = ERROR_NO_SYSTEM_RESOURCES;
    }
    etwas_control_unlock();
    if (changed) {
        notify_all(control, enable ? WMI_ENABLE_EVENTS : WMI_DISABLE_EVENTS, session);
    }
    callbacks_unlock();
    return code;
}

void etwas_providers_disable_session(uint64_t session)
{
    callbacks_lock();
    for (uint32_t index = 0; index < ETWAS_REGISTRATIONS; index++) {
        etwas_guid control;
        bool enabled;

        etwas_control_lock();
        enabled = enablements[index].session == session;
        control = enablements[index].control;
        if (enabled) {
            (void)drop_enablement(&control, session);
        }
        etwas_control_unlock();
        if (enabled) {
            notify_all(&control, WMI_DISABLE_EVENTS, session);
        }
    }
    callbacks_unlock();
}

bool etwas_provider_enablement(uint64_t handle, uint8_t *level, uint32_t *flags)
{
    uint32_t index = etwas_handle_registration(handle);
    struct etwas_session_key key;
    const struct enablement *enablement;
    bool found = false;

    if (!etwas_session_key_of(handle, &key) || index >= ETWAS_REGISTRATIONS) {
        return false;
    }
    etwas_control_lock();
    enablement = registrations[index].used ? find_enablement(&registrations[index].control) : NULL;
    if (enablement != NULL && enablement->session == etwas_session_handle(key)) {
        *level = enablement->level;
        *flags = enablement->flags;
        found = true;
    }
    etwas_control_unlock();
    return found;
}
