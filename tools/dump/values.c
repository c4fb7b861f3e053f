/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes what is known beside the number of a field that is a time, an address of code, or an
 * offset in a file.
 */

#include "dump/dump.h"

#include "kernel/kernel.h"
#include "print/json.h"

/* Reads a number of up to 8 bytes, such as a stamp or an address. */
static bool read_number(const etwas_value *value, uint64_t *number)
{
    *number = 0;
    if (value->bytes > sizeof *number) {
        return false;
    }
    memcpy(number, value->data, value->bytes);
    return true;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Writes a time like the event's own, between quotes. 0 means no time. */
static bool put_time(struct etwas_output *output, const struct etwas_dump *dump,
                     const etwas_value *value, const char *quote)
{
    uint64_t stamp;

    if (!read_number(value, &stamp) || stamp == 0) {
        return false;
    }
    etwas_output_text(output, quote);
    etwas_dump_print_stamp(output, dump, (int64_t)stamp);
    etwas_output_text(output, quote);
    return true;
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* A sample has its thread in the payload, and an event about a thread has the process there. */
static uint32_t process_of(const struct etwas_dump *dump, const struct etwas_addresses *addresses)
{
    const struct etwas_event *event = &dump->current.event;
    const EVENT_RECORD *record = dump->current.record;
    struct etwas_kernel_event kernel;
    uint64_t address;
    uint32_t thread = event->thread;
    uint32_t process = event->process;

    if (etwas_kernel_read(record, &kernel) && kernel.kind >= ETWAS_KERNEL_THREAD_START &&
        kernel.kind <= ETWAS_KERNEL_THREAD_HERE) {
        return kernel.process;
    }
    if (etwas_kernel_sample(record, &address, &thread) || process == ETWAS_EVENT_UNKNOWN_ID) {
        process = ETWAS_EVENT_UNKNOWN_ID;
        (void)etwas_addresses_process(addresses, thread, &process);
    }
    return process;
}

static bool put_code(struct etwas_output *output, enum etwas_text_style style,
                     struct etwas_dump *dump, const etwas_value *value, const char *before,
                     const char *behind)
{
    struct etwas_addresses *addresses = etwas_dump_addresses(dump);
    struct etwas_address address = {.time = dump->current.record->EventHeader.TimeStamp.QuadPart,
                                    .process = process_of(dump, addresses)};

    return read_number(value, &address.value) &&
           etwas_addresses_print_known(output, style, addresses, &address, before, behind);
}

/* ---- offsets in files ------------------------------------------------------------------------ */

static bool put_place(struct etwas_output *output, const etwas_value *value)
{
    uint64_t place;

    if (!read_number(value, &place) || place < UINT64_MAX - 1) {
        return false;
    }
    etwas_output_text(output, place == UINT64_MAX ? "end" : "position");
    return true;
}

/* ---- as text --------------------------------------------------------------------------------- */

bool etwas_dump_print_value(struct etwas_output *output, void *context, enum etwas_field_kind kind,
                            const etwas_value *value)
{
    struct etwas_dump *dump = context;

    if (kind == ETWAS_FIELD_TIME) {
        return put_time(output, dump, value, "");
    }
    if (kind == ETWAS_FIELD_PLACE) {
        return put_place(output, value);
    }
    if (kind == ETWAS_FIELD_CODE && dump->symbols) {
        etwas_fields_print_value(output, value, true);
        (void)put_code(output, ETWAS_TEXT_PLAIN, dump, value, " (", ")");
        return true;
    }
    return false;
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static bool put_json_time(struct etwas_dump *dump, const etwas_value *value)
{
    const char *quote = dump->clock == ETWAS_DUMP_QPC ? "" : "\"";

    return put_time(dump->output, dump, value, quote);
}

static bool put_json_code(struct etwas_dump *dump, const etwas_value *value)
{
    return put_code(dump->output, ETWAS_TEXT_JSON, dump, value, "\"", "\"");
}

/* Writes an object about the fields of a kind that are in no array or struct. */
static void put_object(struct etwas_dump *dump, const char *key, enum etwas_field_kind kind,
                       bool (*put)(struct etwas_dump *dump, const etwas_value *value))
{
    const struct etwas_schema_texts *schema_texts = dump->current.schema_texts;
    struct etwas_output *output = dump->output;
    const char *before = "{";
    uint32_t depth = 0;
    etwas_fields fields;
    etwas_value value;

    etwas_json_key(output, key);
    etwas_fields_begin(&fields, schema_texts->schema, dump->current.record);
    while (etwas_fields_next(&fields, &value)) {
        const struct etwas_schema_texts_field *field;

        depth += value.token == ETWAS_TOKEN_ARRAY_BEGIN || value.token == ETWAS_TOKEN_STRUCT_BEGIN;
        depth -= value.token == ETWAS_TOKEN_ARRAY_END || value.token == ETWAS_TOKEN_STRUCT_END;
        if (depth > 0 || value.token != ETWAS_TOKEN_VALUE) {
            continue;
        }
        field = &schema_texts->fields[value.field - schema_texts->schema->fields];
        if (field->kind == kind) {
            etwas_output_text(output, before);
            etwas_schema_texts_print(output, schema_texts, field->key);
            etwas_output_text(output, put(dump, &value) ? "" : "null");
            before = ",";
        }
    }
    etwas_output_text(output, before[0] == '{' ? "{}" : "}");
}

void etwas_dump_print_json_values(struct etwas_dump *dump)
{
    const struct etwas_schema_texts *schema_texts = dump->current.schema_texts;

    if (schema_texts->has_times && dump->clock != ETWAS_DUMP_RAW) {
        put_object(dump, "field_times", ETWAS_FIELD_TIME, put_json_time);
    }
    if (schema_texts->has_code && dump->symbols) {
        put_object(dump, "field_names", ETWAS_FIELD_CODE, put_json_code);
    }
}
