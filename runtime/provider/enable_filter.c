/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "provider/event_filter.h"

#include <etwas/etwas.h>
#include <etwas/winerror.h>
#include <string.h>

#include "session/filter.h"

enum filter_kind {
    KIND_UNKNOWN,
    KIND_NONE,    /* no filter */
    KIND_PROCESS, /* which processes are meant */
    KIND_EVENT,   /* which events or providers are meant, and which events get stacks */
    KIND_MISSING, /* not implemented */
};

/* Types below this one are a provider's own, and their data is for its callback. */
#define FIRST_SYSTEM_TYPE EVENT_FILTER_TYPE_SCHEMATIZED

static enum filter_kind enable_filter_kind_of(uint32_t type)
{
    switch (type) {
    case EVENT_FILTER_TYPE_NONE:
        return KIND_NONE;
    case EVENT_FILTER_TYPE_PID:
    case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
        return KIND_PROCESS;
    case EVENT_FILTER_TYPE_EVENT_ID:
    case EVENT_FILTER_TYPE_EVENT_NAME:
    case EVENT_FILTER_TYPE_STACKWALK:
    case EVENT_FILTER_TYPE_STACKWALK_NAME:
    case EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW:
    case ETWAS_FILTER_TYPE_TRIGGER:
    case ETWAS_FILTER_TYPE_TRIGGER_LEVEL_KW:
    case ETWAS_FILTER_TYPE_EVENT_PATTERN:
    case ETWAS_FILTER_TYPE_PROVIDER_NAME:
        return KIND_EVENT;
    case EVENT_FILTER_TYPE_SCHEMATIZED:
    case EVENT_FILTER_TYPE_SYSTEM_FLAGS:
    case EVENT_FILTER_TYPE_TRACEHANDLE:
    case EVENT_FILTER_TYPE_PACKAGE_ID:
    case EVENT_FILTER_TYPE_PACKAGE_APP_ID:
    case EVENT_FILTER_TYPE_PAYLOAD:
    case EVENT_FILTER_TYPE_CONTAINER:
        return KIND_MISSING;
    default:
        return type < FIRST_SYSTEM_TYPE ? KIND_MISSING : KIND_UNKNOWN;
    }
}

static uint32_t largest_data_bytes(uint32_t type)
{
    switch (type) {
    case EVENT_FILTER_TYPE_PAYLOAD:
        return MAX_EVENT_FILTER_PAYLOAD_SIZE;
    case EVENT_FILTER_TYPE_EVENT_NAME:
    case EVENT_FILTER_TYPE_STACKWALK_NAME:
    case ETWAS_FILTER_TYPE_EVENT_PATTERN:
        return MAX_EVENT_FILTER_EVENT_NAME_SIZE;
    default:
        return MAX_EVENT_FILTER_DATA_SIZE;
    }
}

/* Reads one filter. The contents of a filter of events are added to `events`. */
static uint32_t read_one(const EVENT_FILTER_DESCRIPTOR *filter, struct etwas_event_filter *events)
{
    enum filter_kind kind = enable_filter_kind_of(filter->Type);

    if (kind == KIND_NONE) {
        return filter->Ptr == 0 && filter->Size == 0 ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
    }
    if (kind == KIND_UNKNOWN || filter->Ptr == 0 || filter->Size == 0 ||
        filter->Size > largest_data_bytes(filter->Type)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (kind == KIND_EVENT) {
        return etwas_event_filter_add(events, filter);
    }
    return kind == KIND_PROCESS ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
}

static bool has_two_of_a_type(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count)
{
    for (uint32_t index = 0; index < count; index++) {
        for (uint32_t before = 0; before < index; before++) {
            if (filters[before].Type == filters[index].Type) {
                return true;
            }
        }
    }
    return false;
}

uint32_t etwas_enable_filters_read(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count,
                                   bool *excluded, struct etwas_event_filter *events)
{
    EVENT_FILTER_DESCRIPTOR copies[MAX_EVENT_FILTERS_COUNT];
    EVENT_FILTER_DESCRIPTOR of_processes[MAX_EVENT_FILTERS_COUNT];
    uint32_t process_count = 0;
    uint32_t code = ERROR_SUCCESS;
    struct etwas_process_filters read;

    if (count > MAX_EVENT_FILTERS_COUNT || (count != 0 && filters == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    if (count != 0) {
        memcpy(copies, filters, count * sizeof copies[0]);
    }
    if (has_two_of_a_type(copies, count)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < count; index++) {
        uint32_t one = read_one(&copies[index], events);

        /* Invalid filters take precedence over those that are not supported. */
        code = one == ERROR_INVALID_PARAMETER || code == ERROR_SUCCESS ? one : code;
        if (code == ERROR_INVALID_PARAMETER) {
            return code;
        }
        if (enable_filter_kind_of(copies[index].Type) == KIND_PROCESS) {
            of_processes[process_count++] = copies[index];
        }
    }
    if (code == ERROR_SUCCESS) {
        code = etwas_filters_read(of_processes, process_count, &read);
    }
    if (code == ERROR_SUCCESS) {
        *excluded = !etwas_filters_match(&read);
    }
    return code;
}
