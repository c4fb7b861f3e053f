/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_entry.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

uint32_t etwas_host_entry_publish(struct etwas_host_entry *published)
{
    struct etwas_registry_enablement *list = NULL;
    uint32_t code;

    if (published->stored_count != 0) {
        list = malloc(published->stored_count * sizeof *list);
        if (list == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        for (uint32_t index = 0; index < published->stored_count; index++) {
            list[index] = published->stored[index].enablement;
        }
    }
    published->entry.enablements = list;
    published->entry.enablement_count = published->stored_count;
    code = etwas_registry_host_publish(&published->registry, &published->entry);
    published->entry.enablements = NULL;
    free(list);
    return code;
}

static void entry_drop_enablement(struct etwas_host_entry *published, uint32_t index)
{
    free(published->stored[index].bytes);
    published->stored[index] = published->stored[--published->stored_count];
}

void etwas_host_entry_clear(struct etwas_host_entry *published)
{
    while (published->stored_count != 0) {
        entry_drop_enablement(published, 0);
    }
    free(published->stored);
    published->stored = NULL;
}

static struct etwas_host_enablement *entry_find_enablement(struct etwas_host_entry *published,
                                                           const etwas_guid *provider,
                                                           bool is_group)
{
    for (uint32_t index = 0; index < published->stored_count; index++) {
        const struct etwas_registry_enablement *one = &published->stored[index].enablement;

        if (one->is_group == is_group && memcmp(&one->provider, provider, sizeof *provider) == 0) {
            return &published->stored[index];
        }
    }
    return NULL;
}

/* Copies an enablement together with its filters. */
static uint32_t entry_copy_enablement(struct etwas_host_enablement *stored,
                                      const struct etwas_registry_enablement *enablement)
{
    size_t size = 0;
    size_t used;
    uint32_t code;

    (void)etwas_registry_encode_enablement(enablement, NULL, 0, &size);
    stored->bytes = malloc(size);
    if (stored->bytes == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_registry_encode_enablement(enablement, stored->bytes, size, &used);
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_decode_enablement(stored->bytes, size, &stored->enablement, &used);
    }
    if (code != ERROR_SUCCESS) {
        free(stored->bytes);
    }
    return code;
}

/*
 * Stores an enablement. `before` receives the one that it replaces, whose bytes the caller then
 * owns; they are NULL if the enablement is new.
 */
static uint32_t entry_store_enablement(struct etwas_host_entry *published,
                                       const struct etwas_registry_enablement *enablement,
                                       struct etwas_host_enablement *before)
{
    struct etwas_host_enablement *known =
        entry_find_enablement(published, &enablement->provider, enablement->is_group);
    struct etwas_host_enablement *more;
    struct etwas_host_enablement stored;
    uint32_t code = entry_copy_enablement(&stored, enablement);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    stored.enablement.number = published->entry.number + 1;
    stored.enablement.captured = known != NULL ? known->enablement.captured : 0;
    if (known != NULL) {
        *before = *known;
        *known = stored;
        return ERROR_SUCCESS;
    }
    more = realloc(published->stored, (published->stored_count + 1) * sizeof *more);
    if (more == NULL) {
        free(stored.bytes);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    published->stored = more;
    published->stored[published->stored_count++] = stored;
    return ERROR_SUCCESS;
}

/*
 * Stores and publishes an enablement. If it cannot be published because the entry would be too
 * large, removes it again, so that others can be.
 */
static uint32_t entry_publish_enablement(struct etwas_host_entry *published,
                                         const struct etwas_registry_enablement *enablement)
{
    struct etwas_host_enablement before = {.bytes = NULL};
    uint32_t code = entry_store_enablement(published, enablement, &before);
    struct etwas_host_enablement *known;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    published->entry.number++;
    code = etwas_host_entry_publish(published);
    if (code == ERROR_SUCCESS) {
        free(before.bytes);
        return code;
    }
    known = entry_find_enablement(published, &enablement->provider, enablement->is_group);
    if (before.bytes != NULL) {
        free(known->bytes);
        *known = before;
    } else {
        entry_drop_enablement(published, (uint32_t)(known - published->stored));
    }
    return code;
}

/*
 * Publishes the entry without an enablement. If that fails guests still apply the enablement, so it
 * stays, and may be disabled again.
 */
static uint32_t entry_publish_without(struct etwas_host_entry *published,
                                      struct etwas_host_enablement *known)
{
    const struct etwas_host_enablement gone = *known;
    uint32_t code;

    *known = published->stored[--published->stored_count];
    published->entry.number++;
    code = etwas_host_entry_publish(published);
    if (code == ERROR_SUCCESS) {
        free(gone.bytes);
    } else {
        published->stored[published->stored_count++] = gone;
    }
    return code;
}

/*
 * Publishes a request for the state of an enablement's providers. NULL: there is no such
 * enablement, and nothing is published.
 */
static uint32_t entry_publish_capture(struct etwas_host_entry *published,
                                      struct etwas_host_enablement *known)
{
    uint64_t before;
    uint32_t code;

    if (known == NULL) {
        return ERROR_SUCCESS;
    }
    before = known->enablement.captured;
    known->enablement.captured = ++published->entry.number;
    code = etwas_host_entry_publish(published);
    if (code != ERROR_SUCCESS) {
        known->enablement.captured = before; /* otherwise the next change would request it */
    }
    return code;
}

uint32_t etwas_host_entry_change(struct etwas_host_entry *published, uint32_t control_code,
                                 const struct etwas_registry_enablement *enablement)
{
    struct etwas_host_enablement *known;

    if (control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        return entry_publish_enablement(published, enablement);
    }
    known = entry_find_enablement(published, &enablement->provider, enablement->is_group);
    if (known != NULL && control_code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        return entry_publish_without(published, known);
    }
    return entry_publish_capture(published, known);
}

bool etwas_host_entry_has(struct etwas_host_entry *published, const etwas_guid *provider,
                          bool is_group)
{
    return entry_find_enablement(published, provider, is_group) != NULL;
}
