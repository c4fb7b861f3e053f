/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas diff` as a table.
 */

#include "diff/diff.h"

#include "print/human.h"
#include "print/table.h"
#include "print/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *etwas_diff_verdict(const struct etwas_diff_class *its, enum etwas_diff_measure measure)
{
    const struct etwas_diff_finding *finding = &its->findings[measure];

    if (!finding->differs) {
        return NULL;
    }
    if (measure != ETWAS_DIFF_RATE) {
        return finding->ratio > 1 ? "slower" : "faster";
    }
    if (its->counts[0] == 0 || its->counts[1] == 0) {
        return its->counts[0] == 0 ? "new" : "gone";
    }
    return finding->ratio > 1 ? "more frequent" : "rarer";
}

static void add_side(struct etwas_table *table, double value, enum etwas_diff_measure measure)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (measure == ETWAS_DIFF_RATE && !isnan(value)) {
        etwas_table_format(table, "%s/s", etwas_human_rate(text, value));
    } else {
        etwas_table_ns(table, value);
    }
}

static void add_finding(struct etwas_table *table, const struct etwas_diff_class *its,
                        enum etwas_diff_measure measure)
{
    static const char *const names[] = {"  typical", "  mean", "  rate"};
    const struct etwas_diff_finding *finding = &its->findings[measure];
    const char *verdict = etwas_diff_verdict(its, measure);

    etwas_table_text(table, names[measure]);
    add_side(table, finding->first, measure);
    add_side(table, finding->second, measure);
    if (isfinite(finding->ratio)) {
        etwas_table_format(table, "%.3f", finding->ratio);
        etwas_table_format(table, "[%.3f, %.3f]", finding->interval.low, finding->interval.high);
    } else {
        etwas_table_text(table, "-");
        etwas_table_next(table);
    }
    etwas_table_format(table, "%.4f", finding->p);
    etwas_table_text(table, verdict != NULL ? verdict : "");
}

/* Writes the clock error of the durations if it is not 0, or that it is not known. */
static void put_clock_error(struct etwas_output *output, const struct etwas_diff_class *its)
{
    double error_ns = fmax(its->error_ns[0], its->error_ns[1]);
    char text[ETWAS_HUMAN_CHARACTERS];

    if (isfinite(error_ns) && error_ns > 0) {
        etwas_output_format(output, ", durations within %s", etwas_human_ns(text, error_ns));
    }
    etwas_output_text(output, isfinite(error_ns) ? "" : ", durations as wrong as nobody says");
}

static void put_classes(struct etwas_output *output, const struct etwas_diff *diff)
{
    static const char *const titles[] = {"class", "A", "B", "B/A", "", "p", ""};
    struct etwas_table table;

    etwas_table_begin(&table, titles, sizeof titles / sizeof *titles, 0x3E);
    for (uint32_t i = 0; i < diff->class_count; i++) {
        const struct etwas_diff_class *its = &diff->classes[i];
        struct etwas_output *cell = etwas_table_cell(&table);
        char text[2][ETWAS_HUMAN_CHARACTERS];

        etwas_text_plain(cell, diff->names.all[its->number].name);
        etwas_output_format(cell, ": %s against %s", etwas_human_count(text[0], its->counts[0]),
                            etwas_human_count(text[1], its->counts[1]));
        put_clock_error(cell, its);
        etwas_table_next_line(&table);
        for (unsigned measure = 0; measure < ETWAS_DIFF_MEASURES; measure++) {
            if (its->is_of_span || measure == ETWAS_DIFF_RATE) {
                add_finding(&table, its, (enum etwas_diff_measure)measure);
            }
        }
    }
    etwas_table_print(&table, output);
}

void etwas_diff_text(struct etwas_output *output, const struct etwas_diff *diff)
{
    const char *units = diff->by_runs ? "runs" : "blocks of time";

    etwas_output_format(output, "%" PRIu32 " %s against %" PRIu32 ": ", diff->units[0], units,
                        diff->units[1]);
    if (diff->differing == 0) {
        etwas_output_format(output, "no difference of %g %% or more", diff->effect * 100);
    } else {
        etwas_output_format(output, "%" PRIu32 " of %" PRIu32 " classes differ by %g %% or more",
                            diff->differing, diff->class_count, diff->effect * 100);
    }
    etwas_output_format(output, " (confidence %g %%)\n", diff->confidence * 100);
    if (!diff->by_runs && diff->differing > 0) {
        etwas_output_text(output, "What differs from run to run anyway counts here: four runs or "
                                  "more a side would tell.\n");
    }
    etwas_output_char(output, '\n');
    put_classes(output, diff);
}
