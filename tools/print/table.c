/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The one table printer.
 */

#include "print/table.h"

#include "print/human.h"
#include "print/terminal.h"
#include "print/text.h"

#include <string.h>

enum {
    COLUMNS = 16, /* limit */
    GAP = 2,
    LEAST = 20, /* texts are not shortened below this */
};

/* The first byte of a cell: its kind. */
enum {
    CELL = 'c',
    TITLE = 't',
    WRONG = 'w',
    LINE = 'l',
};

/* ---- cells ----------------------------------------------------------------------------------- */

static void begin_cell(struct etwas_table *table)
{
    table->cell = table->text.used_bytes;
    etwas_output_char(&table->text, CELL);
}

static void end_cell(struct etwas_table *table, char what)
{
    table->text.bytes[table->cell] = what;
    etwas_output_char(&table->text, '\0');
    begin_cell(table);
}

void etwas_table_begin(struct etwas_table *table, const char *const *titles, unsigned columns,
                       uint32_t right)
{
    *table = (struct etwas_table){.columns = columns, .right = right};
    begin_cell(table);
    for (unsigned column = 0; column < columns; column++) {
        etwas_output_text(&table->text, titles[column]);
        end_cell(table, TITLE);
    }
}

struct etwas_output *etwas_table_cell(struct etwas_table *table)
{
    return &table->text;
}

void etwas_table_next(struct etwas_table *table)
{
    end_cell(table, CELL);
}

void etwas_table_next_line(struct etwas_table *table)
{
    end_cell(table, LINE);
}

void etwas_table_text(struct etwas_table *table, const char *text)
{
    etwas_text_plain(&table->text, text);
    etwas_table_next(table);
}

void etwas_table_count(struct etwas_table *table, uint64_t count)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_table_text(table, etwas_human_count(text, count));
}

void etwas_table_losses(struct etwas_table *table, uint64_t count)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_output_text(&table->text, etwas_human_count(text, count));
    end_cell(table, count > 0 ? WRONG : CELL);
}

void etwas_table_ns(struct etwas_table *table, double ns)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    etwas_table_text(table, etwas_human_ns(text, ns));
}

void etwas_table_format(struct etwas_table *table, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    etwas_output_format_list(&table->text, format, arguments);
    va_end(arguments);
    etwas_table_next(table);
}

/* ---- widths ---------------------------------------------------------------------------------- */

/* The columns that are printed side by side, after the first one. */
struct part {
    unsigned first;
    unsigned end;
    size_t widths[COLUMNS];
};

static bool is_right(const struct etwas_table *table, unsigned column)
{
    return (table->right >> column & 1) != 0;
}

static bool is_in(const struct part *part, unsigned column)
{
    return column == 0 || (column >= part->first && column < part->end);
}

static const char *behind(const char *cell)
{
    return cell + strlen(cell) + 1;
}

static void measure(const struct etwas_table *table, size_t widths[COLUMNS])
{
    const char *end = table->text.bytes + table->cell;
    unsigned column = 0;

    for (const char *cell = table->text.bytes; cell < end; cell = behind(cell)) {
        size_t width = etwas_text_width(cell + 1, strlen(cell + 1));

        if (*cell != LINE) {
            widths[column] = width > widths[column] ? width : widths[column];
            column = (column + 1) % table->columns;
        }
    }
}

static size_t least_width(const struct etwas_table *table, const size_t *widths, unsigned column)
{
    return is_right(table, column) || widths[column] < LEAST ? widths[column] : LEAST;
}

/* Takes as many columns from `first` on as fit, but at least one. */
static void choose(const struct etwas_table *table, const size_t *widths, unsigned first,
                   size_t room, struct part *part)
{
    size_t used = least_width(table, widths, 0);

    part->first = part->end = first;
    do {
        used += GAP + least_width(table, widths, part->end++);
    } while (part->end < table->columns &&
             used + GAP + least_width(table, widths, part->end) <= room);
}

/* Shortens the longest texts until the part fits. */
static void shorten(const struct etwas_table *table, size_t room, struct part *part)
{
    size_t used = part->widths[0];

    for (unsigned column = part->first; column < part->end; column++) {
        used += GAP + part->widths[column];
    }
    while (used > room) {
        unsigned longest = COLUMNS;

        for (unsigned column = 0; column < part->end; column++) {
            if (is_in(part, column) && !is_right(table, column) && part->widths[column] > LEAST &&
                (longest == COLUMNS || part->widths[column] > part->widths[longest])) {
                longest = column;
            }
        }
        if (longest == COLUMNS) {
            return;
        }
        part->widths[longest]--;
        used--;
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

/* `blanks` are the spaces due before the next text, so that no line ends with spaces. */
static void print_cell(const struct etwas_table *table, struct etwas_output *output,
                       const struct part *part, unsigned column, const char *cell, size_t *blanks)
{
    size_t width = part->widths[column];
    size_t used = etwas_text_width(cell + 1, strlen(cell + 1));
    size_t rest = used < width ? width - used : 0;

    *blanks += (column > 0 ? GAP : 0) + (is_right(table, column) ? rest : 0);
    if (used > 0) {
        etwas_output_blanks(output, *blanks);
        *blanks = 0;
        if (*cell != CELL) {
            etwas_color_begin(output, *cell == TITLE ? ETWAS_COLOR_HEADING : ETWAS_COLOR_WRONG);
        }
        etwas_text_middle(output, cell + 1, width);
        if (*cell != CELL) {
            etwas_color_end(output);
        }
    }
    *blanks += is_right(table, column) ? 0 : rest;
}

/* Returns the first cell after the row or line. */
static const char *print_row(const struct etwas_table *table, struct etwas_output *output,
                             const struct part *part, size_t room, const char *cell)
{
    size_t blanks = 0;

    if (*cell == LINE) {
        if (part->first == 1) {
            etwas_text_middle(output, cell + 1, room);
            etwas_output_char(output, '\n');
        }
        return behind(cell);
    }
    for (unsigned column = 0; column < table->columns; column++) {
        if (is_in(part, column)) {
            print_cell(table, output, part, column, cell, &blanks);
        }
        cell = behind(cell);
    }
    etwas_output_char(output, '\n');
    return cell;
}

static void print_part(const struct etwas_table *table, struct etwas_output *output,
                       const struct part *part, size_t room)
{
    const char *end = table->text.bytes + table->cell;
    const char *cell = table->text.bytes;

    while (cell < end) {
        cell = print_row(table, output, part, room, cell);
    }
}

void etwas_table_print(struct etwas_table *table, struct etwas_output *output)
{
    size_t room = etwas_terminal_columns(output);
    size_t widths[COLUMNS] = {0};
    struct part part = {.end = 1};

    measure(table, widths);
    while (part.end < table->columns) {
        if (part.end > 1) {
            etwas_output_char(output, '\n');
        }
        choose(table, widths, part.end, room, &part);
        memcpy(part.widths, widths, sizeof widths);
        shorten(table, room, &part);
        print_part(table, output, &part, room);
    }
    etwas_output_free(&table->text);
}
