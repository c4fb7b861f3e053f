/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/host_entry.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

uint32_t etwas_host_entry_publish(struct etwas_host_entry *shown)
{
    struct etwas_registry_enablement *list = NULL;
    uint32_t code;

    if (shown->kept_count != 0) {
        list = malloc(shown->kept_count * sizeof *list);
        if (list == NULL) {
            return ERROR_NOT_ENOUGH_MEMORY;
        }
        for (uint32_t index = 0; index < shown->kept_count; index++) {
            list[index] = shown->kept[index].enablement;
        }
    }
    shown->entry.enablements = list;
    shown->entry.enablement_count = shown->kept_count;
    code = etwas_registry_host_publish(&shown->registry, &shown->entry);
    shown->entry.enablements = NULL;
    free(list);
    return code;
}

static void drop_kept(struct etwas_host_entry *shown, uint32_t index)
{
    free(shown->kept[index].bytes);
    shown->kept[index] = shown->kept[--shown->kept_count];
}

void etwas_host_entry_clear(struct etwas_host_entry *shown)
{
    while (shown->kept_count != 0) {
        drop_kept(shown, 0);
    }
    free(shown->kept);
    shown->kept = NULL;
}

static struct etwas_host_kept *find_kept(struct etwas_host_entry *shown,
                                         const struct etwas_registry_enablement *like)
{
    for (uint32_t index = 0; index < shown->kept_count; index++) {
        const struct etwas_registry_enablement *one = &shown->kept[index].enablement;

        if (one->is_group == like->is_group &&
            memcmp(&one->provider, &like->provider, sizeof like->provider) == 0) {
            return &shown->kept[index];
        }
    }
    return NULL;
}

/* A copy with filters of its own. */
static uint32_t copy(struct etwas_host_kept *kept,
                     const struct etwas_registry_enablement *enablement)
{
    size_t size = 0;
    size_t used;
    uint32_t code;

    (void)etwas_registry_put_enablement(enablement, NULL, 0, &size);
    kept->bytes = malloc(size);
    if (kept->bytes == NULL) {
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    code = etwas_registry_put_enablement(enablement, kept->bytes, size, &used);
    if (code == ERROR_SUCCESS) {
        code = etwas_registry_get_enablement(kept->bytes, size, &kept->enablement, &used);
    }
    if (code != ERROR_SUCCESS) {
        free(kept->bytes);
    }
    return code;
}

/* `before`: what it replaced, with bytes that are the caller's; of one that is new it has none. */
static uint32_t keep(struct etwas_host_entry *shown,
                     const struct etwas_registry_enablement *enablement,
                     struct etwas_host_kept *before)
{
    struct etwas_host_kept *known = find_kept(shown, enablement);
    struct etwas_host_kept *more;
    struct etwas_host_kept kept;
    uint32_t code = copy(&kept, enablement);

    if (code != ERROR_SUCCESS) {
        return code;
    }
    kept.enablement.number = shown->entry.number + 1;
    kept.enablement.captured = known != NULL ? known->enablement.captured : 0;
    if (known != NULL) {
        *before = *known;
        *known = kept;
        return ERROR_SUCCESS;
    }
    more = realloc(shown->kept, (shown->kept_count + 1) * sizeof *more);
    if (more == NULL) {
        free(kept.bytes);
        return ERROR_NOT_ENOUGH_MEMORY;
    }
    shown->kept = more;
    shown->kept[shown->kept_count++] = kept;
    return ERROR_SUCCESS;
}

/* An enablement that cannot be published, for it would be too much, must not keep others from it. */
static uint32_t publish_kept(struct etwas_host_entry *shown,
                             const struct etwas_registry_enablement *enablement)
{
    struct etwas_host_kept before = {.bytes = NULL};
    uint32_t code = keep(shown, enablement, &before);
    struct etwas_host_kept *known;

    if (code != ERROR_SUCCESS) {
        return code;
    }
    shown->entry.number++;
    code = etwas_host_entry_publish(shown);
    if (code == ERROR_SUCCESS) {
        free(before.bytes);
        return code;
    }
    known = find_kept(shown, enablement);
    if (before.bytes != NULL) {
        free(known->bytes);
        *known = before;
    } else {
        drop_kept(shown, (uint32_t)(known - shown->kept));
    }
    return code;
}

/* What cannot be published guests still act by: then it stays, and may be disabled again. */
static uint32_t publish_without(struct etwas_host_entry *shown, struct etwas_host_kept *known)
{
    const struct etwas_host_kept gone = *known;
    uint32_t code;

    *known = shown->kept[--shown->kept_count];
    shown->entry.number++;
    code = etwas_host_entry_publish(shown);
    if (code == ERROR_SUCCESS) {
        free(gone.bytes);
    } else {
        shown->kept[shown->kept_count++] = gone;
    }
    return code;
}

/* `known`: the enablement whose providers are asked for their state; NULL: none is, and nobody has to act. */
static uint32_t publish_capture(struct etwas_host_entry *shown, struct etwas_host_kept *known)
{
    uint64_t before;
    uint32_t code;

    if (known == NULL) {
        return ERROR_SUCCESS;
    }
    before = known->enablement.captured;
    known->enablement.captured = ++shown->entry.number;
    code = etwas_host_entry_publish(shown);
    if (code != ERROR_SUCCESS) {
        known->enablement.captured = before; /* else the next change would ask for it */
    }
    return code;
}

uint32_t etwas_host_entry_change(struct etwas_host_entry *shown, uint32_t control_code,
                                 const struct etwas_registry_enablement *enablement)
{
    struct etwas_host_kept *known;

    if (control_code == EVENT_CONTROL_CODE_ENABLE_PROVIDER) {
        return publish_kept(shown, enablement);
    }
    known = find_kept(shown, enablement);
    if (known != NULL && control_code == EVENT_CONTROL_CODE_DISABLE_PROVIDER) {
        return publish_without(shown, known);
    }
    return publish_capture(shown, known);
}

bool etwas_host_entry_has(struct etwas_host_entry *shown,
                          const struct etwas_registry_enablement *enablement)
{
    return find_kept(shown, enablement) != NULL;
}
