/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas advise`.
 */

#include "advise/advise.h"

#include "advise/replay.h"
#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    LATE_MS = 100, /* unless other figures are given */
    DISK_MB = 200,
    MARGIN_PERCENT = 20,
    NS_A_MS = 1000000,
    BYTES_A_MB = 1000000,
    MOST_BUFFERS = 65536, /* that may be asked about */
    LARGEST_KB = 16384,
    PAGE_KB = 4,
};

static const char *const help[] = {
    "usage: etwas advise --history SECONDS [OPTION...] FILE...\n"
    "       etwas advise [OPTION...] FILE...\n"
    "\n",
    "Says which BufferSize, MinimumBuffers and MaximumBuffers a session needs that\n"
    "gets what is in a trace: with --history a flight recorder\n"
    "(EVENT_TRACE_BUFFERING_MODE) that holds the last SECONDS at every moment of it,\n"
    "without it a session with a file that loses nothing. Then what half as many\n"
    "buffers would do, and what to write into the program. Several files are one\n"
    "trace: the parts of a new-file set. Record it under the load that matters, with\n"
    "the providers and levels that matter, and long enough to have its bursts. What\n"
    "was lost when it was recorded is not in it: then more is needed than is said.\n"
    "\n",
    "  -H, --history SECONDS  to be held; 0.001 to 1000000000\n"
    "  -l, --late MS          the flusher of a file comes so late when it is woken,\n"
    "                         by other threads or a disk that stalls: 100\n"
    "  -d, --disk MB          the disk takes so many million bytes a second: 200\n"
    "  -f, --flush-timer SECONDS  of a session with timed flushes: 0, it has none\n"
    "  -m, --margin PERCENT   so many buffers more than the trace needs: 20\n"
    "  -s, --buffer-size KB   buffers of this size instead of the best one\n"
    "  -b, --buffers N[,M]    what N buffers do, instead of how many are needed; of a\n"
    "                         session with a file N at the start and M at most\n"
    "  -r, --replay[=FACTOR]  try it: log the trace's events to such a session here,\n"
    "                         records of the same sizes at the same times, or FACTOR\n"
    "                         times as fast\n"
    "  -j, --json             one JSON object with plain numbers\n"
    "  -h, --help             this text\n"
    "\n",
    "Rates are bytes of records as they lie in buffers; the busiest is that of a\n"
    "tenth of a second. A flight recorder's processors share its buffers, and the\n"
    "oldest full one is overwritten. What it holds goes back to the newest event\n"
    "that was overwritten, on whichever processor: from there on it has everything.\n"
    "A processor with little to log is long in one buffer, which may be overwritten\n"
    "soon after it is full: then more buffers need not hold more. Where no number\n"
    "that was tried holds the history at every moment, the one is said that does for\n"
    "most of the time, and for how long less was held. Of a trace that is shorter\n"
    "than the history the mean rate is taken to go on.\n"
    "\n",
    "A file's flusher is woken when half of the buffers are used, or a new one has\n"
    "to be taken into use, and looks by itself after 1 ms to 1 s, as the library's\n"
    "does. MinimumBuffers are touched at the start and find room for 99 % of the\n"
    "events, the others are taken into use by bursts, up to MaximumBuffers.\n"
    "\n"
    "The replay has a thread for each processor of the trace, as far as this machine\n"
    "has as many, and needs $TMPDIR, or /var/tmp, for its file. It tells a flight\n"
    "recorder's history in the trace's time, from snapshots at the moment that should\n"
    "be the worst, for which all threads stop, and at the end. Of more than 4 million\n"
    "events those that are beside each other have their mean size.\n"
    "\n",
    "JSON keys:\n"
    "  files, damaged, events_lost, events_overwritten (both when it was recorded);\n"
    "  retention_classes (whether the session had some, which the sizes leave out);\n"
    "  events, bytes, seconds, largest_record, computer_processors;\n"
    "  bytes_per_second, burst_bytes_per_second, burst_at_s (since the first event);\n"
    "  processors (processor, null: of threads that had none; events, bytes,\n"
    "  bytes_per_second, burst_bytes_per_second, seconds_per_buffer,\n"
    "  burst_seconds_per_buffer);\n"
    "  mode (buffering, file), history_s, late_ms, disk_bytes_per_second,\n"
    "  flush_timer_s, margin_percent;\n"
    "  buffer_kb, minimum_buffers, maximum_buffers, memory_bytes (of the maximum),\n"
    "  enough (it does what was asked for), extrapolated (the trace is shorter than\n"
    "  the history), least_buffers (without the margin and what a session has at\n"
    "  least, which is floor_buffers), seconds_per_buffer (of the whole trace);\n"
    "  advised and half: minimum_buffers, maximum_buffers; of a flight recorder\n"
    "  holds_s (null: it overwrites nothing), holds_at_s (when it is the least),\n"
    "  holds_at_end_s, short_s (less than history_s for so long), missing_at_s (when\n"
    "  most of it was missing), missing_events (so many, of the then) wanted_events,\n"
    "  events_overwritten; of a file events_lost, first_lost_at_s, most_in_use,\n"
    "  passes;\n"
    "  replay (null, or: failed and code (null: it did not), factor, threads,\n"
    "  buffer_kb, minimum_buffers, maximum_buffers (that the session had), events,\n"
    "  events_lost, latest_s (an event was so late), holds_s, holds_at_s,\n"
    "  holds_at_end_s).\n"
    "\n",
    "Exit codes: see 'etwas --help'; 2 also where the replay could not be done.\n"
    "\n",
    "Examples:\n"
    "  etwas advise --history 30 service.etl\n"
    "  etwas advise --history 30 --buffers 512 --buffer-size 64 --replay service.etl\n"
    "  etwas advise --late 500 --disk 50 service-1.etl service-2.etl\n",
    NULL,
};

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_number(const char *text, const char *option, double least, double most,
                        double *number)
{
    char *end;

    *number = strtod(text, &end);
    if (*text < '0' || *text > '9' || *end != '\0' || !(*number >= least && *number <= most)) {
        fprintf(stderr, "etwas advise: %s takes a number from %.10g to %.10g, not '%s'\n", option,
                least, most, text);
        return false;
    }
    return true;
}

static bool read_buffers(const char *text, struct etwas_model_sizes *sizes)
{
    char *end;
    unsigned long minimum = strtoul(text, &end, 10);
    unsigned long maximum = minimum;
    bool well = *text >= '1' && *text <= '9';

    if (well && *end == ',') {
        text = end + 1;
        maximum = strtoul(text, &end, 10);
        well = *text >= '1' && *text <= '9';
    }
    if (!well || *end != '\0' || minimum > maximum || maximum > MOST_BUFFERS) {
        fprintf(stderr,
                "etwas advise: --buffers takes one or two numbers from 1 to %d, the larger last\n",
                MOST_BUFFERS);
        return false;
    }
    sizes->minimum = (uint32_t)minimum;
    sizes->maximum = (uint32_t)maximum;
    return true;
}

static bool take_number(struct etwas_advise_question *question, int option)
{
    double number;

    switch (option) {
    case 'H':
        question->is_recorder = true;
        if (!read_number(optarg, "--history", 0.001, 1e9, &number)) {
            return false;
        }
        question->history_ns = (uint64_t)llround(number * 1e9);
        return true;
    case 'l':
        if (!read_number(optarg, "--late", 0, 3600000, &number)) {
            return false;
        }
        question->flusher.late_ns = (uint64_t)llround(number * NS_A_MS);
        return true;
    case 'd':
        if (!read_number(optarg, "--disk", 0.001, 1e6, &number)) {
            return false;
        }
        question->flusher.write_rate = number * BYTES_A_MB;
        return true;
    case 'f':
        if (!read_number(optarg, "--flush-timer", 0, 1e6, &number)) {
            return false;
        }
        question->flusher.flush_timer_ns = (uint64_t)llround(number * 1000) * NS_A_MS;
        return true;
    case 'm':
        if (!read_number(optarg, "--margin", 0, 1000, &number)) {
            return false;
        }
        question->margin_percent = (uint32_t)number;
        return true;
    case 's':
        if (!read_number(optarg, "--buffer-size", PAGE_KB, LARGEST_KB, &number)) {
            return false;
        }
        question->asked.buffer_kb = ((uint32_t)number + PAGE_KB - 1) / PAGE_KB * PAGE_KB;
        return true;
    default:
        return false;
    }
}

static bool take_option(void *context, int option)
{
    struct etwas_advise_question *question = context;

    switch (option) {
    case 'b':
        return read_buffers(optarg, &question->asked);
    case 'r':
        question->replay = true;
        return optarg == NULL || read_number(optarg, "--replay", 0.01, 10000, &question->pace);
    case 'j':
        question->json = true;
        return true;
    default:
        return take_number(question, option);
    }
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_advise_question *question,
                          struct etwas_files *files, int *result)
{
    static const struct option named[] = {
        {"history", required_argument, NULL, 'H'},
        {"late", required_argument, NULL, 'l'},
        {"disk", required_argument, NULL, 'd'},
        {"flush-timer", required_argument, NULL, 'f'},
        {"margin", required_argument, NULL, 'm'},
        {"buffer-size", required_argument, NULL, 's'},
        {"buffers", required_argument, NULL, 'b'},
        {"replay", optional_argument, NULL, 'r'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"advise", help, named, "H:l:d:f:m:s:b:r::jh",
                                                 take_option};
    const char *wrong;

    if (!etwas_options_read(&options, argc, argv, question, result)) {
        return false;
    }
    wrong = etwas_files_read(files, argv + optind, argv + argc, ETWAS_INPUT_FILES);
    if (wrong == NULL && question->is_recorder &&
        question->asked.minimum != question->asked.maximum) {
        wrong = "a flight recorder has one number of buffers";
    }
    return etwas_options_fit(&options, wrong, result);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* What was read is there, whatever is wrong with the files. */
static int answer(struct etwas_output *output, const struct etwas_advise_question *question,
                  const struct etwas_load *load, const char *path, int result)
{
    static struct etwas_advise_replay replay;
    struct etwas_advice advice;

    if (!etwas_advise_find(question, load, &advice)) {
        fputs("etwas: not enough memory\n", stderr);
        return ETWAS_EXIT_OPEN;
    }
    if (question->replay) {
        etwas_advise_run_replay(question, load, &advice, &replay);
        if (replay.failed != NULL) {
            fprintf(stderr, "etwas advise: %s: no replay: %s (error %u)\n",
                    load->files == 1 ? path : "the files", replay.failed, replay.code);
            result = ETWAS_EXIT_OPEN;
        }
    }
    if (question->json) {
        etwas_advise_json(output, question, load, &advice, question->replay ? &replay : NULL);
    } else {
        etwas_advise_text(output, question, load, &advice, question->replay ? &replay : NULL);
    }
    return result;
}

int etwas_command_advise(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    struct etwas_advise_question question = {
        .flusher = {.late_ns = (uint64_t)LATE_MS * NS_A_MS,
                    .write_rate = (double)DISK_MB * BYTES_A_MB},
        .margin_percent = MARGIN_PERCENT,
        .pace = 1,
    };
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    struct etwas_load load = {0};
    int result;

    if (!parse_options(argc, argv, &question, &files, &result)) {
        return result;
    }

    result = etwas_load_read(&load, inputs, files.paths, files.count);
    if (load.out_of_memory) {
        fputs("etwas: not enough memory\n", stderr);
        result = ETWAS_EXIT_OPEN;
    } else if (load.sum.events > 0) {
        result = answer(output, &question, &load, files.paths[0], result);
    } else if (result == ETWAS_EXIT_FINE || result == ETWAS_EXIT_DAMAGED) {
        fprintf(stderr, "etwas advise: %s: there are no events in it\n",
                load.files == 1 ? files.paths[0] : "the files");
        result = result == ETWAS_EXIT_FINE ? ETWAS_EXIT_OPEN : result;
    }
    etwas_load_free(&load);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}
