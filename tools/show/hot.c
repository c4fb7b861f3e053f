/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * `etwas stat --hot` as text and JSON. The keys are part of the command's interface.
 */

#include "show/hot.h"

#include "exit.h"
#include "print/human.h"
#include "print/json.h"
#include "print/table.h"
#include "print/terminal.h"
#include "print/text.h"

#include <string.h>

static const double units_per_ms = 1e4;

static uint32_t shown_count(const struct etwas_hot *hot, uint32_t limit)
{
    return limit != 0 && limit < hot->function_count ? limit : hot->function_count;
}

static double percent(const struct etwas_hot *hot, uint64_t samples)
{
    return hot->samples > 0 ? 100.0 * (double)samples / (double)hot->samples : 0;
}

/* ---- text ------------------------------------------------------------------------------------ */

static void put_count(struct etwas_output *output, const char *label, uint64_t count,
                      const char *what)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    if (count > 0) {
        etwas_label(output, label);
        etwas_output_format(output, "%s %s\n", etwas_human_count(text, count), what);
    }
}

/* Returns how many samples are in functions whose inlined functions are not known. */
static uint64_t without_inlined(const struct etwas_hot *hot)
{
    uint64_t samples = 0;

    for (uint32_t i = 0; i < hot->function_count; i++) {
        samples += hot->functions[i].hides_inlined ? hot->functions[i].self : 0;
    }
    return samples;
}

static void put_whole(struct etwas_output *output, const struct etwas_hot *hot,
                      const struct etwas_input *input)
{
    char text[ETWAS_HUMAN_CHARACTERS];

    put_count(output, "LOST", input->information.lost_events, "events while recording");
    put_count(output, "DAMAGED", input->damage_count, "places in the file");
    etwas_label(output, "samples");
    etwas_output_text(output, etwas_human_count(text, hot->samples));
    if (hot->interval_100ns != 0) {
        etwas_output_format(output, ", one each %g ms of a processor",
                            (double)hot->interval_100ns / units_per_ms);
    }
    etwas_output_char(output, '\n');
    put_count(output, "left out", hot->left_out, "more, by what was chosen");
    put_count(output, "idle", hot->idle, "more, which are left out");
    put_count(output, "stacks", hot->with_stack, "of the samples have one");
    if (hot->cut > 0) {
        etwas_label(output, "cut");
        etwas_output_format(output,
                            "%s of the stacks, %.1f%% of the samples: what is [cut] called them\n",
                            etwas_human_count(text, hot->cut), percent(hot, hot->cut));
    }
    put_count(output, "inlined", without_inlined(hot),
              "samples of images without debug information: what is inlined there is not shown");
    put_count(output, "other", hot->other, "samples of more functions than are told apart");
}

static void add_function(struct etwas_table *table, const struct etwas_hot *hot,
                         const struct etwas_hot_function *function)
{
    struct etwas_output *cell = etwas_table_cell(table);

    etwas_text_plain(cell, function->name != NULL ? function->name : "(not known)");
    if (function->image != NULL) {
        etwas_output_text(cell, " in ");
        etwas_text_plain(cell, function->image);
        etwas_output_text(cell, function->has_changed ? " (changed since)" : "");
    }
    etwas_table_next(table);
    etwas_table_text(table, function->is_kernel ? "kernel" : "user");
    etwas_table_count(table, function->self);
    etwas_table_format(table, "%.1f%%", percent(hot, function->self));
    if (hot->with_stack > 0) {
        etwas_table_count(table, function->total);
        etwas_table_format(table, "%.1f%%", percent(hot, function->total));
    }
}

void etwas_hot_text(struct etwas_output *output, const struct etwas_hot *hot, uint32_t limit,
                    const struct etwas_input *input)
{
    static const char *const titles[] = {"function", "mode", "self", "", "total", ""};
    uint32_t shown = shown_count(hot, limit);
    struct etwas_table table;

    etwas_text_plain(output, input->path);
    etwas_output_char(output, '\n');
    put_whole(output, hot, input);
    if (hot->samples == 0 && hot->left_out == 0) {
        etwas_output_text(output, "  There are no samples: 'etwas record --kernel profile,...' "
                                  "records them.\n");
    }
    if (hot->samples == 0) {
        return;
    }
    etwas_table_begin(&table, titles, hot->with_stack > 0 ? 6 : 4, 0x3C);
    for (uint32_t i = 0; i < shown; i++) {
        add_function(&table, hot, &hot->functions[i]);
    }
    etwas_output_char(output, '\n');
    etwas_table_print(&table, output);
    put_count(output, "and", hot->function_count - shown, "more functions");
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_json_function(struct etwas_output *output, const struct etwas_hot *hot,
                              const struct etwas_hot_function *function)
{
    etwas_json_object(output, NULL);
    etwas_json_number(output, "samples", function->self);
    etwas_json_format(output, "share", "%.6f", percent(hot, function->self) / 100);
    etwas_json_number(output, "total_samples", function->total);
    etwas_json_format(output, "total_share", "%.6f", percent(hot, function->total) / 100);
    etwas_json_text(output, "function", function->name);
    etwas_json_text(output, "image", function->image);
    etwas_json_boolean(output, "kernel", function->is_kernel);
    etwas_json_boolean(output, "changed", function->has_changed);
    etwas_output_char(output, '}');
}

void etwas_hot_json(struct etwas_output *output, const struct etwas_hot *hot, uint32_t limit,
                    const struct etwas_input *input, int result)
{
    uint32_t shown = shown_count(hot, limit);

    etwas_input_print_json(output, input, "hot", result);
    etwas_json_number(output, "samples", hot->samples);
    etwas_json_number(output, "left_out", hot->left_out);
    etwas_json_number(output, "idle", hot->idle);
    etwas_json_number(output, "with_stack", hot->with_stack);
    etwas_json_number(output, "cut", hot->cut);
    etwas_json_number(output, "without_inlined", without_inlined(hot));
    etwas_json_number(output, "interval", 100 * hot->interval_100ns);
    etwas_json_number(output, "other", hot->other);
    etwas_json_number(output, "function_count", hot->function_count);
    etwas_json_array(output, "functions");
    for (uint32_t i = 0; i < shown; i++) {
        put_json_function(output, hot, &hot->functions[i]);
    }
    etwas_output_text(output, "]}\n");
}
