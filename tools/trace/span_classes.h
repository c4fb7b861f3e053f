/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_SPAN_CLASSES_H
#define ETWAS_TOOLS_TRACE_SPAN_CLASSES_H

/*
 * The classes of spans, numbered from 0 in the order in which they are found. Commands may add the
 * kinds of other events to them. Each schema's class is looked up by name once, then remembered.
 */

#include "math/hash_index.h"
#include "trace/span_name.h"

enum {
    ETWAS_SPAN_CLASSES = 4096,
    ETWAS_SPAN_CLASSES_MEMO = 8192, /* schemas with remembered classes */
};

struct etwas_span_class {
    char name[ETWAS_SPAN_NAME_BYTES];
    etwas_guid guid;
    bool is_of_span; /* its events begin or end a span */
};

/* The class that was found last for a kind of event. */
struct etwas_span_memo {
    const struct etwas_schema_texts *schema_texts; /* NULL: nothing describes it */
    etwas_guid guid;
    bool is_of_span;
    uint32_t class_number;
};

struct etwas_span_classes {
    struct etwas_span_class *all;
    uint32_t count;
    struct etwas_span_memo *memo;
    uint32_t memo_count;
    struct etwas_hash_index memo_places;
};

/* Returns false without memory. */
bool etwas_span_classes_open(struct etwas_span_classes *classes);
void etwas_span_classes_close(struct etwas_span_classes *classes);

/*
 * Returns the number of the class of the span that an event begins or ends, or of the event's own
 * kind; UINT32_MAX if there are too many.
 */
uint32_t etwas_span_classes_find(struct etwas_span_classes *classes,
                                 const struct etwas_schema_texts *schema_texts,
                                 const EVENT_RECORD *record);

/* Forgets the classes of schemas; call it before the descriptions are closed. */
void etwas_span_classes_forget(struct etwas_span_classes *classes);

/*
 * Returns whether a class has the name `wanted`; NULL matches every class. A class beyond the limit
 * has no name.
 */
bool etwas_span_classes_is(const struct etwas_span_classes *classes, uint32_t class_index,
                           const char *wanted);

/* Returns whether a class of the struct etwas_span_classes `context` has the name. */
bool etwas_span_classes_have(const void *context, const char *name);

#endif
