/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas advise`.
 */

#include "advise/advise.h"

#include "advise/replay.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/value.h"
#include "commands.h"
#include "exit.h"
#include "where/option.h"

#include <stdio.h>

enum {
    LATE_MS = 100, /* defaults of options */
    DISK_MB = 200,
    MARGIN_PERCENT = 20,
    NS_A_MS = 1000000,
    BYTES_A_MB = 1000000,
    MOST_BUFFERS = 65536, /* the most that can be requested */
    LARGEST_KB = 16384,
    PAGE_KB = 4,
};

#define NS_A_SECOND UINT64_C(1000000000)

/* ---- the command line ------------------------------------------------------------------------ */

static bool read_number_of_buffers(const char **list, uint64_t *number)
{
    char item[16];

    return etwas_value_item(list, item, sizeof item) && etwas_value_count(item, number) &&
           *number > 0 && *number <= MOST_BUFFERS;
}

/* Reads one number, or MIN,MAX. */
static bool read_buffers(const struct etwas_option_use *use)
{
    struct etwas_model_sizes *sizes = use->place;
    const char *list = use->text;
    uint64_t minimum = 0;
    uint64_t maximum;
    bool is_read = read_number_of_buffers(&list, &minimum);

    maximum = minimum;
    is_read = is_read && (list == NULL || read_number_of_buffers(&list, &maximum));
    if (!is_read || list != NULL || minimum > maximum) {
        return etwas_option_refuse(use, "one or two numbers from 1 to 65536, the larger last");
    }
    sizes->minimum = (uint32_t)minimum;
    sizes->maximum = (uint32_t)maximum;
    return true;
}

static bool read_pace(const struct etwas_option_use *use)
{
    struct etwas_advise_question *question = use->request;

    question->replay = true;
    question->pace = 1;
    if (use->text == NULL || (etwas_value_real(use->text, &question->pace) &&
                              question->pace >= 0.01 && question->pace <= 10000)) {
        return true;
    }
    return etwas_option_refuse(use, "a number from 0.01 to 10000");
}

/* Returns whether to continue; otherwise *result is the exit status. */
static bool read_options(int argc, char **argv, struct etwas_advise_question *question,
                         struct etwas_files *files, int *result)
{
    uint64_t pages;

    if (!etwas_files_read_command(files, &etwas_advise_command, argc, argv, ETWAS_INPUT_FILES,
                                  question, result)) {
        return false;
    }
    question->is_recorder = question->history_ns != 0;
    pages = (question->buffer_bytes + PAGE_KB * 1024 - 1) / (PAGE_KB * 1024);
    question->asked.buffer_kb = (uint32_t)pages * PAGE_KB;
    return etwas_command_fits(&etwas_advise_command,
                              question->is_recorder &&
                                      question->asked.minimum != question->asked.maximum
                                  ? "--buffers: a flight recorder has one number of buffers"
                                  : NULL,
                              result);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Prints the answer for what could be read, even if files are damaged. */
static int answer(struct etwas_output *output, const struct etwas_advise_question *question,
                  const struct etwas_load *load, const char *path, int result)
{
    static struct etwas_advise_replay replay;
    struct etwas_advice advice;

    if (!etwas_advise_find(question, load, &advice)) {
        return etwas_output_no_memory("to find an answer");
    }
    if (question->replay) {
        etwas_advise_run_replay(question, load, &advice, &replay);
        if (replay.failed != NULL) {
            fprintf(stderr, "etwas advise: %s: no replay: %s (error %u)\n",
                    load->files == 1 ? path : "the files", replay.failed, replay.code);
            result = ETWAS_EXIT_FAILED;
        }
    }
    if (question->form == ETWAS_FORM_JSON) {
        etwas_advise_json(output, question, load, &advice, question->replay ? &replay : NULL);
    } else {
        etwas_advise_text(output, question, load, &advice, question->replay ? &replay : NULL);
    }
    return result;
}

static int run_advise(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_advise_question question = {
        .flusher = {.late_ns = (uint64_t)LATE_MS * NS_A_MS,
                    .write_rate = (uint64_t)DISK_MB * BYTES_A_MB},
        .margin_percent = MARGIN_PERCENT,
        .pace = 1,
    };
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_files files;
    struct etwas_load load = {0};
    struct etwas_load_choice *choice = &question.choice;
    bool is_choice;
    int result;

    choice->where.paths = &choice->paths;
    if (!read_options(argc, argv, &question, &files, &result) ||
        !etwas_window_resolve(&choice->window, &etwas_advise_command, files.paths, files.count,
                              &result)) {
        return result;
    }
    is_choice = etwas_where_is_given(&choice->where) || etwas_window_is_set(&choice->window);
    etwas_shared_descriptions_open(&choice->descriptions.shared, files.paths, files.count);
    result = etwas_load_read(&load, is_choice ? choice : NULL, inputs, files.paths, files.count);
    etwas_all_descriptions_finish(&choice->descriptions);
    etwas_current_event_free(&choice->current);
    result = etwas_where_finish(&choice->where, &choice->paths, "advise", true, result);
    if (choice->where.error != NULL) {
        etwas_load_free(&load);
        return result;
    }
    if (load.out_of_memory) {
        result = etwas_output_no_memory("for the events");
    } else if (load.sum.events > 0) {
        result = answer(output, &question, &load, files.paths[0], result);
    } else if (load.files > 0 && (!is_choice || etwas_window_is_set(&choice->window))) {
        (void)etwas_window_finish(&choice->window, "advise", files.paths, files.count);
    }
    etwas_load_free(&load);
    return etwas_output_finish(output) ? result : ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    ETWAS_WINDOW_OPTIONS(struct etwas_advise_question, choice.window),
    ETWAS_WHERE_OPTIONS(struct etwas_advise_question, choice.where),
    {.name = "history",
     .value = "DURATION",
     .group = "What is wanted",
     .help = "of a flight recorder that holds so much (s)",
     .type = ETWAS_OPTION_DURATION,
     .unit = NS_A_SECOND,
     .least = NS_A_MS,
     .most = 1000000000 * NS_A_SECOND,
     ETWAS_PLACE(struct etwas_advise_question, history_ns)},
    {.name = "margin",
     .value = "PERCENT",
     .help = "so many buffers more than the trace needs (default: 20)",
     .type = ETWAS_OPTION_COUNT,
     .most = 1000,
     ETWAS_PLACE(struct etwas_advise_question, margin_percent)},
    {.name = "buffer-size",
     .value = "SIZE",
     .help = "of buffers of this size (KiB), not of the best one",
     .type = ETWAS_OPTION_SIZE,
     .unit = 1024,
     .least = (uint64_t)PAGE_KB * 1024,
     .most = (uint64_t)LARGEST_KB * 1024,
     ETWAS_PLACE(struct etwas_advise_question, buffer_bytes)},
    {.name = "buffers",
     .value = "MIN[,MAX]",
     .help = "what so many buffers do, not how many are needed",
     .type = ETWAS_OPTION_READ,
     .read = read_buffers,
     ETWAS_PLACE(struct etwas_advise_question, asked)},
    {.name = "replay",
     .value = "PACE",
     .is_optional = true,
     .help = "log the events to such a session here, PACE times as fast",
     .type = ETWAS_OPTION_READ,
     .read = read_pace},
    ETWAS_JSON_OPTION(struct etwas_advise_question, form, "one object"),
    {.name = "late",
     .value = "DURATION",
     .group = "Of a session with a file",
     .help = "its flusher comes so late (ms, default: 100)",
     .type = ETWAS_OPTION_DURATION,
     .unit = NS_A_MS,
     .most = 3600 * NS_A_SECOND,
     ETWAS_PLACE(struct etwas_advise_question, flusher.late_ns)},
    {.name = "disk",
     .value = "SIZE",
     .help = "what the disk takes in a second (MB, default: 200)",
     .type = ETWAS_OPTION_SIZE,
     .unit = BYTES_A_MB,
     .least = 1000,
     .most = (uint64_t)1000000 * BYTES_A_MB,
     ETWAS_PLACE(struct etwas_advise_question, flusher.write_rate)},
    {.name = "flush",
     .value = "DURATION",
     .help = "between timed flushes (ms, default: there are none)",
     .type = ETWAS_OPTION_DURATION,
     .unit = NS_A_MS,
     .most = 1000000 * NS_A_SECOND,
     ETWAS_PLACE(struct etwas_advise_question, flusher.flush_timer_ns)},
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_advise_command = {
    .name = "advise",
    .summary = "say which buffers a session needs",
    .usages = (const char *const[]){"[--history DURATION] [OPTION...] FILE...", NULL},
    .description =
        "Says which BufferSize, MinimumBuffers and MaximumBuffers a session needs that gets what "
        "is in a trace. With --history it is a flight recorder, else a session with a file that "
        "loses nothing.",
    .details =
        (const char *const[]){
            "A flight recorder (EVENT_TRACE_BUFFERING_MODE) holds the history at every moment of "
            "the trace. It is also said what half as many buffers would do, and what to write "
            "into the program. Several files are one trace: the parts of a new-file set.",
            "Record the trace under the load that matters, with the providers and levels that "
            "matter, and long enough to have its bursts. What was lost when it was recorded is "
            "not in it, so more is needed then than is said.",
            "--history is from 1 ms to 1000000000 s. --buffers takes one number for a flight "
            "recorder. For a session with a file MIN is the number at the start and MAX the most "
            "there may be.",
            "Rates are bytes of records as they lie in buffers. The busiest is that of a tenth of "
            "a second.",
            "The processors of a flight recorder share its buffers, and the oldest full one is "
            "overwritten. What it holds goes back to the newest event that was overwritten, on "
            "whichever processor: from there on it has everything. A processor with little to log "
            "stays long in one buffer, which may be overwritten soon after it is full. Then more "
            "buffers need not hold more.",
            "Where no number that was tried holds the history at every moment, the one is said "
            "that does for most of the time, and for how long less was held. If a trace is shorter "
            "than the history, the mean rate is taken to go on.",
            "A file's flusher is woken when half of the buffers are used, or when a new one has to "
            "be taken into use. It also looks by itself after 1 ms to 1 s, as the library's does. "
            "--late says how late it comes when it is woken: by other threads, or by a disk that "
            "stalls. MinimumBuffers are touched at the start and find room for 99 % of the events. "
            "Bursts take the others into use, up to MaximumBuffers.",
            "The replay logs records of the same sizes at the same times. It has a thread for each "
            "processor of the trace, as far as this machine has as many. It needs $TMPDIR, or "
            "/var/tmp, for its file. It tells a flight recorder's history in the trace's time, "
            "from snapshots at the moment that should be the worst, for which all threads stop, "
            "and at the end. If there are more than 4 million events, those that are beside each "
            "other have their mean size. The exit status is 2 if the replay could not be done.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas advise --history 30s service.etl",
             "Find the buffers of a flight recorder that holds half a minute."},
            {"etwas advise --history 30s --buffers 512 --buffer-size 64K --replay a.etl",
             "Try what given buffers hold."},
            {"etwas advise --late 500ms --disk 50MB service-1.etl service-2.etl",
             "Find the buffers of a session with a file on a slow disk."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_advise,
};
