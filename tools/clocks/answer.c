/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prints the first three lines of `etwas clocks`. */

#include "clocks/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void put_use(struct etwas_output *output, const struct etwas_clocks_view *view,
                    uint32_t source)
{
    const etwas_clock_trust *trust = &view->report->trust;

    /* The counter of another host is unknown. */
    if (source + 1 == ETWAS_CLOCK_TSC && (trust->reasons & ETWAS_CLOCK_REASON_HYPERVISOR) != 0) {
        etwas_output_text(output, "Use TSC: --clock tsc, or qpc if this virtual machine may be "
                                  "moved to another host.\n");
        return;
    }
    etwas_output_format(output,
                        "Use %s: --clock %s, or ClientContext %" PRIu32
                        ". The cycle counter (TSC) is %s.\n",
                        etwas_clocks_name(view, source), etwas_clocks_id(source), source + 1,
                        etwas_clocks_verdict(trust->verdict));
}

/* Prints what an event pays for its stamp, with the other session clocks beside it. */
static void put_cost(struct etwas_output *output, const struct etwas_clocks_view *view,
                     uint32_t source)
{
    const char *before = "; ";

    if (!etwas_clocks_shown(view, source)) {
        etwas_output_text(output, "What it costs was not measured.\n");
        return;
    }
    etwas_output_format(output, "It costs %s a stamp",
                        etwas_clocks_duration(view->report->sources[source].back_to_back_ns).text);
    for (uint32_t i = 0; etwas_clocks_of_session(i); i++) {
        if (i != source && etwas_clocks_shown(view, i)) {
            etwas_output_format(
                output, "%s%s costs %s", before, etwas_clocks_name(view, i),
                etwas_clocks_duration(view->report->sources[i].back_to_back_ns).text);
            before = ", ";
        }
    }
    etwas_output_text(output, ".\n");
}

static void put_order(struct etwas_output *output, const struct etwas_clocks_view *view,
                      uint32_t source)
{
    struct etwas_clocks_order order = etwas_clocks_order_of(&view->report->sources[source]);

    if (view->report->processors < 2) {
        etwas_output_text(output, "There is one processor, so stamps are in order");
    } else if (order.handovers == 0) {
        etwas_output_text(output, "Its order across processors is not known");
    } else if (order.smaller == 0) {
        etwas_output_text(output, "Its stamps were in order across processors");
    } else {
        etwas_output_format(output, "Stamps of different processors can be wrong by %s",
                            etwas_clocks_duration(order.worst_ns).text);
    }
}

static void put_error(struct etwas_output *output, const struct etwas_clocks_view *view,
                      uint32_t source)
{
    double hour_ns = etwas_clocks_hour_ns(&view->report->sources[source]);

    if (!etwas_clocks_shown(view, source)) {
        etwas_output_text(output, "How wrong it can be was not measured.\n");
        return;
    }
    put_order(output, view, source);
    if (isfinite(hour_ns)) {
        etwas_output_format(output, "; it gains or loses at most %s an hour.\n",
                            etwas_clocks_duration(hour_ns).text);
    } else {
        etwas_output_text(output, "; its drift is not known.\n");
    }
}

void etwas_clocks_text_answer(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    uint32_t source = view->report->recommended_clock - 1;

    if (!etwas_clocks_of_session(source)) {
        etwas_output_text(output, "No clock can be recommended.\n");
        return;
    }
    put_use(output, view, source);
    put_cost(output, view, source);
    put_error(output, view, source);
}
