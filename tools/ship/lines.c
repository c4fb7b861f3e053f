/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads settings files line by line. */

#include "ship/lines.h"

#include <string.h>

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\r';
}

static void trim(const char **text, size_t *bytes)
{
    while (*bytes > 0 && is_blank(**text)) {
        (*text)++;
        (*bytes)--;
    }
    while (*bytes > 0 && is_blank((*text)[*bytes - 1])) {
        (*bytes)--;
    }
}

static void split(const char *text, size_t bytes, struct etwas_ship_line *line)
{
    const char *equals = memchr(text, '=', bytes);

    line->has_value = equals != NULL;
    line->name = text;
    line->name_bytes = equals != NULL ? (size_t)(equals - text) : bytes;
    line->value = equals != NULL ? equals + 1 : text + bytes;
    line->value_bytes = (size_t)(text + bytes - line->value);
    trim(&line->name, &line->name_bytes);
    trim(&line->value, &line->value_bytes);
}

bool etwas_ship_lines_next(struct etwas_ship_lines *lines, struct etwas_ship_line *line)
{
    while (lines->at < lines->end) {
        const char *text = lines->at;
        const char *newline = memchr(text, '\n', (size_t)(lines->end - text));
        size_t bytes = (size_t)((newline != NULL ? newline : lines->end) - text);

        lines->at = newline != NULL ? newline + 1 : lines->end;
        lines->number++;
        trim(&text, &bytes);
        if (bytes > 0 && *text != '#') {
            split(text, bytes, line);
            return true;
        }
    }
    return false;
}

bool etwas_ship_line_is(const struct etwas_ship_line *line, const char *name)
{
    return line->name_bytes == strlen(name) && memcmp(line->name, name, line->name_bytes) == 0;
}
