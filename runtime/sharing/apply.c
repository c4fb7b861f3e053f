/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/apply.h"

#include <etwas/etwas.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <stdlib.h>
#include <string.h>

#include "provider/enabling.h"
#include "provider/event_filter.h"

/* ---- the arguments of a call ----------------------------------------------------------------- */

void etwas_enablement_record(struct etwas_registry_enablement *enablement,
                             const struct etwas_enable_request *request,
                             const ENABLE_TRACE_PARAMETERS *parameters)
{
    *enablement = (struct etwas_registry_enablement){
        .provider = *request->control,
        .source = request->source,
        .match_any = request->enablement.match_any_keyword,
        .match_all = request->enablement.match_all_keyword,
        .asked_ns = request->asked_ns,
        .property = request->enablement.property,
        .level = request->enablement.level,
        .is_group = request->is_group,
        .filter_count = parameters->FilterDescCount,
    };
    for (uint32_t index = 0; index < parameters->FilterDescCount; index++) {
        EVENT_FILTER_DESCRIPTOR filter;

        /* Filters need not be aligned. */
        memcpy(&filter, &parameters->EnableFilterDesc[index], sizeof filter);
        enablement->filters[index] = (struct etwas_registry_filter){
            filter.Type, filter.Size, (const void *)(uintptr_t)filter.Ptr};
    }
}

static void apply_list_filters(const struct etwas_registry_enablement *enablement,
                               EVENT_FILTER_DESCRIPTOR filters[ETWAS_REGISTRY_FILTERS])
{
    for (uint32_t index = 0; index < enablement->filter_count; index++) {
        const struct etwas_registry_filter *filter = &enablement->filters[index];

        filters[index] = (EVENT_FILTER_DESCRIPTOR){
            .Ptr = filter->bytes != 0 ? (uintptr_t)filter->data : 0,
            .Size = filter->bytes,
            .Type = filter->type,
        };
    }
}

uint32_t etwas_enablement_filters(const struct etwas_registry_enablement *enablement,
                                  bool *excluded, struct etwas_event_filter *filter)
{
    EVENT_FILTER_DESCRIPTOR filters[ETWAS_REGISTRY_FILTERS];

    memset(filter, 0, sizeof *filter);
    apply_list_filters(enablement, filters);
    return etwas_enable_filters_read(filters, enablement->filter_count, excluded, filter);
}

const char *etwas_enablement_name(const struct etwas_registry_enablement *enablement)
{
    for (uint32_t index = 0; index < enablement->filter_count; index++) {
        const struct etwas_registry_filter *filter = &enablement->filters[index];

        if (filter->type == ETWAS_FILTER_TYPE_PROVIDER_NAME && filter->bytes > 1 &&
            filter->bytes <= ETWAS_FILTER_PROVIDER_NAME_BYTES &&
            memchr(filter->data, 0, filter->bytes) != NULL) {
            return filter->data;
        }
    }
    return NULL;
}

void etwas_enablement_request(const struct etwas_registry_enablement *enablement, uint64_t session,
                              uint32_t control_code, struct etwas_enable_request *request)
{
    *request = (struct etwas_enable_request){
        .control = &enablement->provider,
        .is_group = enablement->is_group,
        .control_code = control_code,
        .asked_ns = enablement->asked_ns,
        .source = enablement->source,
        .enablement =
            {
                .session = session,
                .match_any_keyword = enablement->match_any,
                .match_all_keyword = enablement->match_all,
                .property = enablement->property,
                .level = enablement->level,
            },
    };
    etwas_enable_request_prepare(request);
}

uint32_t etwas_enablement_replay(const struct etwas_registry_enablement *enablement,
                                 uint64_t session, uint32_t control_code, uint32_t timeout_ms)
{
    EVENT_FILTER_DESCRIPTOR filters[ETWAS_REGISTRY_FILTERS];
    ENABLE_TRACE_PARAMETERS parameters = {
        .Version = ENABLE_TRACE_PARAMETERS_VERSION_2,
        .EnableProperty = enablement->property,
        .SourceId = enablement->source,
        .EnableFilterDesc = enablement->filter_count != 0 ? filters : NULL,
        .FilterDescCount = enablement->filter_count,
    };

    apply_list_filters(enablement, filters);
    return EnableTraceEx2(session, &enablement->provider, control_code, enablement->level,
                          enablement->match_any, enablement->match_all, timeout_ms, &parameters);
}

/* ---- applying -------------------------------------------------------------------------------- */

static struct etwas_applied_enablement *apply_find_known(
    const struct etwas_applied *applied, const struct etwas_registry_enablement *like)
{
    for (uint32_t index = 0; index < applied->enablement_count; index++) {
        struct etwas_applied_enablement *one = &applied->enablements[index];

        if (one->is_group == like->is_group &&
            memcmp(&one->provider, &like->provider, sizeof like->provider) == 0) {
            return one;
        }
    }
    return NULL;
}

static void apply_request(const struct etwas_applied *applied,
                          const struct etwas_registry_enablement *enablement, uint32_t control_code)
{
    struct etwas_event_filter filter;
    struct etwas_enable_request request;

    etwas_enablement_request(enablement, applied->session, control_code, &request);
    request.filter = &filter;
    request.is_independent = applied->is_independent;
    if (etwas_enablement_filters(enablement, &request.excluded, &filter) == ERROR_SUCCESS) {
        (void)etwas_provider_enable_without_callbacks(&request);
    }
}

static void apply_enable_new(const struct etwas_applied *applied,
                             const struct etwas_registry_entry *entry, bool registers)
{
    const uint64_t captured_until =
        applied->number == 0 && registers ? entry->number : applied->number;

    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        const struct etwas_registry_enablement *enablement = &entry->enablements[index];
        const struct etwas_applied_enablement *known = apply_find_known(applied, enablement);

        if (known == NULL || known->number != enablement->number) {
            apply_request(applied, enablement, EVENT_CONTROL_CODE_ENABLE_PROVIDER);
        }
        if (enablement->captured > captured_until) {
            apply_request(applied, enablement, EVENT_CONTROL_CODE_CAPTURE_STATE);
        }
    }
}

static bool apply_entry_has(const struct etwas_registry_entry *entry,
                            const struct etwas_applied_enablement *known)
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

static void apply_disable_gone(const struct etwas_applied *applied,
                               const struct etwas_registry_entry *entry)
{
    for (uint32_t index = 0; index < applied->enablement_count; index++) {
        const struct etwas_applied_enablement *known = &applied->enablements[index];

        if (!apply_entry_has(entry, known)) {
            const struct etwas_registry_enablement gone = {.provider = known->provider,
                                                           .is_group = known->is_group};

            apply_request(applied, &gone, EVENT_CONTROL_CODE_DISABLE_PROVIDER);
        }
    }
}

/* Stores what has been applied. Without memory the next pass applies the entry again. */
static void apply_store_applied(struct etwas_applied *applied,
                                const struct etwas_registry_entry *entry)
{
    struct etwas_applied_enablement *list =
        malloc((entry->enablement_count + 1) * sizeof *applied->enablements);

    if (list == NULL) {
        return;
    }
    for (uint32_t index = 0; index < entry->enablement_count; index++) {
        list[index] = (struct etwas_applied_enablement){
            .provider = entry->enablements[index].provider,
            .is_group = entry->enablements[index].is_group,
            .number = entry->enablements[index].number,
        };
    }
    free(applied->enablements);
    applied->enablements = list;
    applied->enablement_count = entry->enablement_count;
    applied->number = entry->number;
}

void etwas_apply_entry(struct etwas_applied *applied, const struct etwas_registry_entry *entry,
                       bool registers)
{
    apply_disable_gone(applied, entry);
    apply_enable_new(applied, entry, registers);
    apply_store_applied(applied, entry);
}

void etwas_apply_forget(struct etwas_applied *applied)
{
    free(applied->enablements);
    *applied = (struct etwas_applied){0};
}
