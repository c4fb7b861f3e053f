/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Writes what the files contain and what they lack: each file as in `stat`, each session as in
 * `prove`.
 */

#include "report/report.h"

#include "print/json.h"

/* Writes the kernel event sources that lost something. */
static void put_sources(struct etwas_output *output, const struct etwas_prove_session *session)
{
    uint32_t shown = 0;

    etwas_json_array(output, "sources");
    for (size_t i = 0; i < session->account_count && shown < ETWAS_REPORT_SOURCES; i++) {
        const struct etwas_prove_account *account = &session->accounts[i];

        if (account->lost_no_room > 0 || account->lost_unread > 0 || account->lost_not_handed > 0) {
            shown++;
            etwas_prove_json_account(output, account);
        }
    }
    etwas_output_char(output, ']');
}

static void put_sessions(struct etwas_output *output, const struct etwas_report *report)
{
    etwas_json_array(output, "sessions");
    for (const struct etwas_prove_session *session = report->sessions; session != NULL;
         session = session->next) {
        etwas_prove_json_head(output, session);
        put_sources(output, session);
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
}

static void put_axis(struct etwas_output *output, const struct etwas_report *report)
{
    const struct etwas_report_axis *axis = &report->axis;

    etwas_json_object(output, "axis");
    etwas_json_number(output, "columns", axis->columns);
    etwas_json_number(output, "column_duration", axis->column_ns);
    etwas_json_number(output, "duration", etwas_report_axis_at(axis, axis->end_ns));
    if (axis->columns > 0) {
        etwas_json_time_ns(output, "start_time", axis->begin_ns);
    } else {
        etwas_json_null(output, "start_time");
    }
    etwas_output_char(output, '}');
    etwas_json_number(output, "covered_duration", report->spans.covered_ns);
}

void etwas_report_health_json(struct etwas_output *output, const struct etwas_report *report)
{
    etwas_json_array(output, "files");
    for (uint32_t i = 0; i < report->spans.run.count; i++) {
        const struct etwas_input *input = &report->spans.run.inputs[i];

        etwas_counts_json_head(output, &etwas_report_file_of(report, input)->counts, input,
                               etwas_report_result(input));
        etwas_output_char(output, '}');
    }
    etwas_output_char(output, ']');
    put_sessions(output, report);
    put_axis(output, report);
}
