/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Chooses the columns, and writes what each shows of an event. Their names are in event/property.c,
 * their help in columns_help.c.
 */

#include "dump/dump.h"

#include "event/marks.h"
#include "exit.h"
#include "trace/system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the choice ------------------------------------------------------------------------------ */

static void add_column(struct etwas_dump *dump, enum etwas_property property)
{
    dump->columns[dump->column_count++] = (struct etwas_dump_column){property, 0, NULL};
}

static void add_usual(struct etwas_dump *dump)
{
    static const enum etwas_property undecoded[] = {
        ETWAS_PROPERTY_OPCODE,          ETWAS_PROPERTY_LEVEL,           ETWAS_PROPERTY_INSTANCE,
        ETWAS_PROPERTY_PARENT_INSTANCE, ETWAS_PROPERTY_PARENT_CLASS_ID, ETWAS_PROPERTY_PAYLOAD,
    };

    if (dump->several_files) {
        add_column(dump, ETWAS_PROPERTY_FILE);
    }
    add_column(dump, ETWAS_PROPERTY_TIME);
    if (dump->clock == ETWAS_DUMP_QPC || dump->clock == ETWAS_DUMP_SYSTEM) {
        add_column(dump, ETWAS_PROPERTY_TIME_ERROR);
    }
    add_column(dump, ETWAS_PROPERTY_CPU);
    add_column(dump, ETWAS_PROPERTY_PID);
    add_column(dump, ETWAS_PROPERTY_TID);
    add_column(dump, ETWAS_PROPERTY_EVENT);
    if (!dump->hex) {
        add_column(dump, ETWAS_PROPERTY_FIELDS);
    }
    for (size_t i = 0; dump->hex && i < sizeof undecoded / sizeof undecoded[0]; i++) {
        add_column(dump, undecoded[i]);
    }
    if (dump->symbols) {
        add_column(dump, ETWAS_PROPERTY_CALL_STACK_NAMES);
    }
}

static bool add_field(struct etwas_dump *dump, struct etwas_dump_column *column, const char *name,
                      size_t bytes)
{
    char path[ETWAS_FIELD_PATH_BYTES];

    if (bytes > 7 && memcmp(name, "fields.", 7) == 0) {
        name += 7;
        bytes -= 7;
    }
    if (bytes == 0 || bytes + 1 > sizeof path) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        path[i] = (char)(name[i] == '.' ? '\0' : name[i]);
    }
    path[bytes] = '\0';
    column->path = etwas_field_paths_add(&dump->paths, path, bytes + 1);
    return column->path != ETWAS_FIELD_PATH_NONE;
}

bool etwas_dump_read_columns(const struct etwas_option_use *use)
{
    struct etwas_output *output = etwas_standard_output();

    if (*(const char **)use->place != NULL) {
        fprintf(stderr,
                "etwas %s: --columns: it was given before. One list, with commas, takes "
                "all\n",
                use->command);
        return false;
    }
    *(const char **)use->place = use->text;
    if (strcmp(use->text, "?") != 0) {
        return true;
    }
    for (int i = 0; i < ETWAS_PROPERTY_COUNT; i++) {
        etwas_output_format(output, "%s\n", etwas_property_name((enum etwas_property)i));
    }
    etwas_output_text(output, "fields.NAME\n");
    exit(etwas_output_finish(output) ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT);
}

bool etwas_dump_choose_columns(struct etwas_dump *dump)
{
    const char *text = dump->columns_text;

    if (text == NULL) {
        add_usual(dump);
        return true;
    }
    for (;;) {
        size_t bytes = strcspn(text, ",");
        struct etwas_dump_column column = {etwas_property_find(text, bytes), 0, text};

        if (dump->column_count == ETWAS_DUMP_COLUMNS ||
            (column.property == ETWAS_PROPERTY_COUNT && !add_field(dump, &column, text, bytes))) {
            fprintf(stderr, "etwas %s: --columns: %s\n", dump->command,
                    dump->column_count == ETWAS_DUMP_COLUMNS ? "too many columns"
                    : bytes == 0                             ? "a column has no name"
                                 : "a name is too long, or there are too many");
            return false;
        }
        dump->wants_durations |= column.property == ETWAS_PROPERTY_DURATION ||
                                 column.property == ETWAS_PROPERTY_DURATION_ERROR;
        dump->wants_stacks |= column.property == ETWAS_PROPERTY_CALL_STACK ||
                              column.property == ETWAS_PROPERTY_CALL_STACK_NAMES;
        dump->symbols |= column.property == ETWAS_PROPERTY_CALL_STACK_NAMES;
        dump->wants_process |=
            column.property == ETWAS_PROPERTY_PROCESS || column.property == ETWAS_PROPERTY_THREAD;
        dump->wants_raw_time |= column.property == ETWAS_PROPERTY_RAW_TIME;
        dump->columns[dump->column_count++] = column;
        if (text[bytes] == '\0') {
            return true;
        }
        text += bytes + 1;
    }
}

const char *etwas_dump_column_name(const struct etwas_dump *dump,
                                   const struct etwas_dump_column *column,
                                   char given[ETWAS_DUMP_COLUMN_NAME_BYTES])
{
    static const char *const times[] = {
        [ETWAS_DUMP_TIME] = "time",
        [ETWAS_DUMP_LOCAL] = "time",
        [ETWAS_DUMP_RELATIVE] = "since_start",
        [ETWAS_DUMP_RAW] = "raw_time",
        [ETWAS_DUMP_QPC] = "qpc_time",
        [ETWAS_DUMP_SYSTEM] = "system_time",
    };

    if (column->property == ETWAS_PROPERTY_TIME) {
        return times[dump->clock];
    }
    if (column->name == NULL) {
        return etwas_property_name(column->property);
    }
    snprintf(given, ETWAS_DUMP_COLUMN_NAME_BYTES, "%.*s", (int)strcspn(column->name, ","),
             column->name);
    return given;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Writes a time in this machine's zone, or as +1.234567890 since the first event. */
static void put_shown(struct etwas_output *output, const struct etwas_dump *dump, int64_t unix_ns)
{
    uint64_t apart_ns;
    bool is_before = unix_ns < dump->first_ns;

    if (dump->clock == ETWAS_DUMP_LOCAL) {
        etwas_text_local_time_ns(output, unix_ns);
        return;
    }
    apart_ns = is_before ? (uint64_t)dump->first_ns - (uint64_t)unix_ns
                         : (uint64_t)unix_ns - (uint64_t)dump->first_ns;
    etwas_output_format(output, "%c%" PRIu64 ".%09" PRIu64, is_before ? '-' : '+',
                        apart_ns / 1000000000, apart_ns % 1000000000);
}

void etwas_dump_print_time(struct etwas_output *output, const struct etwas_dump *dump)
{
    const struct etwas_current_event *current = &dump->current;

    if (dump->clock == ETWAS_DUMP_TIME) {
        etwas_input_print_time(output, current->input, current->record);
    } else {
        put_shown(output, dump, etwas_input_shown_ns(current->input, current->record));
    }
}

void etwas_dump_print_stamp(struct etwas_output *output, const struct etwas_dump *dump, int64_t raw)
{
    switch (dump->clock) {
    case ETWAS_DUMP_LOCAL:
    case ETWAS_DUMP_RELATIVE:
        put_shown(output, dump, etwas_input_stamp_ns(dump->current.input, raw));
        break;
    case ETWAS_DUMP_RAW:
        etwas_output_signed(output, raw);
        break;
    case ETWAS_DUMP_QPC:
        etwas_output_signed(output, etwas_dump_convert(dump, raw).value);
        break;
    case ETWAS_DUMP_SYSTEM:
        etwas_text_time(output, etwas_dump_convert(dump, raw).value);
        break;
    default:
        etwas_input_print_stamp(output, dump->current.input, raw);
        break;
    }
}

static bool put_time(struct etwas_output *output, const struct etwas_dump *dump)
{
    if (etwas_dump_is_by_trace(dump)) {
        etwas_dump_print_time(output, dump);
    } else {
        etwas_dump_print_stamp(output, dump, dump->current.record->EventHeader.TimeStamp.QuadPart);
    }
    return true;
}

static bool put_error(struct etwas_output *output, struct etwas_dump *dump)
{
    etwas_clock_time time = {0, UINT64_MAX};

    if (dump->clock == ETWAS_DUMP_QPC || dump->clock == ETWAS_DUMP_SYSTEM) {
        time = etwas_dump_time(dump);
    }
    if (time.error_ns == UINT64_MAX) {
        return false;
    }
    etwas_output_unsigned(output, time.error_ns);
    return true;
}

static bool put_stack(struct etwas_output *output, struct etwas_dump *dump, bool by_name)
{
    const struct etwas_event_stack stack = etwas_dump_stack(dump);

    if (by_name) {
        etwas_addresses_print_stack(output, ETWAS_TEXT_PLAIN, etwas_dump_addresses(dump), &stack,
                                    dump->current.record->EventHeader.TimeStamp.QuadPart, " < ");
    } else {
        etwas_event_print_stack(output, &stack, ",");
    }
    return stack.count > 0;
}

static bool put_guid(struct etwas_output *output, const struct etwas_current_event *current,
                     enum etwas_property property)
{
    const etwas_guid *guid = etwas_current_event_guid(current, property);

    if (guid != NULL) {
        etwas_text_guid(output, guid);
    }
    return guid != NULL;
}

static bool put_payload(struct etwas_output *output, const EVENT_RECORD *record)
{
    etwas_output_hex(output, record->UserData, record->UserDataLength);
    return record->UserDataLength > 0;
}

/* Writes a property that is a number. Durations are in nanoseconds, as --where compares them. */
static bool put_number(struct etwas_output *output, const struct etwas_current_event *current,
                       enum etwas_property property)
{
    const struct etwas_where_operand operand = {.source = ETWAS_WHERE_OF_PROPERTY,
                                                .property = property};
    struct etwas_where_number number;

    if (!etwas_current_event_number(current, &operand, &number)) {
        return false;
    }
    if (property == ETWAS_PROPERTY_KEYWORD) {
        etwas_output_format(output, "0x%llx", (unsigned long long)number.u);
    } else if (number.kind == ETWAS_WHERE_SIGNED) {
        etwas_output_signed(output, number.i);
    } else {
        etwas_output_unsigned(output, number.u);
    }
    return true;
}

static bool put_string(struct etwas_output *output, const struct etwas_current_event *current,
                       enum etwas_property property)
{
    struct etwas_event_string string = etwas_current_event_string(current, property);

    if (string.text == NULL) {
        return false;
    }
    etwas_text_utf8(output, ETWAS_TEXT_WORD, string.text, string.bytes);
    return true;
}

static bool put_event_class(struct etwas_output *output, struct etwas_current_event *current)
{
    struct etwas_event_string name = etwas_current_event_name(current, ETWAS_PROPERTY_EVENT_CLASS);

    etwas_text_utf8(output, ETWAS_TEXT_WORD, name.text, name.bytes);
    return true;
}

static bool put_parent_class(struct etwas_output *output, struct etwas_current_event *current)
{
    struct etwas_event_string name = etwas_current_event_parent_class(current);

    etwas_text_utf8(output, ETWAS_TEXT_WORD, name.text, name.bytes);
    return name.text != NULL;
}

static bool put_event(struct etwas_output *output, const struct etwas_current_event *current)
{
    if (current->schema_texts != NULL) {
        etwas_schema_texts_print(output, current->schema_texts, current->schema_texts->title);
    } else {
        etwas_current_event_print_title(output, ETWAS_TEXT_WORD, current);
    }
    return true;
}

static bool put_message(struct etwas_output *output, struct etwas_current_event *current,
                        bool quoted)
{
    struct etwas_event_string string = etwas_current_event_message(current);

    if (string.text == NULL) {
        return false;
    }
    etwas_output_text(output, quoted ? "\"" : "");
    etwas_text_utf8(output, quoted ? ETWAS_TEXT_QUOTED : ETWAS_TEXT_PLAIN, string.text,
                    string.bytes);
    etwas_output_text(output, quoted ? "\"" : "");
    return true;
}

/*
 * Writes the text of a message with a known format, and the part of its payload that the text does
 * not show.
 */
static bool put_message_fields(struct etwas_output *output, struct etwas_dump *dump, bool quoted)
{
    struct etwas_fields_rest rest;

    if (!dump->current.event.message || !put_message(output, &dump->current, quoted)) {
        return false;
    }
    if (etwas_current_event_message_rest(&dump->current, &rest)) {
        etwas_output_char(output, ' ');
        etwas_fields_print_rest(output, &rest);
        etwas_dump_report_rest(dump, &rest);
    }
    return true;
}

/*
 * Writes, after the fields, which version they are of, if the event's own version is not described.
 */
static bool put_other_version(struct etwas_output *output,
                              const struct etwas_current_event *current, bool has_fields)
{
    struct etwas_output *words = etwas_output_scratch(output);

    if (!etwas_marks_print_version(words, current->schema_texts, current->record)) {
        return false;
    }
    etwas_output_text(output, has_fields ? " (" : "(");
    etwas_output_bytes(output, words->bytes, words->used_bytes);
    etwas_output_char(output, ')');
    return true;
}

static bool put_fields(struct etwas_output *output, struct etwas_dump *dump, bool quoted)
{
    struct etwas_current_event *current = &dump->current;
    const struct etwas_fields_reader reader = {etwas_dump_print_value, dump};
    struct etwas_fields_rest rest;
    bool has_fields;

    if (put_message_fields(output, dump, quoted)) {
        return true;
    }
    if (current->schema_texts == NULL) {
        if (current->record->UserDataLength == 0) {
            return false;
        }
        etwas_output_text(output, "payload=");
        return put_payload(output, current->record);
    }
    has_fields =
        etwas_fields_print_text(output, current->schema_texts, current->record, &reader, &rest);
    etwas_dump_report_rest(dump, &rest);
    etwas_trace_print_header_words(output, current->input, current->record);
    return put_other_version(output, current, has_fields) || has_fields;
}

/* Writes the marks that the shown columns may not contain. Returns false if there are none. */
static bool put_marks(struct etwas_output *output, struct etwas_dump *dump)
{
    struct etwas_current_event *current = &dump->current;
    struct etwas_fields_rest rest;

    if (current->schema_texts != NULL) {
        etwas_fields_find_rest(current->schema_texts, current->record, &rest);
    } else if (!current->event.message || !etwas_current_event_message_rest(current, &rest)) {
        return false;
    }
    etwas_dump_report_rest(dump, &rest);
    etwas_marks_print_words(output, current->schema_texts, current->record, &rest);
    return etwas_marks_are_there(current->schema_texts, current->record, &rest);
}

/*
 * Writes the values of a field, as [1, 2] if there are several, then the rest of an incomplete one.
 */
static bool put_field(struct etwas_output *output, struct etwas_dump *dump, uint32_t path,
                      bool quoted)
{
    struct etwas_current_event *current = &dump->current;
    const struct etwas_fields_reader reader = {etwas_dump_print_value, dump};
    uint32_t count = 0;
    uint32_t put = 0;

    etwas_current_event_gather(current);
    for (uint32_t i = 0; i < current->value_count; i++) {
        count += current->values[i].path == path;
    }
    for (uint32_t i = 0; i < current->value_count; i++) {
        if (current->values[i].path == path) {
            etwas_output_text(output, put++ > 0 ? ", " : count > 1 ? "[" : "");
            etwas_fields_print_known(output, current->schema_texts, &current->values[i].value,
                                     &reader, quoted || count > 1);
        }
    }
    etwas_output_text(output, count > 1 ? "]" : "");
    if (current->cut_path != path) {
        return count > 0;
    }
    etwas_output_text(output, count > 0 ? " " : "");
    etwas_fields_print_rest(output, &current->cut);
    etwas_dump_report_rest(dump, &current->cut);
    return true;
}

bool etwas_dump_print_column(struct etwas_output *output, struct etwas_dump *dump,
                             const struct etwas_dump_column *column, bool quoted)
{
    struct etwas_current_event *current = &dump->current;

    switch (column->property) {
    case ETWAS_PROPERTY_TIME:
        return put_time(output, dump);
    case ETWAS_PROPERTY_RAW_TIME:
        etwas_output_signed(output, current->record->EventHeader.TimeStamp.QuadPart);
        return true;
    case ETWAS_PROPERTY_TIME_ERROR:
        return put_error(output, dump);
    case ETWAS_PROPERTY_FILE:
    case ETWAS_PROPERTY_PROCESS:
    case ETWAS_PROPERTY_THREAD:
    case ETWAS_PROPERTY_PROVIDER:
    case ETWAS_PROPERTY_NAME:
        return put_string(output, current, column->property);
    case ETWAS_PROPERTY_EVENT:
        return put_event(output, current);
    case ETWAS_PROPERTY_EVENT_CLASS:
        return put_event_class(output, current);
    case ETWAS_PROPERTY_PARENT_CLASS:
        return put_parent_class(output, current);
    case ETWAS_PROPERTY_PROVIDER_ID:
    case ETWAS_PROPERTY_EVENT_CLASS_ID:
    case ETWAS_PROPERTY_PARENT_CLASS_ID:
    case ETWAS_PROPERTY_ACTIVITY:
    case ETWAS_PROPERTY_RELATED_ACTIVITY:
        return put_guid(output, current, column->property);
    case ETWAS_PROPERTY_MESSAGE:
        return put_message(output, current, quoted);
    case ETWAS_PROPERTY_CALL_STACK:
    case ETWAS_PROPERTY_CALL_STACK_NAMES:
        return put_stack(output, dump, column->property == ETWAS_PROPERTY_CALL_STACK_NAMES);
    case ETWAS_PROPERTY_FIELDS:
        return put_fields(output, dump, quoted);
    case ETWAS_PROPERTY_MARKS:
        return put_marks(output, dump);
    case ETWAS_PROPERTY_PAYLOAD:
        return put_payload(output, current->record);
    case ETWAS_PROPERTY_COUNT:
        return put_field(output, dump, column->path, quoted);
    default:
        return put_number(output, current, column->property);
    }
}
