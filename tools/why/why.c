/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas why`.
 */

#include "show/why.h"

#include "cli/files.h"
#include "commands.h"
#include "exit.h"
#include "where/option.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOWEST = 10 /* instances, unless --slowest is given */
};

/* The command line. */
struct command_line {
    struct etwas_why why;
    int form; /* enum etwas_form */
};

/* Prints a note if no span has the requested class, or the requested number. */
static void say_in_vain(const struct etwas_why *why)
{
    if (etwas_is_quiet) {
        return;
    }
    if (why->other_classes == 0) {
        etwas_span_name_report("why", why->class_name, etwas_why_has_class, why, "shown");
    }
    if ((why->class_name == NULL || etwas_why_has_class(why, why->class_name)) &&
        why->has_instance && why->chosen_count == 0) {
        fprintf(stderr,
                "etwas why: note: no instance that was seen whole has the number %" PRIu64
                "; without --instance the slowest are told. Activities have no number: "
                "--where \"activity == '...'\", or a condition on a field, chooses them\n",
                why->instance);
    }
}

/*
 * Returns whether `path` ends with `end`, and a file exists that ends with `other_end` instead.
 * Stores the path of that file in `beside`.
 */
static bool is_beside(const char *path, const char *end, const char *other_end,
                      char beside[PATH_MAX])
{
    size_t length = strlen(path);

    return length > strlen(end) && strcmp(path + length - strlen(end), end) == 0 &&
           snprintf(beside, PATH_MAX, "%.*s%s", (int)(length - strlen(end)), path, other_end) <
               PATH_MAX &&
           access(beside, F_OK) == 0;
}

/* Prints a note if only one of the two files that `etwas record` writes is given. */
static void say_beside(const struct etwas_why *why, const struct etwas_files *files)
{
    char beside[PATH_MAX];

    if (etwas_is_quiet || files->count != 1) {
        return;
    }
    if (!why->has_kernel_events && is_beside(files->paths[0], ".programs.etl", ".etl", beside)) {
        fprintf(stderr, "etwas why: %s: note: %s has the kernel's events: give both\n",
                files->paths[0], beside);
    } else if (why->class_count == 0 &&
               is_beside(files->paths[0], ".etl", ".programs.etl", beside)) {
        fprintf(stderr, "etwas why: %s: note: %s has the events of programs: give both\n",
                files->paths[0], beside);
    }
}

static int run_why(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct command_line line;
    struct etwas_why *why = &line.why;
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    int result;

    why->run.inputs = inputs;
    why->slowest = SLOWEST;
    why->instance = UINT64_MAX;
    why->where.paths = &why->paths;
    if (!etwas_files_read_command(&files, &etwas_why_command, argc, argv, ETWAS_INPUT_FILES, &line,
                                  &result) ||
        !etwas_window_resolve(&why->window, &etwas_why_command, files.paths, files.count,
                              &result)) {
        return result;
    }
    why->has_instance = why->instance != UINT64_MAX;
    result = etwas_why_read(why, files.paths, files.count);
    if (why->out_of_memory || why->schedule.out_of_memory || why->processes.out_of_memory ||
        why->file_names.out_of_memory || !etwas_all_descriptions_are_whole(&why->descriptions)) {
        result = etwas_output_no_memory("to follow everything");
    } else if (why->run.count > 0 && why->where.error == NULL) {
        if (line.form == ETWAS_FORM_JSON) {
            etwas_why_json(output, why, result);
        } else {
            etwas_why_text(output, why);
        }
    }
    result = etwas_where_finish(&why->where, &why->paths, "why", true, result);
    if (why->run.count > 0 && why->where.error == NULL &&
        etwas_window_finish(&why->window, "why", files.paths, files.count)) {
        say_in_vain(why);
        say_beside(why, &files);
    }
    etwas_why_free(why);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    ETWAS_CLASS_OPTION(struct command_line, why.class_name),
    {.name = "instance",
     .value = "N",
     .help = "only instances of this number; activities have none",
     .type = ETWAS_OPTION_COUNT,
     .most = UINT32_MAX,
     ETWAS_PLACE(struct command_line, why.instance)},
    ETWAS_WHERE_OPTIONS(struct command_line, why.where),
    ETWAS_WINDOW_OPTIONS(struct command_line, why.window),
    {.name = "slowest",
     .value = "K",
     .group = "What is shown",
     .help = "the K slowest instances (10)",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = ETWAS_WHY_SLOWEST,
     ETWAS_PLACE(struct command_line, why.slowest)},
    ETWAS_JSON_OPTION(struct command_line, form, "one object"),
    ETWAS_COLOR_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_why_command = {
    .name = "why",
    .summary = "explain where the time of instances went",
    .usages = (const char *const[]){"[OPTION...] FILE...", NULL},
    .description =
        "Explains where instances and activities spent their time: running, ready and "
        "waiting for a processor, or blocked. A table of the classes comes first, then the "
        "slowest instances, then the slowest one is explained.",
    .details =
        (const char *const[]){
            "All files are one time line: a program's events and the kernel's may be in one "
            "file or in several. The kernel's need EVENT_TRACE_FLAG_CSWITCH.",
            "More is shown with other flags: DISPATCHER (who woke it, and when), SYSTEMCALL "
            "(in which call it waited), FILE_IO and FILE_IO_INIT (on which file), "
            "NETWORK_TCPIP (on which socket), DISK_IO, MEMORY_PAGE_FAULTS, "
            "MEMORY_HARD_FAULTS, INTERRUPT, DPC, PROCESS (names), and stacks of context "
            "switches. What was not recorded, and would have shown more, is named.",
            "Of the slowest instance it shows who had the processor that it waited for, in "
            "which system call it was blocked, on which file or socket, who woke it, and "
            "its page faults.",
            "An instance is on the thread that logged its START until another thread logs "
            "an event of it. A file or socket is shown where it is certain: the call was on "
            "it, and when that began and ended is known.",
            "Times are whole. What the kernel's events do not show, because there are none "
            "of that time or some were lost in it, is unknown. Time in interrupts is a part "
            "of running, time in hard faults of the others.",
            "Without ReadyThread events, or where one is missing, a thread that was woken "
            "is blocked until it runs, and what woke it is not known. 'Nobody' had the "
            "processor where it was idle, or what it did is not known any more: the last "
            "256 runs of each are kept.",
            "Where a process recorded itself alone, nothing shows what others did, nor when "
            "a thread was woken. At most 1048576 instances are open at once; what is left "
            "out is counted.",
            "Where no switch belongs to an instance, and its session asked for the counters "
            "of its thread (ETWAS_ENABLE_PROPERTY_COUNTERS), times are by these, if it was "
            "on one thread. They show that it was blocked, and not on what. The processors "
            "of its own events show how often it changed them, at least.",
            "An activity has no number: --where with its activity, or with a field, chooses it.",
            "With --where, an instance counts if its START or its END is such an event. The END "
            "knows its duration.",
            "The window takes instances whose START and END are both in it. The whole trace "
            "is read all the same: what was before the window shows who ran and what was "
            "open when it begins.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas why shop.etl kernel.etl",
             "Explain the slowest instances by the kernel's events."},
            {"etwas why --class Shop/Order --instance 4711 shop.etl", "Explain one instance."},
            {NULL, NULL},
        },
    ETWAS_WINDOW_NO_TIMES,
    .operands = ETWAS_VALUES_FILES,
    .run = run_why,
};
