/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_MARKS_H
#define ETWAS_TOOLS_EVENT_MARKS_H

/*
 * Marks: what is shown beside the fields of an event. A mark says that a field is incomplete or not
 * described, that bytes follow the last field, that a value is odd, or that the fields are those of
 * another version. Code that shows an event must show all its marks:
 *
 *     etwas_fields_print_json(output, schema_texts, record, &rest);
 *     etwas_marks_print_json(output, schema_texts, record, &rest);
 *
 * For a message, `schema_texts` is NULL, and `rest` comes from etwas_current_event_message_rest.
 */

#include "event/fields.h"

/* Returns whether the event has any marks. */
bool etwas_marks_are_there(const struct etwas_schema_texts *schema_texts,
                           const EVENT_RECORD *record, const struct etwas_fields_rest *rest);

/*
 * Appends members to a JSON object: truncated or undescribed (the name of the field) and rest
 * (hexadecimal); odd (an array of objects with field, index if it is an element, and odd, in
 * words), and odd_values if there are more than in the array; decoded_as_version (a number; null if
 * built-in fields apply to all known versions).
 */
void etwas_marks_print_json(struct etwas_output *output,
                            const struct etwas_schema_texts *schema_texts,
                            const EVENT_RECORD *record, const struct etwas_fields_rest *rest);

/*
 * Writes the same in words that are safe on a terminal: `b (truncated: 01); name (odd byte: 41);
 * version 3 decoded as 2`.
 */
void etwas_marks_print_words(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, const struct etwas_fields_rest *rest);

/* Writes only the odd values, in words. Returns false if there are none. */
bool etwas_marks_print_odd(struct etwas_output *output,
                           const struct etwas_schema_texts *schema_texts,
                           const struct etwas_fields_rest *rest);

enum {
    ETWAS_MARKS_OWN_VERSION = -1,
    ETWAS_MARKS_ALL_VERSIONS = -2, /* built-in fields that apply to all known versions */
};

/* Returns the version whose fields are shown, or ETWAS_MARKS_OWN_VERSION or _ALL_VERSIONS. */
int etwas_marks_version(const struct etwas_schema_texts *schema_texts, const EVENT_RECORD *record);

/* Writes that version in words. If it is the event's own, returns false and writes nothing. */
bool etwas_marks_print_version(struct etwas_output *output,
                               const struct etwas_schema_texts *schema_texts,
                               const EVENT_RECORD *record);

#endif
