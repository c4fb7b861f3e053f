/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas diff`.
 */

#include "diff/diff.h"

#include "cli/files.h"
#include "exit.h"
#include "print/text.h"
#include "where/option.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the command line ------------------------------------------------------------------------ */

static const char against[] = "--against";

/* Returns the index of --against in argv; argc if it is not there. */
static int find_second_side(int argc, char **argv)
{
    int i = 1;

    while (i < argc && strcmp(argv[i], against) != 0) {
        i++;
    }
    return i;
}

static const char *find_misuse(const struct etwas_diff *diff, int first, int second)
{
    if (diff->confidence > 99.9) {
        return "--confidence is 99.9 at most";
    }
    return first == 0 || second == 0 ? "which files? Those of one side, --against, the others"
                                     : NULL;
}

/*
 * Reads the options of one side. argv[0] is skipped, as the name of a command is. Sets *first to
 * the index of the first operand.
 */
static bool read_side(int argc, char **argv, struct etwas_diff *diff, int *first, int *result)
{
    bool is_read;

    optind = 0; /* restarts getopt */
    is_read = etwas_command_read(&etwas_diff_command, argc, argv, diff, result);
    *first = optind;
    return is_read;
}

/* Reads both sides: the arguments before --against, and those after it. */
static bool read_options(int argc, char **argv, struct etwas_diff *diff, int *result)
{
    static struct etwas_files sides[2];
    int end = find_second_side(argc, argv);
    int second = 0;
    int first;
    const char *wrong;

    if (!read_side(end, argv, diff, &first, result) ||
        (end < argc && !read_side(argc - end, argv + end, diff, &second, result))) {
        return false;
    }
    second += end;
    wrong = find_misuse(diff, end - first, argc - second);
    if (wrong == NULL) {
        wrong = etwas_files_read(&sides[0], argv + first, argv + end, ETWAS_DIFF_FILES);
    }
    if (wrong == NULL) {
        wrong = etwas_files_read(&sides[1], argv + second, argv + argc, ETWAS_DIFF_FILES);
    }
    for (unsigned side = 0; side < 2; side++) {
        diff->counts[side] = sides[side].count;
        diff->paths[side] = sides[side].paths;
    }
    diff->confidence /= 100;
    diff->effect /= 100;
    return etwas_command_fits(&etwas_diff_command, wrong, result);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void note_overlaps(const struct etwas_diff *diff)
{
    for (unsigned side = 0; side < 2; side++) {
        if (diff->overlapping[side] > 0 && !etwas_is_quiet) {
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
    if (diff->form == ETWAS_FORM_JSON) {
        etwas_diff_json(output, diff, result);
    } else {
        etwas_diff_text(output, diff);
    }
    return result == ETWAS_EXIT_DONE && diff->differing > 0 ? ETWAS_EXIT_NO : result;
}

/* Reports each side that has no events. Returns false if both sides have some. */
static bool tell_empty_side(const struct etwas_diff *diff)
{
    struct etwas_output *errors = etwas_standard_error();
    bool has_told = false;

    for (unsigned side = 0; side < 2; side++) {
        if (!diff->has_events[side]) {
            etwas_output_text(errors, "etwas diff: ");
            etwas_text_plain(errors, diff->paths[side][0]);
            if (diff->counts[side] > 1) {
                etwas_output_format(errors, " and %" PRIu32 " more", diff->counts[side] - 1);
            }
            etwas_output_format(errors, ": nothing was compared, since side %c has no events%s\n",
                                "AB"[side],
                                etwas_window_is_set(&diff->window) ? " in this window" : "");
            etwas_output_flush(errors);
            has_told = true;
        }
    }
    return has_told;
}

/* Reports that both sides have events, but none that can be compared. */
static void tell_no_class(const struct etwas_diff *diff)
{
    bool is_chosen = diff->class_name != NULL || etwas_where_is_given(&diff->where);

    fprintf(stderr, "etwas diff: nothing was compared: %s\n",
            is_chosen ? "neither side has events as they are chosen; 'etwas spans' and 'etwas "
                        "schema' tell which there are"
                      : "no span of either side has its START and its END there, and there are no "
                        "other events");
}

/* Compares what was read. */
static int answer(struct etwas_output *output, struct etwas_diff *diff, int result)
{
    bool has_units;

    if (tell_empty_side(diff)) {
        return ETWAS_EXIT_FAILED;
    }
    has_units = etwas_diff_compare(diff);
    if (diff->out_of_memory) {
        return result;
    }
    if (!has_units) {
        fputs("etwas diff: a side has fewer than four runs, and they are too short to have four "
              "blocks of 1 ms\n",
              stderr);
        return ETWAS_EXIT_FAILED;
    }
    etwas_span_name_report("diff", diff->class_name, etwas_span_classes_have, &diff->names,
                           "compared");
    if (diff->class_count == 0) {
        tell_no_class(diff);
        return ETWAS_EXIT_FAILED;
    }
    return show_diff(output, diff, result);
}

static int run_diff(int argc, char **argv)
{
    static struct etwas_diff diff = {.confidence = 95, .effect = 5};
    struct etwas_output *output = etwas_standard_output();
    int result;

    diff.where.paths = &diff.field_paths;
    if (!read_options(argc, argv, &diff, &result)) {
        return result;
    }
    result = etwas_diff_read(&diff);
    note_overlaps(&diff);
    result = etwas_where_finish(&diff.where, &diff.field_paths, "diff", true, result);
    if (!diff.out_of_memory && result != ETWAS_EXIT_FAILED) {
        result = answer(output, &diff, result);
    }
    if (diff.out_of_memory) {
        result = etwas_output_no_memory("to compare everything");
    }
    etwas_where_clear(&diff.where);
    etwas_diff_free(&diff);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    {.name = "class",
     .value = "LIST",
     .help = "only these: PROVIDER/CLASS, CLASS, GUIDs; or events",
     .type = ETWAS_OPTION_TEXT,
     ETWAS_PLACE(struct etwas_diff, class_name)},
    ETWAS_WHERE_OPTIONS(struct etwas_diff, where),
    ETWAS_WINDOW_OPTIONS(struct etwas_diff, window),
    {.name = "confidence",
     .value = "PERCENT",
     .group = "What is a difference",
     .help = "how sure an answer is, from 80 to 99.9 (95)",
     .type = ETWAS_OPTION_REAL,
     .least = 80,
     .most = 100,
     ETWAS_PLACE(struct etwas_diff, confidence)},
    {.name = "effect",
     .value = "PERCENT",
     .help = "what differs by less does not matter (5)",
     .type = ETWAS_OPTION_REAL,
     .most = 1000,
     ETWAS_PLACE(struct etwas_diff, effect)},
    ETWAS_JSON_OPTION(struct etwas_diff, form, "one object"),
    ETWAS_COLOR_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_diff_command = {
    .name = "diff",
    .summary = "find what became slower between two sets of traces",
    .usages = (const char *const[]){"[OPTION...] A... --against B...", NULL},
    .description =
        "Finds the classes of instances and activities that took longer, or were more "
        "frequent, in the traces B than in the traces A, and other events that were more "
        "frequent.",
    .details =
        (const char *const[]){
            "Each file is a run. With four or more on each side runs are compared, and the "
            "confidence is a promise. With fewer, blocks of time of them are compared, 8 to "
            "16 of a file. Then what differs from run to run anyway, such as by what else "
            "the machine does, counts as a difference.",
            "The confidence is for all classes together: if nothing differs, so often "
            "nothing is found to.",
            "Of each class three things are compared: its typical duration, which is the "
            "geometric mean; the mean, which a few slow ones move; and how many ended a "
            "second. Of other events, those that are neither START nor END, it compares how "
            "many there were a second: from the first event to the last or, of a recorder's "
            "file, over what it covers.",
            "Of each side it is the mean of its runs, or blocks. Events of a run are not "
            "independent of each other, so runs, or blocks, are what is dealt to the sides "
            "anew, 10,000 times: p is how often some class differed as much as this one "
            "does. [ ] is where the ratio B/A lies with the confidence, when runs or blocks "
            "are drawn again.",
            "What the clocks may be off is no difference: the output says to within how "
            "much durations are known. What differs stands first, then what differs by most "
            "of the time.",
            "The window is applied to each file by itself: --from +2s leaves out the first "
            "two seconds of each run, in which it may still get going. A span counts if its "
            "START and its END are inside.",
            "The exit status is 1 if a class differs, and 2 if nothing was compared.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas diff before.etl --against after.etl", "Compare two runs."},
            {"etwas diff --effect 2 --from +2s old/ --against new/",
             "Compare folders of runs, without the first two seconds of each."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_diff,
};
