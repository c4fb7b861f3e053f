/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/acting.h"

#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "provider/enabling.h"
#include "sharing/enablement.h"

static struct etwas_acting_enablement *find_known(const struct etwas_acting *acting,
                                                  const struct etwas_registry_enablement *like)
{
    for (uint32_t index = 0; index < acting->enablement_count; index++) {
        struct etwas_acting_enablement *one = &acting->enablements[index];

        if (one->is_group == like->is_group &&
            memcmp(&one->provider, &like->provider, sizeof like->provider) == 0) {
            return one;
        }
    }
    return NULL;
}

static void ask(const struct etwas_acting *acting,
                const struct etwas_registry_enablement *enablement, uint32_t control_code)
{
    struct etwas_event_filter filter;
    struct etwas_enable_request request;

    etwas_enablement_request(enablement, acting->session, control_code, &request);
    request.filter = &filter;
    request.is_independent = acting->is_independent;
    if (etwas_enablement_filters(enablement, &request.excluded, &filter) == ERROR_SUCCESS) {
        (void)etwas_provider_ask(&request);
    }
}

static void enable_what_is_new(const struct etwas_acting *acting,
                               const struct etwas_registry_entry *entry, bool registers)
{
    const uint64_t heard = acting->number == 0 && registers ? entry->number : acting->number;

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *enablement = &entry->enablements[index];
        const struct etwas_acting_enablement *known = find_known(acting, enablement);

        if (known == NULL || known->number != enablement->number) {
            ask(acting, enablement, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
        }
        if (enablement->captured > heard) {
            ask(acting, enablement, EVENT_CONTROL_CODE_CAPTURE_STATE);
        }
    }
}

static bool has(const struct etwas_registry_entry *entry,
                const struct etwas_acting_enablement *known)
{
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        if (entry->enablements[index].is_group == known->is_group &&
            memcmp(&entry->enablements[index].provider, &known->provider, sizeof known->provider) ==
                0) {
            return true;
        }
    }
    return false;
}

static void disable_what_is_gone(const struct etwas_acting *acting,
                                 const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < acting->enablement_count; index++) {
        const struct etwas_acting_enablement *known = &acting->enablements[index];

        if (!has(entry, known)) {
            const struct etwas_registry_enablement gone = {.provider = known->provider,
                                                           .is_group = known->is_group};

            ask(acting, &gone, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
        }
    }
}

/* Without memory it is asked again at the next look. */
static void remember(struct etwas_acting *acting, const struct etwas_registry_entry *entry)
{
    struct etwas_acting_enablement *list =
        malloc((entry->enablement_count + 1) * sizeof *acting->enablements);

    if (list == NULL) {
        return;
    }
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        list[index] = (struct etwas_acting_enablement){
            .provider = entry->enablements[index].provider,
            .is_group = entry->enablements[index].is_group,
            .number = entry->enablements[index].number,
        };
    }
    free(acting->enablements);
    acting->enablements = list;
    acting->enablement_count = entry->enablement_count;
    acting->number = entry->number;
}

void etwas_acting_do(struct etwas_acting *acting, const struct etwas_registry_entry *entry,
                     bool registers)
{
    disable_what_is_gone(acting, entry);
    enable_what_is_new(acting, entry, registers);
    remember(acting, entry);
}

void etwas_acting_end(struct etwas_acting *acting)
{
    free(acting->enablements);
    *acting = (struct etwas_acting){0};
}
