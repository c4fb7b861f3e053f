/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas clocks`.
 */

#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/value.h"
#include "clocks/compare.h"
#include "commands.h"
#include "event/names.h"
#include "exit.h"
#include "page/page.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS_A_SECOND UINT64_C(1000000000)

struct request {
    etwas_clock_options options;
    uint64_t duration_ns;            /* 0: the default */
    int form;                        /* enum etwas_form */
    bool compares;                   /* compare two results instead of examining the clocks */
    struct etwas_output_file output; /* its path is NULL: standard output */
};

/* ---- The command line ---- */

static bool refuse_clock(const struct etwas_option_use *use, const char *name)
{
    fprintf(stderr, "etwas clocks: --%s: there is no clock '%s'; there are", use->option->name,
            name);
    for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
        fprintf(stderr, "%s %s", i > 0 ? "," : "", etwas_clocks_id(i));
    }
    fputc('\n', stderr);
    return false;
}

static bool read_clocks(const struct etwas_option_use *use)
{
    const char *list = use->text;
    char item[64];

    while (etwas_value_item(&list, item, sizeof item)) {
        uint32_t source;

        if (!etwas_clocks_find(item, &source)) {
            return refuse_clock(use, item);
        }
        *(uint32_t *)use->place |= 1u << source;
    }
    return (list == NULL && *use->text != '\0') ||
           etwas_option_refuse(use, "a list of clocks with commas");
}

static const char *find_misuse(const struct request *request)
{
    if (request->compares && (request->form == ETWAS_FORM_HTML || request->options.sources != 0 ||
                              request->duration_ns != 0)) {
        return "--compare goes with --json and --output alone";
    }
    if (request->form == ETWAS_FORM_HTML && request->output.path == NULL) {
        return "where does the page go? --output says it";
    }
    return request->output.force && request->output.path == NULL ? "--force goes with --output"
                                                                 : NULL;
}

/* Returns whether to continue; otherwise *result is the exit status. */
static bool read_options(int argc, char **argv, struct request *request, int *result)
{
    if (!etwas_command_read(&etwas_clocks_command, argc, argv, request, result)) {
        return false;
    }
    if (!request->compares && optind < argc) {
        fprintf(stderr, "etwas clocks: %s: there is nothing to read\n", argv[optind]);
        *result = etwas_command_misused("clocks");
        return false;
    }
    if (request->compares && argc - optind != 2) {
        fputs("etwas clocks: --compare: name two files that etwas clocks --json wrote\n", stderr);
        *result = etwas_command_misused("clocks");
        return false;
    }
    if (!etwas_command_fits(&etwas_clocks_command, find_misuse(request), result)) {
        return false;
    }
    if (request->output.path != NULL && strcmp(request->output.path, "-") == 0) {
        request->output.path = NULL;
    }
    request->options.seconds = (double)request->duration_ns / (double)NS_A_SECOND;
    return true;
}

/* ---- The command ---- */

static uint32_t examine(const etwas_clock_options *options, etwas_clock_report **report)
{
    bool shown = isatty(STDERR_FILENO) != 0;
    uint32_t error;

    if (shown) {
        fprintf(stderr, "\rexamining the clocks for about %g s ... ",
                options->seconds > 0 ? options->seconds : 5);
        fflush(stderr);
    }
    error = etwas_clock_examine(options, report);
    if (shown) {
        fprintf(stderr, "\r%50s\r", "");
    }
    return error;
}

/* What is shown: a view, or two results compared. */
struct shown {
    struct etwas_clocks_view view;
    const struct etwas_clocks_side *sides; /* NULL: the view */
};

static void print_shown(struct etwas_output *output, int form, const struct shown *shown)
{
    const struct etwas_clocks_side *sides = shown->sides;

    if (sides != NULL && form == ETWAS_FORM_JSON) {
        etwas_clocks_compare_json(output, &sides[0], &sides[1]);
    } else if (sides != NULL) {
        etwas_clocks_compare_text(output, &sides[0], &sides[1]);
    } else if (form == ETWAS_FORM_HTML) {
        etwas_clocks_html(output, &shown->view);
    } else if (form == ETWAS_FORM_JSON) {
        etwas_clocks_json(output, &shown->view);
    } else {
        etwas_clocks_text(output, &shown->view);
    }
}

/* Returns the exit status. */
static int write_shown(struct request *request, const struct shown *shown)
{
    static struct etwas_output output;
    bool is_written;

    if (request->output.path == NULL) {
        print_shown(etwas_standard_output(), request->form, shown);
        is_written = etwas_output_finish(etwas_standard_output());
    } else {
        etwas_output_to(&output, request->output.descriptor);
        print_shown(&output, request->form, shown);
        is_written = etwas_output_file_keep_written(&request->output, &output);
    }
    return is_written ? ETWAS_EXIT_DONE : ETWAS_EXIT_OUTPUT;
}

static int compare(struct request *request, char *const *paths)
{
    static struct etwas_clocks_side sides[2];
    struct shown shown = {.sides = sides};

    if (!etwas_clocks_can_read()) {
        return ETWAS_EXIT_FAILED;
    }
    for (int i = 0; i < 2; i++) {
        const char *wrong = etwas_clocks_read(&sides[i], paths[i]);

        if (wrong != NULL) {
            fprintf(stderr, "etwas clocks: %s: %s\n", paths[i], wrong);
            return ETWAS_EXIT_FAILED;
        }
    }
    if (request->output.path != NULL && !etwas_output_file_open(&request->output)) {
        return ETWAS_EXIT_OUTPUT;
    }
    return write_shown(request, &shown);
}

static int run_clocks(int argc, char **argv)
{
    static struct etwas_clocks_machine machine;
    static struct request request = {.output.command = "etwas clocks"};
    struct shown shown = {.view.machine = &machine};
    etwas_clock_report *report = NULL;
    uint32_t error;
    int result;

    if (!read_options(argc, argv, &request, &result)) {
        return result;
    }
    if (request.compares) {
        return compare(&request, argv + optind);
    }
    /* Report an output that cannot be written before spending time on the clocks. */
    if ((request.form == ETWAS_FORM_HTML && !etwas_page_possible("etwas clocks")) ||
        (request.output.path != NULL && !etwas_output_file_open(&request.output))) {
        return ETWAS_EXIT_OUTPUT;
    }
    error = examine(&request.options, &report);
    if (error != ERROR_SUCCESS) {
        const char *reason = etwas_names_error(error);

        fprintf(stderr, "etwas clocks: the clocks cannot be examined: %s (error %" PRIu32 ")\n",
                reason != NULL ? reason : "for an unexpected reason", error);
        etwas_output_file_drop(&request.output);
        return ETWAS_EXIT_FAILED;
    }
    etwas_clocks_machine_read(&machine);
    shown.view.report = report;
    shown.view.chosen =
        request.options.sources != 0 ? request.options.sources : (1u << ETWAS_CLOCK_SOURCES) - 1;
    result = write_shown(&request, &shown);
    etwas_clock_report_free(report);
    return result;
}

static const struct etwas_option options[] = {
    {.name = "clocks",
     .value = "LIST",
     .help = "only these clocks, such as qpc,tsc (default: all)",
     .type = ETWAS_OPTION_READ,
     .read = read_clocks,
     ETWAS_PLACE(struct request, options.sources)},
    {.name = "duration",
     .value = "DURATION",
     .help = "how long it may take: 1 to 3600 s (s, default: 5)",
     .type = ETWAS_OPTION_DURATION,
     .unit = NS_A_SECOND,
     .least = NS_A_SECOND,
     .most = 3600 * NS_A_SECOND,
     ETWAS_PLACE(struct request, duration_ns)},
    ETWAS_FLAG_OPTION(struct request, compares, "compare",
                      "show two results of --json beside each other"),
    ETWAS_JSON_OPTION(struct request, form, "one object"),
    ETWAS_HTML_OPTION(struct request, form, "a page with plots that needs no other file"),
    ETWAS_OUTPUT_OPTIONS(struct request, output, "where the result goes"),
    {.name = NULL},
};

const struct etwas_command etwas_clocks_command = {
    .name = "clocks",
    .group = "Plan a recording",
    .summary = "say which clock to use on this machine",
    .usages = (const char *const[]){"[OPTION...]", "--html -o PAGE [OPTION...]",
                                    "--compare A B [--json] [-o PATH]", NULL},
    .description =
        "Examines the three clocks that a session can have and those that a C program would "
        "consider beside them. Recommends one for a session's ClientContext.",
    .details =
        (const char *const[]){
            "It says which clock may be used on this machine, what it costs, and how far it can be "
            "trusted. It runs a thread on each processor that it may use. Leave the machine alone "
            "meanwhile, or the costs are those of a busy machine. Drift is known better the longer "
            "it takes. What is found, good or bad, is no error.",
            "LIST has names with commas between them, in upper or lower case, and may be repeated. "
            "qpc, system and tsc are the clocks of sessions (ClientContext 1, 2, 3). rdtscp and "
            "lfence+rdtsc are instructions; on aarch64 the latter is isb+cntvct_el0. monotonic, "
            "monotonic-raw, monotonic-coarse, realtime, realtime-coarse, boottime, tai and "
            "thread-cputime are those of clock_gettime, also as CLOCK_MONOTONIC and so on.",
            "The first three lines are the answer: the clock to use, what it costs, and how wrong "
            "it can be. What it gains or loses is its drift against CLOCK_MONOTONIC_RAW, with the "
            "interval of 95 %.",
            "The page appears when it is whole, and needs no network.",
            "--compare reads two results of --json, A and B. It shows the answer of both, the "
            "reasons that speak for or against one counter alone, and each clock's cost and "
            "errors. B / A is the cost in B where A costs 1.",
            "Recommendation: the ClientContext to use, and why.",
            "Verdict: the cycle counter (TSC) is trusted, doubtful or unusable. A doubtful one is "
            "used although something speaks against it. A session that asks for an unusable one "
            "gets system time. The reasons and its rate follow.",
            "Cost: of one reading. In a row: the mean of many without timing each. Cold: its code "
            "and data were out of the caches.",
            "Resolution: the smallest step, what the clock really moves by, how many successive "
            "readings are equal, and the step that was seen most often.",
            "Order: how far one clock is ahead, between each two processors, with its bound. Also "
            "how many stamps were smaller than one that surely was taken before on the other "
            "processor.",
            "Monotony: steps backwards, and stalls, which are times that it stood still.",
            "Drift: in ppm, which are 1 s in 11.6 days, with the interval of 95 %.",
            "Conversion: how far stamps of the counter are off after a time. They are converted by "
            "the exact frequency, by whole MHz as a trace's header has it, and by the calibration "
            "that etwas records.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas clocks", "Say which clock to use."},
            {"etwas clocks --html -o clocks.html --duration 20s", "Make a page with plots."},
            {"etwas clocks --compare here.json there.json",
             "Compare two machines or kernels by what --json -o PATH kept of each."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_clocks,
};
