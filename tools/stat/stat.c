/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas stat`.
 */

#include "analyse/counts/counts.h"
#include "cli/files.h"
#include "commands.h"
#include "exit.h"
#include "stat/show.h"
#include "where/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SHOWN = 20 /* stacks or functions, unless --limit is given */
};

enum view {
    COUNTS,
    CPU,
    HEAP,
    HOT,
    PROVE,
};

/* The command line. */
struct request {
    struct etwas_stat_request shown;
    int view; /* enum view */
    bool index;
};

/* Returns which choice the view does not support, and what to do instead; NULL if there is none. */
static const char *find_useless(const struct request *request)
{
    const struct etwas_where *where = &request->shown.where;
    bool has_window = etwas_window_is_set(&request->shown.window);

    if (request->view == PROVE && (etwas_where_is_given(where) || has_window)) {
        return "--prove is about all events of a session: leave out --where, --from and the like. "
               "'etwas stat' alone counts what they choose";
    }
    if (request->view == CPU && has_window) {
        return "--cpu-time follows threads through a whole file: 'etwas convert --to etl --from "
               "TIME "
               "--until TIME -o PART.etl FILE' cuts a part out, and --cpu-time shows that";
    }
    if (request->view == CPU &&
        (where->expression != NULL || etwas_where_asks(where, ETWAS_PROPERTY_CPU))) {
        return "--cpu-time shows threads and no events: --pid, --process and --tid choose them, "
               "--where and --cpu do not. Its first table has each processor";
    }
    return NULL;
}

/* Returns which options exclude each other, or NULL. */
static const char *find_contradiction(const struct request *request)
{
    const char *useless = find_useless(request);

    if (useless != NULL) {
        return useless;
    }
    if (request->view == PROVE && request->index) {
        return "--prove is of sessions, and --index of files";
    }
    if (request->shown.form == ETWAS_FORM_CSV && request->view != CPU) {
        return "--csv goes with --cpu-time";
    }
    if (request->shown.is_verbose && request->view != COUNTS) {
        return "--verbose goes with none of --cpu-time, --heap, --hot and --prove";
    }
    if (request->shown.limit != SHOWN && request->view != HEAP && request->view != HOT) {
        return "--limit goes with --heap and --hot";
    }
    return NULL;
}

/* Shows one file in the requested view. */
static int show_file(struct request *request, const char *path, uint32_t number)
{
    switch (request->view) {
    case HEAP:
        return etwas_stat_show_heap(&request->shown, path, number);
    case HOT:
        return etwas_stat_show_hot(&request->shown, path, number);
    case CPU:
        return etwas_stat_show_cpu(&request->shown, path, number);
    default:
        return etwas_stat_show_counts(&request->shown, path, number);
    }
}

/* Shows all files, and writes their indexes if --index is given. */
static int show_files(struct request *request, char *const *paths, uint32_t count)
{
    int result = ETWAS_EXIT_DONE;

    for (uint32_t index = 0;
         index < count && request->shown.output->error == 0 && request->shown.where.error == NULL;
         index++) {
        int shown = show_file(request, paths[index], index + 1);

        if (request->index && shown != ETWAS_EXIT_FAILED &&
            etwas_stat_write_index(paths[index]) != ETWAS_EXIT_DONE) {
            shown = ETWAS_EXIT_FAILED;
        }
        /* A file that cannot be opened takes precedence over a damaged one. */
        if (result == ETWAS_EXIT_DONE || shown == ETWAS_EXIT_FAILED) {
            result = shown;
        }
        etwas_output_flush(request->shown.output);
    }
    if (request->view != CPU && request->shown.where.error == NULL && result != ETWAS_EXIT_FAILED) {
        (void)etwas_window_finish(&request->shown.window, "stat", paths, count);
    }
    return etwas_where_finish(&request->shown.where, &request->shown.paths, "stat", true, result);
}

static int run_stat(int argc, char **argv)
{
    static struct request request;
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    int result;

    request.shown.output = output;
    request.shown.limit = SHOWN;
    request.shown.where.paths = &request.shown.paths;
    if (!etwas_files_read_command(&files, &etwas_stat_command, argc, argv, UINT32_MAX, &request,
                                  &result) ||
        !etwas_command_fits(&etwas_stat_command, find_contradiction(&request), &result) ||
        !etwas_window_resolve(&request.shown.window, &etwas_stat_command, files.paths, files.count,
                              &result)) {
        return result;
    }
    etwas_shared_descriptions_open(&request.shown.shared, files.paths, files.count);
    if (!etwas_parts_read(&request.shown.parts, files.paths, files.count)) {
        result = etwas_output_no_memory("for so many files");
    } else if (request.view == PROVE) {
        result = etwas_stat_show_proof(&request.shown, files.paths, files.count);
    } else {
        result = show_files(&request, files.paths, files.count);
    }
    etwas_shared_descriptions_close(&request.shown.shared);
    etwas_parts_free(&request.shown.parts);
    etwas_where_clear(&request.shown.where);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}

#define VIEW_OPTION(view_name, view_help, view_setting)                                            \
    {                                                                                              \
        .name = view_name, .help = view_help, .type = ETWAS_OPTION_SETTING,                        \
        .setting = view_setting, ETWAS_PLACE(struct request, view),                                \
    }

static const struct etwas_option options[] = {
    ETWAS_WHERE_OPTIONS(struct request, shown.where),
    ETWAS_WINDOW_OPTIONS(struct request, shown.window),
    {.name = "cpu-time",
     .group = "What is shown, if not the counts of events",
     .help = "how long processors, processes and threads ran",
     .type = ETWAS_OPTION_SETTING,
     .setting = CPU,
     ETWAS_PLACE(struct request, view)},
    VIEW_OPTION("hot", "functions in which processors were most often", HOT),
    VIEW_OPTION("heap", "call stacks whose blocks were never freed", HEAP),
    VIEW_OPTION("prove", "whether each event is in the files, or counted as lost", PROVE),
    ETWAS_LIMIT_OPTION(struct request, shown.limit, "at most N functions or stacks (20; 0: all)"),
    ETWAS_JSON_OPTION(struct request, shown.form, "an object a line for each file or session"),
    ETWAS_CSV_OPTION(struct request, shown.form, "with --cpu-time: a line for each thread"),
    {.name = "index",
     .group = "Other results",
     .help = "also write FILE.index, which makes windows fast",
     .type = ETWAS_OPTION_FLAG,
     ETWAS_PLACE(struct request, index)},
    ETWAS_VERBOSE_OPTION(struct request, shown.is_verbose,
                         "also what the header says, and how the clocks ran"),
    ETWAS_COLOR_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_stat_command = {
    .name = "stat",
    .summary = "say what is in a trace, and what is missing",
    .usages = (const char *const[]){"[OPTION...] FILE...", NULL},
    .description =
        "Shows what is in each trace: what is missing (damage, lost events, replaced parts), what "
        "time it covers, and how many events there are, and how many a second, by name and by "
        "processor.",
    .details =
        (const char *const[]){
            "What nothing describes is GUID/TYPE of a classic event, GUID/#ID of a manifest "
            "one. stat reads the whole file, with a thread on each processor where it is "
            "large, finished, and read without --where: counts need no order of the events.",
            "Records of class EventTrace describe the trace itself, others describe events "
            "or, in traces of a program, images in memory. They are no events here.",
            "Lost events never got into the file, overwritten ones were replaced by newer "
            "ones. Both are the session's own counts.",
            "Rates are over the time that the file covers. Of a recorder's file, for a "
            "trigger, that is the time of which it has what each processor recorded, and "
            "the events in it. Of others it is from the session's start to its end. It "
            "begins with the first event in a snapshot, in a later part, or where newer "
            "events replaced others. It ends with the last event where the session wrote no "
            "end.",
            "Parts are missing where the files given skip numbers of a set. What came after "
            "the last is not known.",
            "A session of etwas with restartable sequences has one more stream of events "
            "than the computer has processors: what threads logged that could not run them.",
            "The session records about each second a clock snapshot, a reading of all clocks. By "
            "them stat shows when the wall clock was set and by how much, and whether the machine "
            "was suspended. With --verbose it also shows what the machine's cycle counter is "
            "worth, and why. It shows the largest error of a time between two snapshots, and how "
            "fast the clocks ran against each other (with an interval of 95 %). A time after the "
            "last snapshot, as a session that was killed leaves some, is known less well. etwas "
            "dump --times shows each event's time by any clock, with its error.",
            "--cpu-time is for traces of the kernel's context switches "
            "(EVENT_TRACE_FLAG_CSWITCH). Processor time is from switch to switch, from the "
            "first event of the file to the last. A thread is ready when it was taken from "
            "its processor and could have run on and, where the trace has ReadyThread "
            "events (EVENT_TRACE_FLAG_DISPATCHER), when it was woken. Where a switch is "
            "missing, because events were lost, or the kernel reported none, what happened "
            "since the one before is unknown, and as much of the time of those that waited "
            "meanwhile. What a hypervisor took from a processor is in the time of the "
            "thread that ran there. Threads that did not run are not listed. Where a "
            "process recorded itself alone, what else the processors did is unknown, and a "
            "thread that was woken waits until it runs.",
            "--hot is for traces with samples (EVENT_TRACE_FLAG_PROFILE). It shows in which "
            "functions the processors were most often, and how often each function was on a "
            "stack, if there are stacks. --where and the like, --from and --until choose samples, "
            "which are of the process and thread that ran.",
            "--heap is for traces that heaptrace --stacks wrote. It shows how many bytes "
            "each call stack allocated and never freed. The same options choose allocations, "
            "whenever they were freed.",
            "With --cpu-time, --pid, --process and --tid choose the threads that are listed. "
            "--prove is about whole files.",
            "--prove counts events in the files, and compares them with counts that did not "
            "pass the session's buffers: the session's own and, of the kernel's sources, "
            "the kernel's. Name all files of a session, and what etwas recover made of it "
            "if it was killed. The proof holds where what was attempted is in the files, "
            "overwritten or lost; for each source on each processor where what the kernel "
            "counted was taken or lost; and for each kind of records, of each processor's "
            "stream, where as many are in the files as were made of what was taken. A "
            "snapshot, a file whose session did not end, and one that another system wrote "
            "say too little to prove anything. A tracepoint that several flags have opened, "
            "each for itself, is one line as text, with what asks for it; its numbers are "
            "those of all. The exit status is 1 where the proof fails.",
            "With FILE.index beside FILE, --from and --until of any command find their part "
            "of a large file without reading each buffer. When FILE is written to again, "
            "the index is used no more.",
            "A window is exact to 100 ns. Of files that etwas wrote no more is read than "
            "the window takes. What is wrong with the rest is not reported then. Rates are "
            "over what the file covers of it.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas stat shop.etl", "Show what is in a trace, and what is missing."},
            {"etwas stat --hot --limit 10 kernel.etl", "Show the ten hottest functions."},
            {"etwas stat --prove shop.etl", "Prove that no event is missing."},
            {NULL, NULL},
        },
    ETWAS_WINDOW_NO_TIMES,
    .operands = ETWAS_VALUES_FILES,
    .run = run_stat,
};
