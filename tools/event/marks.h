/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_EVENT_MARKS_H
#define ETWAS_TOOLS_EVENT_MARKS_H

/*
 * What is to be said beside the fields of an event: that one is not whole or not described, that
 * bytes follow the last one, that a value is odd, that the fields are those of another version.
 * Whoever shows an event shows its marks too, all of them:
 *
 *     etwas_fields_print_json(output, described, record, &rest);
 *     etwas_marks_print_json(output, described, record, &rest);
 *
 * `schema_texts` is NULL of a message, whose rest etwas_current_event_message_rest says.
 */

#include "event/fields.h"

/* Is there any? */
bool etwas_marks_are_there(const struct etwas_schema_texts *schema_texts,
                           const EVENT_RECORD *record, const struct etwas_fields_rest *rest);

/*
 * Members behind others of a JSON object: truncated or undescribed (the field), and rest
 * (hexadecimal); odd (an array of objects with field, index where it is an element, and odd, in
 * words; odd_values, if there are more than in it); decoded_as_version (number; null: what is built
 * in of all versions that are known).
 */
void etwas_marks_print_json(struct etwas_output *output,
                            const struct etwas_schema_texts *schema_texts,
                            const EVENT_RECORD *record, const struct etwas_fields_rest *rest);

/*
 * The same in words, harmless on a terminal: `b (truncated: 01); name (odd byte: 41); version 3
 * decoded as 2`.
 */
void etwas_marks_print_words(struct etwas_output *output,
                             const struct etwas_schema_texts *schema_texts,
                             const EVENT_RECORD *record, const struct etwas_fields_rest *rest);

/* Of these the odd values alone; false, and nothing: there is none. */
bool etwas_marks_print_odd(struct etwas_output *output,
                           const struct etwas_schema_texts *schema_texts,
                           const struct etwas_fields_rest *rest);

enum {
    ETWAS_MARKS_OWN_VERSION = -1,
    ETWAS_MARKS_ALL_VERSIONS = -2, /* what is built in of all that are known */
};

/* Of which version the fields are. */
int etwas_marks_version(const struct etwas_schema_texts *schema_texts, const EVENT_RECORD *record);

/* The same in words; false, and nothing: of the event's own. */
bool etwas_marks_print_version(struct etwas_output *output,
                               const struct etwas_schema_texts *schema_texts,
                               const EVENT_RECORD *record);

#endif
