/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_TABLE_H
#define ETWAS_TOOLS_STEER_TABLE_H

/*
 * A table whose columns are as wide as what is in them. Widths are in characters of UTF-8, each one
 * column wide.
 */

#include "print/output.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct etwas_steer_table {
    unsigned columns;
    uint32_t right; /* bits of the columns that are right-justified */
    char *text;     /* the cells, row by row, each with its 0 */
    size_t bytes;
    bool is_failed;            /* there was no memory: what is missing is not printed */
    struct etwas_output *cell; /* the one that is being written */
};

/* Begins a table with its titles, one for each column. */
void etwas_steer_table_begin(struct etwas_steer_table *table, const char *const *titles,
                             unsigned columns, uint32_t right);

/* Where the next cell is written. */
struct etwas_output *etwas_steer_table_cell(struct etwas_steer_table *table);

/* Ends the cell. */
void etwas_steer_table_next(struct etwas_steer_table *table);

/* Prints it, and gives its memory back. False: there was not enough memory. */
bool etwas_steer_table_print(struct etwas_steer_table *table, struct etwas_output *output);

#endif
