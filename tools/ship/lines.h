/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_LINES_H
#define ETWAS_TOOLS_SHIP_LINES_H

/*
 * The lines of a settings file: NAME = VALUE, or NAME alone. Blanks around both are ignored. Blank
 * lines, and lines that begin with #, have no effect.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rest of a text. Initialize with {text, its end, 0}. */
struct etwas_ship_lines {
    const char *at;
    const char *end;
    uint32_t number; /* number of the line returned last, from 1 */
};

/* A line. The pointers point into the text. */
struct etwas_ship_line {
    const char *name;
    size_t name_bytes;
    const char *value;
    size_t value_bytes;
    bool has_value; /* there is a =, even with nothing behind it */
};

/* Reads the next line. Returns false if there is none. */
bool etwas_ship_lines_next(struct etwas_ship_lines *lines, struct etwas_ship_line *line);

/* Returns whether the line has this name. */
bool etwas_ship_line_is(const struct etwas_ship_line *line, const char *name);

#endif
