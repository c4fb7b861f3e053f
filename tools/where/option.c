/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reports an error in an expression, with the expression and a mark below it; and the help. */

#include "where/option.h"

#include "cli/quiet.h"
#include "cli/value.h"
#include "event/field_paths.h"
#include "exit.h"
#include "print/output.h"
#include "print/text.h"

#include <stdio.h>
#include <string.h>

const char etwas_where_help[] =
    "Expressions of --where:\n"
    "  size > 4096 && name == \"malloc\"      ==  !=  <  <=  >  >=  &&  ||  !  ( )\n"
    "  path contains \"tmp\" || path =~ \"^/\"  a part; an extended regular expression\n"
    "  keyword & 0x20                       some of these bits\n"
    "  duration > 1.5ms                     numbers: 12 -3 0x1f 1.5 1e6 true; with k\n"
    "                                       M G Ki Mi Gi; of times and fields whose\n"
    "                                       names end in _ns _us _ms _s also with\n"
    "                                       ns us ms s min\n"
    "  time >= \"2026-11-21T08:19:17.5\"      UTC; time < 2s: since the session's start\n"
    "  point.x == 3                         a member of a struct\n"
    "A name is one of these, or else of a field (fields.NAME always is, `NAME` may\n"
    "hold anything): time, duration (ns; of an END event, from the START of the same\n"
    "instance or activity), duration_error (how far it may be off, where that is\n"
    "known), cpu, pid, tid, process, thread (their names, if the trace says them),\n"
    "level, keyword, provider, event (as its column shows it: Shop/Order/Start, or by\n"
    "== its last one or two parts), event_class (Shop/Order, or Order: all opcodes of\n"
    "it), name (the last part, without an opcode), message (its text), provider_id,\n"
    "event_class_id, event_id, version, opcode, task, channel, activity,\n"
    "related_activity, instance, parent_instance, parent_class (as event_class),\n"
    "parent_class_id, message_id, sequence, component, kernel_time, user_time,\n"
    "payload_bytes. Of several values, as in arrays, any will do. What an event does\n"
    "not have compares false, by != too. A name alone: is it neither 0 nor empty?\n"
    "Enumerations, codes of errors and levels (level <= warning) compare by name and\n"
    "by number, GUIDs and times in any form. To compare a number with a string is an\n"
    "error.\n";

void etwas_where_complain(const struct etwas_where *where, const char *event, size_t bytes)
{
    struct etwas_output *errors = etwas_standard_error();
    const char *text = where->expression;
    size_t indent;
    size_t start;

    etwas_output_format(errors, "etwas %s: --where: ", where->command);
    if (event != NULL) {
        etwas_output_text(errors, "of ");
        etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, event, bytes);
        etwas_output_char(errors, ' ');
    }
    etwas_output_text(errors, where->error);
    if (where->error_meant != NULL) {
        etwas_output_format(errors, ". Did you mean the column '%s'?", where->error_meant);
    }
    etwas_output_text(errors, "\n  ");
    start = errors->used_bytes;
    etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, text, where->error_at);
    indent = etwas_text_width(errors->bytes + start, errors->used_bytes - start);
    etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, text + where->error_at,
                    strlen(text) - where->error_at);
    etwas_output_text(errors, "\n  ");
    etwas_output_blanks(errors, indent);
    etwas_output_char(errors, '^');
    for (size_t i = 1; i < where->error_length && i < 80; i++) {
        etwas_output_char(errors, '~');
    }
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
}

/* Prints a part of the expression as it was given. */
static void put_operand(struct etwas_output *errors, const struct etwas_where *where,
                        const struct etwas_where_operand *operand)
{
    etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, where->expression + operand->at, operand->length);
}

/* Prints such as "etwas COMMAND: note: 5ms is compared as 5000 us, the unit of took_us". */
static void tell_units(const struct etwas_where *where)
{
    struct etwas_output *errors = etwas_standard_error();

    for (uint32_t i = 0; i < 2 * where->node_count; i++) {
        const struct etwas_where_operand *operands = where->nodes[i / 2].operands;
        const struct etwas_where_operand *constant = &operands[i % 2];
        const struct etwas_where_number *number = &constant->number;

        if (constant->field_unit == NULL || etwas_is_quiet) {
            continue;
        }
        etwas_output_format(errors, "etwas %s: note: ", where->command);
        put_operand(errors, where, constant);
        etwas_output_text(errors, " is compared as ");
        if (number->kind == ETWAS_WHERE_FLOAT) {
            etwas_output_format(errors, "%.15g", number->f);
        } else if (number->kind == ETWAS_WHERE_SIGNED) {
            etwas_output_signed(errors, number->i);
        } else {
            etwas_output_unsigned(errors, number->u);
        }
        etwas_output_format(errors, " %s, the unit of ", constant->field_unit);
        put_operand(errors, where, &operands[1 - i % 2]);
        etwas_output_char(errors, '\n');
        etwas_output_flush(errors);
    }
}

/* Appends an expression to the text of all. */
static void keep_whole(struct etwas_where *where, const char *text)
{
    size_t bytes = strlen(where->whole);

    (void)snprintf(where->whole + bytes, sizeof where->whole - bytes, bytes > 0 ? " && (%s)" : "%s",
                   text);
}

bool etwas_where_read_option(const struct etwas_option_use *use)
{
    struct etwas_where *where = use->place;

    if (where->expression != NULL) {
        fprintf(stderr, "etwas %s: --where is given twice. Join the two by &&\n", use->command);
        return false;
    }
    where->command = use->command;
    where->expression = use->text;
    if (!etwas_where_parse(where, use->text, where->paths)) {
        etwas_where_complain(where, NULL, 0);
        etwas_where_clear(where);
        return false;
    }
    tell_units(where);
    keep_whole(where, use->text);
    return true;
}

enum {
    CHOICES = 64, /* most values of one option */
    CHOICE_BYTES = 256,
};

/*
 * Writes `pid == 12`, or `process == "sh"`. Returns false if the property is a number and the value
 * is not.
 */
static bool put_choice(struct etwas_output *text, const char *property, const char *value)
{
    uint64_t number;

    if (strcmp(property, etwas_property_name(ETWAS_PROPERTY_PROCESS)) != 0) {
        etwas_output_format(text, "%s == ", property);
        if (!etwas_value_count(value, &number) || number > UINT32_MAX) {
            return false;
        }
        etwas_output_unsigned(text, number);
        return true;
    }
    etwas_output_format(text, "%s == \"", property);
    for (; *value != '\0'; value++) {
        etwas_output_text(text, *value == '"' || *value == '\\' ? "\\" : "");
        etwas_output_char(text, *value);
    }
    etwas_output_char(text, '"');
    return true;
}

bool etwas_where_read_choice(const struct etwas_option_use *use)
{
    struct etwas_where *where = use->place;
    struct etwas_output text = {0};
    const char *list = use->text;
    char value[CHOICE_BYTES];
    uint32_t count = 0;
    bool is_read = true;

    while (is_read && etwas_value_item(&list, value, sizeof value)) {
        etwas_output_text(&text, count++ > 0 ? " || " : "");
        is_read = count <= CHOICES && put_choice(&text, use->option->name, value);
    }
    etwas_output_char(&text, '\0');
    is_read = is_read && list == NULL && etwas_where_parse(where, text.bytes, where->paths);
    if (is_read) {
        keep_whole(where, text.bytes);
    }
    etwas_output_free(&text);
    where->command = use->command;
    return is_read || etwas_option_refuse(use, strcmp(use->option->name, "process") == 0
                                                   ? "names with commas between, 64 at most"
                                                   : "numbers with commas between, 64 at most");
}

/* Returns a hint for a condition that holds for no event. */
static const char *cure(const struct etwas_where *where)
{
    if (etwas_where_asks(where, ETWAS_PROPERTY_PROCESS)) {
        return where->has_process
                   ? "'etwas dump --columns pid,process' shows the names of processes"
                   : "no process in the traces has a name: record with --kernel "
                     "process, and give its file, too";
    }
    return etwas_where_asks(where, ETWAS_PROPERTY_DURATION)
               ? "'etwas spans' tells what has a duration, and how long it is"
               : "'etwas schema' tells which events and fields there are";
}

int etwas_where_finish(const struct etwas_where *where, const struct etwas_field_paths *paths,
                       const char *command, bool has_all, int result)
{
    struct etwas_output *errors = etwas_standard_error();

    if (where->error != NULL) {
        return ETWAS_EXIT_FAILED;
    }
    if (!etwas_field_paths_report(paths, command,
                                  has_all ? "no event" : "no event that was read") &&
        where->was_asked && !where->has_held && !etwas_is_quiet) {
        etwas_output_format(errors, "etwas %s: note: no event is as %s: ", command,
                            where->expression != NULL ? "--where says" : "chosen");
        etwas_text_plain(errors, where->whole);
        etwas_output_format(errors, "; %s\n", cure(where));
        etwas_output_flush(errors);
    }
    return result;
}
