/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_VALUES_H
#define ETWAS_TOOLS_SHIP_READ_VALUES_H

/*
 * The fields of an event as pairs of a key and a value: numbers are ints or reals, what is called
 * something by a map is a text as well, all else is a text. Keys are NAME, NAME#2 of the second of
 * a name, STRUCT.MEMBER, NAME[0] of an element. An array of more than 16 elements is one text, as
 * `etwas dump` has it.
 */

#include "event/schema_texts.h"
#include "print/output.h"
#include "ship/schema/columns.h"

enum {
    ETWAS_SHIP_ELEMENTS = 16,
    ETWAS_SHIP_PAIRS = 4096, /* of one event */
};

/* What of the payload is in no pair. */
struct etwas_ship_left_over {
    const void *data; /* NULL: nothing */
    size_t bytes;
};

/* Adds an event's pairs to the row that has begun. `text` is in memory, for use meanwhile. */
struct etwas_ship_left_over etwas_ship_values_put(struct etwas_columns *columns,
                                                  const struct etwas_schema_texts *schema_texts,
                                                  const EVENT_RECORD *record,
                                                  struct etwas_output *text);

#endif
