/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "steer/table.h"

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

static unsigned width_of(const char *text)
{
    unsigned width = 0;

    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xC0) != 0x80;
    }
    return width;
}

static void put_blanks(struct etwas_output *output, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        etwas_output_char(output, ' ');
    }
}

/* The last column ends with its text. */
static void print_row(const struct etwas_steer_table *table, struct etwas_output *output,
                      const char **cell, const unsigned widths[COLUMNS])
{
    for (unsigned column = 0; column < table->columns; column++) {
        unsigned blanks = widths[column] - width_of(*cell);
        bool is_right = (table->right >> column & 1) != 0;

        put_blanks(output, (column > 0 ? GAP : 0) + (is_right ? blanks : 0));
        etwas_output_text(output, *cell);
        put_blanks(output, is_right || column + 1 == table->columns ? 0 : blanks);
        *cell += strlen(*cell) + 1;
    }
    etwas_output_char(output, '\n');
}

bool etwas_steer_table_print(struct etwas_steer_table *table, struct etwas_output *output)
{
    unsigned widths[COLUMNS] = {0};
    const char *end = table->text + table->bytes;
    unsigned column = 0;

    for (const char *cell = table->text; cell < end && !table->is_failed;
         cell += strlen(cell) + 1) {
        unsigned width = width_of(cell);

        widths[column] = width > widths[column] ? width : widths[column];
        column = (column + 1) % table->columns;
    }
    for (const char *cell = table->text; cell < end && !table->is_failed;) {
        print_row(table, output, &cell, widths);
    }
    free(table->text);
    return !table->is_failed;
}
