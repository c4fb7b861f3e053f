/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is wrong with an expression, shown below it, and the help.
 */

#include "where/option.h"

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
    "instance or activity), duration_error_ns (how far it may be off, where that is\n"
    "known), processor or cpu, process, thread, level, keyword, provider, event (as\n"
    "its column shows it: Shop/Order/Start, or by == its last one or two parts),\n"
    "event_class (Shop/Order, or Order: all opcodes of it), name (the last part,\n"
    "without an opcode), text (of a message), class (GUID), type or opcode, id,\n"
    "version, task, channel, activity, related_activity, instance, parent. Of several\n"
    "values, as in arrays, any will do. What an event does not have compares false,\n"
    "by != too. A name alone: is it neither 0 nor empty? Enumerations and codes of\n"
    "errors compare by name and by number, GUIDs and times in any form. To compare a\n"
    "number with a string is an error.\n";

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

/* A part of the expression, as it was given. */
static void put_operand(struct etwas_output *errors, const struct etwas_where *where,
                        const struct etwas_where_operand *operand)
{
    etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, where->expression + operand->at, operand->length);
}

/* "etwas COMMAND: note: 5ms is compared as 5000 us, the unit of took_us" */
static void tell_units(const struct etwas_where *where)
{
    struct etwas_output *errors = etwas_standard_error();

    for (uint32_t i = 0; i < 2 * where->node_count; i++) {
        const struct etwas_where_operand *operands = where->nodes[i / 2].operands;
        const struct etwas_where_operand *constant = &operands[i % 2];
        const struct etwas_where_number *number = &constant->number;

        if (constant->field_unit == NULL) {
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

bool etwas_where_read_option(const struct etwas_option_use *use)
{
    struct etwas_where *where = use->place;

    if (etwas_where_is_given(where)) {
        fprintf(stderr, "etwas %s: --where is given twice. Join the two by &&\n", use->command);
        return false;
    }
    if (!etwas_where_parse(where, use->text, where->paths)) {
        where->command = use->command;
        etwas_where_complain(where, NULL, 0);
        etwas_where_clear(where);
        return false;
    }
    where->command = use->command;
    tell_units(where);
    return true;
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
        where->was_asked && !where->has_held) {
        etwas_output_format(errors, "etwas %s: note: no event is as --where says: ", command);
        etwas_text_plain(errors, where->expression);
        etwas_output_text(errors, "; 'etwas schema' tells which events and fields there are\n");
        etwas_output_flush(errors);
    }
    return result;
}
