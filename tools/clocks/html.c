/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas clocks --html`: the page's frame, and its answer before everything measured.
 */

#include "clocks/html.h"
#include "names.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void put_head(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    etwas_output_text(output, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                              "<meta charset=\"utf-8\">\n"
                              "<meta name=\"viewport\" content=\"width=device-width, "
                              "initial-scale=1\">\n"
                              "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Clocks");
    if (view->machine->host[0] != '\0') {
        etwas_output_text(output, " of ");
        etwas_page_text(output, view->machine->host);
    }
    etwas_output_text(output, "</title>\n");
    etwas_page_style(output);
    etwas_output_text(output, "</head>\n<body>\n<main>\n");
}

static void put_title(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    const struct etwas_clocks_machine *machine = view->machine;
    const etwas_clock_report *report = view->report;

    etwas_output_text(output, "<header>\n<h1>Clocks");
    if (machine->host[0] != '\0') {
        etwas_output_text(output, " of ");
        etwas_page_text(output, machine->host);
    }
    etwas_output_text(output, "</h1>\n<p class=\"note\">");
    if (machine->model[0] != '\0') {
        etwas_page_text(output, machine->model);
        etwas_output_text(output, " · ");
    }
    if (machine->system[0] != '\0') {
        etwas_page_text(output, machine->system);
        etwas_output_text(output, " · ");
    }
    etwas_output_format(
        output, "%" PRIu32 " of %" PRIu32 " online processor%s examined, for %s, until ",
        report->processors, report->processors_online, report->processors_online == 1 ? "" : "s",
        etwas_clocks_duration(report->seconds * 1e9).text);
    etwas_page_text(output, machine->examined);
    etwas_output_text(output, "</p>\n</header>\n");
}

/* ---- What to do, and why ---- */

static void put_answer(struct etwas_output *output, const etwas_clock_report *report)
{
    etwas_output_text(output, "<section class=\"answer\" aria-labelledby=\"answer\">\n"
                              "<p class=\"kicker\">Recommendation</p>\n<h2 id=\"answer\">Use the ");
    etwas_page_text(output, etwas_names_clock(report->recommended_clock));
    etwas_output_format(output, ": ClientContext\u00a0%" PRIu32 "</h2>\n<p>",
                        report->recommended_clock);
    etwas_page_text(output, report->recommendation);
    etwas_output_text(output, "</p>\n</section>\n");
}

static void put_reasons(struct etwas_output *output, uint32_t reasons, bool against)
{
    bool any = false;

    etwas_output_format(output, "<div><h3>%s</h3>\n", against ? "Against it" : "For it");
    for (uint32_t bit = 1; bit != 0; bit <<= 1) {
        if ((reasons & bit) != 0 && etwas_clocks_reason_against(bit) == against) {
            if (!any) {
                etwas_output_format(output, "<ul class=\"%s\">\n", against ? "against" : "for");
            }
            any = true;
            etwas_output_text(output, "<li>");
            etwas_page_text(output, etwas_clock_reason_text(bit));
            etwas_output_text(output, "</li>\n");
        }
    }
    etwas_output_text(output, any ? "</ul></div>\n" : "<p class=\"note\">nothing</p></div>\n");
}

static void put_fact(struct etwas_output *output, const char *name, const char *text)
{
    etwas_output_text(output, "<div><dt>");
    etwas_page_text(output, name);
    etwas_output_text(output, "</dt><dd>");
    etwas_page_text(output, text);
    etwas_output_text(output, "</dd></div>\n");
}

static void put_facts(struct etwas_output *output, const etwas_clock_trust *trust)
{
    char text[256];

    etwas_output_text(output, "<dl>\n");
    if (trust->frequency_hz > 0) {
        snprintf(text, sizeof text, "%s ± %s ppm",
                 etwas_clocks_hz((double)trust->frequency_hz).text,
                 etwas_clocks_ppm_interval(etwas_clocks_frequency_error_ppm(trust)).text);
    }
    put_fact(output, "Frequency, calibrated",
             trust->frequency_hz > 0 ? text : "it could not be calibrated");
    if (trust->stated_hz > 0) {
        snprintf(text, sizeof text, "%s, by %s", etwas_clocks_hz((double)trust->stated_hz).text,
                 etwas_clocks_stated_by(trust->stated_by));
    }
    put_fact(output, "Frequency, stated", trust->stated_hz > 0 ? text : "nowhere");
    if (trust->stated_hz > 0 && trust->frequency_hz > 0) {
        struct etwas_clocks_word ppm = etwas_clocks_ppm(etwas_clocks_stated_error_ppm(trust));
        bool negative = ppm.text[0] == '-';

        snprintf(text, sizeof text, "%s%s ppm", negative ? "\u2212" : "", ppm.text + negative);
        put_fact(output, "Stated against calibrated", text);
    }
    put_fact(output, "Kernel's clock source",
             trust->clocksource[0] != '\0' ? trust->clocksource : "not known");
    put_fact(output, "Its clock sources",
             trust->available_clocksources[0] != '\0' ? trust->available_clocksources
                                                      : "not known");
    put_fact(output, "Hypervisor", trust->hypervisor[0] != '\0' ? trust->hypervisor : "none");
    etwas_output_text(output, "</dl>\n");
}

static void put_trust(struct etwas_output *output, const etwas_clock_report *report)
{
    static const char *const marks[] = {"✕", "!", "✓"};
    const char *verdict = etwas_clocks_verdict(report->trust.verdict);
    uint32_t mark =
        report->trust.verdict <= ETWAS_CLOCK_VERDICT_TRUSTED ? report->trust.verdict : 0;

    etwas_output_format(output,
                        "<section class=\"trust %s\" aria-labelledby=\"trust\">\n"
                        "<h2 id=\"trust\">The cycle counter (TSC) is <span class=\"badge\">"
                        "<span aria-hidden=\"true\">%s</span> %s</span></h2>\n<p>",
                        verdict, marks[mark], verdict);
    etwas_page_text(output, report->verdict);
    etwas_output_text(output, "</p>\n<div class=\"reasons\">\n");
    put_reasons(output, report->trust.reasons, false);
    put_reasons(output, report->trust.reasons, true);
    etwas_output_text(output, "</div>\n");
    put_facts(output, &report->trust);
    etwas_output_text(output, "</section>\n");
}

/* ---- The clocks of sessions side by side ---- */

static void put_session_clock(struct etwas_output *output, const struct etwas_clocks_view *view,
                              uint32_t number)
{
    const etwas_clock_source_report *source = &view->report->sources[number];
    struct etwas_clocks_order order = etwas_clocks_order_of(source);
    /* Sources 0, 1, 2 are what sessions call 1, 2, 3. */
    uint32_t context = number + 1;

    etwas_page_row(output, etwas_clocks_name(view, number));
    etwas_output_format(output, "<td>%" PRIu32 "%s</td>", context,
                        context == view->report->recommended_clock
                            ? " <span class=\"badge\">recommended</span>"
                            : "");
    /* What the sentences above say a stamp costs. */
    etwas_page_cell(output, etwas_clocks_duration(source->back_to_back_ns));
    etwas_page_cell(output,
                    etwas_clocks_duration(source->warm_ns.count > 0 ? source->warm_ns.p999 : NAN));
    etwas_page_cell(output, etwas_clocks_duration(source->unit_ns));
    etwas_page_cell(output, etwas_clocks_percent(source->equal_pairs, source->pairs));
    etwas_page_cell(
        output, etwas_clocks_duration(source->offset_count > 0 ? order.largest_offset_ns : NAN));
    etwas_page_cell_judged(output, etwas_clocks_count(order.smaller), order.smaller > 0);
    etwas_page_cell_judged(output, etwas_clocks_count(source->backward_steps),
                           source->backward_steps > 0);
    etwas_page_cell_interval(output, source->against_raw.ppm, source->against_raw.interval_ppm,
                             source->against_raw.known);
    etwas_page_row_end(output);
}

static void put_glance(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    static const char *const titles[] = {
        "clock", "ClientContext", "a reading",    "99.9 % below",    "moves by",
        "equal", "between CPUs",  "out of order", "steps backwards", "drift, ppm"};

    etwas_page_section(output, "glance", "The clocks of sessions at a glance");
    etwas_page_table(output, "The three clocks a session can have", titles,
                     sizeof titles / sizeof titles[0]);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        if (etwas_clocks_of_session(i) && etwas_clocks_shown(view, i)) {
            put_session_clock(output, view, i);
        }
    }
    etwas_page_table_end(output);
    etwas_page_section_end(output);
}

void etwas_clocks_html(struct etwas_output *output, const struct etwas_clocks_view *view)
{
    uint32_t of_sessions = 1u << ETWAS_CLOCK_SOURCE_QPC | 1u << ETWAS_CLOCK_SOURCE_SYSTEM_TIME |
                           1u << ETWAS_CLOCK_SOURCE_TSC;

    put_head(output, view);
    put_title(output, view);
    put_answer(output, view->report);
    put_trust(output, view->report);
    if ((view->chosen & of_sessions) != 0) {
        put_glance(output, view);
    }
    etwas_page_cost(output, view);
    etwas_page_steps(output, view);
    etwas_page_order(output, view);
    etwas_page_monotony(output, view);
    etwas_page_drift(output, view);
    etwas_page_conversion(output, view);
    etwas_output_format(output,
                        "<footer><p>Made by <code>etwas clocks</code>, etwas %s.</p></footer>\n",
                        etwas_version());
    etwas_output_text(output, "</main>\n</body>\n</html>\n");
}
