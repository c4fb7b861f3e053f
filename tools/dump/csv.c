/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Events as CSV, RFC 4180: a record ends with CR LF, and a cell with a comma or a quote in it stands
 * in quotes. Line breaks never get into a cell: as text they are \x0a. What an event does not have
 * is an empty cell.
 */

#include "dump/dump.h"

static struct etwas_output cell;

static void put_cell(struct etwas_output *output, bool first)
{
    const char *text = cell.bytes;
    size_t bytes = cell.used_bytes;

    if (!first) {
        etwas_output_char(output, ',');
    }
    if (memchr(text, ',', bytes) == NULL && memchr(text, '"', bytes) == NULL) {
        etwas_output_bytes(output, text, bytes);
        return;
    }
    etwas_output_char(output, '"');
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"') {
            etwas_output_char(output, '"');
        }
        etwas_output_char(output, text[i]);
    }
    etwas_output_char(output, '"');
}

void etwas_dump_csv_title(struct etwas_dump *dump)
{
    for (uint32_t i = 0; i < dump->column_count; i++) {
        const char *name = etwas_dump_column_name(dump, &dump->columns[i]);

        cell.used_bytes = 0;
        etwas_text_utf8(&cell, ETWAS_TEXT_PLAIN, name, strlen(name));
        put_cell(dump->output, i == 0);
    }
    etwas_output_text(dump->output, "\r\n");
}

void etwas_dump_csv(struct etwas_dump *dump)
{
    for (uint32_t i = 0; i < dump->column_count; i++) {
        cell.used_bytes = 0;
        etwas_dump_put_column(&cell, dump, &dump->columns[i], false);
        put_cell(dump->output, i == 0);
    }
    etwas_output_text(dump->output, "\r\n");
}
