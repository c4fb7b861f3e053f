/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas report`.
 */

#include "report/report.h"

#include "cli/files.h"
#include "cli/options.h"
#include "cli/output_file.h"
#include "commands.h"
#include "page/page.h"
#include "where/option.h"

#include <stdio.h>

static const char *const help[] = {
    "usage: etwas report [--html PAGE] [--force] [--json] [--from TIME]\n"
    "                    [--to TIME] [--where EXPR] FILE...\n"
    "\n",
    "Says what is in traces over time: what is missing, how many events there were of\n"
    "each name and processor, how long spans took, the slowest of them with their\n"
    "events, what processors and processes did, and what lived on the heap. All files\n"
    "are one time line. However long that is, a report has less than 3 MB: time is\n"
    "divided into 480 columns at most, and the most frequent and the largest are told\n"
    "one by one, the rest together.\n"
    "\n",
    "  -o, --html PAGE    a page with plots that needs no other file and no network;\n"
    "                     it appears when it is whole\n"
    "  -f, --force        a PAGE that is there is replaced\n"
    "  -j, --json         the page's data, one JSON object; one of both is needed\n"
    "      --from TIME, --to TIME\n"
    "                     events and spans of this window alone; see below\n"
    "  -w, --where EXPR   only events for which it holds, and only spans whose START\n"
    "                     or END is such an event; the END knows the duration\n"
    "  -h, --help         this text\n"
    "\n"
    "Plots of the page tell their numbers to the pointer and, by arrow keys, to the\n"
    "keyboard. It is dark where the system is, and can be printed. How to read it is\n"
    "in docs/report.md.\n"
    "\n",
    "The files are read twice. Memory grows with them only as 'etwas spans --help'\n"
    "and 'etwas stat --help' (--cpu, --heap) say.\n"
    "\n",
    etwas_window_help,
    "\n"
    "A window is as if the trace had no other events: a span counts if its START and\n"
    "its END are inside ('etwas spans --help'), and the plots' time is the window.\n"
    "Processor use and the heap are left out of it: they are known by all that came\n"
    "before. --where leaves these two as they are, and the plots' time. What is\n"
    "missing or damaged, the files and their clocks are always of the whole trace.\n"
    "\n",
    etwas_where_help,
    "\n"
    "JSON keys; ..._over_time has a number for each column of the axis:\n"
    "  asked_for (by --from, --to and --where: events, from, to, where; null: not\n"
    "  given);\n"
    "  files (as 'etwas stat --json', without processors and classes);\n"
    "  sessions (as 'etwas stat --prove --json', without records; of the sources the\n"
    "  first 64 that lost something);\n"
    "  axis (columns, column_ns, duration_ns, begin; null: there is no event);\n"
    "  covered_ns (by the files together: what rates are over; 0: not known);\n"
    "  losses (file: its number in files, by: session, kernel for want of room in a\n"
    "  ring, or file for damage, cause, processor if it is known, bytes_skipped of\n"
    "  damage, count: events or damages, over_time: by the session evenly in the time\n"
    "  between two looks, else when the gap ended); other_losses (of more than 64\n"
    "  causes and processors);\n"
    "  processors (as 'etwas stat --json', file, first_ns and last_ns since the axis\n"
    "  begins, over_time: events), the first 64 of all files; other_processors,\n"
    "  other_processors_over_time;\n"
    "  names (name, events, events_per_second, over_time), the 24 with most events;\n"
    "  other_names, other_names_events, other_names_events_per_second,\n"
    "  other_names_over_time;\n"
    "  spans (as 'etwas spans --json': class_count, classes, the 100 that took most;\n"
    "  of the first 6 over_time, by when they ended: count, min, p50 ... max, cells:\n"
    "  for each column the first cell that has spans, and how many it and those above\n"
    "  it have; cell_edges_ns);\n"
    "  slowest (10 trees, as 'etwas spans --json --slowest 10', of 200 spans at most;\n"
    "  tree_events: the number of the span, at_ns, thread, name, fields; 150 at most,\n"
    "  tree_events_left_out);\n"
    "  cpu (of files with context switches, as 'etwas stat --cpu --json', without\n"
    "  threads; of 64 processors busy_over_time, unknown_over_time (neither busy nor\n"
    "  idle), of the 10 processes that ran most running_over_time, all in ns;\n"
    "  process_count, other_processes_over_time,\n"
    "  ready_over_time: of all threads);\n"
    "  heap (of heaptrace's files, as 'etwas stat --heap --json', the 40 stacks that\n"
    "  hold most, 40 frames each; live_over_time, in bytes, when each column ends; of\n"
    "  the first 6 stacks too).\n"
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

/* What the command line asks for. */
struct request {
    struct etwas_report *report;
    bool json;
    struct etwas_output_file page; /* its path is NULL: none */
};

void etwas_report_json(struct etwas_output *output, struct etwas_report *report)
{
    etwas_output_char(output, '{');
    etwas_report_health_json(output, report);
    etwas_report_asked_json(output, report);
    etwas_report_losses_json(output, report);
    etwas_report_streams_json(output, report);
    etwas_report_rates_json(output, report);
    etwas_report_latencies_json(output, report);
    etwas_report_trees_json(output, report);
    etwas_report_usage_json(output, report);
    etwas_report_heap_json(output, report);
    etwas_output_text(output, "}\n");
}

enum {
    FROM = 256
};

static bool take_option(void *context, int option)
{
    struct request *request = context;
    struct etwas_spans_request *spans = &request->report->spans;

    switch (option) {
    case 'o':
        request->page.path = optarg;
        return true;
    case 'j':
        request->json = true;
        return true;
    case 'f':
        request->page.force = true;
        return true;
    case FROM:
        return etwas_window_option(&spans->window.from, "report", "--from", optarg);
    case 't':
        return etwas_window_option(&spans->window.to, "report", "--to", optarg);
    case 'w':
        request->report->where = optarg;
        spans->has_where = etwas_where_option(&spans->where, "report", optarg, &spans->paths);
        return spans->has_where;
    default:
        return false;
    }
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct request *request, struct etwas_files *files,
                          int *result)
{
    static const struct option named[] = {
        {"html", required_argument, NULL, 'o'}, {"json", no_argument, NULL, 'j'},
        {"force", no_argument, NULL, 'f'},      {"from", required_argument, NULL, FROM},
        {"to", required_argument, NULL, 't'},   {"where", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"report", help, named, "o:jfw:h", take_option};
    const char *wrong;

    if (!etwas_options_read(&options, argc, argv, request, result)) {
        return false;
    }
    wrong = etwas_files_read(files, argv + optind, argv + argc, ETWAS_INPUT_FILES);
    if (wrong == NULL && !request->json && request->page.path == NULL) {
        wrong = "--html PAGE or --json says what to make";
    }
    if (wrong == NULL && request->page.force && request->page.path == NULL) {
        wrong = "--force goes with --html";
    }
    if (wrong == NULL && etwas_output_file_is_input(&request->page, files->paths, files->count)) {
        wrong = "--html is one of the files that are read";
    }
    return etwas_options_fit(&options, wrong, result);
}

/* False: the page could not be written. Without a report there is none. */
static bool write_page(struct request *request, struct etwas_report *report, bool has_report)
{
    static struct etwas_output output;

    if (request->page.path == NULL) {
        return true;
    }
    if (!has_report) {
        etwas_output_file_drop(&request->page);
        return true;
    }
    etwas_output_to(&output, request->page.descriptor);
    etwas_report_html(&output, report);
    return etwas_output_file_keep_written(&request->page, &output);
}

int etwas_command_report(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_report report;
    struct request request = {.report = &report, .page.command = "etwas report"};
    static struct etwas_files files;
    struct etwas_output *output = etwas_standard_output();
    bool has_report;
    bool is_inside;
    bool is_empty;
    bool is_written;
    int result;

    report.spans.run.inputs = inputs;
    report.spans.slowest = ETWAS_REPORT_TREES;
    report.spans.most_nodes = ETWAS_REPORT_NODES;
    if (!parse_options(argc, argv, &request, &files, &result)) {
        return result;
    }
    if (!etwas_window_resolve(&report.spans.window, "report", files.paths, files.count)) {
        return etwas_command_misused("report");
    }
    /* Before the files are read: what cannot be written should be told at once. */
    if (request.page.path != NULL &&
        (!etwas_page_possible("etwas report") || !etwas_output_file_open(&request.page))) {
        return ETWAS_EXIT_OUTPUT;
    }
    result = etwas_report_read(&report, files.paths, files.count);
    if (report.out_of_memory) {
        result = etwas_output_no_memory("to count everything");
    }
    result = etwas_where_finish(&report.spans.where, &report.spans.paths, "report", true, result);
    has_report =
        !report.out_of_memory && report.spans.run.count > 0 && report.spans.where.error == NULL;
    is_inside = !has_report ||
                etwas_window_finish(&report.spans.window, "report", files.paths, files.count);
    is_empty = (!is_inside && etwas_window_is_set(&report.spans.window)) ||
               (report.spans.where.was_asked && !report.spans.where.has_held);
    /* A page of nothing would be taken for one of something. */
    if (is_empty && request.page.path != NULL && result == ETWAS_EXIT_FINE) {
        result = ETWAS_EXIT_NO;
    }
    if (request.json && has_report) {
        etwas_report_json(output, &report);
    }
    is_written = write_page(&request, &report, has_report && !is_empty);
    etwas_report_free(&report);
    return etwas_output_finish(output) && is_written ? result : ETWAS_EXIT_OUTPUT;
}
