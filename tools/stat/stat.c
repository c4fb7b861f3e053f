/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas stat`.
 */

#include "stat/stat.h"
#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"
#include "stat/show.h"
#include "where/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    SHOWN = 20 /* stacks or functions, unless another number is asked for */
};

static const char *const help[] = {
    "usage: etwas stat [--json] [--where EXPRESSION] [--from T] [--to T] FILE...\n"
    "       etwas stat --index FILE...\n"
    "       etwas stat --cpu [--json|--csv] FILE...\n"
    "       etwas stat --hot[=FUNCTIONS] [--json] FILE...\n"
    "       etwas stat --heap[=STACKS] [--json] FILE...\n"
    "       etwas stat --prove [--json] FILE...\n"
    "\n",
    "Says what is in each trace: first what is not in it (damage, lost events, what\n"
    "a circular file replaced, no end, missing parts of a new-file set), then the\n"
    "session that recorded it, then how many events there are of each\n"
    "processor and of each kind by its name, most frequent first. What nothing\n"
    "describes is GUID/TYPE of a classic event, GUID/#ID of a manifest one. Reads the\n"
    "whole file, with a thread on each processor where it is large, finished, and\n"
    "read without --where: counts need no order of the events.\n"
    "\n",
    "  -w, --where EXPRESSION\n"
    "               only events for which it is true; see below\n"
    "      --from TIME, --to TIME\n"
    "               only events of this window, to 100 ns; see below\n"
    "  -C, --cpu    of traces of the kernel's context switches: how long each\n"
    "               processor was busy, and each process and thread ran, waited\n"
    "  -c, --csv    with --cpu: a line for each thread, comma-separated\n"
    "  -F, --hot[=FUNCTIONS]\n"
    "               of traces with samples (EVENT_TRACE_FLAG_PROFILE): in which\n"
    "               functions the processors were most often, and how often each was\n"
    "               on a stack, if there are any; the 20 first, or so many, 0: all\n"
    "  -H, --heap[=STACKS]\n"
    "               of traces that 'heaptrace --stacks' wrote: how many bytes each\n"
    "               call stack allocated and never freed; the 20 stacks that hold\n"
    "               most, or so many, 0: all\n"
    "  -p, --prove  whether each event that the session's writers attempted is in its\n"
    "               files, or counted as overwritten or lost; and of the kernel's\n"
    "               events, source by source. Name all files of a session, and what\n"
    "               'etwas recover' made of it if it was killed\n"
    "      --index  also writes FILE.index: with it beside FILE, --from and --to of\n"
    "               any command find their part of a large file without a look at\n"
    "               each buffer. When FILE is written to again it is used no more\n"
    "  -j, --json   one JSON object a line for each file, with plain numbers\n"
    "  -h, --help   this text\n"
    "\n",
    "Records of class EventTrace describe the trace itself, others describe events\n"
    "or, in traces of a program, images in memory; they are no events here.\n"
    "Lost events never got into the file, overwritten ones were replaced by newer\n"
    "ones; both are the session's own counts. Rates are over the time that the file\n"
    "covers: of a recorder's file, for a trigger, that of which it has what each\n"
    "processor recorded, and the events in it; of others from the session's start to\n"
    "its end, from the first event in a snapshot, a later part, or where newer events\n"
    "replaced others, and to the last event where the session wrote no end. Parts are\n"
    "missing where the files given skip numbers of a set; what came after the last is\n"
    "not known.\n"
    "A session of etwas with restartable sequences has one more stream of events than\n"
    "the computer has processors: what threads logged that could not run them.\n"
    "\n",
    "The session notes what it finds about the clocks: what the cycle counter of the\n"
    "machine is worth, and why; about each second a clock snapshot, a reading of all\n"
    "clocks. By them: the largest error of a time between two of them, how fast the\n"
    "clocks ran against each other (with an interval of 95 %), when the wall clock\n"
    "was set and by how much, and whether the machine was suspended. A time after the\n"
    "last of them, as a session that was killed leaves some, is known less well.\n"
    "'etwas dump --clock' shows each event's time by any clock, with its error.\n"
    "\n",
    "JSON keys:\n"
    "  file; damaged; damage_count; bytes_skipped; damages (the first 20: offset,\n"
    "  kind, bytes_skipped); events_lost; unattached_total and\n"
    "  unattached_reason (where some processes could not log into the session: how\n"
    "  many, and why the last; not in others); lost_untold (of those that are lost:\n"
    "  why and when the file does not say); events_missing (recorded, and not in the\n"
    "  file; null: not known); buffers_lost; overwritten_events;\n"
    "  overwritten_buffers; unfinished; part (of a new-file set, 0: of none);\n"
    "  parts_missing (runs of parts: first, last);\n"
    "  session; log_file; mode; mode_names; buffer_bytes; buffers (in the file);\n"
    "  buffers_written (by the session's count); clock; clock_frequency (ticks a\n"
    "  second); calibrated; clocks (see below); protocol (rseq, shared),\n"
    "  protocol_reason (why not rseq); computer_processors; processor_mhz;\n"
    "  pointer_bytes; system; booted; started; ended (null: unfinished);\n"
    "  covered_from, covered_until, duration_s (what the file covers; null: not\n"
    "  known); events_outside (of it); file_bytes;\n"
    "  compressed; uncompressed_bytes (what its buffers would take); events;\n"
    "  payload_bytes; header_events (of class EventTrace, and what describes\n"
    "  events and images); repeated_events (in a report: another file has them too,\n"
    "  and they count there); repeated_events_lost, repeated_overwritten_events (in a\n"
    "  report: so many of those another file of the session tells too);\n"
    "  events_per_second; first_event; last_event;\n"
    "  losses (of the session: events, from and until when, cause, processor if it is\n"
    "  known); not_recorded (processor, from and until when it was off, or not\n"
    "  recorded yet; from null: the beginning); not_recorded_count;\n",
    "  processors (processor, null if not recorded and of that stream, events,\n"
    "  payload_bytes);\n"
    "  classes (class, name if it has one, type, id of manifest events, events,\n"
    "  payload_bytes); other_class_events (of more than 65536 kinds).\n"
    "Of clocks:\n"
    "  requested (by the session); counter (verdict, null if there is none; measured,\n"
    "  else it is by what the machine says; reasons: bit, text; frequency_hz,\n"
    "  frequency_error_ppb, stated_hz, stated_by, clocksource, hypervisor), both\n"
    "  null if not noted; clock_snapshots; clock_snapshots_unusable (they contradict\n"
    "  others); seconds (between the first and the last);\n"
    "  qpc_error_ns and system_error_ns (largest between two, null: not known);\n"
    "  system_against_qpc, tsc_against_calibrated, tsc_against_stated (null, or\n"
    "  ppm > 0: faster, interval_ppm, points, seconds); steps (of the wall clock),\n"
    "  steps_ns (all together), first_steps (at most 16: before, after, step_ns),\n"
    "  largest_step; suspends, suspended_ns.\n"
    "Processor time is from switch to switch (EVENT_TRACE_FLAG_CSWITCH), from the\n"
    "first event of the file to the last. A thread is ready when it was taken from\n"
    "its processor and could have run on and, where the trace has ReadyThread events\n"
    "(EVENT_TRACE_FLAG_DISPATCHER), when it was woken. Where a switch is missing,\n"
    "because events were lost, or the kernel told of none, what happened since the\n"
    "one before is unknown, and as much of the time of those who waited meanwhile.\n"
    "What a hypervisor took from a processor is in the time of who ran there. Threads\n"
    "that did not run are not listed. Where a process recorded itself alone, what\n"
    "else the processors did is unknown, and who was woken waits until it runs.\n"
    "With --cpu:\n"
    "  file; damaged; events_lost; begins_late, ends_early (the file has only what\n"
    "  came last, or no end); ready_known (there are ReadyThread events);\n"
    "  own_process (if that alone was recorded); duration_ns; switches; processors\n"
    "  (processor, busy_ns, idle_ns, unknown_ns, switches, gaps: where a switch is\n"
    "  missing); processes (one for each program that an id was; process, null if not\n"
    "  known, name if there is one,\n"
    "  running_ns, ready_ns, waiting_ns, unknown_ns, switches_in, preemptions,\n"
    "  threads: thread, the same numbers, ran_at_begin, ran_at_end);\n"
    "  threads_not_run; other_running_ns (of more than 1048576 threads).\n"
    "With --hot:\n"
    "  file; damaged; events_lost; samples; idle (more, of idle processors);\n"
    "  with_stack (of the samples); cut (of these: the stack goes on, and [cut] is in\n"
    "  the place of the rest); without_inlined (of images without debug information,\n"
    "  which would say what is inlined); interval_ns (0: not known); other (samples\n"
    "  of more functions than are told apart); function_count;\n"
    "  functions (samples, share of all, total_samples: it was on the stack,\n"
    "  total_share, function and image, null where not known, kernel, changed: the\n"
    "  file of the image is of another build by now).\n"
    "With --heap:\n"
    "  file; damaged; events_lost; live_bytes, live_blocks (never freed);\n"
    "  allocated_bytes; allocations; frees; failed (allocations); without_stack\n"
    "  (allocations); with_cut_stack (likewise: their outermost frame is [cut]);\n"
    "  frames (of all allocations); unknown_frees, unknown_reallocs\n"
    "  (of blocks that the file does not have); replaced_blocks (by others at their\n"
    "  address); malformed (events); images_left_out; stack_count;\n"
    "  stacks (live_bytes, live_blocks, allocated_bytes, allocations, frames: from\n"
    "  the caller outwards address, image and offset, function and function_offset,\n"
    "  file and line, as far as they are known).\n"
    "\n",
    "The proof: events are counted in the files, and compared with counts that did\n"
    "not pass the session's buffers: the session's own and, of the kernel's sources,\n"
    "the kernel's. It holds where what was attempted is in the files, overwritten or\n"
    "lost; for each source on each processor where what the kernel counted was taken\n"
    "or lost; and for each kind of records, of each processor's stream, where as many\n"
    "are in the files as were made of what was taken. A snapshot, a file whose\n"
    "session did not end, and one that another system wrote say too little to prove\n"
    "anything. A tracepoint that several flags have opened, each for itself, is one\n"
    "line as text, with what asks for it; its numbers are those of all.\n"
    "With --prove, an object for each session:\n"
    "  files; session; proved; reasons (why not, the first 16); ended (a file says\n"
    "  that the session ended with it); recovered (a file is what it had in memory\n"
    "  when it was killed, and says the counts of all of it); attempted; in_files\n"
    "  (counted); overwritten; lost; null is what no file says; kernel (the session\n"
    "  recorded it); and of such: lost_in_kernel; no_buffer (records that no buffer\n"
    "  had room for);\n"
    "  times_no_room, events_no_room (of rings; the records KernelLoss say when);\n"
    "  sources (source, number, processor; flags that ask for it; counted_by: kernel,\n"
    "  'kernel, lost alone' of intervals and of what it tells of processes, or\n"
    "  nobody: the logger itself;\n"
    "  attempted; taken; without_record: joined with others; lost_no_room: in a ring;\n"
    "  lost_unread; lost_not_handed: the kernel says nothing of them; made: records;\n"
    "  ring_damaged); records (class, type, processor, made, refused, in_files;\n"
    "  accounted: a source has it).\n"
    "Times are UTC.\n"
    "\n",
    etwas_window_help,
    "Of files that etwas wrote no more is read than the window takes; what is wrong\n"
    "with the rest is not told then. Rates are over what the file covers of it.\n"
    "\n",
    etwas_where_help,
    "\n",
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

/* What the command line asks for. */
struct request {
    struct etwas_stat_request shown;
    bool cpu;
    bool heap;
    bool hot;
    bool prove;
    bool index;
};

/* How many of `what` an option asks for, NULL: none. */
static bool read_shown(const char *text, const char *what, uint32_t *shown)
{
    char *end;
    unsigned long value;

    *shown = SHOWN;
    if (text == NULL) {
        return true;
    }
    value = strtoul(text, &end, 10);
    *shown = (uint32_t)value;
    if (*text < '0' || *text > '9' || *end != '\0' || value > UINT32_MAX) {
        fprintf(stderr, "etwas stat: %s\n", what);
        return false;
    }
    return true;
}

/* What options do not go together; NULL: all is well. */
static const char *contradiction(const struct request *request)
{
    if (request->heap && request->shown.has_where) {
        return "--heap needs all events, and takes no --where";
    }
    if (request->cpu && request->shown.has_where) {
        return "--cpu needs all events, and takes no --where";
    }
    if (request->cpu && request->heap) {
        return "--cpu or --heap, not both";
    }
    if (request->prove &&
        (request->heap || request->cpu || request->hot || request->shown.has_where)) {
        return "--prove counts all events, and goes with --json alone";
    }
    if (request->prove && request->index) {
        return "--prove is of sessions, and --index of files";
    }
    if (request->hot && (request->shown.has_where || request->cpu || request->heap)) {
        return "--hot goes with neither --where, --cpu nor --heap";
    }
    if (etwas_window_is_set(&request->shown.window) &&
        (request->heap || request->cpu || request->hot || request->prove)) {
        return "--from and --to go with neither --cpu, --hot, --heap nor --prove";
    }
    if (request->shown.csv && (!request->cpu || request->shown.json)) {
        return "--csv goes with --cpu, and without --json";
    }
    return NULL;
}

/* Shows one file as it is asked for. */
static int show_file(struct request *request, const char *path, uint32_t number)
{
    return request->heap  ? etwas_stat_show_heap(&request->shown, path, number)
           : request->hot ? etwas_stat_show_hot(&request->shown, path, number)
           : request->cpu ? etwas_stat_show_cpu(&request->shown, path, number)
                          : etwas_stat_show_counts(&request->shown, path, number);
}

static bool take_option(void *context, int option)
{
    struct request *request = context;

    request->shown.json |= option == 'j';
    request->shown.csv |= option == 'c';
    request->cpu |= option == 'C';
    request->heap |= option == 'H';
    request->prove |= option == 'p';
    request->index |= option == 'i';
    request->hot |= option == 'F';
    switch (option) {
    case 'w':
        request->shown.has_where =
            etwas_where_option(&request->shown.where, "stat", optarg, &request->shown.paths);
        return request->shown.has_where;
    case 'f':
        return etwas_window_option(&request->shown.window.from, "stat", "--from", optarg);
    case 't':
        return etwas_window_option(&request->shown.window.to, "stat", "--to", optarg);
    case 'H':
        return read_shown(optarg, "--heap takes a number of stacks", &request->shown.limit);
    case 'F':
        return read_shown(optarg, "--hot takes a number of functions", &request->shown.limit);
    default:
        return option != '?';
    }
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct request *request, struct etwas_files *files,
                          int *result)
{
    static const struct option named[] = {
        {"json", no_argument, NULL, 'j'},       {"csv", no_argument, NULL, 'c'},
        {"cpu", no_argument, NULL, 'C'},        {"heap", optional_argument, NULL, 'H'},
        {"hot", optional_argument, NULL, 'F'},  {"where", required_argument, NULL, 'w'},
        {"prove", no_argument, NULL, 'p'},      {"index", no_argument, NULL, 'i'},
        {"from", required_argument, NULL, 'f'}, {"to", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"stat", help, named, "jcCH::F::pw:h", take_option};
    const char *wrong;

    if (!etwas_options_read(&options, argc, argv, request, result)) {
        return false;
    }
    wrong = contradiction(request);
    if (wrong == NULL) {
        wrong = etwas_files_read(files, argv + optind, argv + argc, UINT32_MAX);
    }
    return etwas_options_fit(&options, wrong, result);
}

/* Each of them. */
static int show_files(struct request *request, char *const *paths, uint32_t count)
{
    int result = ETWAS_EXIT_FINE;

    for (uint32_t index = 0;
         index < count && request->shown.output->error == 0 && request->shown.where.error == NULL;
         index++) {
        int shown = show_file(request, paths[index], index + 1);

        if (request->index && shown != ETWAS_EXIT_OPEN &&
            etwas_stat_write_index(paths[index]) != ETWAS_EXIT_FINE) {
            shown = ETWAS_EXIT_OPEN;
        }
        /* A file that cannot be opened weighs more than a damaged one. */
        if (result == ETWAS_EXIT_FINE || shown == ETWAS_EXIT_OPEN) {
            result = shown;
        }
        etwas_output_flush(request->shown.output);
    }
    if (!request->heap && !request->hot && !request->cpu && request->shown.where.error == NULL &&
        result != ETWAS_EXIT_OPEN) {
        (void)etwas_window_finish(&request->shown.window, "stat", paths, count);
    }
    return etwas_where_finish(&request->shown.where, &request->shown.paths, "stat", true, result);
}

int etwas_command_stat(int argc, char **argv)
{
    static struct request request;
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    int result;

    request.shown.output = output;
    if (!parse_options(argc, argv, &request, &files, &result)) {
        return result;
    }
    if (!etwas_window_resolve(&request.shown.window, "stat", files.paths, files.count)) {
        return etwas_command_misused("stat");
    }
    etwas_shared_descriptions_open(&request.shown.shared, files.paths, files.count);
    if (!etwas_parts_read(&request.shown.parts, files.paths, files.count)) {
        result = etwas_output_no_memory("for so many files");
    } else if (request.prove) {
        result = etwas_stat_show_proof(&request.shown, files.paths, files.count);
    } else {
        result = show_files(&request, files.paths, files.count);
    }
    etwas_shared_descriptions_close(&request.shown.shared);
    etwas_parts_free(&request.shown.parts);
    etwas_where_clear(&request.shown.where);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}
