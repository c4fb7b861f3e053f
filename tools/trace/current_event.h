/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_CURRENT_EVENT_H
#define ETWAS_TOOLS_TRACE_CURRENT_EVENT_H

/*
 * One event with all that is known of it: what a column shows of it, and what --where compares.
 */

#include "event/event.h"
#include "event/fields.h"
#include "trace/descriptions.h"
#include "where/where.h"

/* A field that was asked for, or one of several with its name or in its array. */
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
    uint64_t duration_error_ns;               /* UINT64_MAX: not known */
    struct etwas_current_event_value *values; /* for as long as the command runs */
    uint32_t value_count;
    uint32_t value_capacity;
    uint32_t found;       /* where the value that was looked for last is, */
    uint32_t found_index; /* and its index */
    bool gathered;        /* `values` are this event's, and the next two */
    uint32_t cut_path;    /* of the field asked for that is not whole, or not described; _NONE */
    struct etwas_fields_rest cut;
    bool out_of_memory;
};

/*
 * Looks at a record; `values` stay as memory for the next. With `spans` it learns the duration, for
 * which every event has to come by here.
 */
void etwas_current_event_read(struct etwas_current_event *current, const struct etwas_input *input,
                              const EVENT_RECORD *record, struct etwas_descriptions *descriptions,
                              struct etwas_schema_texts *schema_texts, etwas_spans *spans);

/*
 * Has what nothing describes called by its provider, if that is known of other events. Until the
 * next record.
 */
void etwas_current_event_find_provider(struct etwas_current_event *current);

/* The values of the fields that were asked for; does nothing the second time. */
void etwas_current_event_gather(struct etwas_current_event *current);

/* Writes its name: PROVIDER/EVENT, or what it has in place of that, with its ids. */
void etwas_current_event_print_title(struct etwas_output *output, enum etwas_text_style style,
                                     const struct etwas_current_event *current);

/*
 * What the columns event and event_class show, as it is in the file: EVENT or EVENT_CLASS. Not
 * terminated. Until the next call.
 */
struct etwas_event_string etwas_current_event_name(const struct etwas_current_event *current,
                                                   enum etwas_property property);

/*
 * UTF-8, not terminated; NULL where the event has no such thing. EVENT is without the provider and
 * an opcode that is shown behind it; NAME is that behind its last /.
 */
struct etwas_event_string etwas_current_event_string(const struct etwas_current_event *current,
                                                     enum etwas_property property);

/* The text of a message whose format is known, or of an event whose schema has one; else NULL. */
struct etwas_event_string etwas_current_event_message(struct etwas_current_event *current);

/*
 * What of a message's payload is not in its text; false: nothing. An argument that is not whole is
 * called by its number, until the next call.
 */
bool etwas_current_event_message_rest(const struct etwas_current_event *current,
                                      struct etwas_fields_rest *rest);

/* A property that is a number; false: it is none, or the event has none. */
bool etwas_current_event_number(const struct etwas_current_event *current,
                                const struct etwas_where_operand *operand,
                                struct etwas_where_number *number);

/* ACTIVITY, RELATED_ACTIVITY or CLASS; NULL: the event has none. */
const etwas_guid *etwas_current_event_guid(const struct etwas_current_event *current,
                                           enum etwas_property property);

void etwas_current_event_free(struct etwas_current_event *current);

#endif
