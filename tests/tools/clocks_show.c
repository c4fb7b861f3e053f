/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Shows a made-up clock report with the code of `etwas clocks`.
 *
 * usage: clocks_show text|json|html REPORT [SOURCE...]     SOURCE: numbers; none: all
 * Exits with 77 where it was built without what draws pages.
 */

#include "clocks_reports.h"
#include "page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct etwas_output *output = etwas_standard_output();
    static etwas_clock_report report;
    static struct etwas_clocks_machine machine;
    struct etwas_clocks_view view = {&report, &machine, (1u << ETWAS_CLOCK_SOURCES) - 1};

    if (argc < 3 || !etwas_clocks_make_up(argv[2], &report, &machine)) {
        fputs("usage: clocks_show text|json|html REPORT [SOURCE...]\n", stderr);
        return 2;
    }
    if (strcmp(argv[1], "html") == 0 && !etwas_page_possible("clocks_show")) {
        return 77;
    }
    if (argc > 3) {
        view.chosen = 0;
    }
    for (int i = 3; i < argc; i++) {
        view.chosen |= 1u << strtoul(argv[i], NULL, 10);
    }
    if (strcmp(argv[1], "json") == 0) {
        etwas_clocks_json(output, &view);
    } else if (strcmp(argv[1], "html") == 0) {
        etwas_clocks_html(output, &view);
    } else {
        etwas_clocks_text(output, &view);
    }
    return etwas_output_finish(output) ? 0 : 1;
}
