/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_SPAN_NAME_H
#define ETWAS_TOOLS_TRACE_SPAN_NAME_H

/* The names of the classes of instances and activities, and of the kinds of other events. */

#include "trace/descriptions.h"

enum {
    ETWAS_SPAN_NAME_BYTES = 128, /* with the terminating 0; longer names are cut */
};

/* Returns whether the event's type begins or ends a span. */
bool etwas_span_name_is_of_span(const EVENT_RECORD *record);

/*
 * Writes PROVIDER/CLASS for an event that begins or ends a span: its name without the part that
 * distinguishes the two. Writes the whole name PROVIDER/EVENT for other events, and the GUID if the
 * event has no description.
 */
void etwas_span_name_make(char name[ETWAS_SPAN_NAME_BYTES],
                          const struct etwas_schema_texts *schema_texts,
                          const EVENT_RECORD *record);

/*
 * Compares a class with each item of a list, by its whole name, by the part after the provider, or
 * by its GUID. Case does not matter.
 */
bool etwas_span_name_is(const char *name, const etwas_guid *guid, const char *wanted);

/*
 * Reports on standard error each name of the list `wanted` (NULL: none) that no class has. `has`
 * checks one name; `cure` says what the command does without --class.
 */
void etwas_span_name_report(const char *command, const char *wanted,
                            bool (*has)(const void *context, const char *name), const void *context,
                            const char *cure);

#endif
