/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CURRENT_EVENT_H
#define ETWAS_TOOLS_TRACE_CURRENT_EVENT_H

/*
 * The current event: the record that a command is processing, with all that is known of it. Columns
 * show its properties, and --where compares them.
 */

#include "event/event.h"
#include "event/fields.h"
#include "trace/descriptions.h"
#include "where/where.h"

enum {
    ETWAS_CURRENT_EVENT_PROVIDER_BYTES = 512,
    ETWAS_CURRENT_EVENT_ARGUMENT_BYTES = 24,
};

/* A value of a requested field. One path has several if fields share a name, or for an array. */
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
    bool has_message;                        /* `message` belongs to this event */
    struct etwas_event_string message;
    bool has_duration;
    int64_t duration_ns;
    uint64_t duration_error_ns; /* UINT64_MAX: not known */
    struct etwas_current_event_value *values;
    uint32_t value_count;
    size_t value_capacity;
    uint32_t found;       /* position of the value that was looked up last, */
    uint32_t found_index; /* and its index */
    bool gathered;        /* `values` and the next two members belong to this event */
    uint32_t cut_path;    /* path of a requested field that is incomplete or not described; _NONE */
    struct etwas_fields_rest cut;
    bool out_of_memory;
    /* Storage for the texts that the members above and the functions' results point to. */
    char provider[ETWAS_CURRENT_EVENT_PROVIDER_BYTES];
    char argument[ETWAS_CURRENT_EVENT_ARGUMENT_BYTES];
    struct etwas_output name;
    struct etwas_output message_text;
    struct etwas_output sides[2]; /* operands of a comparison in --where */
};

/*
 * Reads a record. The event must be all zeroes at first; its memory is reused for the next record.
 * If `spans` is given, also finds the duration; then every event must be read here.
 */
void etwas_current_event_read(struct etwas_current_event *current, const struct etwas_input *input,
                              const EVENT_RECORD *record, struct etwas_descriptions *descriptions,
                              struct etwas_schema_texts *schema_texts, etwas_spans *spans);

/*
 * Finds the provider's name for an event without a description, from what other events say. It is
 * valid until the next record.
 */
void etwas_current_event_find_provider(struct etwas_current_event *current);

/* Reads the values of the requested fields. A second call for the same record does nothing. */
void etwas_current_event_gather(struct etwas_current_event *current);

/* Writes the event's name: PROVIDER/EVENT, or its ids if it has no name. */
void etwas_current_event_print_title(struct etwas_output *output, enum etwas_text_style style,
                                     const struct etwas_current_event *current);

/*
 * Returns the text of the columns event and event_class, as it is in the file. `property` is EVENT
 * or EVENT_CLASS. The text is not terminated, and valid until the next call.
 */
struct etwas_event_string etwas_current_event_name(struct etwas_current_event *current,
                                                   enum etwas_property property);

/*
 * Returns the class of the parent as the parent's column event_class shows it, or its GUID if no
 * START of it is described; NULL if the event has no parent. The text is valid as long as that
 * above.
 */
struct etwas_event_string etwas_current_event_parent_class(struct etwas_current_event *current);

/*
 * Returns a property that is a string: UTF-8, not terminated; NULL if the event has none. EVENT
 * excludes the provider, and an opcode that is shown behind it. NAME is the part of EVENT after its
 * last /.
 */
struct etwas_event_string etwas_current_event_string(const struct etwas_current_event *current,
                                                     enum etwas_property property);

/*
 * Returns the text of a message with a known format, or of an event with a message in its schema;
 * NULL if there is none.
 */
struct etwas_event_string etwas_current_event_message(struct etwas_current_event *current);

/*
 * Finds the part of a message's payload that its text does not show. Returns false if there is
 * none. An incomplete argument is named by its number; that name is valid until the next call.
 */
bool etwas_current_event_message_rest(struct etwas_current_event *current,
                                      struct etwas_fields_rest *rest);

/* Reads a numeric property. Returns false if it is not a number, or the event does not have it. */
bool etwas_current_event_number(const struct etwas_current_event *current,
                                const struct etwas_where_operand *operand,
                                struct etwas_where_number *number);

/* Returns the property ACTIVITY, RELATED_ACTIVITY or CLASS; NULL if the event has none. */
const etwas_guid *etwas_current_event_guid(const struct etwas_current_event *current,
                                           enum etwas_property property);

void etwas_current_event_free(struct etwas_current_event *current);

#endif
