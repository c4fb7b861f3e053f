/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas diff` as a table.
 */

#include "diff/diff.h"

#include "print/human.h"
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

static void put_side(struct etwas_output *output, double value, enum etwas_diff_measure measure)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (isnan(value)) {
        etwas_output_format(output, "  %11s", "-");
    } else if (measure == ETWAS_DIFF_RATE) {
        etwas_output_format(output, "  %9s/s", etwas_human_rate(text, value));
    } else {
        etwas_output_text(output, "  ");
        etwas_text_right(output, etwas_human_ns(text, value), 11);
    }
}

static void put_finding(struct etwas_output *output, const struct etwas_diff_class *its,
                        enum etwas_diff_measure measure)
{
    static const char *const names[] = {"typical", "mean", "rate"};
    const struct etwas_diff_finding *finding = &its->findings[measure];
    const char *verdict = etwas_diff_verdict(its, measure);

    etwas_output_format(output, "  %-7s", names[measure]);
    put_side(output, finding->first, measure);
    put_side(output, finding->second, measure);
    if (isfinite(finding->ratio)) {
        etwas_output_format(output, "  %8.3f  [%8.3f, %8.3f]  %6.4f  %s\n", finding->ratio,
                            finding->interval.low, finding->interval.high, finding->p,
                            verdict != NULL ? verdict : "");
    } else {
        etwas_output_format(output, "  %8s  %20s  %6.4f  %s\n", "-", "", finding->p,
                            verdict != NULL ? verdict : "");
    }
}

/* How far the clocks let durations be off, where that is known and is anything. */
static void put_clock_error(struct etwas_output *output, const struct etwas_diff_class *its)
{
    double error_ns = fmax(its->error_ns[0], its->error_ns[1]);
    char text[ETWAS_HUMAN_CHARACTERS];

    if (isfinite(error_ns) && error_ns > 0) {
        etwas_output_format(output, ", durations within %s", etwas_human_ns(text, error_ns));
    }
    etwas_output_text(output, isfinite(error_ns) ? "\n" : ", durations as wrong as nobody says\n");
}

void etwas_diff_text(struct etwas_output *output, const struct etwas_diff *diff)
{
    char text[2][ETWAS_HUMAN_CHARACTERS];
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
    for (uint32_t i = 0; i < diff->class_count; i++) {
        const struct etwas_diff_class *its = &diff->classes[i];
        const char *name = diff->names.all[its->number].name;

        etwas_output_char(output, '\n');
        etwas_text_plain(output, name);
        etwas_output_format(output, ": %s against %s", etwas_human_count(text[0], its->counts[0]),
                            etwas_human_count(text[1], its->counts[1]));
        put_clock_error(output, its);
        if (i == 0) {
            etwas_output_text(output, "                     A            B       B/A"
                                      "                              p\n");
        }
        for (unsigned measure = 0; measure < ETWAS_DIFF_MEASURES; measure++) {
            if (its->is_of_span || measure == ETWAS_DIFF_RATE) {
                put_finding(output, its, (enum etwas_diff_measure)measure);
            }
        }
    }
}
