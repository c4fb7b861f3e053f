/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is missing, by cause and processor, over time: what a ring of the kernel's had no room for, and what is damaged
 * in the files.
 */

#include "report/report.h"

#include "event.h"
#include "json.h"

/* NULL where there are too many. */
static struct etwas_report_loss *row_of(struct etwas_report *report,
                                        const struct etwas_input *input, etwas_damage_kind damage,
                                        uint32_t processor)
{
    struct etwas_report_losses *losses = &report->losses;
    uint32_t file = etwas_report_file_of(report, input)->index;

    for (uint32_t i = 0; i < losses->count; i++) {
        struct etwas_report_loss *row = &losses->rows[i];

        if (row->file == file && row->damage == damage && row->processor == processor) {
            return row;
        }
    }
    if (losses->count == ETWAS_REPORT_LOSSES) {
        return NULL;
    }
    losses->rows[losses->count] =
        (struct etwas_report_loss){.file = file, .damage = damage, .processor = processor};
    return &losses->rows[losses->count++];
}

static void add(struct etwas_report *report, struct etwas_report_loss *row, uint64_t count)
{
    if (row != NULL) {
        row->count += count;
        row->series.at[report->axis.now] += report->is_inside ? count : 0;
    } else {
        report->losses.others += count;
    }
}

void etwas_report_losses_take(struct etwas_report *report)
{
    uint64_t events;

    if (etwas_event_ring_loss(report->record, &events)) {
        add(report,
            row_of(report, report->input, ETWAS_DAMAGE_NONE,
                   report->record->BufferContext.ProcessorIndex),
            events);
    }
}

void etwas_report_losses_damage(struct etwas_report *report, const struct etwas_input *input,
                                const etwas_damage *damage)
{
    struct etwas_report_loss *row = row_of(report, input, damage->kind, 0);

    add(report, row, 1);
    if (row != NULL) {
        row->bytes += damage->bytes_skipped;
    }
}

static void put_row(struct etwas_output *output, const struct etwas_report *report,
                    const struct etwas_report_loss *row)
{
    etwas_output_text(output, "{\"file\":");
    etwas_output_unsigned(output, row->file);
    if (row->damage == ETWAS_DAMAGE_NONE) {
        etwas_json_text(output, "cause", "no room in a ring of the kernel's");
        etwas_json_number(output, "processor", row->processor);
    } else {
        etwas_json_text(output, "cause", etwas_damage_name(row->damage));
        etwas_json_number(output, "bytes_skipped", row->bytes);
    }
    etwas_json_number(output, "count", row->count);
    etwas_report_put_series(output, "over_time", &report->axis, &row->series);
    etwas_output_char(output, '}');
}

void etwas_report_losses_json(struct etwas_output *output, const struct etwas_report *report)
{
    const struct etwas_report_losses *losses = &report->losses;

    etwas_json_key(output, "losses");
    etwas_output_char(output, '[');
    for (uint32_t i = 0; i < losses->count; i++) {
        etwas_output_text(output, i > 0 ? "," : "");
        put_row(output, report, &losses->rows[i]);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "other_losses", losses->others);
}
