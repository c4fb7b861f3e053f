/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas why`.
 */

#include "why/why.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"
#include "event/event.h"
#include "stat/stat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- events ---------------------------------------------------------------------------------- */

static void take_span(struct etwas_why *why, const struct etwas_input *input,
                      const EVENT_RECORD *record, int64_t time_ns)
{
    const etwas_span *span;

    switch (etwas_spans_take(why->spans, record, input->number, time_ns, &span)) {
    case ETWAS_SPAN_START:
        etwas_why_start(why, input, record, span, etwas_why_class(why, input, record));
        etwas_why_count(why, input, span, record, time_ns);
        break;
    case ETWAS_SPAN_INSIDE:
        etwas_why_move(why, span, record->EventHeader.ThreadId, time_ns);
        etwas_why_count(why, input, span, record, time_ns);
        break;
    case ETWAS_SPAN_END:
        etwas_why_count(why, input, span, record, time_ns);
        etwas_why_end(why, input, record, span, time_ns);
        break;
    default:
        break;
    }
}

static void take_kernel(struct etwas_why *why, const struct etwas_input *input,
                        const EVENT_RECORD *record, struct etwas_kernel_event *event,
                        int64_t time_ns)
{
    if (why->follows) {
        if (event->kind == ETWAS_KERNEL_CALL_ENTER) {
            etwas_why_learn_calls(why, input, record);
        }
        etwas_why_kernel(why, input, record, event, time_ns);
        return;
    }
    why->kernel_end_ns = time_ns;
    if (event->kind == ETWAS_KERNEL_SWITCH && !why->has_kernel_events) {
        why->has_kernel_events = true;
        why->schedule.begins_late |= etwas_trace_coverage_begins_late(input);
    }
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_why *why = input->context;
    int64_t time_ns = etwas_input_monotonic_ns(input, record);
    struct etwas_kernel_event event;

    if (etwas_event_is_header_class(record)) {
        return;
    }
    if (!why->window.has_held) {
        (void)etwas_window_holds(&why->window, input, record);
    }
    if (!why->follows) {
        etwas_addresses_add_record(&why->addresses[input->number - 1], record);
        etwas_why_take_rung(why, record);
        why->recorded_flags |= etwas_event_kernel_flags(record);
    }
    if (etwas_kernel_is_file_name(record)) {
        etwas_file_names_add_record(&why->file_names, input->number, record, why->follows);
    }
    if (etwas_kernel_read(record, &event)) {
        take_kernel(why, input, record, &event, time_ns);
    } else if (etwas_kernel_is_process(record)) {
        if (why->follows) {
            etwas_processes_follow(&why->processes, &why->schedule, record, time_ns);
        }
    } else {
        take_span(why, input, record, time_ns);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool why_open(struct etwas_why *why)
{
    why->classes = calloc(ETWAS_WHY_CLASSES, sizeof *why->classes);
    why->slow = calloc((size_t)why->slowest + 1, sizeof *why->slow);
    why->chosen = calloc((size_t)why->slowest + 1, sizeof *why->chosen);
    why->runs = calloc(ETWAS_SCHEDULE_PROCESSORS, sizeof(struct etwas_why_runs *));
    why->addresses = calloc(ETWAS_INPUT_FILES, sizeof *why->addresses);
    return why->addresses != NULL && why->classes != NULL && why->slow != NULL &&
           why->chosen != NULL && why->runs != NULL && etwas_schedule_open(&why->schedule) &&
           etwas_processes_open(&why->processes) && etwas_file_names_open(&why->file_names);
}

static void why_close(struct etwas_why *why)
{
    for (uint32_t i = 0; why->runs != NULL && i < ETWAS_SCHEDULE_PROCESSORS; i++) {
        free(why->runs[i]);
    }
    for (uint32_t i = 0; i < ETWAS_INPUT_FILES; i++) {
        if (why->descriptions[i].decoder != NULL) {
            etwas_descriptions_report_left_out(why->descriptions[i].decoder,
                                               why->descriptions[i].path);
            etwas_descriptions_close(&why->descriptions[i]);
        }
        if (why->addresses != NULL && why->addresses[i].decoder != NULL) {
            etwas_addresses_close(&why->addresses[i]);
        }
    }
    free(why->addresses);
    free((void *)why->runs);
    free(why->classes);
    free(why->slow);
    free(why->chosen);
    free(why->open);
    free(why->threads);
    etwas_spans_close(why->spans);
    etwas_processes_close(&why->processes);
    etwas_file_names_close(&why->file_names);
    etwas_schedule_close(&why->schedule);
}

/* Opens what describes the files, unless an earlier reading has. */
static void prepare_inputs(struct etwas_why *why)
{
    for (uint32_t i = 0; i < why->run.count; i++) {
        struct etwas_input *input = &why->run.inputs[i];
        struct etwas_descriptions *descriptions = &why->descriptions[input->number - 1];

        (void)etwas_trace_query(input->trace, &input->information);
        why->out_of_memory |= descriptions->decoder == NULL &&
                              (!etwas_descriptions_open(descriptions, input->path, &why->paths) ||
                               !etwas_addresses_open(&why->addresses[input->number - 1]));
    }
}

/* All files, from their beginning to their end. */
static int read_files(struct etwas_why *why, char *const *paths, uint32_t count)
{
    const struct etwas_input_callbacks callbacks = {.record = on_record, .time = ETWAS_INPUT_RAW};
    int result;
    int processed;

    why->run.count = 0;
    why->run.stop = false;
    etwas_spans_close(why->spans);
    if (etwas_spans_open(0, &why->spans) != ERROR_SUCCESS) {
        why->out_of_memory = true;
        return ETWAS_EXIT_OPEN;
    }
    result = etwas_input_open_all(&why->run, paths, count, &callbacks, why);
    prepare_inputs(why);
    if (why->run.count == 0) {
        return result;
    }
    etwas_progress_start(&why->run.progress, false);
    processed = etwas_input_process(&why->run);
    return result == ETWAS_EXIT_FINE ? processed : result;
}

static int read_twice(struct etwas_why *why, char *const *paths, uint32_t count)
{
    int result;

    if (!why_open(why)) {
        why->out_of_memory = true;
        return ETWAS_EXIT_OPEN;
    }
    result = read_files(why, paths, count);
    if (why->run.count == 0 || why->out_of_memory) {
        return result;
    }
    why->follows = true;
    why->other_classes = 0;
    why->schedule.interval = etwas_why_interval;
    why->schedule.context = why;
    result = read_files(why, paths, count);
    for (uint32_t i = 0; i < why->run.count; i++) {
        etwas_input_warn(&why->run.inputs[i]);
        why->events_lost += etwas_input_lost(&why->run.inputs[i]);
    }
    return result;
}

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
    result = read_twice(&why, files.paths, files.count);
    if (why.out_of_memory || why.schedule.out_of_memory || why.processes.out_of_memory ||
        why.file_names.out_of_memory) {
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
    why_close(&why);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}
