/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_PRINT_TABLE_H
#define ETWAS_TOOLS_PRINT_TABLE_H

/*
 * A table whose columns are as wide as what is in them. Its first column is a name, and numbers are
 * right-justified. Widths are in characters of UTF-8, each one column wide.
 *
 * On a terminal no line wraps. Names are shortened in the middle first; columns for which there is
 * no room then follow in a table of their own, behind the name. A file has everything in one.
 */

#include "print/output.h"

struct etwas_table {
    unsigned columns;
    uint32_t right; /* bits of the columns that are right-justified; the others may be shortened */
    struct etwas_output text; /* the cells, row by row: what each is, its text, a 0 */
    size_t cell;              /* where the one begins that is being written */
};

/* Begins a table with its titles, one for each of 2 to 16 columns. */
void etwas_table_begin(struct etwas_table *table, const char *const *titles, unsigned columns,
                       uint32_t right);

/* Returns where the cell is written. */
struct etwas_output *etwas_table_cell(struct etwas_table *table);

/* Ends the cell. */
void etwas_table_next(struct etwas_table *table);

/* Ends a line that is no row: the cell, which is the first of a row. */
void etwas_table_next_line(struct etwas_table *table);

/* Write a cell and end it. */
void etwas_table_text(struct etwas_table *table, const char *text);
void etwas_table_count(struct etwas_table *table, uint64_t count);
void etwas_table_ns(struct etwas_table *table, double ns);
void etwas_table_format(struct etwas_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A count that is wrong unless it is 0. */
void etwas_table_losses(struct etwas_table *table, uint64_t count);

/* Prints it, and gives its memory back. */
void etwas_table_print(struct etwas_table *table, struct etwas_output *output);

#endif
