/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "trace/span_name.h"

#include "cli/quiet.h"
#include "cli/value.h"
#include "event/event.h"
#include "print/text.h"

#include <etwas/evntrace.h>
#include <string.h>
#include <strings.h>

/* Appends as much of a text as fits. */
static void append(char name[ETWAS_SPAN_NAME_BYTES], const char *text, size_t bytes)
{
    size_t used = strlen(name);
    size_t room = ETWAS_SPAN_NAME_BYTES - 1 - used;

    memcpy(name + used, text, bytes < room ? bytes : room);
    name[used + (bytes < room ? bytes : room)] = '\0';
}

static void append_guid(char name[ETWAS_SPAN_NAME_BYTES], const etwas_guid *guid)
{
    char text[ETWAS_TEXT_GUID_CHARACTERS];

    etwas_text_guid_characters(text, guid);
    append(name, text, sizeof text);
}

bool etwas_span_name_is_of_span(const EVENT_RECORD *record)
{
    uint8_t opcode = record->EventHeader.EventDescriptor.Opcode;

    return opcode == EVENT_TRACE_TYPE_START || opcode == EVENT_TRACE_TYPE_END;
}

void etwas_span_name_make(char name[ETWAS_SPAN_NAME_BYTES],
                          const struct etwas_schema_texts *schema_texts, const EVENT_RECORD *record)
{
    const char *last = NULL;
    struct etwas_event event;

    name[0] = '\0';
    if (schema_texts == NULL || schema_texts->schema->event[0] == '\0') {
        append_guid(name, &record->EventHeader.ProviderId);
        return;
    }
    etwas_event_read(record, &event);
    if (schema_texts->schema->provider[0] != '\0') {
        append(name, schema_texts->schema->provider, strlen(schema_texts->schema->provider));
        append(name, "/", 1);
    }
    if (event.event_name.text == NULL && etwas_span_name_is_of_span(record)) {
        last = strrchr(schema_texts->schema->event, '/');
    }
    append(name, schema_texts->schema->event,
           last != NULL ? (size_t)(last - schema_texts->schema->event)
                        : strlen(schema_texts->schema->event));
}

static bool is_called(const char *name, const char *guid, const char *wanted)
{
    const char *last = strrchr(name, '/');

    return strcasecmp(name, wanted) == 0 || (last != NULL && strcasecmp(last + 1, wanted) == 0) ||
           strcasecmp(guid, wanted) == 0;
}

bool etwas_span_name_is(const char *name, const etwas_guid *guid, const char *wanted)
{
    char text[ETWAS_SPAN_NAME_BYTES] = "";
    char item[ETWAS_SPAN_NAME_BYTES];
    const char *list = wanted;

    append_guid(text, guid);
    while (list != NULL) {
        if (!etwas_value_item(&list, item, sizeof item)) {
            return is_called(name, text, wanted);
        }
        if (is_called(name, text, item)) {
            return true;
        }
    }
    return false;
}

static void report_missing(const char *command, const char *name, const char *cure)
{
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "etwas %s: note: no class is called '", command);
    etwas_text_plain(errors, name);
    etwas_output_format(errors, "'; without --class all are %s\n", cure);
    etwas_output_flush(errors);
}

void etwas_span_name_report(const char *command, const char *wanted,
                            bool (*has)(const void *context, const char *name), const void *context,
                            const char *cure)
{
    char item[ETWAS_SPAN_NAME_BYTES];
    const char *list = wanted;

    while (list != NULL && !etwas_is_quiet) {
        bool is_item = etwas_value_item(&list, item, sizeof item);
        const char *name = is_item ? item : wanted;

        if (!has(context, name)) {
            report_missing(command, name, cure);
        }
        if (!is_item) {
            return;
        }
    }
}
