/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The names of kinds of events.
 */

#include "show/counts.h"

bool etwas_counts_print_name(struct etwas_output *output, enum etwas_text_style style,
                             const struct etwas_counts_kind *kind)
{
    struct etwas_event event = {.classic = kind->key.classic};

    if (kind->schema_texts != NULL) {
        const etwas_schema *schema = kind->schema_texts->schema;

        etwas_text_utf8(output, style, schema->provider, strlen(schema->provider));
        if (schema->provider[0] != '\0' && schema->event[0] != '\0') {
            etwas_output_char(output, '/');
        }
        etwas_text_utf8(output, style, schema->event, strlen(schema->event));
        return schema->event[0] != '\0' || schema->provider[0] != '\0';
    }
    if (kind->key.classic) {
        event.class_guid = &kind->key.guid;
        event.type = kind->key.type;
    }
    if (kind->provider_name[0] != '\0') {
        event.provider_name.text = kind->provider_name;
        event.provider_name.bytes = strnlen(kind->provider_name, ETWAS_COUNTS_NAME_BYTES);
    }
    if (kind->key.event_name[0] != '\0') {
        event.event_name.text = kind->key.event_name;
        event.event_name.bytes = strnlen(kind->key.event_name, ETWAS_COUNTS_NAME_BYTES);
    }
    if (etwas_event_has_name(&event)) {
        etwas_event_print_name(output, style, &event);
    }
    return etwas_event_has_name(&event);
}

static bool is_message(const struct etwas_counts_kind *kind)
{
    return (kind->header.Flags & EVENT_HEADER_FLAG_TRACE_MESSAGE) != 0;
}

void etwas_counts_print_title(struct etwas_output *output, enum etwas_text_style style,
                              const struct etwas_counts_kind *kind)
{
    bool has_name = etwas_counts_print_name(output, style, kind);

    if (!has_name) {
        etwas_text_guid(output, &kind->key.guid);
    } else if (kind->key.event_name[0] != '\0') {
        etwas_schema_texts_print_opcode(output, kind->key.type);
    }
    if (!has_name || (kind->schema_texts == NULL && kind->key.event_name[0] == '\0')) {
        etwas_output_text(output, is_message(kind) ? "/message:" : kind->key.classic ? "/" : "/#");
        etwas_output_unsigned(output, kind->key.classic ? kind->key.type : kind->key.id);
    }
}
