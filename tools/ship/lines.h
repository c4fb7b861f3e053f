/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_LINES_H
#define ETWAS_TOOLS_SHIP_LINES_H

/*
 * The lines of a settings file: NAME = VALUE, or NAME alone. Blanks around both are ignored. A
 * blank line, and a line that begins with #, has no effect.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is left of it. Begin with {text, its end, 0}. */
struct etwas_ship_lines {
    const char *at;
    const char *end;
    uint32_t number; /* of the line that was last given, from 1 */
};

/* Points into the text. */
struct etwas_ship_line {
    const char *name;
    size_t name_bytes;
    const char *value;
    size_t value_bytes;
    bool has_value; /* there is a =, if with nothing behind it */
};

/* False: there is none any more. */
bool etwas_ship_lines_next(struct etwas_ship_lines *lines, struct etwas_ship_line *line);

/* Has it this name? */
bool etwas_ship_line_is(const struct etwas_ship_line *line, const char *name);

#endif
