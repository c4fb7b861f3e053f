/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_VALUES_H
#define ETWAS_TOOLS_SHIP_READ_VALUES_H

/*
 * Encodes the fields of an event as pairs of a key and a value. Numbers become ints or reals. A
 * value that a map names also becomes a text, and all others become texts. Keys are NAME, NAME#2
 * for the second field of a name, STRUCT.MEMBER, and NAME[0] for an element. An array of more than
 * 16 elements becomes one text, as in `etwas dump`.
 */

#include "event/schema_texts.h"
#include "print/output.h"
#include "ship/schema/columns.h"

enum {
    ETWAS_SHIP_ELEMENTS = 16,
    ETWAS_SHIP_PAIRS = 4096, /* in one event */
};

/* The part of the payload that is in no pair. */
struct etwas_ship_left_over {
    const void *data; /* NULL: nothing */
    size_t bytes;
};

/* Adds an event's pairs to the current row. `text` is scratch memory. */
struct etwas_ship_left_over etwas_ship_values_put(struct etwas_columns *columns,
                                                  const struct etwas_schema_texts *schema_texts,
                                                  const EVENT_RECORD *record,
                                                  struct etwas_output *text);

#endif
