/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Names of system calls, which the decoder has for the number in SysClEnter.
 */

#include "analyse/why/why.h"

void etwas_why_learn_calls(struct etwas_why *why, const struct etwas_input *input,
                           const EVENT_RECORD *record)
{
    const struct etwas_schema_texts *schema_texts;

    if (why->has_calls) {
        return;
    }
    why->has_calls = true;
    schema_texts =
        etwas_descriptions_find(etwas_descriptions_of(&why->descriptions, input), record, NULL);
    if (schema_texts != NULL && schema_texts->schema->field_count > 0) {
        why->call_field = &schema_texts->schema->fields[0];
    }
}

static bool has_name(const EVENT_MAP_INFO *map, uint64_t call)
{
    for (uint32_t i = 0; map != NULL && i < map->EntryCount; i++) {
        if (map->MapEntryArray[i].Value == call) {
            return true;
        }
    }
    return false;
}

bool etwas_why_call_name(const struct etwas_why *why, int64_t call, char name[ETWAS_WHY_CALL_BYTES])
{
    const uint64_t number = (uint64_t)call;
    const etwas_value value = {.token = ETWAS_TOKEN_VALUE,
                               .in_type = TDH_INTYPE_HEXINT64,
                               .out_type = TDH_OUTTYPE_HEXINT64,
                               .field = why->call_field,
                               .data = &number,
                               .bytes = sizeof number};

    if (why->call_field == NULL || !has_name(why->call_field->map, number)) {
        return false;
    }
    (void)etwas_value_text(&value, name, ETWAS_WHY_CALL_BYTES);
    return true;
}
