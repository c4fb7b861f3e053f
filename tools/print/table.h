/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_TABLE_H
#define ETWAS_TOOLS_PRINT_TABLE_H

/*
 * A table whose columns are as wide as their contents. Its first column is a name, and numbers are
 * right-justified. Widths are in UTF-8 characters, each one column wide.
 *
 * On a terminal no line wraps. Names are shortened in the middle first. Columns that do not fit
 * follow in a table of their own, after the name. A file has everything in one table.
 */

#include "print/output.h"

struct etwas_table {
    unsigned columns;
    uint32_t right; /* bit mask of columns that are right-justified; others may be shortened */
    struct etwas_output text; /* the cells, row by row: the kind of each, its text, a 0 */
    size_t cell;              /* where the current cell begins */
};

/* Begins a table with its titles, one for each of 2 to 16 columns. */
void etwas_table_begin(struct etwas_table *table, const char *const *titles, unsigned columns,
                       uint32_t right);

/* Returns the output to write the cell to. */
struct etwas_output *etwas_table_cell(struct etwas_table *table);

/* Ends the cell. */
void etwas_table_next(struct etwas_table *table);

/* Ends a line that is not a row; its only cell is the first one. */
void etwas_table_next_line(struct etwas_table *table);

/* Write a cell and end it. */
void etwas_table_text(struct etwas_table *table, const char *text);
void etwas_table_count(struct etwas_table *table, uint64_t count);
void etwas_table_ns(struct etwas_table *table, double ns);
void etwas_table_format(struct etwas_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes a count that is marked as wrong unless it is 0. */
void etwas_table_losses(struct etwas_table *table, uint64_t count);

/* Prints the table, and frees its memory. */
void etwas_table_print(struct etwas_table *table, struct etwas_output *output);

#endif
