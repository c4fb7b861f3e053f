/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas spans`.
 */

#include "spans/spans.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"
#include "where/option.h"

#include <stdio.h>

static const char *const help[] = {
    "usage: etwas spans [--class CLASS] [--where EXPR] [--from TIME] [--to TIME]\n"
    "                   [--slowest K] [--open N] [--json | --csv] FILE...\n"
    "\n",
    "Says how long instances (from their event of type START to that of END) and\n"
    "activities (from opcode START to STOP, TraceLogging's too) took, class by class:\n"
    "how many ended and how many a second, how many were open at once, and quantiles\n"
    "of their durations and of the time that they took themselves: without what\n"
    "their children cover, in whatever thread these were, each moment once. All files\n"
    "are one time line; those of machines that booted at other times by their wall\n"
    "clocks.\n"
    "\n",
    "  -C, --class CLASS    only of this class: PROVIDER/CLASS, CLASS, or a GUID\n"
    "  -w, --where EXPR     only those whose START or END is such an event; the END\n"
    "                       knows the duration\n"
    "      --from TIME, --to TIME\n"
    "                       only events of this window; see below\n"
    "  -k, --slowest K      the K slowest too, 1 to 1000, each with what was inside\n"
    "                       of it as a time line: of those without a parent, or with\n"
    "                       --class or --where of those that are asked for. One that\n"
    "                       is inside of another of them is shown by itself\n"
    "  -o, --open N         up to N are open at once, of some 260 bytes each, instead\n"
    "                       of 1048576; a START beyond that is left out\n"
    "  -j, --json           one JSON object with plain numbers\n"
    "  -v, --csv            a line for each class, or with --slowest for each span of\n"
    "                       the trees\n"
    "  -h, --help           this text\n"
    "\n",
    "A quantile is of its class's spans that ended: p90 is the least duration that 90\n"
    "of 100 do not exceed. Quantiles are known to 0.1 %, min and max as exactly as\n"
    "the times. The column error says how far the worst of the durations may be off\n"
    "by the clock, ? where a file does not say. What START and END are both off by\n"
    "cancels; on two processors they may be as far off as either time is, since so\n"
    "far apart their clocks may be, and what two machines say of a time is not known.\n"
    "What children cover adds to the error of the time itself. Unfinished are those\n"
    "that have no END, also because a second START of the same took their place\n"
    "(replaced); orphaned those that name a parent which is not open; unmatched the\n"
    "ENDs without a START.\n"
    "\n"
    "Memory does not grow with the trace: only what is open is kept, 4096 classes\n"
    "have 446 kB each at the most, a tree 1000 spans. What is left out is counted.\n"
    "\n",
    etwas_window_help,
    "\n"
    "A window is as if the trace had no other events: a span counts if its START and\n"
    "its END are inside. One that began before and ends inside is among the unmatched\n"
    "ENDs, and what names it as its parent among the orphaned; one that begins inside\n"
    "and ends later is unfinished; one that does neither is not counted. Of files\n"
    "that etwas wrote no more is read than the window takes.\n"
    "\n",
    etwas_where_help,
    "\n"
    "JSON keys:\n"
    "  files; damaged; events_lost; seconds (that the files cover, for rates);\n"
    "  started, ended, open, replaced, unmatched, left_out (too many open): of all\n"
    "  spans, whatever is asked for; other_classes (spans of more than 4096 classes);\n"
    "  classes (class, guid, count (ended), rate (a second), at_once (mean),\n"
    "  most_at_once; unfinished, replaced, orphaned, unmatched; total_ns;\n"
    "  duration and self: min, p50, p90, p99, p99_9, max, each with ns and error_ns\n"
    "  (null: not known));\n"
    "  slowest (start, left_out, spans: depth, class, instance or activity, process,\n"
    "  thread, at_ns (since the first began), duration_ns (null: it did not end),\n"
    "  self_ns, error_ns and self_error_ns (null: not known), events (of it, without\n"
    "  START and END)).\n"
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

/* ---- the command line ------------------------------------------------------------------------ */

static bool take_option(void *context, int option)
{
    struct etwas_spans_request *request = context;

    switch (option) {
    case 'C':
        request->class_name = optarg;
        return true;
    case 'w':
        request->has_where = etwas_where_option(&request->where, "spans", optarg, &request->paths);
        return request->has_where;
    case 'f':
        return etwas_window_option(&request->window.from, "spans", "--from", optarg);
    case 't':
        return etwas_window_option(&request->window.to, "spans", "--to", optarg);
    case 'k':
        return etwas_options_number("spans", "--slowest", 1, ETWAS_SPANS_SLOWEST,
                                    &request->slowest);
    case 'o':
        return etwas_options_number("spans", "--open", 1, ETWAS_SPANS_MOST_OPEN,
                                    &request->most_open);
    case 'j':
        request->json = true;
        return true;
    case 'v':
        request->csv = true;
        return true;
    default:
        return false;
    }
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_spans_request *request,
                          struct etwas_files *files, int *result)
{
    static const struct option named[] = {
        {"class", required_argument, NULL, 'C'},   {"where", required_argument, NULL, 'w'},
        {"from", required_argument, NULL, 'f'},    {"to", required_argument, NULL, 't'},
        {"slowest", required_argument, NULL, 'k'}, {"open", required_argument, NULL, 'o'},
        {"json", no_argument, NULL, 'j'},          {"csv", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"spans", help, named, "C:w:k:o:jvh", take_option};
    const char *wrong;

    if (!etwas_options_read(&options, argc, argv, request, result)) {
        return false;
    }
    wrong = etwas_files_read(files, argv + optind, argv + argc, ETWAS_INPUT_FILES);
    if (wrong == NULL && request->json && request->csv) {
        wrong = "--json does not go with --csv";
    }
    return etwas_options_fit(&options, wrong, result);
}

static void show_spans(struct etwas_output *output, const struct etwas_spans_request *request,
                       int result)
{
    if (request->json) {
        etwas_spans_json(output, request, result);
    } else if (request->csv) {
        etwas_spans_csv(output, request);
    } else {
        etwas_spans_text(output, request);
    }
}

int etwas_command_spans(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_spans_request request;
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    int result;

    request.run.inputs = inputs;
    request.most_nodes = ETWAS_SPANS_NODES;
    if (!parse_options(argc, argv, &request, &files, &result)) {
        return result;
    }
    if (!etwas_window_resolve(&request.window, "spans", files.paths, files.count)) {
        return etwas_command_misused("spans");
    }
    result = etwas_spans_read(&request, files.paths, files.count);
    if (request.run.count > 0 && !request.out_of_memory) {
        result = etwas_where_finish(&request.where, &request.paths, "spans", true, result);
    }
    if (request.run.count > 0 && request.where.error == NULL) {
        (void)etwas_window_finish(&request.window, "spans", files.paths, files.count);
    }
    if (request.out_of_memory || request.current.out_of_memory ||
        !etwas_all_descriptions_are_whole(&request.descriptions)) {
        result = etwas_output_no_memory("to follow everything");
    } else if (request.run.count > 0 && request.where.error == NULL) {
        show_spans(output, &request, result);
    }
    if (request.run.count > 0 && request.class_name != NULL && request.window.has_held &&
        !etwas_spans_has_class(&request)) {
        fprintf(stderr,
                "etwas spans: note: no class is called '%s'%s; without --class all are told\n",
                request.class_name, etwas_window_is_set(&request.window) ? " in this window" : "");
    }
    etwas_spans_free_room(&request);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}
