/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/filters.h"

#include <string.h>

#include "cli/value.h"
#include "print/text.h"

enum {
    ID_HEAD_UNITS = 2, /* FilterIn and Reserved, Count */
    NUMBER_BYTES = 24,
    PROGRAM_UNITS = MAX_EVENT_FILTER_DATA_SIZE / sizeof(etwas_wchar), /* with the 0 */
    PROGRAM_BYTES = 3 * PROGRAM_UNITS,
};

_Static_assert(ID_HEAD_UNITS * sizeof(uint16_t) == offsetof(EVENT_FILTER_EVENT_ID, Events),
               "the ids stand behind so many units");

/* Numbers up to `most`, at most `room` of them; 0: that is not what it is. */
static uint32_t parse_list(const char *list, uint32_t most, uint32_t *numbers, uint32_t room)
{
    char item[NUMBER_BYTES];
    uint32_t count = 0;

    while (etwas_value_item(&list, item, sizeof item)) {
        uint64_t number;

        if (count == room || !etwas_value_count(item, &number) || number > most) {
            return 0;
        }
        numbers[count++] = (uint32_t)number;
    }
    return list == NULL ? count : 0;
}

bool etwas_steer_has_filter(const struct etwas_steer_filters *filters, uint32_t type)
{
    for (uint32_t i = 0; i < filters->count; i++) {
        if (filters->descriptors[i].Type == type) {
            return true;
        }
    }
    return false;
}

/* One of a type. False: there is one. */
static bool add_filter(struct etwas_steer_filters *filters, uint32_t type, const void *data,
                       size_t bytes)
{
    if (etwas_steer_has_filter(filters, type)) {
        return false;
    }
    filters->descriptors[filters->count++] = (EVENT_FILTER_DESCRIPTOR){
        .Ptr = (uint64_t)(uintptr_t)data, .Size = (uint32_t)bytes, .Type = type};
    return true;
}

bool etwas_steer_filter_processes(struct etwas_steer_filters *filters, const char *list)
{
    uint32_t count = parse_list(list, INT32_MAX, filters->processes, MAX_EVENT_FILTER_PID_COUNT);

    return count != 0 && add_filter(filters, EVENT_FILTER_TYPE_PID, filters->processes,
                                    count * sizeof *filters->processes);
}

bool etwas_steer_filter_ids(struct etwas_steer_filters *filters, const char *list)
{
    EVENT_FILTER_EVENT_ID *head = (void *)filters->ids;
    uint32_t numbers[ETWAS_STEER_IDS];
    uint32_t count = parse_list(list, UINT16_MAX, numbers, ETWAS_STEER_IDS);

    head->FilterIn = 1;
    head->Count = (uint16_t)count;
    for (uint32_t i = 0; i < count; i++) {
        filters->ids[ID_HEAD_UNITS + i] = (uint16_t)numbers[i];
    }
    return count != 0 && add_filter(filters, EVENT_FILTER_TYPE_EVENT_ID, filters->ids,
                                    (ID_HEAD_UNITS + count) * sizeof *filters->ids);
}

bool etwas_steer_filter_programs(struct etwas_steer_filters *filters, const char *list)
{
    char names[PROGRAM_BYTES + 1] = ""; /* with semicolons, as ETW has them */
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
    units = list == NULL ? etwas_text_to_utf16(names, filters->programs, PROGRAM_UNITS) : 0;
    return units != 0 && add_filter(filters, EVENT_FILTER_TYPE_EXECUTABLE_NAME, filters->programs,
                                    (units + 1) * sizeof *filters->programs);
}
