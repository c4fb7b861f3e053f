/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What is missing over time, by cause and processor: what the session lost, what did not fit into a
 * ring of the kernel, and damage in the files.
 */

#include "report/report.h"

#include "event/event.h"
#include "print/json.h"
#include "trace/losses.h"

/* Returns a row, which is added if it is new; NULL if there are too many. */
static struct etwas_report_loss *row_of(struct etwas_report *report,
                                        const struct etwas_input *input, etwas_damage_kind damage,
                                        uint32_t cause, uint32_t processor)
{
    struct etwas_report_losses *losses = &report->losses;
    uint32_t file = etwas_report_file_of(report, input)->index;

    for (uint32_t i = 0; i < losses->count; i++) {
        struct etwas_report_loss *row = &losses->rows[i];

        if (row->file == file && row->damage == damage && row->cause == cause &&
            row->processor == processor) {
            return row;
        }
    }
    if (losses->count == ETWAS_REPORT_LOSSES) {
        return NULL;
    }
    losses->rows[losses->count] = (struct etwas_report_loss){
        .file = file, .damage = damage, .cause = cause, .processor = processor};
    return &losses->rows[losses->count++];
}

static void count_loss(struct etwas_report *report, struct etwas_report_loss *row, uint64_t more)
{
    if (row != NULL) {
        row->count += more;
    } else {
        report->losses.others += more;
    }
}

static void count_now(struct etwas_report *report, struct etwas_report_loss *row, uint64_t more)
{
    count_loss(report, row, more);
    if (row != NULL) {
        row->series.at[report->axis.now] += report->is_inside ? more : 0;
    }
}

void etwas_report_losses_add_record(struct etwas_report *report)
{
    struct etwas_event_loss loss;

    if (etwas_event_ring_loss(report->record, &loss)) {
        count_now(report,
                  row_of(report, report->input, ETWAS_DAMAGE_NONE, 0,
                         report->record->BufferContext.ProcessorIndex),
                  loss.events);
    }
}

void etwas_report_losses_damage(struct etwas_report *report, const struct etwas_input *input,
                                const etwas_damage *damage)
{
    struct etwas_report_loss *row = row_of(report, input, damage->kind, 0, ETWAS_LOST_ANYWHERE);

    count_now(report, row, 1);
    if (row != NULL) {
        row->bytes += damage->bytes_skipped;
    }
}

/* Returns whether a loss is drawn. One outside the window is only counted. */
static bool is_drawn(const struct etwas_report *report, const struct etwas_trace_loss *loss)
{
    return report->axis.columns > 0 &&
           (!etwas_window_is_set(&report->spans.window) ||
            (loss->from_ns <= report->axis.end_ns && loss->until_ns >= report->axis.begin_ns));
}

bool etwas_report_losses_read(struct etwas_report *report, const struct etwas_input *input)
{
    struct etwas_trace_losses losses;
    bool is_read = etwas_trace_losses_read(&losses, input->trace);

    for (uint32_t i = 0; i < losses.count; i++) {
        const struct etwas_trace_loss *loss = &losses.list[i];
        struct etwas_report_loss *row =
            row_of(report, input, ETWAS_DAMAGE_NONE, loss->cause, loss->processor);

        count_loss(report, row, loss->events);
        if (row != NULL && is_drawn(report, loss)) {
            etwas_report_axis_share(&report->axis, &row->series, loss->from_ns, loss->until_ns,
                                    loss->events);
        }
    }
    etwas_trace_losses_free(&losses);
    return is_read;
}

static const char *cause_of(const struct etwas_report_loss *row)
{
    if (row->cause != 0) {
        return etwas_lost_name(row->cause);
    }
    return row->damage == ETWAS_DAMAGE_NONE ? "no room in a ring of the kernel's"
                                            : etwas_damage_name(row->damage);
}

static const char *by_whom(const struct etwas_report_loss *row)
{
    if (row->cause != 0) {
        return "session";
    }
    return row->damage == ETWAS_DAMAGE_NONE ? "kernel" : "file";
}

static void put_row(struct etwas_output *output, const struct etwas_report *report,
                    const struct etwas_report_loss *row)
{
    etwas_json_object(output, NULL);
    etwas_json_number(output, "file_number", row->file);
    etwas_json_text(output, "source", by_whom(row));
    etwas_json_word(output, "cause", cause_of(row));
    if (row->processor != ETWAS_LOST_ANYWHERE) {
        etwas_json_number(output, "cpu", row->processor);
    }
    if (row->damage != ETWAS_DAMAGE_NONE) {
        etwas_json_number(output, "bytes_skipped", row->bytes);
    }
    etwas_json_number(output, "count", row->count);
    etwas_report_print_series(output, "over_time", &report->axis, &row->series);
    etwas_output_char(output, '}');
}

void etwas_report_losses_json(struct etwas_output *output, const struct etwas_report *report)
{
    const struct etwas_report_losses *losses = &report->losses;

    etwas_json_array(output, "losses");
    for (uint32_t i = 0; i < losses->count; i++) {
        put_row(output, report, &losses->rows[i]);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "other_losses", losses->others);
}
