/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "sharing/enablement.h"

#include <string.h>

#include "provider/enable_filter.h"

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

static void enablement_list_filters(const struct etwas_registry_enablement *enablement,
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
    enablement_list_filters(enablement, filters);
    return etwas_enable_filters_read(filters, enablement->filter_count, excluded, filter);
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

    enablement_list_filters(enablement, filters);
    return EnableTraceEx2(session, &enablement->provider, control_code, enablement->level,
                          enablement->match_any, enablement->match_all, timeout_ms, &parameters);
}
