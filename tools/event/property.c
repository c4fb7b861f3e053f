/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of properties.
 */

#include "event/property.h"

#include <string.h>

/* Names, indexed by property. */
static const char *const names[] = {
    [ETWAS_PROPERTY_FILE] = "file",
    [ETWAS_PROPERTY_TIME] = "time",
    [ETWAS_PROPERTY_RAW_TIME] = "raw_time",
    [ETWAS_PROPERTY_TIME_ERROR] = "time_error",
    [ETWAS_PROPERTY_CPU] = "cpu",
    [ETWAS_PROPERTY_PID] = "pid",
    [ETWAS_PROPERTY_TID] = "tid",
    [ETWAS_PROPERTY_PROCESS] = "process",
    [ETWAS_PROPERTY_THREAD] = "thread",
    [ETWAS_PROPERTY_PROVIDER] = "provider",
    [ETWAS_PROPERTY_PROVIDER_ID] = "provider_id",
    [ETWAS_PROPERTY_EVENT] = "event",
    [ETWAS_PROPERTY_NAME] = "name",
    [ETWAS_PROPERTY_EVENT_CLASS] = "event_class",
    [ETWAS_PROPERTY_EVENT_CLASS_ID] = "event_class_id",
    [ETWAS_PROPERTY_EVENT_ID] = "event_id",
    [ETWAS_PROPERTY_VERSION] = "version",
    [ETWAS_PROPERTY_OPCODE] = "opcode",
    [ETWAS_PROPERTY_TASK] = "task",
    [ETWAS_PROPERTY_CHANNEL] = "channel",
    [ETWAS_PROPERTY_LEVEL] = "level",
    [ETWAS_PROPERTY_KEYWORD] = "keyword",
    [ETWAS_PROPERTY_ACTIVITY] = "activity",
    [ETWAS_PROPERTY_RELATED_ACTIVITY] = "related_activity",
    [ETWAS_PROPERTY_INSTANCE] = "instance",
    [ETWAS_PROPERTY_PARENT_INSTANCE] = "parent_instance",
    [ETWAS_PROPERTY_PARENT_CLASS] = "parent_class",
    [ETWAS_PROPERTY_PARENT_CLASS_ID] = "parent_class_id",
    [ETWAS_PROPERTY_MESSAGE] = "message",
    [ETWAS_PROPERTY_MESSAGE_ID] = "message_id",
    [ETWAS_PROPERTY_SEQUENCE] = "sequence",
    [ETWAS_PROPERTY_COMPONENT] = "component",
    [ETWAS_PROPERTY_KERNEL_TIME] = "kernel_time",
    [ETWAS_PROPERTY_USER_TIME] = "user_time",
    [ETWAS_PROPERTY_PROCESSOR_TIME] = "processor_time",
    [ETWAS_PROPERTY_DURATION] = "duration",
    [ETWAS_PROPERTY_DURATION_ERROR] = "duration_error",
    [ETWAS_PROPERTY_CALL_STACK] = "call_stack",
    [ETWAS_PROPERTY_CALL_STACK_NAMES] = "call_stack_names",
    [ETWAS_PROPERTY_FIELDS] = "fields",
    [ETWAS_PROPERTY_MARKS] = "marks",
    [ETWAS_PROPERTY_PAYLOAD] = "payload",
    [ETWAS_PROPERTY_PAYLOAD_BYTES] = "payload_bytes",
};
_Static_assert(sizeof names / sizeof names[0] == ETWAS_PROPERTY_COUNT, "a name for each");

enum etwas_property etwas_property_find(const char *name, size_t bytes)
{
    unsigned property = 0;

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
    case ETWAS_PROPERTY_RAW_TIME:
    case ETWAS_PROPERTY_TIME_ERROR:
    case ETWAS_PROPERTY_CALL_STACK:
    case ETWAS_PROPERTY_CALL_STACK_NAMES:
    case ETWAS_PROPERTY_FIELDS:
    case ETWAS_PROPERTY_MARKS:
    case ETWAS_PROPERTY_PAYLOAD:
    case ETWAS_PROPERTY_COUNT:
        return ETWAS_PROPERTY_IS_NOTHING;
    case ETWAS_PROPERTY_FILE:
    case ETWAS_PROPERTY_PROCESS:
    case ETWAS_PROPERTY_THREAD:
    case ETWAS_PROPERTY_PROVIDER:
    case ETWAS_PROPERTY_EVENT:
    case ETWAS_PROPERTY_EVENT_CLASS:
    case ETWAS_PROPERTY_PARENT_CLASS:
    case ETWAS_PROPERTY_NAME:
    case ETWAS_PROPERTY_MESSAGE:
        return ETWAS_PROPERTY_IS_STRING;
    case ETWAS_PROPERTY_PROVIDER_ID:
    case ETWAS_PROPERTY_EVENT_CLASS_ID:
    case ETWAS_PROPERTY_PARENT_CLASS_ID:
    case ETWAS_PROPERTY_ACTIVITY:
    case ETWAS_PROPERTY_RELATED_ACTIVITY:
        return ETWAS_PROPERTY_IS_GUID;
    case ETWAS_PROPERTY_TIME:
        return ETWAS_PROPERTY_IS_TIME;
    default:
        return ETWAS_PROPERTY_IS_NUMBER;
    }
}
