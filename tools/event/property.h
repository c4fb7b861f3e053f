/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_PROPERTY_H
#define ETWAS_TOOLS_EVENT_PROPERTY_H

/*
 * The properties that every event has beside its fields, by the names that --columns and --where
 * know.
 */

#include <stdbool.h>
#include <stddef.h>

enum etwas_property {
    ETWAS_PROPERTY_FILE,
    ETWAS_PROPERTY_TIME,
    ETWAS_PROPERTY_RAW_TIME, /* as recorded */
    ETWAS_PROPERTY_ERROR,    /* of the time */
    ETWAS_PROPERTY_PROCESSOR,
    ETWAS_PROPERTY_PROCESS,
    ETWAS_PROPERTY_THREAD,
    ETWAS_PROPERTY_PROVIDER,
    ETWAS_PROPERTY_EVENT,
    ETWAS_PROPERTY_EVENT_CLASS, /* without the part that tells its events apart */
    ETWAS_PROPERTY_NAME,
    ETWAS_PROPERTY_CLASS,
    ETWAS_PROPERTY_TYPE,
    ETWAS_PROPERTY_ID,
    ETWAS_PROPERTY_VERSION,
    ETWAS_PROPERTY_OPCODE,
    ETWAS_PROPERTY_LEVEL,
    ETWAS_PROPERTY_KEYWORD,
    ETWAS_PROPERTY_TASK,
    ETWAS_PROPERTY_CHANNEL,
    ETWAS_PROPERTY_ACTIVITY,
    ETWAS_PROPERTY_RELATED_ACTIVITY,
    ETWAS_PROPERTY_INSTANCE,
    ETWAS_PROPERTY_PARENT,
    ETWAS_PROPERTY_DURATION,
    ETWAS_PROPERTY_DURATION_ERROR,
    ETWAS_PROPERTY_TEXT,       /* the message of an event that has one */
    ETWAS_PROPERTY_CALL_STACK, /* not `stack`: heaptrace has a field of that name */
    ETWAS_PROPERTY_FIELDS,
    ETWAS_PROPERTY_MARKS, /* what is to be said beside the fields */
    ETWAS_PROPERTY_PAYLOAD,
    ETWAS_PROPERTY_COUNT, /* no property */
};

/* Returns the property of that name; ETWAS_PROPERTY_COUNT if there is none. */
enum etwas_property etwas_property_find(const char *name, size_t bytes);

const char *etwas_property_name(enum etwas_property property);

/* The type of values that --where compares a property with. */
enum etwas_property_kind {
    ETWAS_PROPERTY_IS_NOTHING, /* with nothing: the file, the raw time, the stack, the payload … */
    ETWAS_PROPERTY_IS_NUMBER,
    ETWAS_PROPERTY_IS_STRING,
    ETWAS_PROPERTY_IS_GUID,
    ETWAS_PROPERTY_IS_TIME,
};

enum etwas_property_kind etwas_property_kind(enum etwas_property property);

#endif
