/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SCHEMA_H
#define ETWAS_TOOLS_SCHEMA_H

/*
 * What the forms of `etwas schema` share.
 */

#include "print/output.h"
#include "print/text.h"

#include <etwas/decode.h>

/* Returns such as "UInt32", as in manifests; "" for an unknown number. */
const char *etwas_schema_in_type(uint16_t type);

/* Returns such as "HexInt32"; "" also if it adds nothing to this in-type. */
const char *etwas_schema_out_type(uint16_t in_type, uint16_t out_type);

/* Returns "manifest", "classic", "message" or "tracelogging". */
const char *etwas_schema_source(const etwas_schema *schema);

/* Returns NULL if there are not that many. */
static inline const etwas_schema_field *etwas_schema_field_at(const etwas_schema *schema,
                                                              uint32_t index)
{
    return index < schema->field_count ? &schema->fields[index] : NULL;
}

/* Returns the UTF-16 text of a map's entry, terminated by 0; *units excludes that. */
const void *etwas_schema_entry_text(const EVENT_MAP_INFO *map, uint32_t entry, size_t *units);

/*
 * Writes an event with its fields; `previous` is the one before it, NULL for the first in a file.
 */
void etwas_schema_text(struct etwas_output *output, const etwas_schema *schema,
                       const etwas_schema *previous);

/* Writes a message with its format; `is_first`: the message before it has another GUID. */
void etwas_schema_message_text(struct etwas_output *output, const etwas_guid *guid, uint16_t number,
                               const char *format, bool is_first);

/* Writes the same as one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_schema_message_json(struct etwas_output *output, const etwas_guid *guid, uint16_t number,
                               const char *format, const char *path);

/* Writes an event as one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_schema_json(struct etwas_output *output, const etwas_schema *schema, const char *path);

#endif
