/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_PROPERTY_H
#define ETWAS_TOOLS_EVENT_PROPERTY_H

/*
 * The properties that events have beside their fields. The name of each is the same in --columns,
 * --where, JSON, CSV, ClickHouse and the documents.
 */

#include <stddef.h>

enum etwas_property {
    ETWAS_PROPERTY_FILE,
    ETWAS_PROPERTY_TIME,
    ETWAS_PROPERTY_RAW_TIME, /* as recorded */
    ETWAS_PROPERTY_TIME_ERROR,
    ETWAS_PROPERTY_CPU,
    ETWAS_PROPERTY_PID,
    ETWAS_PROPERTY_TID,
    ETWAS_PROPERTY_PROCESS, /* its name, from kernel events of the trace */
    ETWAS_PROPERTY_THREAD,  /* likewise */
    ETWAS_PROPERTY_PROVIDER,
    ETWAS_PROPERTY_PROVIDER_ID, /* only of events that are neither classic nor messages */
    ETWAS_PROPERTY_EVENT,
    ETWAS_PROPERTY_NAME,        /* the last part of EVENT */
    ETWAS_PROPERTY_EVENT_CLASS, /* EVENT without its last part */
    ETWAS_PROPERTY_EVENT_CLASS_ID,
    ETWAS_PROPERTY_EVENT_ID,
    ETWAS_PROPERTY_VERSION,
    ETWAS_PROPERTY_OPCODE, /* for classic events, the type */
    ETWAS_PROPERTY_TASK,
    ETWAS_PROPERTY_CHANNEL,
    ETWAS_PROPERTY_LEVEL,
    ETWAS_PROPERTY_KEYWORD,
    ETWAS_PROPERTY_ACTIVITY,
    ETWAS_PROPERTY_RELATED_ACTIVITY,
    ETWAS_PROPERTY_INSTANCE,
    ETWAS_PROPERTY_PARENT_INSTANCE,
    ETWAS_PROPERTY_PARENT_CLASS,
    ETWAS_PROPERTY_PARENT_CLASS_ID,
    ETWAS_PROPERTY_MESSAGE, /* the text of an event with a format */
    ETWAS_PROPERTY_MESSAGE_ID,
    ETWAS_PROPERTY_SEQUENCE,
    ETWAS_PROPERTY_COMPONENT,
    ETWAS_PROPERTY_KERNEL_TIME, /* a time of the thread, as are the next two; in ns */
    ETWAS_PROPERTY_USER_TIME,
    ETWAS_PROPERTY_PROCESSOR_TIME, /* both together, in private sessions */
    ETWAS_PROPERTY_DURATION,
    ETWAS_PROPERTY_DURATION_ERROR,
    ETWAS_PROPERTY_CALL_STACK, /* not `stack`: heaptrace has a field of that name */
    ETWAS_PROPERTY_CALL_STACK_NAMES,
    ETWAS_PROPERTY_FIELDS,
    ETWAS_PROPERTY_MARKS, /* what etwas_marks_ functions show beside the fields */
    ETWAS_PROPERTY_PAYLOAD,
    ETWAS_PROPERTY_PAYLOAD_BYTES,
    ETWAS_PROPERTY_COUNT, /* number of properties; also "no property" */
};

/* Returns the property with that name; ETWAS_PROPERTY_COUNT if there is none. */
enum etwas_property etwas_property_find(const char *name, size_t bytes);

const char *etwas_property_name(enum etwas_property property);

/* The type of values that --where compares a property with. */
enum etwas_property_kind {
    ETWAS_PROPERTY_IS_NOTHING, /* cannot be compared: the raw time, the stack, the payload … */
    ETWAS_PROPERTY_IS_NUMBER,
    ETWAS_PROPERTY_IS_STRING,
    ETWAS_PROPERTY_IS_GUID,
    ETWAS_PROPERTY_IS_TIME,
};

enum etwas_property_kind etwas_property_kind(enum etwas_property property);

#endif
