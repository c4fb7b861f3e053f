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

/* "UInt32", as manifests call it; "" for a number that none has. */
const char *etwas_schema_in_type(uint16_t type);

/* "HexInt32"; "" too for one that adds nothing to this in-type. */
const char *etwas_schema_out_type(uint16_t in_type, uint16_t out_type);

/* "manifest", "classic", "message", "tracelogging" */
const char *etwas_schema_source(const etwas_schema *schema);

/* NULL: there are not so many. */
static inline const etwas_schema_field *etwas_schema_field_at(const etwas_schema *schema,
                                                              uint32_t index)
{
    return index < schema->field_count ? &schema->fields[index] : NULL;
}

/* The UTF-16 text of an entry of a map, ended with 0; *units without that. */
const void *etwas_schema_entry_text(const EVENT_MAP_INFO *map, uint32_t entry, size_t *units);

/* An event with its fields; `previous` is the one before it, NULL for the first of a file. */
void etwas_schema_text(struct etwas_output *output, const etwas_schema *schema,
                       const etwas_schema *previous);

/* A message with its format; `is_first`: the one before it has another GUID. */
void etwas_schema_message_text(struct etwas_output *output, const etwas_guid *guid, uint16_t number,
                               const char *format, bool is_first);

/* The same as one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_schema_message_json(struct etwas_output *output, const etwas_guid *guid, uint16_t number,
                               const char *format, const char *path);

/* An event as one JSON object. Its keys are documented in docs/reference/json.md. */
void etwas_schema_json(struct etwas_output *output, const etwas_schema *schema, const char *path);

#endif
