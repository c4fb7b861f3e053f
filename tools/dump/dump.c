/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas dump`.
 */

#include "dump/dump.h"

#include "cli/command.h"
#include "cli/files.h"
#include "cli/quiet.h"
#include "exit.h"
#include "trace/condition.h"
#include "where/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_wanted(struct etwas_dump *dump)
{
    const struct etwas_current_event *current = &dump->current;

    if (!etwas_window_holds(&dump->window, current->input, current->record)) {
        return false;
    }
    return !etwas_where_is_given(&dump->where) ||
           etwas_condition_holds(&dump->where, &dump->current);
}

/* Returns whether a record is an event, or the stack of one. Other records describe the file. */
static bool is_of_a_program(const struct etwas_input *input, const EVENT_RECORD *record)
{
    return etwas_trace_coverage_is_event(input, record) || etwas_event_is_user_stack(record);
}

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_dump *dump = input->context;
    struct etwas_descriptions *descriptions = etwas_descriptions_of(&dump->descriptions, input);
    struct etwas_schema_texts *schema_texts = NULL;
    uint32_t taken = ERROR_NOT_FOUND;
    bool senseless = false;

    if (dump->shown >= dump->limit || dump->output->error != 0) {
        dump->run->stop = true;
        return;
    }
    etwas_descriptions_add_process(descriptions, input, record);
    if (!dump->hex || etwas_where_is_given(&dump->where)) {
        schema_texts = etwas_descriptions_known(descriptions, record);
    }
    if (schema_texts == NULL && (!dump->hex || etwas_where_is_given(&dump->where))) {
        taken = etwas_descriptions_add_record(descriptions, record);
        if (taken == ERROR_SUCCESS && !dump->hex) {
            return;
        }
        schema_texts = etwas_descriptions_find(descriptions, record, &senseless);
    }
    if (!dump->all && !is_of_a_program(input, record)) {
        return;
    }
    etwas_current_event_read(&dump->current, input, record, descriptions, schema_texts,
                             dump->spans);
    if (!dump->hex) {
        etwas_current_event_find_provider(&dump->current);
    }
    if (!is_wanted(dump)) {
        return;
    }
    if (senseless || taken == ERROR_INVALID_DATA) {
        etwas_dump_report_senseless(dump, senseless ? "what describes it"
                                                    : "what it says of other events");
    }
    if (dump->wants_stacks && !dump->has_stack) {
        dump->has_stack = etwas_dump_stack(dump).count > 0;
    }
    dump->shown++;
    dump->beyond +=
        etwas_dump_is_by_trace(dump) && etwas_text_is_beyond(etwas_input_shown_ns(input, record));
    if (dump->form == ETWAS_FORM_JSON) {
        etwas_dump_json(dump);
    } else if (dump->form == ETWAS_FORM_CSV) {
        etwas_dump_csv(dump);
    } else {
        etwas_dump_text(dump);
    }
    /* Stop now: a session may not deliver another event for a long time. */
    dump->run->stop = dump->run->stop || (dump->run->live != NULL && dump->shown >= dump->limit);
}

etwas_clock_time etwas_dump_convert(const struct etwas_dump *dump, int64_t raw)
{
    uint32_t clock = dump->clock == ETWAS_DUMP_QPC ? ETWAS_CLOCK_QPC : ETWAS_CLOCK_SYSTEM_TIME;
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(dump->current.input->trace, raw, clock, &time);
    return time;
}

etwas_clock_time etwas_dump_time(const struct etwas_dump *dump)
{
    return etwas_dump_convert(dump, dump->current.record->EventHeader.TimeStamp.QuadPart);
}

static enum etwas_input_time input_time(const struct etwas_dump *dump)
{
    if (!etwas_dump_is_by_trace(dump)) {
        return ETWAS_INPUT_RAW;
    }
    if (dump->wants_raw_time || dump->wants_durations) {
        return ETWAS_INPUT_BOTH;
    }
    return dump->hex ? ETWAS_INPUT_FILETIME : ETWAS_INPUT_NANOSECONDS;
}

const char *const etwas_dump_clock_names[] = {
    [ETWAS_DUMP_TIME] = "utc",
    [ETWAS_DUMP_LOCAL] = "local",
    [ETWAS_DUMP_RELATIVE] = "relative",
    [ETWAS_DUMP_RAW] = "raw",
    [ETWAS_DUMP_QPC] = "qpc",
    [ETWAS_DUMP_SYSTEM] = "system",
    NULL,
};

void etwas_dump_init(struct etwas_dump *dump, const char *command, struct etwas_input_run *run)
{
    dump->command = command;
    dump->limit = UINT64_MAX;
    dump->run = run;
    dump->output = etwas_standard_output();
    dump->where.paths = &dump->paths;
}

bool etwas_dump_finish_options(struct etwas_dump *dump, const struct etwas_command *command,
                               int *result)
{
    const char *wrong = dump->columns_text != NULL && dump->form == ETWAS_FORM_JSON
                            ? "--columns and --json exclude each other"
                            : NULL;

    dump->wants_stacks |= dump->symbols;
    dump->wants_durations |= dump->where.wants_duration;
    dump->wants_process |= dump->where.wants_process;
    if (!etwas_command_fits(command, wrong, result)) {
        return false;
    }
    if (!etwas_dump_choose_columns(dump)) {
        *result = etwas_command_misused(command->name);
        return false;
    }
    return true;
}

static const char too_many[] = "for so many files";

/* Reads what addresses are in the next of the run's inputs. Its last part may contain more. */
static bool read_addresses(struct etwas_dump *dump, const struct etwas_input *input,
                           const char *last_part)
{
    struct etwas_addresses *addresses = &dump->addresses[input - dump->run->inputs];

    if (!etwas_addresses_open(addresses)) {
        return false;
    }
    etwas_addresses_read(addresses, input->path, input->time);
    if (last_part != NULL) {
        etwas_addresses_read(addresses, last_part, input->time);
    }
    return etwas_addresses_are_whole(addresses);
}

/* Opens the next of the run's inputs. */
static int open_input(struct etwas_dump *dump, const char *path, uint32_t number)
{
    const bool is_session = dump->run->live != NULL;
    const struct etwas_input_callbacks callbacks = {
        .record = on_record, .time = input_time(dump), .is_session = is_session};
    struct etwas_input *input = &dump->run->inputs[dump->run->count];
    int result = etwas_input_open(input, path, number, &callbacks, dump);

    if (result == ETWAS_EXIT_DONE &&
        !etwas_all_descriptions_add(&dump->descriptions, input, &dump->paths)) {
        CloseTrace(input->trace);
        result = etwas_output_no_memory(too_many);
    }
    if (result == ETWAS_EXIT_DONE && dump->symbols &&
        !read_addresses(dump, input, is_session ? NULL : etwas_parts_last(&dump->parts, number))) {
        dump->current.out_of_memory = true;
    }
    dump->run->count += result == ETWAS_EXIT_DONE;
    return result;
}

static int open_inputs(struct etwas_dump *dump, char *const *paths, uint32_t count)
{
    int result = ETWAS_EXIT_DONE;

    if (dump->run->live == NULL && !etwas_parts_read(&dump->parts, paths, count)) {
        return etwas_output_no_memory(too_many);
    }
    etwas_shared_descriptions_open(&dump->descriptions.shared, paths, count);
    for (uint32_t i = 0; i < count; i++) {
        if (open_input(dump, paths[i], i + 1) != ETWAS_EXIT_DONE) {
            result = ETWAS_EXIT_FAILED;
        }
    }
    return result;
}

/* Returns whether JSON has names of processes, which it has if a file contains them. */
static bool wants_process(const struct etwas_dump *dump)
{
    bool is_kernel = false;

    for (uint32_t i = 0; i < dump->run->count; i++) {
        is_kernel |= dump->run->inputs[i].is_kernel;
    }
    return dump->wants_process || (is_kernel && dump->form == ETWAS_FORM_JSON);
}

static int process(struct etwas_dump *dump)
{
    if (dump->form == ETWAS_FORM_TEXT) {
        etwas_dump_text_title(dump);
    } else if (dump->form == ETWAS_FORM_CSV) {
        etwas_dump_csv_title(dump);
    }
    if (!dump->wants_durations && !wants_process(dump)) {
        etwas_window_narrow(&dump->window, dump->run);
    }
    if (dump->run->live != NULL) {
        etwas_output_flush(dump->output);
    } else {
        etwas_progress_start(&dump->run->progress, true);
    }
    return etwas_input_process(dump->run);
}

/* Prints the notes and errors that follow the events. Returns the exit status. */
static int finish(struct etwas_dump *dump, char *const *paths, uint32_t count, int result)
{
    etwas_dump_report_beyond(dump);
    for (uint32_t i = 0; i < dump->run->count; i++) {
        const struct etwas_input *input = &dump->run->inputs[i];

        etwas_input_warn(input);
        etwas_descriptions_report_left_out(
            etwas_descriptions_of(&dump->descriptions, input)->decoder, input->path);
    }
    if (dump->run->count > 0 && dump->run->live == NULL && dump->shown < dump->limit &&
        dump->where.error == NULL) {
        (void)etwas_window_finish(&dump->window, dump->command, paths, count);
    }
    if (dump->shown > 0 && dump->wants_stacks && !dump->has_stack && !etwas_is_quiet) {
        fprintf(stderr,
                "etwas %s: note: no event that is shown has a call stack; sessions take them where "
                "they are asked to, those of the kernel's events by 'etwas record --stack'\n",
                dump->command);
    }
    if (dump->run->count > 0) {
        result = etwas_where_finish(&dump->where, &dump->paths, dump->command,
                                    dump->shown < dump->limit, result);
    }
    return dump->current.out_of_memory || !etwas_all_descriptions_are_whole(&dump->descriptions)
               ? etwas_output_no_memory("to decode everything")
               : result;
}

static void dump_free(struct etwas_dump *dump)
{
    for (uint32_t i = 0; i < dump->run->count; i++) {
        etwas_descriptions_close(etwas_descriptions_of(&dump->descriptions, &dump->run->inputs[i]));
        if (dump->symbols) {
            etwas_addresses_close(&dump->addresses[i]);
        }
    }
    etwas_shared_descriptions_close(&dump->descriptions.shared);
    etwas_parts_free(&dump->parts);
    etwas_where_clear(&dump->where);
    etwas_spans_close(dump->spans);
    etwas_current_event_free(&dump->current);
}

int etwas_dump_run(struct etwas_dump *dump, char *const *paths, uint32_t count)
{
    int result = open_inputs(dump, paths, count);

    if (dump->wants_durations && etwas_spans_open(0, &dump->spans) != ERROR_SUCCESS) {
        dump->current.out_of_memory = true;
    }
    if (dump->run->count > 0) {
        int processed = process(dump);

        result = result == ETWAS_EXIT_DONE ? processed : result;
    }
    result =
        etwas_output_finish(dump->output) ? finish(dump, paths, count, result) : ETWAS_EXIT_OUTPUT;
    dump_free(dump);
    return result;
}

/* Returns whether to continue; otherwise *result is the exit status. */
static bool read_options(int argc, char **argv, struct etwas_dump *dump, struct etwas_files *files,
                         int *result)
{
    if (!etwas_files_read_command(files, &etwas_dump_command, argc, argv, ETWAS_INPUT_FILES, dump,
                                  result)) {
        return false;
    }
    dump->several_files = files->count > 1;
    dump->window.is_local = dump->clock == ETWAS_DUMP_LOCAL;
    if (dump->clock == ETWAS_DUMP_RELATIVE) {
        (void)etwas_window_first(files->paths, files->count, &dump->first_ns);
    }
    return etwas_dump_finish_options(dump, &etwas_dump_command, result) &&
           etwas_window_resolve(&dump->window, &etwas_dump_command, files->paths, files->count,
                                result);
}

static int run_dump(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_input_run run = {.inputs = inputs};
    static struct etwas_dump dump;
    static struct etwas_files files;
    int result;

    etwas_dump_init(&dump, "dump", &run);
    return read_options(argc, argv, &dump, &files, &result)
               ? etwas_dump_run(&dump, files.paths, files.count)
               : result;
}

static const struct etwas_option options[] = {
    ETWAS_WHERE_OPTIONS(struct etwas_dump, where),
    ETWAS_WINDOW_OPTIONS(struct etwas_dump, window),
    ETWAS_LIMIT_OPTION(struct etwas_dump, limit, "at most N events"),
    ETWAS_FLAG_OPTION(struct etwas_dump, all, "all",
                      "also records of the file itself, such as its header"),
    ETWAS_DUMP_COLUMNS_OPTION,
    {.name = "times",
     .value = "KIND",
     .help = "utc, local, relative, raw (ticks), qpc, system",
     .type = ETWAS_OPTION_CHOICE,
     .choices = etwas_dump_clock_names,
     ETWAS_PLACE(struct etwas_dump, clock)},
    ETWAS_FLAG_OPTION(struct etwas_dump, symbols, "symbols",
                      "call stacks, and addresses as names of functions"),
    ETWAS_FLAG_OPTION(struct etwas_dump, hex, "hex", "payloads in hexadecimal, not decoded"),
    ETWAS_JSON_OPTION(struct etwas_dump, form, "an object a line"),
    ETWAS_CSV_OPTION(struct etwas_dump, form, "the columns as CSV (RFC 4180)"),
    ETWAS_COLOR_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_dump_command = {
    .name = "dump",
    .group = "Show what is in traces",
    .summary = "show events, a line each",
    .usages = (const char *const[]){"[OPTION...] FILE...", NULL},
    .description =
        "Shows the events of traces, a line each, with their fields by name. Events of several "
        "files come in one order of time. A folder stands for the log files in it.",
    .details =
        (const char *const[]){
            "Without --times, times go on from the session's start, and no step of the wall clock "
            "disturbs them. local shows them in this machine's zone, with its offset, and relative "
            "as seconds since the first event, as --from takes them. raw shows ticks of the "
            "session's clock, which do not compare between "
            "files. qpc shows CLOCK_MONOTONIC_RAW in nanoseconds, and system the wall clock as it "
            "was, both with the error bound.",
            "What a part of a new-file set does not say of its events, such as a class that was "
            "described later, the last of the given parts says.",
            "With --all, the first event of a trace, EventTrace/Header, describes the session; "
            "etwas stat shows it in words. Records that describe events are shown with --all "
            "--hex. Lines that begin with # are no events.",
            "Of files that etwas wrote no more is read than the window takes, unless durations are "
            "asked for. What is wrong with the rest is not reported then.",
            "Damage, lost events, and events that contradict their description are reported on "
            "standard error.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas dump --limit 20 shop.etl", "Show the first 20 events."},
            {"etwas dump --where 'size > 1M && duration > 5ms' shop.etl",
             "Show events with a large size that took long."},
            {"etwas dump --json shop.etl | jq 'select(.level <= 2)'",
             "Show errors, with another program."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_dump,
};
