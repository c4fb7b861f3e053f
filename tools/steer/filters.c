/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/filters.h"

#include <etwas/etwas.h>
#include <string.h>

#include "cli/value.h"
#include "print/text.h"

enum {
    ID_HEAD_UNITS = 2, /* FilterIn and Reserved, then Count */
    NUMBER_BYTES = 24,
    PROGRAM_UNITS = MAX_EVENT_FILTER_DATA_SIZE / sizeof(etwas_wchar), /* with the terminating 0 */
    PROGRAM_BYTES = 3 * PROGRAM_UNITS,
    NAMES_AT = offsetof(EVENT_FILTER_EVENT_NAME, Names),
};

_Static_assert(ID_HEAD_UNITS * sizeof(uint16_t) == offsetof(EVENT_FILTER_EVENT_ID, Events),
               "the ids stand behind so many units");

/* ---- lists ----------------------------------------------------------------------------------- */

bool etwas_steer_filter_processes(struct etwas_steer_filters *filters, const char *list)
{
    uint32_t numbers[MAX_EVENT_FILTER_PID_COUNT];
    char item[NUMBER_BYTES];
    uint32_t count = 0;
    uint64_t number;

    while (etwas_value_item(&list, item, sizeof item)) {
        if (count == MAX_EVENT_FILTER_PID_COUNT || !etwas_value_count(item, &number) ||
            number == 0 || number > INT32_MAX) {
            return false;
        }
        numbers[count++] = (uint32_t)number;
    }
    if (list != NULL || count == 0 || filters->process_count != 0) {
        return false;
    }
    filters->process_count = count;
    memcpy(filters->processes, numbers, count * sizeof *numbers);
    return true;
}

bool etwas_steer_filter_programs(struct etwas_steer_filters *filters, const char *list)
{
    char names[PROGRAM_BYTES + 1] = ""; /* separated by semicolons, as in ETW */
    size_t used = 0;
    size_t units;

    while (etwas_value_item(&list, names + used, PROGRAM_BYTES - used)) {
        if (strchr(names + used, ';') != NULL) {
            return false;
        }
        used += strlen(names + used);
        if (list != NULL) {
            names[used++] = ';';
        }
    }
    if (list != NULL || filters->program_bytes != 0) {
        return false;
    }
    units = etwas_text_to_utf16(names, filters->programs, PROGRAM_UNITS);
    filters->program_bytes = units != 0 ? (uint32_t)((units + 1) * sizeof *filters->programs) : 0;
    return units != 0;
}

/* An item that is not a number is a name. */
static bool add_event(struct etwas_steer_filters *filters, const char *item)
{
    EVENT_FILTER_EVENT_NAME *names = (void *)filters->names;
    size_t bytes = strlen(item) + 1;
    uint64_t id;

    if (etwas_value_count(item, &id)) {
        if (id > UINT16_MAX || filters->id_count == ETWAS_STEER_IDS) {
            return false;
        }
        filters->ids[ID_HEAD_UNITS + filters->id_count++] = (uint16_t)id;
        return true;
    }
    filters->name_bytes = filters->name_bytes != 0 ? filters->name_bytes : (uint32_t)NAMES_AT;
    if (bytes > sizeof filters->names - filters->name_bytes) {
        return false;
    }
    memcpy(filters->names + filters->name_bytes, item, bytes);
    filters->name_bytes += (uint32_t)bytes;
    names->FilterIn = 1;
    names->NameCount++;
    return true;
}

bool etwas_steer_filter_events(struct etwas_steer_filters *filters, const char *list)
{
    EVENT_FILTER_EVENT_ID *head = (void *)filters->ids;
    char item[MAX_EVENT_FILTER_EVENT_NAME_SIZE];

    if (etwas_steer_filters_choose_events(filters)) {
        return false;
    }
    while (etwas_value_item(&list, item, sizeof item)) {
        if (!add_event(filters, item)) {
            return false;
        }
    }
    head->FilterIn = 1;
    head->Count = (uint16_t)filters->id_count;
    return list == NULL && etwas_steer_filters_choose_events(filters);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void add(EVENT_FILTER_DESCRIPTOR *descriptors, uint32_t *count, uint32_t type,
                const void *data, size_t bytes)
{
    if (bytes != 0) {
        descriptors[(*count)++] = (EVENT_FILTER_DESCRIPTOR){
            .Ptr = (uint64_t)(uintptr_t)data, .Size = (uint32_t)bytes, .Type = type};
    }
}

uint32_t etwas_steer_filters_describe(const struct etwas_steer_filters *filters, const char *name,
                                      bool is_system,
                                      EVENT_FILTER_DESCRIPTOR descriptors[ETWAS_STEER_DESCRIPTORS])
{
    /*
     * No event has the empty name. It excludes all events that have names, which are chosen by ids
     * otherwise.
     */
    static const EVENT_FILTER_EVENT_NAME nameless = {.FilterIn = 1, .NameCount = 1};
    const bool has_ids = filters->id_count != 0;
    uint32_t count = 0;

    add(descriptors, &count, EVENT_FILTER_TYPE_PID, filters->processes,
        filters->process_count * sizeof *filters->processes);
    add(descriptors, &count, EVENT_FILTER_TYPE_EXECUTABLE_NAME, filters->programs,
        filters->program_bytes);
    add(descriptors, &count, EVENT_FILTER_TYPE_EVENT_ID, filters->ids,
        has_ids ? (ID_HEAD_UNITS + filters->id_count) * sizeof *filters->ids : 0);
    add(descriptors, &count, ETWAS_FILTER_TYPE_EVENT_PATTERN, filters->names, filters->name_bytes);
    if (has_ids && filters->name_bytes == 0 && !is_system) {
        add(descriptors, &count, ETWAS_FILTER_TYPE_EVENT_PATTERN, &nameless, NAMES_AT + 1);
    }
    if (name != NULL) {
        add(descriptors, &count, ETWAS_FILTER_TYPE_PROVIDER_NAME, name, strlen(name) + 1);
    }
    return count;
}
