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

static uint32_t filter_read_process_ids(const EVENT_FILTER_DESCRIPTOR *descriptor,
                                        struct etwas_process_filters *read)
{
    if (read->process_count != 0 || descriptor->Size % sizeof read->process_ids[0] != 0 ||
        descriptor->Size > sizeof read->process_ids) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(read->process_ids, (const void *)(uintptr_t)descriptor->Ptr, descriptor->Size);
    read->process_count = descriptor->Size / (uint32_t)sizeof read->process_ids[0];
    return ERROR_SUCCESS;
}

static uint32_t filter_read_names(const EVENT_FILTER_DESCRIPTOR *descriptor,
                                  struct etwas_process_filters *read)
{
    uint32_t units = descriptor->Size / (uint32_t)sizeof read->names[0];

    if (read->has_names || descriptor->Size % sizeof read->names[0] != 0 ||
        units > ETWAS_FILTER_NAMES_UNITS) {
        return ERROR_INVALID_PARAMETER;
    }
    memcpy(read->names, (const void *)(uintptr_t)descriptor->Ptr, descriptor->Size);
    read->has_names = true;
    return etwas_utf16_length(read->names, units) < units ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

static uint32_t filter_read(const EVENT_FILTER_DESCRIPTOR *descriptor,
                            struct etwas_process_filters *read)
{
    if (descriptor->Ptr == 0 || descriptor->Size == 0) {
        return ERROR_INVALID_PARAMETER;
    }
    switch (descriptor->Type) {
    case EVENT_FILTER_TYPE_PID:
        return filter_read_process_ids(descriptor, read);
    case EVENT_FILTER_TYPE_EXECUTABLE_NAME:
        return filter_read_names(descriptor, read);
    default:
        return ERROR_INVALID_PARAMETER;
    }
}

uint32_t etwas_filters_read(const EVENT_FILTER_DESCRIPTOR *filters, uint32_t count,
                            struct etwas_process_filters *read)
{
    memset(read, 0, sizeof *read);
    if (count > ETWAS_FILTERS_MAXIMUM || (count != 0 && filters == NULL)) {
        return ERROR_INVALID_PARAMETER;
    }
    for (uint32_t index = 0; index < count; index++) {
        EVENT_FILTER_DESCRIPTOR descriptor;

        memcpy(&descriptor, (const char *)filters + (size_t)index * sizeof descriptor,
               sizeof descriptor);
        if (filter_read(&descriptor, read) != ERROR_SUCCESS) {
            return ERROR_INVALID_PARAMETER;
        }
    }
    return ERROR_SUCCESS;
}

/* ---- matching -------------------------------------------------------------------------------- */

static bool filters_match_process_id(const struct etwas_process_filters *filters)
{
    const uint32_t own = (uint32_t)getpid();
    const uint32_t in_records = etwas_process_id_peek();

    for (uint32_t index = 0; index < filters->process_count; index++) {
        uint32_t wanted = filters->process_ids[index];

        if (wanted == own || wanted == in_records) {
            return true;
        }
    }
    return false;
}

bool etwas_filter_program(etwas_wchar name[NAME_MAX + 1])
{
    static const char removed[] = " (deleted)"; /* which the system appends for a removed file */
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

bool etwas_filter_names(const etwas_wchar names[ETWAS_FILTER_NAMES_UNITS],
                        const etwas_wchar *program)
{
    size_t start = 0;

    for (size_t at = 0;; at++) {
        if (names[at] == 0 || names[at] == u';') {
            etwas_wchar name[ETWAS_FILTER_NAMES_UNITS];

            memcpy(name, names + start, (at - start) * sizeof name[0]);
            name[at - start] = 0;
            if (etwas_names_equal(name, program)) {
                return true;
            }
            start = at + 1;
        }
        if (names[at] == 0) {
            return false;
        }
    }
}

static bool filters_match_name(const etwas_wchar names[ETWAS_FILTER_NAMES_UNITS])
{
    etwas_wchar own[NAME_MAX + 1];

    return etwas_filter_program(own) && etwas_filter_names(names, own);
}

bool etwas_filters_match(const struct etwas_process_filters *filters)
{
    return (filters->process_count == 0 || filters_match_process_id(filters)) &&
           (!filters->has_names || filters_match_name(filters->names));
}
