/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "print/csv.h"

#include "print/text.h"

void etwas_csv_cell(struct etwas_output *output, bool first, const char *text, size_t bytes)
{
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

void etwas_csv_text(struct etwas_output *output, bool first, const char *text)
{
    struct etwas_output *cell = etwas_output_scratch(output);

    etwas_text_plain(cell, text);
    etwas_csv_cell(output, first, cell->bytes, cell->used_bytes);
}

void etwas_csv_end(struct etwas_output *output)
{
    etwas_output_text(output, "\r\n");
}
