/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas diff` as JSON. The keys are part of the command's interface.
 */

#include "diff/diff.h"

#include "exit.h"
#include "print/json.h"

static void put_finding(struct etwas_output *output, const struct etwas_diff_class *its,
                        enum etwas_diff_measure measure)
{
    static const char *const keys[] = {"typical", "mean", "rate"};
    const struct etwas_diff_finding *finding = &its->findings[measure];

    etwas_json_object(output, keys[measure]);
    etwas_json_text(output, "verdict", etwas_diff_verdict(its, measure));
    etwas_json_real(output, "a", finding->first);
    etwas_json_real(output, "b", finding->second);
    etwas_json_real(output, "ratio", finding->ratio);
    etwas_json_real(output, "low", finding->interval.low);
    etwas_json_real(output, "high", finding->interval.high);
    etwas_json_real(output, "p", finding->p);
    etwas_output_char(output, '}');
}

static void put_side(struct etwas_output *output, const struct etwas_diff *diff, unsigned side)
{
    uint32_t first = side == 0 ? 0 : diff->counts[0];

    etwas_json_object(output, side == 0 ? "a" : "b");
    etwas_json_array(output, "files");
    for (uint32_t i = 0; i < diff->counts[side]; i++) {
        etwas_json_text(output, NULL, diff->runs[first + i].path);
    }
    etwas_output_char(output, ']');
    etwas_json_number(output, "lost", diff->events_lost[side]);
    etwas_json_number(output, "units", diff->units[side]);
    etwas_output_char(output, '}');
}

void etwas_diff_json(struct etwas_output *output, const struct etwas_diff *diff, int result)
{
    etwas_json_begin(output, "diff");
    put_side(output, diff, 0);
    put_side(output, diff, 1);
    etwas_json_boolean(output, "damaged", result != ETWAS_EXIT_DONE);
    etwas_json_text(output, "units", diff->by_runs ? "runs" : "blocks");
    etwas_json_real(output, "confidence", diff->confidence);
    etwas_json_real(output, "effect", diff->effect);
    etwas_json_number(output, "differing", diff->differing);
    etwas_json_number(output, "other_classes", diff->other_classes);
    etwas_json_array(output, "classes");
    for (uint32_t i = 0; i < diff->class_count; i++) {
        const struct etwas_diff_class *its = &diff->classes[i];
        const struct etwas_span_class *named = &diff->names.all[its->number];

        etwas_json_object(output, NULL);
        etwas_json_text(output, "event_class", named->name);
        etwas_json_guid(output, "event_class_id", &named->guid);
        etwas_json_boolean(output, "spans", its->is_of_span);
        etwas_json_number(output, "count_a", its->counts[0]);
        etwas_json_number(output, "count_b", its->counts[1]);
        etwas_json_real(output, "duration_error_a", its->error_ns[0]);
        etwas_json_real(output, "duration_error_b", its->error_ns[1]);
        for (unsigned measure = 0; measure < ETWAS_DIFF_MEASURES; measure++) {
            put_finding(output, its, (enum etwas_diff_measure)measure);
        }
        etwas_output_char(output, '}');
    }
    etwas_output_text(output, "]}\n");
}
