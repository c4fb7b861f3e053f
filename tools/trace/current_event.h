/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CURRENT_EVENT_H
#define ETWAS_TOOLS_TRACE_CURRENT_EVENT_H

/*
 * The current event: the record that a command is at, with all that is known of it. Columns show
 * its properties, and --where compares them.
 */

#include "event/event.h"
#include "event/fields.h"
#include "trace/descriptions.h"
#include "where/where.h"

enum {
    ETWAS_CURRENT_EVENT_PROVIDER_BYTES = 512,
    ETWAS_CURRENT_EVENT_ARGUMENT_BYTES = 24,
};

/*
 * A value of a field that was asked for. There are several for one path if fields have one name, or
 * for an array.
 */
struct etwas_current_event_value {
    uint32_t path;
    etwas_value value;
};

struct etwas_current_event {
    const struct etwas_input *input;
    const EVENT_RECORD *record;
    struct etwas_event event;
    struct etwas_descriptions *descriptions;
    struct etwas_schema_texts *schema_texts; /* NULL: nothing describes it */
    bool has_message;                        /* `message` is this event's */
    struct etwas_event_string message;
    bool has_duration;
    int64_t duration_ns;
    uint64_t duration_error_ns; /* UINT64_MAX: not known */
    struct etwas_current_event_value *values;
    uint32_t value_count;
    size_t value_capacity;
    uint32_t found;       /* where the value that was looked for last is, */
    uint32_t found_index; /* and its index */
    bool gathered;        /* `values` are this event's, and the next two */
    uint32_t cut_path;    /* of the field asked for that is not whole, or not described; _NONE */
    struct etwas_fields_rest cut;
    bool out_of_memory;
    /* Texts that the members above, and what the functions return, point into. */
    char provider[ETWAS_CURRENT_EVENT_PROVIDER_BYTES];
    char argument[ETWAS_CURRENT_EVENT_ARGUMENT_BYTES];
    struct etwas_output name;
    struct etwas_output message_text;
    struct etwas_output sides[2]; /* of a comparison of --where */
};

/*
 * Reads a record into an event that is all zeroes at first; its memory is kept for the next one. If
 * `spans` is given, it also finds the duration; then every event must be read here.
 */
void etwas_current_event_read(struct etwas_current_event *current, const struct etwas_input *input,
                              const EVENT_RECORD *record, struct etwas_descriptions *descriptions,
                              struct etwas_schema_texts *schema_texts, etwas_spans *spans);

/*
 * Finds the name of the provider of an event that nothing describes, if other events tell it. Valid
 * until the next record.
 */
void etwas_current_event_find_provider(struct etwas_current_event *current);

/* Reads the values of the fields that were asked for. Does nothing the second time. */
void etwas_current_event_gather(struct etwas_current_event *current);

/* Writes the event's name: PROVIDER/EVENT, or what it has instead, with its ids. */
void etwas_current_event_print_title(struct etwas_output *output, enum etwas_text_style style,
                                     const struct etwas_current_event *current);

/*
 * Returns what the columns event and event_class show, as it is in the file, for the properties
 * EVENT and EVENT_CLASS. The text is not terminated, and valid until the next call.
 */
struct etwas_event_string etwas_current_event_name(struct etwas_current_event *current,
                                                   enum etwas_property property);

/*
 * Returns the class of the parent as the parent's column event_class shows it, or its GUID where
 * nothing describes a START of it; NULL if the event has no parent. Likewise.
 */
struct etwas_event_string etwas_current_event_parent_class(struct etwas_current_event *current);

/*
 * Returns a property that is a string: UTF-8, not terminated, NULL if the event has none. EVENT is
 * without the provider and without an opcode that is shown behind it; NAME is the part of that
 * behind its last /.
 */
struct etwas_event_string etwas_current_event_string(const struct etwas_current_event *current,
                                                     enum etwas_property property);

/*
 * Returns the text of a message with a known format, or of an event with a message in its schema;
 * NULL if there is none.
 */
struct etwas_event_string etwas_current_event_message(struct etwas_current_event *current);

/*
 * Finds what of a message's payload is not in its text. Returns false if there is nothing. An
 * argument that is not whole is called by its number, until the next call.
 */
bool etwas_current_event_message_rest(struct etwas_current_event *current,
                                      struct etwas_fields_rest *rest);

/* Reads a property that is a number. Returns false if it is none, or the event has none. */
bool etwas_current_event_number(const struct etwas_current_event *current,
                                const struct etwas_where_operand *operand,
                                struct etwas_where_number *number);

/* Returns the property ACTIVITY, RELATED_ACTIVITY or CLASS; NULL if the event has none. */
const etwas_guid *etwas_current_event_guid(const struct etwas_current_event *current,
                                           enum etwas_property property);

void etwas_current_event_free(struct etwas_current_event *current);

#endif
