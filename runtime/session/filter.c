/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "session/filter.h"

#include <etwas/winerror.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "etl/utf16.h"
#include "platform/name_case.h"
#include "platform/thread.h"
#include "session/configuration.h"

enum {
    NAMES_UNITS = MAX_EVENT_FILTER_DATA_SIZE / sizeof(etwas_wchar),
};

/* The data of a filter, copied: the caller's need not be aligned. */
struct filter {
    uint32_t type;
    uint32_t bytes;
    union {
        uint32_t process_ids[MAX_EVENT_FILTER_PID_COUNT];
        etwas_wchar names[NAMES_UNITS];
    };
};

static uint32_t read_process_ids(const EVENT_FILTER_DESCRIPTOR *descriptor, struct filter *filter)
{
    if (descriptor->Size % sizeof filter->process_ids[0] != 0 ||
        descriptor->Size > sizeof filter->process_ids) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(filter->process_ids, (const void *)(uintptr_t)descriptor->Ptr, descriptor->Size);
    return ERROR_SUCCESS;
}

static uint32_t read_names(const EVENT_FILTER_DESCRIPTOR *descriptor, struct filter *filter)
{
    uint32_t units = descriptor->Size / (uint32_t)sizeof filter->names[0];

    if (descriptor->Size % sizeof filter->names[0] != 0 || units > NAMES_UNITS) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(filter->names, (const void *)(uintptr_t)descriptor->Ptr, descriptor->Size);
    return etwas_utf16_length(filter->names, units) < units ? ERROR_SUCCESS
                                                            : ERROR_INVALID_PARAMETER;
}

static uint32_t read_filter(const EVENT_FILTER_DESCRIPTOR *descriptor, struct filter *filter)
{
    if (descriptor->Ptr == 0 || descriptor->Size == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    filter->type = descriptor->Type;
    filter->bytes = descriptor->Size;
    switch (descriptor->Type) {
    case EVENT_FILTER_TYPE_PID:
        return read_process_ids(descriptor, filter);
    case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
        return read_names(descriptor, filter);
    default:
        return ERROR_INVALID_PARAMETER;
    }
}

static bool matches_process_id(const struct filter *filter)
{
    uint32_t count = filter->bytes / (uint32_t)sizeof filter->process_ids[0];
    uint32_t own = etwas_thread_ids().process_id;

    for (uint32_t index = 0; index < count; index++) {
        if (filter->process_ids[index] == own) {
            return true;
        }
    }
    return false;
}

/* The name of the program's file, without its folder. False: the system does not say. */
static bool executable_name(etwas_wchar name[NAME_MAX + 1])
{
    static const char removed[] = " (deleted)"; /* what the system appends to a file that is gone */
    char path[PATH_MAX];
    ssize_t read = readlink("/proc/self/exe", path, sizeof path);
    size_t bytes = read > 0 ? (size_t)read : 0;
    size_t tail = sizeof removed - 1;
    size_t start;
    size_t needed;

    if (bytes == 0 || bytes == sizeof path) {
        return false;
    }
    if (bytes > tail && memcmp(path + bytes - tail, removed, tail) == 0) {
        bytes -= tail;
    }
    start = bytes;
    while (start != 0 && path[start - 1] != '/') {
        start--;
    }
    return etwas_utf8_to_utf16(path + start, bytes - start, name, NAME_MAX + 1, &needed) ==
           ETWAS_UTF_OK;
}

static bool matches_name(const struct filter *filter)
{
    const etwas_wchar *names = filter->names;
    etwas_wchar own[NAME_MAX + 1];
    size_t start = 0;

    if (!executable_name(own)) {
        return false;
    }
    for (size_t at = 0;; at++) {
        if (names[at] == 0 || names[at] == u';') {
            etwas_wchar name[NAMES_UNITS];

            memcpy(name, names + start, (at - start) * sizeof name[0]);
            name[at - start] = 0;
            if (etwas_names_equal(name, own)) {
                return true;
            }
            start = at + 1;
        }
        if (names[at] == 0) {
            return false;
        }
    }
}

static bool matches(const struct filter *filter)
{
    return filter->type == EVENT_FILTER_TYPE_PID ? matches_process_id(filter)
                                                 : matches_name(filter);
}

uint32_t etwas_filters_match(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count, bool *match)
{
    uint32_t types[ETWAS_FILTERS_MAXIMUM];
    bool all = true;

    if (count > ETWAS_FILTERS_MAXIMUM || (count != 0 && filters == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < count; index++) {
        EVENT_FILTER_DESCRIPTOR descriptor;
        struct filter filter;

        memcpy(&descriptor, (const char *)filters + (size_t)index * sizeof descriptor,
               sizeof descriptor);
        types[index] = descriptor.Type;
        for (uint32_t before = 0; before < index; before++) {
            if (types[before] == descriptor.Type) {
                return ERROR_INVALID_PARAMETER;
            }
        }
        if (read_filter(&descriptor, &filter) != ERROR_SUCCESS) {
            return ERROR_INVALID_PARAMETER;
        }
        all = matches(&filter) && all;
    }
    *match = all;
    return ERROR_SUCCESS;
}
