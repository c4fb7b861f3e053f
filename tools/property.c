/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of properties.
 */

#include "property.h"

#include <string.h>

/* By property; ETWAS_PROPERTY_PROCESSOR is called `cpu` too. */
static const char *const names[] = {
    "file", "time",    "error_ns", "processor", "process", "thread",   "provider", "event",
    "name", "class",   "type",     "id",        "version", "opcode",   "level",    "keyword",
    "task", "channel", "activity", "instance",  "parent",  "duration", "fields",   "payload",
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

bool etwas_property_is_comparable(enum etwas_property property)
{
    return property != ETWAS_PROPERTY_FILE && property != ETWAS_PROPERTY_ERROR &&
           property != ETWAS_PROPERTY_FIELDS && property != ETWAS_PROPERTY_PAYLOAD &&
           property != ETWAS_PROPERTY_COUNT;
}
