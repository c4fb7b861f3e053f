/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reports events whose payload contradicts their schema, once for each kind of event. */

#include "dump/dump.h"

#include "cli/quiet.h"

/* Begins a message with "etwas COMMAND: FILE: EVENT at TIME: ". */
static struct etwas_output *contradiction_begin(struct etwas_dump *dump)
{
    static const struct etwas_dump_column event = {ETWAS_PROPERTY_EVENT, 0, NULL};
    static const struct etwas_dump_column time = {ETWAS_PROPERTY_TIME, 0, NULL};
    const char *path = dump->current.input->path;
    struct etwas_output *errors = etwas_standard_error();

    etwas_output_format(errors, "%s: ", etwas_output_program);
    etwas_text_plain(errors, path);
    etwas_output_text(errors, ": ");
    etwas_dump_print_column(errors, dump, &event, false);
    etwas_output_text(errors, " at ");
    etwas_dump_print_column(errors, dump, &time, false);
    etwas_output_text(errors, ": ");
    return errors;
}

static uint32_t hash_of(struct etwas_event_string name)
{
    uint32_t hash = 0;

    for (size_t i = 0; i < name.bytes; i++) {
        hash = (hash ^ (unsigned char)name.text[i]) * 0x01000193u;
    }
    return hash;
}

/*
 * Begins such a message about an event without a schema. Returns NULL if its kind was reported
 * before.
 */
static struct etwas_output *begin_of_kind(struct etwas_dump *dump)
{
    const EVENT_HEADER *header = &dump->current.record->EventHeader;
    struct etwas_dump_kind kind = {header->ProviderId, header->EventDescriptor.Id,
                                   header->EventDescriptor.Version, header->EventDescriptor.Opcode,
                                   hash_of(dump->current.event.event_name)};

    for (uint32_t i = 0; i < dump->reported_count; i++) {
        if (memcmp(&dump->reported[i], &kind, sizeof kind) == 0) {
            return NULL;
        }
    }
    if (dump->reported_count == ETWAS_DUMP_REPORTED) {
        return NULL;
    }
    dump->reported[dump->reported_count++] = kind;
    return contradiction_begin(dump);
}

/*
 * Ends a message. `is_last`: no further kinds are reported, since there is no room to remember
 * them.
 */
static void contradiction_end(struct etwas_output *errors, bool is_last)
{
    etwas_output_text(errors, is_last ? "; of more events that is not told\n" : " (told once)\n");
    etwas_output_flush(errors);
}

void etwas_dump_report_senseless(struct etwas_dump *dump, const char *what)
{
    struct etwas_output *errors = begin_of_kind(dump);

    if (errors != NULL) {
        etwas_output_text(errors, what);
        etwas_output_text(errors, " makes no sense");
        contradiction_end(errors, dump->reported_count == ETWAS_DUMP_REPORTED);
    }
}

/*
 * Begins such a message about an event with a schema. Returns NULL if the schema was reported
 * before.
 */
static struct etwas_output *begin_of_schema(struct etwas_dump *dump)
{
    if (dump->current.schema_texts->reported) {
        return NULL;
    }
    dump->current.schema_texts->reported = true;
    return contradiction_begin(dump);
}

static void put_quoted(struct etwas_output *errors, const char *field)
{
    etwas_output_char(errors, '\'');
    etwas_text_plain(errors, field);
    etwas_output_text(errors, "' ");
}

/*
 * A truncated field is not reported if the fields are those of another version, which may not fit.
 */
void etwas_dump_report_rest(struct etwas_dump *dump, const struct etwas_fields_rest *rest)
{
    const struct etwas_schema_texts *schema_texts = dump->current.schema_texts;
    uint32_t bytes = dump->current.record->UserDataLength;
    struct etwas_output *errors;

    if ((rest->truncated == NULL && rest->undescribed == NULL) ||
        (rest->truncated != NULL && schema_texts != NULL && schema_texts->schema->other_version)) {
        return;
    }
    errors = schema_texts != NULL ? begin_of_schema(dump) : begin_of_kind(dump);
    if (errors == NULL) {
        return;
    }
    if (rest->undescribed != NULL) {
        etwas_output_text(errors, "how ");
        put_quoted(errors, rest->undescribed);
        etwas_output_text(errors, "is read its description does not say in a way that is known: "
                                  "what is left from byte ");
        etwas_output_unsigned(errors, bytes - rest->bytes);
        etwas_output_text(errors, " on is not decoded");
    } else {
        etwas_output_text(errors, schema_texts != NULL ? "its schema" : "its format");
        etwas_output_text(errors, " contradicts its payload: of ");
        etwas_output_unsigned(errors, bytes);
        etwas_output_text(errors, " bytes, ");
        put_quoted(errors, rest->truncated);
        etwas_output_text(errors, "begins at byte ");
        etwas_output_unsigned(errors, bytes - rest->bytes);
        etwas_output_text(errors, " and ends behind the last");
    }
    contradiction_end(errors, schema_texts == NULL && dump->reported_count == ETWAS_DUMP_REPORTED);
}

void etwas_dump_report_beyond(const struct etwas_dump *dump)
{
    struct etwas_output *errors = etwas_standard_error();

    if (dump->beyond == 0 || etwas_is_quiet) {
        return;
    }
    etwas_output_text(errors, "etwas dump: note: the times of ");
    etwas_output_unsigned(errors, dump->beyond);
    etwas_output_text(errors, dump->beyond == 1 ? " event are" : " events are");
    etwas_output_text(errors,
                      " before 1677-09-21 or after 2262-04-11, where nanoseconds do not fit "
                      "into 64 bits; --times system shows them, and --times raw\n");
    etwas_output_flush(errors);
}
