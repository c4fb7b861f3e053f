/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas diff`.
 */

#include "diff/diff.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
    "usage: etwas diff [--class CLASS] [--from TIME] [--to TIME] [--confidence P]\n"
    "                  [--effect P] [--json] A... -- B...\n"
    "\n",
    "Says which classes of instances and activities took longer, or were more\n"
    "frequent, in the traces B than in the traces A, and which other events were\n"
    "more frequent. Each file is a run. With four or more on each side runs are\n"
    "compared, and the confidence is a promise. With fewer blocks of time of them\n"
    "are, 8 to 16 of a file: then what differs from run to run anyway, as by what\n"
    "else the machine does, counts as a difference.\n"
    "\n",
    "  -C, --class CLASS      only of this class: PROVIDER/CLASS, CLASS, or a GUID;\n"
    "                         or event: PROVIDER/EVENT, EVENT\n"
    "      --from TIME, --to TIME\n"
    "                         only the events of this window of each file; see below\n"
    "  -p, --confidence P     in percent, 80 to 99.9 instead of 95: if nothing\n"
    "                         differs, so often nothing is said to, of all classes\n"
    "                         together\n"
    "  -e, --effect P         in percent: what differs by less than that does not\n"
    "                         matter; 5\n"
    "  -j, --json             one JSON object with plain numbers\n"
    "  -h, --help             this text\n"
    "\n",
    "Of each class three things are compared: its typical duration, which is the\n"
    "geometric mean, the mean, which a few slow ones move, and how many ended a\n"
    "second; of other events, those that are neither START nor END, how many there\n"
    "were a second: from the first event to the last or, of a recorder's file, over\n"
    "what it covers. Of each side it is the mean of its runs, or blocks. Events of a\n"
    "run are not independent of each other, so runs, or blocks, are what is dealt to\n"
    "the sides anew, 10,000 times: p is how often some class differed as much as this\n"
    "one does. [ ] is where the ratio B/A lies with the confidence, when runs or\n"
    "blocks are drawn again. What the clocks may be off is no difference: durations\n"
    "are known to within so much, if it is anything. What differs stands first, then\n"
    "what differs by most of the time.\n"
    "\n",
    etwas_window_help,
    "Each file is a trace by itself: --from +2 leaves out the first two seconds of\n"
    "each run, in which it may still get going. A span counts if its START and its\n"
    "END are inside.\n"
    "\n"
    "JSON keys:\n"
    "  a, b (files, events_lost, units); damaged; units (runs, blocks); confidence;\n"
    "  effect; differing; other_classes (what is of more than 4096 classes);\n"
    "  classes (class, guid, spans (false: other events), count_a, count_b,\n"
    "  error_a_ns, error_b_ns (of a duration by the clock, on average; null: not\n"
    "  known), typical, mean, rate: each a, b (ns, or a second; null: it has none),\n"
    "  ratio, low, high, p, verdict (null; slower, faster, more frequent, rarer, new,\n"
    "  gone)).\n"
    "Exit codes: 6 if a class differs; others see 'etwas --help'.\n",
    NULL,
};

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_percent(const char *text, const char *option, double least, double most,
                         double *part)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end != '\0' || !(value >= least && value <= most)) {
        fprintf(stderr, "etwas diff: %s takes a percentage from %g to %g, not '%s'\n", option,
                least, most, text);
        return false;
    }
    *part = value / 100;
    return true;
}

static bool take_option(void *context, int option)
{
    struct etwas_diff *diff = context;

    switch (option) {
    case 'C':
        diff->class_name = optarg;
        return true;
    case 'f':
        return etwas_window_option(&diff->window.from, "diff", "--from", optarg);
    case 't':
        return etwas_window_option(&diff->window.to, "diff", "--to", optarg);
    case 'p':
        return read_percent(optarg, "--confidence", 80, 99.9, &diff->confidence);
    case 'e':
        return read_percent(optarg, "--effect", 0, 1000, &diff->effect);
    case 'j':
        diff->json = true;
        return true;
    default:
        return false;
    }
}

/* Where the files of the second side begin; argc: there is no --. */
static int second_side(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0) {
            return i + 1;
        }
    }
    return argc;
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_diff *diff, int *result)
{
    static const struct option named[] = {
        {"class", required_argument, NULL, 'C'},  {"confidence", required_argument, NULL, 'p'},
        {"effect", required_argument, NULL, 'e'}, {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},     {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"diff", help, named, "C:p:e:jh", take_option};
    int second = second_side(argc, argv);
    int end = second < argc ? second - 1 : argc; /* of the options and the first side */
    static struct etwas_files sides[2];
    const char *wrong;

    if (!etwas_options_read(&options, end, argv, diff, result)) {
        return false;
    }
    wrong = optind == end || second == argc
                ? "which files? Those of one side, --, and those of the other"
                : etwas_files_read(&sides[0], argv + optind, argv + end, ETWAS_DIFF_FILES);
    if (wrong == NULL) {
        wrong = etwas_files_read(&sides[1], argv + second, argv + argc, ETWAS_DIFF_FILES);
    }
    if (!etwas_options_fit(&options, wrong, result)) {
        return false;
    }
    diff->counts[0] = sides[0].count;
    diff->counts[1] = sides[1].count;
    diff->paths[0] = sides[0].paths;
    diff->paths[1] = sides[1].paths;
    return true;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void note_overlaps(const struct etwas_diff *diff)
{
    for (unsigned side = 0; side < 2; side++) {
        if (diff->overlapping[side] > 0) {
            fprintf(stderr,
                    "etwas diff: note: %" PRIu32 " of the runs of %s overlap%s another one of the "
                    "same session: what both have counts in each. Name files that do not overlap\n",
                    diff->overlapping[side], side == 0 ? "a" : "b",
                    diff->overlapping[side] == 1 ? "s" : "");
        }
    }
}

static int show_diff(struct etwas_output *output, const struct etwas_diff *diff, int result)
{
    if (diff->class_count == 0 && diff->class_name != NULL) {
        fprintf(stderr,
                "etwas diff: note: no class is called '%s'%s; without --class all are compared\n",
                diff->class_name, etwas_window_is_set(&diff->window) ? " in this window" : "");
    }
    if (diff->json) {
        etwas_diff_json(output, diff, result);
    } else {
        etwas_diff_text(output, diff);
    }
    return result == ETWAS_EXIT_FINE && diff->differing > 0 ? ETWAS_EXIT_DIFFERS : result;
}

int etwas_command_diff(int argc, char **argv)
{
    static struct etwas_diff diff = {.confidence = 0.95, .effect = 0.05};
    struct etwas_output *output = etwas_standard_output();
    int result;

    if (!parse_options(argc, argv, &diff, &result)) {
        return result;
    }
    result = etwas_diff_read(&diff);
    note_overlaps(&diff);
    if (!diff.out_of_memory && result != ETWAS_EXIT_OPEN && result != ETWAS_EXIT_USAGE) {
        if (etwas_diff_compare(&diff) || !diff.has_events) { /* of nothing, which was said */
            result = diff.out_of_memory ? result : show_diff(output, &diff, result);
        } else {
            fputs(
                "etwas diff: a side has fewer than four runs, and they are too short to have four "
                "blocks of 1 ms\n",
                stderr);
            result = ETWAS_EXIT_OPEN;
        }
    }
    if (diff.out_of_memory) {
        result = etwas_output_no_memory("to compare everything");
    }
    etwas_diff_free(&diff);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}
