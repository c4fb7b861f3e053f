/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
/* Compiled for speed. */

#include "provider/event_class.h"

#include <string.h>

#include "provider/counted_class.h"

struct etwas_class etwas_classes[ETWAS_CLASSES];

const struct etwas_counter_hooks *etwas_counter_hooks;

static etwas_handle class_handle_of(uint32_t index)
{
    uint64_t generation = etwas_classes[index].generation;

    return (etwas_handle)(uintptr_t)(generation << ETWAS_CLASS_INDEX_BITS | (index + 1));
}

static void class_use_entry(uint32_t index, uint32_t registration, const etwas_guid *guid)
{
    struct etwas_class *entry = &etwas_classes[index];
    uint64_t halves[2];

    memcpy(halves, guid, sizeof halves);
    ck_pr_store_64(&entry->guid[0], halves[0]);
    ck_pr_store_64(&entry->guid[1], halves[1]);
    entry->registration = registration;
    entry->last_generation =
        entry->last_generation == ETWAS_CLASS_COUNTED - 1 ? 1 : entry->last_generation + 1;
    ck_pr_fence_release();
    ck_pr_store_64(&entry->generation, entry->last_generation);
}

bool etwas_classes_add(uint32_t registration, TRACE_GUID_REGISTRATION *wanted, uint32_t count)
{
    uint32_t given = 0;

    for (uint32_t index = 0; index < ETWAS_CLASSES && given < count; index++) {
        if (ck_pr_load_64(&etwas_classes[index].generation) == 0) {
            class_use_entry(index, registration, wanted[given].Guid);
            wanted[given].RegHandle = class_handle_of(index);
            given++;
        }
    }
    if (given < count) {
        etwas_classes_remove(registration);
        return false;
    }
    return true;
}

void etwas_classes_remove(uint32_t registration)
{
    for (uint32_t index = 0; index < ETWAS_CLASSES; index++) {
        if (ck_pr_load_64(&etwas_classes[index].generation) != 0 &&
            etwas_classes[index].registration == registration) {
            ck_pr_store_64(&etwas_classes[index].generation, 0);
            /* Before a new GUID is stored: a reader that sees the new GUID sees this, too. */
            ck_pr_fence_memory();
        }
    }
}

bool etwas_class_guid(etwas_handle class_handle, etwas_guid *guid)
{
    etwas_pair words;
    uint64_t session;

    if (!etwas_class_look_up(class_handle, &words) &&
        !etwas_counted_class_find(class_handle, &words, &session)) {
        return false;
    }
    memcpy(guid, &words, sizeof *guid);
    return true;
}
