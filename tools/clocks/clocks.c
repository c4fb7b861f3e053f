/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas clocks`.
 */

#include "cli/output_file.h"
#include "clocks/format.h"
#include "commands.h"
#include "event/names.h"
#include "page/page.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *const help[] = {
    "usage: etwas clocks [--seconds N] [--clock NAME,...] [--json]\n"
    "                    [--html FILE [--force]]\n"
    "\n",
    "Which clock may be used on this machine, what does it cost, and how far can it\n"
    "be trusted? Examines the three clocks a session can have and those a C program\n"
    "would consider beside them, and recommends one for a session's ClientContext.\n"
    "Runs a thread on each processor it may use, for some seconds; leave the machine\n"
    "alone meanwhile, or the costs are those of a busy machine.\n"
    "\n",
    "  -s, --seconds N   how long it may take, 1 to 3600, as 2.5 (default: 5). Drift\n"
    "                    is known better the longer it takes\n"
    "  -c, --clock NAME[,NAME...]\n"
    "                    only these clocks (default: all); may be repeated\n"
    "  -j, --json        one JSON object instead of the tables\n"
    "  -o, --html FILE   also write a page with plots, which needs no other file and\n"
    "                    no network; FILE appears when it is whole\n"
    "  -f, --force       a FILE that is there is replaced\n"
    "  -h, --help        this text\n"
    "\n",
    "NAME, in upper or lower case:\n"
    "  clocks of sessions  qpc, system, tsc (ClientContext 1, 2, 3)\n"
    "  instructions        rdtscp, lfence+rdtsc (isb+cntvct_el0 on aarch64)\n"
    "  clock_gettime       monotonic, monotonic-raw, monotonic-coarse, realtime,\n"
    "                      realtime-coarse, boottime, tai, thread-cputime; also as\n"
    "                      CLOCK_MONOTONIC and so on\n"
    "\n",
    "What is shown, the answer first:\n"
    "  recommendation  the ClientContext to use, and why\n"
    "  verdict         the cycle counter (TSC) is trusted; doubtful, used although\n"
    "                  something speaks against it; or unusable, a session that asks\n"
    "                  for it gets system time. The reasons; its rate\n"
    "  cost            of one reading; in a row: the mean of many without timing\n"
    "                  each. Cold: its code and data were out of the caches\n"
    "  resolution      the smallest step, what the clock really moves by, how many\n"
    "                  successive readings are equal, and the step seen most often\n"
    "  order           between each two processors: how far one clock is ahead, its\n"
    "                  bound, and how many stamps were smaller than one that surely\n"
    "                  was taken before on the other processor\n"
    "  monotony        steps backwards, and stalls: times it stood still\n"
    "  drift           in ppm, 1 s in 11.6 days; with the interval of 95 %\n"
    "  conversion      how far stamps of the counter are off after a time, converted\n"
    "                  by the exact frequency, by whole MHz as a trace's header has\n"
    "                  it, and by the calibration that etwas records\n"
    "\n",
    "JSON keys; null: not known; names that end in _ns are nanoseconds:\n"
    "  examined (UTC); host; system; processor_model; seconds; processors (those\n"
    "  examined); processors_allowed (that this process may use);\n"
    "  processors_configured; processors_online; all_pairs (false: only some of\n"
    "  those allowed); recommended_clock (ClientContext); recommendation; verdict;\n"
    "  verdict_text; reasons (bit, against, text); frequency_hz and\n"
    "  frequency_error_ppb (as calibrated; 0: it could not be); stated_hz (0:\n"
    "  nowhere); stated_by; clocksource; available_clocksources; hypervisor;\n"
    "  sequences (whether the kernel aborts restartable ones, as it was tried);\n"
    "  clocks: clock (NAME as above); name; available; if it is: tick_ns;\n"
    "    follows_thread (counts the time of one thread); warm and cold (count,\n"
    "    minimum, median, mean, p90, p99, p999, maximum, in ns);\n"
    "    warm_histogram and steps (from, to, in ns, count); loop_ns (subtracted);\n"
    "    timer_step_ns; back_to_back_ns; resolution_ns; unit_ns (moves by); pairs;\n"
    "    equal_pairs; readings; backward_steps; largest_backward_ns; stalls;\n"
    "    longest_stall_ns; unordered_readings, unordered_backward_steps and\n"
    "    largest_unordered_backward_ns (these may change places); offsets_left_out\n"
    "    (pairs that could not be compared); against_raw and against_realtime\n"
    "    (CLOCK_MONOTONIC_RAW, CLOCK_REALTIME: ppm, interval_ppm, points, seconds);\n"
    "    offsets (processor, other, offset_ns by which other is ahead, bound_ns,\n"
    "    rounds, handovers, smaller, worst_ns);\n"
    "  conversions: name; hz; error_ppm; interval_ppm; after_second_ns;\n"
    "    after_minute_ns; after_hour_ns; after_day_ns (25 hours).\n"
    "\n",
    "Exit codes: see 'etwas --help'. What is found, good or bad, is no error.\n",
    NULL,
};

struct request {
    etwas_clock_options options;
    bool json;
    const char *html; /* NULL: no page */
    bool force;       /* it replaces another */
};

/* ---- The command line ---- */

/* Decimal numbers only: strtod would take "inf" and "0x10" too. */
static bool parse_seconds(const char *text, double *seconds)
{
    char *end;

    if (text[0] == '\0' || text[strspn(text, "0123456789.")] != '\0') {
        return false;
    }
    *seconds = strtod(text, &end);
    return *end == '\0' && *seconds >= 1 && *seconds <= 3600;
}

static bool parse_clocks(const char *text, uint32_t *sources)
{
    for (;;) {
        size_t length = strcspn(text, ",");
        uint32_t source;

        if (!etwas_clocks_find(text, length, &source)) {
            fprintf(stderr, "etwas clocks: there is no clock '%.*s'; there are",
                    (int)(length < 64 ? length : 64), text);
            for (uint32_t i = 0; i < ETWAS_CLOCK_SOURCES; i++) {
                fprintf(stderr, "%s %s", i > 0 ? "," : "", etwas_clocks_id(i));
            }
            fputc('\n', stderr);
            return false;
        }
        *sources |= 1u << source;
        if (text[length] == '\0') {
            return true;
        }
        text += length + 1;
    }
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct request *request, int *result)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'},
        {"clock", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, 'j'},
        {"html", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool fine = true;
    int option;

    while (fine && (option = getopt_long(argc, argv, "s:c:jo:fh", options, NULL)) != -1) {
        if (option == 'h') {
            *result = etwas_command_help(help);
            return false;
        }
        if (option == 'j') {
            request->json = true;
        } else if (option == 'o') {
            request->html = optarg;
        } else if (option == 'f') {
            request->force = true;
        } else if (option == 'c') {
            fine = parse_clocks(optarg, &request->options.sources);
        } else if (option == 's') {
            fine = parse_seconds(optarg, &request->options.seconds);
            if (!fine) {
                fprintf(stderr, "etwas clocks: --seconds takes 1 to 3600, not '%s'\n", optarg);
            }
        } else {
            fine = false;
        }
    }
    if (fine && optind < argc) {
        fprintf(stderr, "etwas clocks: what is '%s'? There is nothing to read\n", argv[optind]);
        fine = false;
    }
    if (fine && request->force && request->html == NULL) {
        fputs("etwas clocks: --force goes with --html\n", stderr);
        fine = false;
    }
    *result = fine ? ETWAS_EXIT_FINE : etwas_command_misused("clocks");
    return fine;
}

/* ---- The page ---- */

static bool page_write(struct etwas_output_file *page, const struct etwas_clocks_view *view)
{
    static struct etwas_output output;

    etwas_output_to(&output, page->descriptor);
    etwas_clocks_html(&output, view);
    return etwas_output_file_keep_written(page, &output);
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

int etwas_command_clocks(int argc, char **argv)
{
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_clocks_machine machine;
    struct request request = {0};
    struct etwas_clocks_view view = {.machine = &machine};
    struct etwas_output_file page = {.command = "etwas clocks"};
    etwas_clock_report *report = NULL;
    bool written = true;
    uint32_t error;
    int result;

    if (!parse_options(argc, argv, &request, &result)) {
        return result;
    }
    page.path = request.html;
    page.force = request.force;
    /* Before the clocks are examined: what cannot be written should be told at once. */
    if (request.html != NULL && (!etwas_page_possible("etwas") || !etwas_output_file_open(&page))) {
        return ETWAS_EXIT_OUTPUT;
    }
    error = examine(&request.options, &report);
    if (error != ERROR_SUCCESS) {
        const char *reason = etwas_names_error(error);

        fprintf(stderr, "etwas: the clocks cannot be examined: %s (error %" PRIu32 ")\n",
                reason != NULL ? reason : "for an unexpected reason", error);
        if (request.html != NULL) {
            etwas_output_file_drop(&page);
        }
        return ETWAS_EXIT_OPEN;
    }
    etwas_clocks_machine_read(&machine);
    view.report = report;
    view.chosen =
        request.options.sources != 0 ? request.options.sources : (1u << ETWAS_CLOCK_SOURCES) - 1;
    if (request.json) {
        etwas_clocks_json(output, &view);
    } else {
        etwas_clocks_text(output, &view);
    }
    if (request.html != NULL) {
        written = page_write(&page, &view);
    }
    etwas_clock_report_free(report);
    return etwas_output_finish(output) && written ? ETWAS_EXIT_FINE : ETWAS_EXIT_OUTPUT;
}
