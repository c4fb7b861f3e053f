/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas why`.
 */

#include "why/why.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"

#include <stdio.h>

enum {
    SLOWEST = 10 /* unless another number is asked for */
};

static const char *const help[] = {
    "usage: etwas why [--class CLASS] [--instance N | --slowest K] [--from TIME]\n"
    "                 [--to TIME] [--json] FILE...\n"
    "\n",
    "Says where instances (from their event of type START to that of END) and\n"
    "activities (from opcode START to STOP) spent their time: running, ready and\n"
    "waiting for a processor, blocked. All files are one time line: a program's\n"
    "events and the kernel's may be in one file or in several. The kernel's need\n"
    "EVENT_TRACE_FLAG_CSWITCH; more is said with _DISPATCHER (who woke it, and when),\n"
    "_SYSTEMCALL (in which call it waited), _FILE_IO and _FILE_IO_INIT (on which\n"
    "file), _NETWORK_TCPIP (on which socket), _DISK_IO, _MEMORY_PAGE_FAULTS,\n"
    "_MEMORY_HARD_FAULTS, _INTERRUPT, _DPC, _PROCESS (names), and stacks of context\n"
    "switches. What was not recorded, and would have said more, is named.\n"
    "\n",
    "First there is a table of the classes, then one of the slowest, then the slowest\n"
    "is explained: who had the processor that it waited for, in which system call it\n"
    "was blocked, on which file or socket, who woke it, and its page faults.\n"
    "\n",
    "  -C, --class CLASS    only of this class: PROVIDER/CLASS, CLASS, or a GUID\n"
    "  -i, --instance N     only the instances of this number\n"
    "  -k, --slowest K      so many of the slowest, 1 to 1000 instead of 10\n"
    "      --from TIME, --to TIME\n"
    "                       only those whose START and END are both in this window\n"
    "  -j, --json           one JSON object with plain numbers\n"
    "  -h, --help           this text\n"
    "\n",
    "An instance is on the thread that logged its START until another thread logs an\n"
    "event of it. A file or socket is told where it is certain: the call was on it,\n"
    "and when that began and ended is known. Times are whole: what the kernel's\n"
    "events do not tell, because there are none of that time or some were lost in it,\n"
    "is unknown. Time in interrupts is a part of running, time in hard faults of the\n"
    "others. Without ReadyThread events, or where one is missing, who was woken is\n"
    "blocked until it runs, and who woke it is not known. 'Nobody' had the\n"
    "processor where it was idle, or what it did is not known any more: the last 256\n"
    "runs of each are kept. Where a process recorded itself alone nothing tells of\n"
    "others, nor when a thread was woken. At most 1048576 are open at once; what is\n"
    "left out is counted.\n"
    "\n"
    "Where no switch tells of an instance, and its session asked for the counters of\n"
    "its thread (ETWAS_ENABLE_PROPERTY_COUNTERS), times are by these, if it was on\n"
    "one thread: that it was blocked, and not on what. The processors that its own\n"
    "events are from tell how often it changed them, at least.\n"
    "\n",
    etwas_window_help,
    "The whole trace is read all the same: what was before the window says who ran\n"
    "and what was open when it begins.\n"
    "\n",
    "JSON keys:\n"
    "  files; damaged; events_lost; kernel_events (there are switches), ready_known;\n"
    "  calls_known; counted (so many ended with times by counters), rung (of the\n"
    "  kernel's events: 2 of one process, 3 the kernel refused, 0 not said);\n"
    "  started, open (without an end), replaced (by a second START),\n"
    "  unmatched (ENDs), left_out (too many open), other_classes: of the whole trace;\n"
    "  classes (class, guid, count, duration_ns, longest_ns, the times, counted);\n"
    "  slowest (class; instance or activity; parents: class, instance or activity,\n"
    "  the nearest first; process, name, thread, threads (that had it), start,\n"
    "  duration_ns, error_ns (of that; null: not known), the times, preemptions,\n"
    "  times_by (switches, counters, nothing),\n"
    "  counters (null; known: bits 1 ran_ns, 4 waited_ns, 2 the others, user_us,\n"
    "  kernel_us, voluntary_switches, involuntary_switches, minor_faults,\n"
    "  major_faults), processor_changes (known ones); fault_types (type, count);\n"
    "  processor_had: thread, process, name, ns; nobody_had_ns;\n"
    "  disk_requests: kind (read, write, flush), count, bytes, longest_ns;\n"
    "  blocked_on: call (number, null), call_name, hard_fault (it was in one), files\n"
    "  (that it was on), socket, waker (thread, interrupt, unknown), thread, process,\n"
    "  name, ns, times, longest_ns, stack (of that: its addresses), symbols (what\n"
    "  these are, as 'etwas dump --symbols' has it).\n"
    "The times are running_ns, ready_ns, blocked_ns, unknown_ns, which are all of the\n"
    "duration, and interrupt_ns, hard_fault_ns, page_faults.\n"
    "\n",
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

/* ---- the command line ------------------------------------------------------------------------ */

static bool take_option(void *context, int option)
{
    struct etwas_why *why = context;

    switch (option) {
    case 'C':
        why->class_name = optarg;
        return true;
    case 'i':
        why->has_instance = true;
        return etwas_options_number("why", "--instance", 0, UINT32_MAX, &why->instance);
    case 'f':
        return etwas_window_option(&why->window.from, "why", "--from", optarg);
    case 't':
        return etwas_window_option(&why->window.to, "why", "--to", optarg);
    case 'k':
        return etwas_options_number("why", "--slowest", 1, ETWAS_WHY_SLOWEST, &why->slowest);
    case 'j':
        why->json = true;
        return true;
    default:
        return false;
    }
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_why *why, struct etwas_files *files,
                          int *result)
{
    static const struct option named[] = {
        {"class", required_argument, NULL, 'C'},   {"instance", required_argument, NULL, 'i'},
        {"from", required_argument, NULL, 'f'},    {"to", required_argument, NULL, 't'},
        {"slowest", required_argument, NULL, 'k'}, {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"why", help, named, "C:i:k:jh", take_option};

    return etwas_options_read(&options, argc, argv, why, result) &&
           etwas_options_fit(&options,
                             etwas_files_read(files, argv + optind, argv + argc, ETWAS_INPUT_FILES),
                             result);
}

/* What was asked for by a name that nothing has. */
static void say_in_vain(const struct etwas_why *why)
{
    if (why->class_name != NULL && !etwas_why_has_class(why)) {
        fprintf(stderr, "etwas why: note: no class is called '%s'; without --class all are told\n",
                why->class_name);
    } else if (why->has_instance && why->chosen_count == 0) {
        fprintf(stderr,
                "etwas why: note: no instance that was seen whole has the number %u; without "
                "--instance the slowest are told\n",
                why->instance);
    }
}

int etwas_command_why(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_why why;
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    int result;

    why.run.inputs = inputs;
    why.slowest = SLOWEST;
    if (!parse_options(argc, argv, &why, &files, &result)) {
        return result;
    }
    if (!etwas_window_resolve(&why.window, "why", files.paths, files.count)) {
        return etwas_command_misused("why");
    }
    result = etwas_why_read(&why, files.paths, files.count);
    if (why.out_of_memory || why.schedule.out_of_memory || why.processes.out_of_memory ||
        why.file_names.out_of_memory || !etwas_all_descriptions_are_whole(&why.descriptions)) {
        result = etwas_output_no_memory("to follow everything");
    } else if (why.run.count > 0) {
        if (why.json) {
            etwas_why_json(output, &why, result);
        } else {
            etwas_why_text(output, &why);
        }
    }
    if (why.run.count > 0 && etwas_window_finish(&why.window, "why", files.paths, files.count)) {
        say_in_vain(&why);
    }
    etwas_why_free(&why);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}
