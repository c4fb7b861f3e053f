/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is wrong with an expression, shown below it, and the help.
 */

#include "where/option.h"

#include "output.h"
#include "text.h"

#include <string.h>

const char etwas_where_help[] =
    "Expressions of --where:\n"
    "  size > 4096 && name == \"malloc\"      ==  !=  <  <=  >  >=  &&  ||  !  ( )\n"
    "  path contains \"tmp\" || path =~ \"^/\"  a part; an extended regular expression\n"
    "  keyword & 0x20                       some of these bits\n"
    "  duration > 1.5ms                     numbers: 12 -3 0x1f 1.5 1e6 true; with k\n"
    "                                       M G Ki Mi Gi, or ns us ms s: nanoseconds\n"
    "  time >= \"2026-11-21T08:19:17.5\"      UTC; time < 2s: since the session's start\n"
    "  point.x == 3                         a member of a struct\n"
    "A name is one of these, or else of a field (fields.NAME always is, `NAME` may\n"
    "hold anything): time, duration (ns; of an END event, from the START of the same\n"
    "instance or activity), duration_error_ns (how far it may be off, where that is\n"
    "known), processor or cpu, process, thread, level, keyword, provider, event\n"
    "(GC/Start; of a self-describing one with or without the opcode that is shown\n"
    "behind it), name (its last part, without that), text (of a message), class\n"
    "(GUID), type or opcode, id, version, task, channel, activity, related_activity,\n"
    "instance, parent. Of several values, as in arrays, any will do. What an event\n"
    "does not have compares false, by != too. A name alone: is it neither 0 nor\n"
    "empty? Enumerations and codes of errors compare by name and by number, GUIDs and\n"
    "times in any form.\n";

bool etwas_where_option(struct etwas_where *where, const char *command, const char *text,
                        struct etwas_field_paths *paths)
{
    struct etwas_output *errors = etwas_standard_error();
    size_t indent;
    size_t start;

    if (where->node_count > 0) {
        etwas_output_format(errors, "etwas %s: --where is given twice: && joins two\n", command);
        etwas_output_flush(errors);
        return false;
    }
    if (etwas_where_parse(where, text, paths)) {
        return true;
    }
    etwas_output_format(errors, "etwas %s: --where: %s\n", command, where->error);
    etwas_output_text(errors, "  ");
    start = errors->used_bytes;
    etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, text, where->error_at);
    /* A character has one byte that does not go on with another. */
    indent = 0;
    for (size_t i = start; i < errors->used_bytes; i++) {
        indent += (errors->bytes[i] & 0xC0) != 0x80;
    }
    etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, text + where->error_at,
                    strlen(text) - where->error_at);
    etwas_output_text(errors, "\n  ");
    for (size_t i = 0; i < indent; i++) {
        etwas_output_char(errors, ' ');
    }
    etwas_output_char(errors, '^');
    for (size_t i = 1; i < where->error_length && i < 80; i++) {
        etwas_output_char(errors, '~');
    }
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
    etwas_where_clear(where);
    return false;
}
