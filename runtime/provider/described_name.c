/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/describe_class.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "provider/callback.h"
#include "provider/control_guid.h"
#include "provider/enabling.h"
#include "provider/event_class.h"
#include "session/session.h"

/* The last described name of a class's provider. */
struct described_name {
    etwas_guid guid;
    char *name; /* NULL: there was no memory for it */
};

static void *names;        /* a tree by GUID, which is never freed; under the control lock */
static bool must_complete; /* a name has enabled a provider; under the control lock */

static int described_name_compare(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(etwas_guid));
}

static struct described_name *described_name_find(const etwas_guid *guid)
{
    void *node = tfind(guid, &names, described_name_compare);

    return node != NULL ? *(struct described_name **)node : NULL;
}

/* Returns a new entry without a name; NULL: there is no memory. */
static struct described_name *described_name_new(const etwas_guid *guid)
{
    struct described_name *entry = calloc(1, sizeof *entry);

    if (entry == NULL) {
        return NULL;
    }
    entry->guid = *guid;
    if (tsearch(entry, &names, described_name_compare) == NULL) {
        free(entry);
        return NULL;
    }
    return entry;
}

/* Stores the name. Returns whether the entry's name has changed. */
static bool described_name_change(struct described_name *entry, const char *name)
{
    char *copy;

    if (entry == NULL || (entry->name != NULL && strcmp(entry->name, name) == 0)) {
        return false;
    }
    copy = strdup(name);
    if (copy == NULL) {
        return false;
    }
    free(entry->name);
    entry->name = copy;
    return true;
}

/* Gives the provider the name. Returns false if it keeps the name it has. */
static bool described_name_give(uint32_t control, const char *name)
{
    struct etwas_control_guid *provider = &etwas_control_guids[control];

    if (provider->name != NULL &&
        (!provider->name_is_described || strcmp(provider->name, name) == 0)) {
        return false;
    }
    etwas_control_guid_set_name(provider, name);
    provider->name_is_described = true;
    must_complete = etwas_provider_follow_names(control) || must_complete;
    return true;
}

/* Releases the control lock, and runs the callbacks that names have caused. */
static void described_name_unlock(void)
{
    uint64_t newest = etwas_callback_newest_request();
    bool is_due = must_complete;

    must_complete = false;
    etwas_control_unlock();
    if (is_due) {
        (void)etwas_provider_complete_named(newest, 0);
    }
}

static bool described_name_give_to_registered(const etwas_guid *guid, const char *name)
{
    uint32_t control = etwas_control_guid_find(guid, false);
    uint64_t halves[2];
    bool is_given = false;

    if (control != ETWAS_NO_CONTROL_GUID && etwas_control_guids[control].registrations != 0) {
        is_given = described_name_give(control, name);
    }
    memcpy(halves, guid, sizeof halves);
    for (uint32_t index = 0; index < ETWAS_CLASSES; index++) {
        const struct etwas_class *class = &etwas_classes[index];

        if (ck_pr_load_64(&class->generation) != 0 && ck_pr_load_64(&class->guid[0]) == halves[0] &&
            ck_pr_load_64(&class->guid[1]) == halves[1]) {
            is_given |= described_name_give(etwas_registrations[class->registration].control, name);
        }
    }
    return is_given;
}

bool etwas_described_name_store(const etwas_class_description *description)
{
    const char *name = description->provider_name;
    struct described_name *entry;
    bool is_given = false;

    etwas_control_lock();
    entry = described_name_find(description->guid);
    if (entry == NULL) {
        entry = described_name_new(description->guid);
    }
    if (described_name_change(entry, name)) {
        is_given = described_name_give_to_registered(description->guid, name);
    }
    described_name_unlock();
    return is_given;
}

void etwas_described_name_apply(const struct etwas_registration_request *request)
{
    uint32_t control;

    etwas_control_lock();
    control = etwas_control_guid_find(request->control, false);
    if (control != ETWAS_NO_CONTROL_GUID && names != NULL) {
        const struct described_name *entry = described_name_find(request->control);

        for (uint32_t index = 0; entry == NULL && index < request->class_count; index++) {
            entry = described_name_find(request->classes[index].Guid);
        }
        if (entry != NULL && entry->name != NULL) {
            (void)described_name_give(control, entry->name);
        }
    }
    described_name_unlock();
}
