/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* `etwas report --html`: the data of --json, and the scripts that draw it. */

#include "cli/files.h"
#include "page/page.h"
#include "report/report.h"

#include <stdio.h>

void etwas_report_html(struct etwas_output *output, struct etwas_report *report)
{
    const char *path = report->spans.run.inputs[0].path;
    char title[ETWAS_REPORT_TITLE_BYTES];

    snprintf(title, sizeof title, "Report of %s%s", etwas_files_name(path),
             report->spans.run.count > 1 ? " and others" : "");
    etwas_page_begin(output, title, etwas_page_report);
    etwas_report_json(output, report);
    etwas_page_end(output);
}
