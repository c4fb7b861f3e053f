/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_SPAN_CLASSES_H
#define ETWAS_TOOLS_TRACE_SPAN_CLASSES_H

/*
 * The classes of spans by number, from 0 as they were met, and among them the kinds of other
 * events, for who asks about such. What a schema's class is, is looked up by name once.
 */

#include "trace/span_name.h"

enum {
    ETWAS_SPAN_CLASSES = 4096,
    ETWAS_SPAN_CLASSES_MEMO = 16384, /* a power of 2 */
};

struct etwas_span_class {
    char name[ETWAS_SPAN_NAME_BYTES];
    etwas_guid guid;
    bool is_of_span; /* else its events neither begin nor end one */
};

/* What a kind of event was the last time: its class. */
struct etwas_span_memo {
    const struct etwas_schema_texts *schema_texts; /* NULL: nothing describes it */
    etwas_guid guid;
    bool is_of_span;
    uint32_t class_number; /* from 1; 0: the entry is empty */
};

struct etwas_span_classes {
    struct etwas_span_class *all;
    uint32_t count;
    struct etwas_span_memo *memo;
    uint32_t memo_count;
};

/* False without memory. */
bool etwas_span_classes_open(struct etwas_span_classes *classes);
void etwas_span_classes_close(struct etwas_span_classes *classes);

/* The class of what an event begins or ends, or its own kind; UINT32_MAX: there are too many. */
uint32_t etwas_span_classes_find(struct etwas_span_classes *classes,
                                 const struct etwas_schema_texts *schema_texts,
                                 const EVENT_RECORD *record);

/* Before descriptions are closed: what was known by them is not known any more. */
void etwas_span_classes_forget(struct etwas_span_classes *classes);

/* Is it called so? NULL: every class is. No class is one too many. */
bool etwas_span_classes_is(const struct etwas_span_classes *classes, uint32_t class_index,
                           const char *wanted);

#endif
