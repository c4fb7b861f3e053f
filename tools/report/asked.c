/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Selects the events of --from, --until and --where. */

#include "report/report.h"

#include "print/json.h"
#include "trace/condition.h"

bool etwas_report_is_narrowed(const struct etwas_report *report)
{
    return etwas_where_is_given(&report->spans.where) || etwas_window_is_set(&report->spans.window);
}

bool etwas_report_asked_begin(struct etwas_report *report)
{
    /* If the window has a beginning, damage before the first event is outside it. */
    report->is_inside = report->spans.window.from.anchor == ETWAS_WINDOW_OPEN;
    etwas_spans_close(report->durations);
    report->durations = NULL;
    return !etwas_where_is_given(&report->spans.where) || !report->spans.where.wants_duration ||
           etwas_spans_open(0, &report->durations) == ERROR_SUCCESS;
}

bool etwas_report_is_asked_for(struct etwas_report *report)
{
    struct etwas_descriptions *descriptions =
        etwas_descriptions_of(&report->spans.descriptions, report->input);

    if (!etwas_where_is_given(&report->spans.where) ||
        (!report->is_inside && !report->spans.where.wants_duration)) {
        return report->is_inside;
    }
    etwas_current_event_read(&report->filtered, report->input, report->record, descriptions,
                             etwas_descriptions_find(descriptions, report->record, NULL),
                             report->durations);
    etwas_current_event_find_provider(&report->filtered);
    return report->is_inside && etwas_condition_holds(&report->spans.where, &report->filtered);
}

static void put_end(struct etwas_output *output, const char *key,
                    const struct etwas_window_end *end)
{
    if (end->anchor == ETWAS_WINDOW_OPEN) {
        etwas_json_null(output, key);
    } else {
        etwas_json_time_ns(output, key, end->ns);
    }
}

void etwas_report_asked_json(struct etwas_output *output, const struct etwas_report *report)
{
    uint64_t events = 0;

    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        events += etwas_counts_total(
                      etwas_report_file_of(report, &report->spans.run.inputs[i])->asked_for)
                      .events;
    }
    etwas_json_object(output, "selection");
    etwas_json_number(output, "events", events);
    put_end(output, "start_time", &report->spans.window.from);
    put_end(output, "end_time", &report->spans.window.until);
    etwas_json_text(output, "condition",
                    report->spans.where.whole[0] != '\0' ? report->spans.where.whole : NULL);
    etwas_output_char(output, '}');
}
