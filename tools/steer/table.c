/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/table.h"

#include "print/text.h"

#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 16, /* at most */
    GAP = 2,
};

void etwas_steer_table_begin(struct etwas_steer_table *table, const char *const *titles,
                             unsigned columns, uint32_t right)
{
    static struct etwas_output cell;

    *table = (struct etwas_steer_table){.columns = columns, .right = right, .cell = &cell};
    for (unsigned column = 0; column < columns; column++) {
        etwas_output_text(etwas_steer_table_cell(table), titles[column]);
        etwas_steer_table_next(table);
    }
}

struct etwas_output *etwas_steer_table_cell(struct etwas_steer_table *table)
{
    return table->cell;
}

void etwas_steer_table_next(struct etwas_steer_table *table)
{
    char *grown;

    etwas_output_char(table->cell, '\0');
    grown = realloc(table->text, table->bytes + table->cell->used_bytes);
    if (grown != NULL) {
        memcpy(grown + table->bytes, table->cell->bytes, table->cell->used_bytes);
        table->bytes += table->cell->used_bytes;
        table->text = grown;
    }
    table->is_failed = table->is_failed || grown == NULL;
    etwas_output_anew(table->cell);
}

/* The last column ends with its text. */
static void print_row(const struct etwas_steer_table *table, struct etwas_output *output,
                      const char **cell, const size_t widths[COLUMNS])
{
    for (unsigned column = 0; column < table->columns; column++) {
        bool is_right = (table->right >> column & 1) != 0;

        etwas_output_blanks(output, column > 0 ? GAP : 0);
        if (is_right) {
            etwas_text_right(output, *cell, widths[column]);
        } else {
            etwas_text_left(output, *cell, column + 1 == table->columns ? 0 : widths[column]);
        }
        *cell += strlen(*cell) + 1;
    }
    etwas_output_char(output, '\n');
}

bool etwas_steer_table_print(struct etwas_steer_table *table, struct etwas_output *output)
{
    size_t widths[COLUMNS] = {0};
    const char *end = table->text + table->bytes;
    unsigned column = 0;

    for (const char *cell = table->text; cell < end && !table->is_failed;
         cell += strlen(cell) + 1) {
        size_t width = etwas_text_width(cell, strlen(cell));

        widths[column] = width > widths[column] ? width : widths[column];
        column = (column + 1) % table->columns;
    }
    for (const char *cell = table->text; cell < end && !table->is_failed;) {
        print_row(table, output, &cell, widths);
    }
    free(table->text);
    return !table->is_failed;
}
