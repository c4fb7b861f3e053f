/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas report`.
 */

#include "report/report.h"

#include "cli/files.h"
#include "cli/output_file.h"
#include "commands.h"
#include "exit.h"
#include "page/page.h"
#include "print/json.h"
#include "where/option.h"

#include <stdio.h>
#include <string.h>

/* The options of the command line. */
struct request {
    struct etwas_report report;
    int form;                        /* enum etwas_form; ETWAS_FORM_TEXT: none was requested */
    struct etwas_output_file output; /* its path is NULL: standard output */
};

void etwas_report_json(struct etwas_output *output, struct etwas_report *report)
{
    etwas_json_begin(output, "report");
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

static const char *find_misuse(const struct request *request, const struct etwas_files *files)
{
    if (request->form == ETWAS_FORM_TEXT) {
        return "which form? --html or --json says it";
    }
    if (request->form == ETWAS_FORM_HTML && request->output.path == NULL) {
        return "where does the page go? --output says it";
    }
    if (request->output.force && request->output.path == NULL) {
        return "--force goes with --output";
    }
    if (etwas_output_file_is_input(&request->output, files->paths, files->count)) {
        return "--output is one of the files that are read";
    }
    return NULL;
}

static void print_report(struct etwas_output *output, struct request *request)
{
    if (request->form == ETWAS_FORM_HTML) {
        etwas_report_html(output, &request->report);
    } else {
        etwas_report_json(output, &request->report);
    }
}

/* Returns whether everything was written. If there is no report, no file is made. */
static bool write_report(struct request *request, bool has_report)
{
    static struct etwas_output output;

    if (request->output.path == NULL) {
        if (has_report) {
            print_report(etwas_standard_output(), request);
        }
        return etwas_output_finish(etwas_standard_output());
    }
    if (!has_report) {
        etwas_output_file_drop(&request->output);
        return true;
    }
    etwas_output_to(&output, request->output.descriptor);
    print_report(&output, request);
    return etwas_output_file_keep_written(&request->output, &output);
}

/* Returns whether to continue; otherwise *result is the exit status. */
static bool read_options(int argc, char **argv, struct request *request, struct etwas_files *files,
                         int *result)
{
    struct etwas_spans_request *spans = &request->report.spans;

    spans->where.paths = &spans->paths;
    if (!etwas_files_read_command(files, &etwas_report_command, argc, argv, ETWAS_INPUT_FILES,
                                  request, result)) {
        return false;
    }
    if (request->output.path != NULL && strcmp(request->output.path, "-") == 0) {
        request->output.path = NULL;
    }
    return etwas_command_fits(&etwas_report_command, find_misuse(request, files), result) &&
           etwas_window_resolve(&spans->window, &etwas_report_command, files->paths, files->count,
                                result);
}

static int run_report(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct request request = {.output.command = "etwas report"};
    static struct etwas_files files;
    struct etwas_report *report = &request.report;
    struct etwas_spans_request *spans = &report->spans;
    bool has_report;
    bool is_inside;
    bool is_empty;
    bool is_written;
    int result;

    spans->run.inputs = inputs;
    spans->slowest = ETWAS_REPORT_TREES;
    spans->most_nodes = ETWAS_REPORT_NODES;
    if (!read_options(argc, argv, &request, &files, &result)) {
        return result;
    }
    /* Report an output that cannot be written before spending time on the files. */
    if ((request.form == ETWAS_FORM_HTML && !etwas_page_possible("etwas report")) ||
        (request.output.path != NULL && !etwas_output_file_open(&request.output))) {
        return ETWAS_EXIT_OUTPUT;
    }
    result = etwas_report_read(report, files.paths, files.count);
    if (report->out_of_memory) {
        result = etwas_output_no_memory("to count everything");
    }
    result = etwas_where_finish(&spans->where, &spans->paths, "report", true, result);
    has_report = !report->out_of_memory && spans->run.count > 0 && spans->where.error == NULL;
    is_inside =
        !has_report || etwas_window_finish(&spans->window, "report", files.paths, files.count);
    is_empty =
        request.output.path != NULL && ((!is_inside && etwas_window_is_set(&spans->window)) ||
                                        (spans->where.was_asked && !spans->where.has_held));
    /* An empty page could be mistaken for a result. */
    if (is_empty && result == ETWAS_EXIT_DONE) {
        result = ETWAS_EXIT_NO;
    }
    is_written = write_report(&request, has_report && !is_empty);
    etwas_report_free(report);
    return is_written ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    ETWAS_WHERE_OPTIONS(struct request, report.spans.where),
    ETWAS_WINDOW_OPTIONS(struct request, report.spans.window),
    ETWAS_HTML_OPTION(struct request, form, "a page with plots that needs no other file"),
    ETWAS_JSON_OPTION(struct request, form, "the page's data, one object"),
    ETWAS_OUTPUT_OPTIONS(struct request, output, "where the page goes"),
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_report_command = {
    .name = "report",
    .summary = "make a page of a trace, with plots",
    .usages = (const char *const[]){"--html -o PAGE [OPTION...] FILE...",
                                    "--json [OPTION...] FILE...", NULL},
    .description =
        "Shows what happened over time: what is missing, how many events there were by name "
        "and processor, how long spans took, the slowest of them with their events, what "
        "processors and processes did, and what lived on the heap.",
    .details =
        (const char *const[]){
            "All files are one time line. However long that is, a report has less than 3 "
            "MB: time is divided into 480 columns at most, and the most frequent and the "
            "largest are shown one by one, the rest together.",
            "Plots of the page show their numbers to the pointer and, by arrow keys, to the "
            "keyboard. It is dark where the system is, and can be printed. It appears when "
            "it is whole. How to read it is in docs/howto/report.md.",
            "The files are read twice. Memory grows with them only as etwas-spans(1) and "
            "etwas-stat(1) (--cpu-time, --heap) say.",
            "A window is as if the trace had no other events: a span counts if its START "
            "and its END are inside, and the plots' time is the window. Processor use and "
            "the heap are left out of it: they are known by all that came before. --where "
            "leaves these two as they are, and the plots' time. With --where only spans "
            "count whose START or END is such an event. What is missing or damaged, the "
            "files and their clocks are always of the whole trace.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas report --html -o page.html shop.etl", "Make a page."},
            {"etwas report --html -o page.html --from +10s --until +20s shop.etl",
             "Make a page of ten seconds."},
            {NULL, NULL},
        },
    ETWAS_WINDOW_NO_TIMES,
    .operands = ETWAS_VALUES_FILES,
    .run = run_report,
};
