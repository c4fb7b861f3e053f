/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of properties.
 */

#include "event/property.h"

#include <string.h>

/* Names, indexed by property. ETWAS_PROPERTY_PROCESSOR is called `cpu`, too. */
static const char *const names[] = {
    "file",      "time",
    "raw_time",  "error_ns",
    "processor", "process",
    "thread",    "provider",
    "event",     "event_class",
    "name",      "class",
    "type",      "id",
    "version",   "opcode",
    "level",     "keyword",
    "task",      "channel",
    "activity",  "related_activity",
    "instance",  "parent",
    "duration",  "duration_error_ns",
    "text",      "call_stack",
    "fields",    "marks",
    "payload",
};
_Static_assert(sizeof names / sizeof names[0] == ETWAS_PROPERTY_COUNT, "a name for each");

enum etwas_property etwas_property_find(const char *name, size_t bytes)
{
    unsigned property = 0;

    if (bytes == 3 && memcmp(name, "cpu", 3) == 0) {
        return ETWAS_PROPERTY_PROCESSOR;
    }
    while (property < ETWAS_PROPERTY_COUNT &&
           (strlen(names[property]) != bytes || memcmp(names[property], name, bytes) != 0)) {
        property++;
    }
    return (enum etwas_property)property;
}

const char *etwas_property_name(enum etwas_property property)
{
    return names[property];
}

enum etwas_property_kind etwas_property_kind(enum etwas_property property)
{
    switch (property) {
    case ETWAS_PROPERTY_FILE:
    case ETWAS_PROPERTY_RAW_TIME:
    case ETWAS_PROPERTY_ERROR:
    case ETWAS_PROPERTY_CALL_STACK:
    case ETWAS_PROPERTY_FIELDS:
    case ETWAS_PROPERTY_MARKS:
    case ETWAS_PROPERTY_PAYLOAD:
    case ETWAS_PROPERTY_COUNT:
        return ETWAS_PROPERTY_IS_NOTHING;
    case ETWAS_PROPERTY_PROVIDER:
    case ETWAS_PROPERTY_EVENT:
    case ETWAS_PROPERTY_EVENT_CLASS:
    case ETWAS_PROPERTY_NAME:
    case ETWAS_PROPERTY_TEXT:
        return ETWAS_PROPERTY_IS_STRING;
    case ETWAS_PROPERTY_CLASS:
    case ETWAS_PROPERTY_ACTIVITY:
    case ETWAS_PROPERTY_RELATED_ACTIVITY:
        return ETWAS_PROPERTY_IS_GUID;
    case ETWAS_PROPERTY_TIME:
        return ETWAS_PROPERTY_IS_TIME;
    default:
        return ETWAS_PROPERTY_IS_NUMBER;
    }
}
