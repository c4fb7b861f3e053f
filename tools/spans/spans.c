/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas spans`.
 */

#include "show/spans.h"

#include "cli/files.h"
#include "cli/quiet.h"
#include "commands.h"
#include "exit.h"
#include "where/option.h"

#include <stdio.h>

/* The command line. */
struct command_line {
    struct etwas_spans_request request;
    int form; /* enum etwas_form */
};

static void show_spans(struct etwas_output *output, int form,
                       const struct etwas_spans_request *request, int result)
{
    if (form == ETWAS_FORM_JSON) {
        etwas_spans_json(output, request, result);
    } else if (form == ETWAS_FORM_CSV) {
        etwas_spans_csv(output, request);
    } else {
        etwas_spans_text(output, request);
    }
}

/* Prints a note if the files have no span at all. A request that chooses spans gets other notes. */
static void say_none(const struct etwas_spans_request *request)
{
    if (!etwas_is_quiet && request->class_name == NULL && request->window.has_held &&
        !etwas_where_is_given(&request->where) &&
        etwas_spans_count(request->spans, ETWAS_SPANS_STARTED) == 0 &&
        etwas_spans_count(request->spans, ETWAS_SPANS_UNMATCHED) == 0 &&
        etwas_spans_count(request->spans, ETWAS_SPANS_LEFT_OUT) == 0) {
        fprintf(stderr, "etwas spans: note: no event is a START or a STOP, so nothing has a "
                        "duration: a program logs both (docs/howto/spans.md)\n");
    }
}

static int run_spans(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct command_line line;
    struct etwas_spans_request *request = &line.request;
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    int result;

    request->run.inputs = inputs;
    request->most_nodes = ETWAS_SPANS_NODES;
    request->where.paths = &request->paths;
    if (!etwas_files_read_command(&files, &etwas_spans_command, argc, argv, ETWAS_INPUT_FILES,
                                  &line, &result) ||
        !etwas_window_resolve(&request->window, &etwas_spans_command, files.paths, files.count,
                              &result)) {
        return result;
    }
    result = etwas_spans_read(request, files.paths, files.count);
    if (request->run.count > 0 && !request->out_of_memory) {
        result = etwas_where_finish(&request->where, &request->paths, "spans", true, result);
    }
    if (request->run.count > 0 && request->where.error == NULL) {
        (void)etwas_window_finish(&request->window, "spans", files.paths, files.count);
    }
    if (request->out_of_memory || request->current.out_of_memory ||
        !etwas_all_descriptions_are_whole(&request->descriptions)) {
        result = etwas_output_no_memory("to follow everything");
    } else if (request->run.count > 0 && request->where.error == NULL) {
        show_spans(output, line.form, request, result);
    }
    if (request->run.count > 0 && request->window.has_held && request->other_classes == 0) {
        etwas_span_name_report("spans", request->class_name, etwas_span_classes_have,
                               &request->names, "shown");
    }
    if (request->run.count > 0 && !request->out_of_memory) {
        say_none(request);
    }
    etwas_spans_free_room(request);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    ETWAS_CLASS_OPTION(struct command_line, request.class_name),
    ETWAS_WHERE_OPTIONS(struct command_line, request.where),
    ETWAS_WINDOW_OPTIONS(struct command_line, request.window),
    {.name = "open",
     .value = "N",
     .help = "follow at most N open spans at once (1048576)",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = ETWAS_SPANS_MOST_OPEN,
     ETWAS_PLACE(struct command_line, request.most_open)},
    {.name = "slowest",
     .value = "K",
     .group = "What is shown",
     .help = "also the K slowest spans, with what was inside of each",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = ETWAS_SPANS_SLOWEST,
     ETWAS_PLACE(struct command_line, request.slowest)},
    ETWAS_JSON_OPTION(struct command_line, form, "one object"),
    ETWAS_CSV_OPTION(struct command_line, form, "a line a class, or a span of --slowest"),
    ETWAS_COLOR_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_spans_command = {
    .name = "spans",
    .summary = "show how long things took, from START to END",
    .usages = (const char *const[]){"[OPTION...] FILE...", NULL},
    .description =
        "Shows how long instances (from their event of type START to that of END) and activities "
        "(from opcode START to STOP) took, class by class.",
    .details =
        (const char *const[]){
            "For each class it shows how many ended, how many a second, and how many were open at "
            "once: the mean (at once) and the largest number (most). Quantiles of their durations "
            "follow, and in the line itself those of the time that they took themselves. That is "
            "the time without what their children cover, in whatever thread these were, "
            "each moment once.",
            "All files are one time line. Those of machines that booted at other times are "
            "compared by their wall clocks.",
            "A quantile is of the class's spans that ended: p90 is the least duration that 90 of "
            "100 do not exceed. Quantiles are known to 0.1 %, min and max as exactly as the times.",
            "The column error shows how far the worst of the durations may be off by the clock, ? "
            "where a file does not say. What START and END are both off by cancels. On two "
            "processors they may be as far off as either time is. What children cover adds to the "
            "error of the time itself.",
            "Unfinished are spans without an END, also because a second START of the same took "
            "their place (replaced). Orphaned are those that name a parent which is not open. "
            "Unmatched are ENDs without a START.",
            "A window is as if the trace had no other events. A span counts if its START and its "
            "END are inside. One that began before and ends inside is among the unmatched ENDs, "
            "and what names it as its parent among the orphaned. One that begins inside and ends "
            "later is unfinished. Of files that etwas wrote no more is read than the window takes.",
            "With --where, a span counts if its START or its END is such an event. The END knows "
            "the duration.",
            "--slowest shows spans without a parent, or with --class or --where those that are "
            "asked for. A span that is inside of another of them is shown by itself.",
            "Memory does not grow with the trace: only what is open is kept, 260 bytes each. 4096 "
            "classes have 446 kB each at most, a tree 1000 spans. A START beyond --open is left "
            "out. What is left out is counted.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas spans shop.etl", "Show all classes."},
            {"etwas spans --slowest 3 --from +2s --until +3.5s shop.etl",
             "Show the slowest spans of a second and a half."},
            {"etwas spans --class Shop/Order --where 'duration > 5ms' shop.etl",
             "Show one class, and only spans that took long."},
            {NULL, NULL},
        },
    ETWAS_WINDOW_NO_TIMES,
    .operands = ETWAS_VALUES_FILES,
    .run = run_spans,
};
