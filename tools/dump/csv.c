/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Writes events as CSV. What an event does not have is an empty cell. */

#include "print/csv.h"
#include "dump/dump.h"

void etwas_dump_csv_title(struct etwas_dump *dump)
{
    for (uint32_t i = 0; i < dump->column_count; i++) {
        char given[ETWAS_DUMP_COLUMN_NAME_BYTES];

        etwas_csv_text(dump->output, i == 0,
                       etwas_dump_column_name(dump, &dump->columns[i], given));
    }
    etwas_csv_end(dump->output);
}

void etwas_dump_csv(struct etwas_dump *dump)
{
    for (uint32_t i = 0; i < dump->column_count; i++) {
        struct etwas_output *cell = etwas_output_scratch(dump->output);

        etwas_dump_print_column(cell, dump, &dump->columns[i], false);
        etwas_csv_cell(dump->output, i == 0, cell->bytes, cell->used_bytes);
    }
    etwas_csv_end(dump->output);
}
