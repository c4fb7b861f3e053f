/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* `etwas clocks --html`: the data of --json, and the scripts that draw it. */

#include "clocks/clocks.h"
#include "page/page.h"

#include <stdio.h>

void etwas_clocks_html(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    const char *host = view->machine->host;
    char title[96];

    snprintf(title, sizeof title, "Clocks%s%s", host[0] != '\0' ? " of " : "", host);
    etwas_page_begin(output, title, etwas_page_clocks);
    etwas_clocks_json(output, view);
    etwas_page_end(output);
}
