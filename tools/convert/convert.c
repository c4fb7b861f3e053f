/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas convert`.
 */

#include "convert/convert.h"

#include "cli/files.h"
#include "cli/suggest.h"
#include "commands.h"
#include "exit.h"
#include "where/option.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct etwas_convert_target *const targets[] = {
    &etwas_convert_ndjson, &etwas_convert_csv,        &etwas_convert_chrome,
    &etwas_convert_ctf,    &etwas_convert_etl,        &etwas_convert_perfetto,
    &etwas_convert_folded, &etwas_convert_speedscope, &etwas_convert_pprof,
    &etwas_convert_otlp,
};

/* Reads the name of a format (etwas_option.read). */
static bool read_target(const struct etwas_option_use *use)
{
    struct etwas_convert *convert = use->request;
    struct etwas_suggestion near = {0};

    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(use->text, targets[i]->name) == 0) {
            convert->target = targets[i];
            return true;
        }
        etwas_suggest(&near, use->text, targets[i]->name);
    }
    fprintf(stderr, "etwas convert: --to: '%s' is none of", use->text);
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        fprintf(stderr, "%s %s", i == 0 ? "" : ",", targets[i]->name);
    }
    if (near.name != NULL) {
        fprintf(stderr, ". Did you mean %s?", near.name);
    }
    fputc('\n', stderr);
    return false;
}

/* Returns what is wrong with the combination of options; NULL if nothing is. */
static const char *misuse(const struct etwas_convert *convert)
{
    if (convert->target == NULL) {
        return "to which format? --to says it";
    }
    if (convert->output_file.path == NULL && convert->target->is_folder) {
        return "this format is a folder: --output says which";
    }
    if (convert->output_file.force && convert->output_file.path == NULL) {
        return "--force goes with --output";
    }
    if (etwas_output_file_is_input(&convert->output_file, convert->paths, convert->path_count)) {
        return "--output is one of the files that are read";
    }
    if (convert->compress && !convert->target->is_compressible) {
        return "--compress is for --to etl";
    }
    if (convert->output_file.path == NULL && convert->target->needs_file) {
        return "this format is a file: --output says which";
    }
    if (convert->output_file.path == NULL && convert->target->is_binary && isatty(STDOUT_FILENO)) {
        return "this format is not for a terminal: --output says where to";
    }
    return NULL;
}

/* Returns whether to go on; otherwise *result is the exit status. */
static bool read_options(int argc, char **argv, struct etwas_convert *convert, int *result)
{
    static struct etwas_files files;

    convert->where.paths = &convert->field_paths;
    if (!etwas_files_read_command(&files, &etwas_convert_command, argc, argv, ETWAS_INPUT_FILES,
                                  convert, result)) {
        return false;
    }
    if (convert->output_file.path != NULL && strcmp(convert->output_file.path, "-") == 0) {
        convert->output_file.path = NULL;
    }
    convert->paths = files.paths;
    convert->path_count = files.count;
    return etwas_command_fits(&etwas_convert_command, misuse(convert), result);
}

/* Runs the conversion. Keeps the output under its name, or drops it. Returns the exit status. */
static int make(struct etwas_convert *convert)
{
    int result;

    convert->output_file.command = "etwas convert";
    convert->output_file.is_folder = convert->target->is_folder;
    if (!etwas_output_file_open(&convert->output_file)) {
        return ETWAS_EXIT_OUTPUT;
    }
    if (!convert->target->is_folder && !convert->target->needs_file) {
        convert->output = etwas_standard_output();
        etwas_output_to(convert->output, convert->output_file.descriptor);
        convert->output->path = convert->output_file.path;
    }
    result = convert->target->run(convert);
    convert->out_of_memory |=
        convert->current.out_of_memory || !etwas_all_descriptions_are_whole(&convert->descriptions);
    if (convert->out_of_memory) {
        result = etwas_output_no_memory("to convert everything");
    }
    if (convert->run.count > 0 && convert->where.error == NULL) {
        bool is_inside =
            etwas_window_finish(&convert->window, "convert", convert->paths, convert->path_count);

        /* A trace without events counts as empty only if a window or --where was given. */
        convert->is_empty |= (!is_inside && etwas_window_is_set(&convert->window)) ||
                             (convert->where.was_asked && !convert->where.has_held);
    }
    result = etwas_where_finish(&convert->where, &convert->field_paths, "convert", true, result);
    if (convert->output != NULL && !etwas_output_finish(convert->output)) {
        result = ETWAS_EXIT_OUTPUT;
    }
    /* Output from damaged files, or without those that cannot be opened, is kept. */
    if (convert->is_empty && convert->output_file.path != NULL && result == ETWAS_EXIT_DONE) {
        result = ETWAS_EXIT_NO;
    }
    if (result == ETWAS_EXIT_OUTPUT || result == ETWAS_EXIT_NO || convert->is_empty ||
        convert->is_refused || convert->out_of_memory || convert->where.error != NULL ||
        convert->run.count == 0) {
        etwas_output_file_drop(&convert->output_file);
    } else if (!etwas_output_file_keep(&convert->output_file)) {
        result = ETWAS_EXIT_OUTPUT;
    }
    return result;
}

static int run_convert(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_convert convert;
    int result = ETWAS_EXIT_DONE;

    convert.run.inputs = inputs;
    if (!read_options(argc, argv, &convert, &result)) {
        return result;
    }
    etwas_shared_descriptions_open(&convert.descriptions.shared, convert.paths, convert.path_count);
    if (etwas_window_resolve(&convert.window, &etwas_convert_command, convert.paths,
                             convert.path_count, &result)) {
        result = make(&convert);
    }
    etwas_convert_free(&convert);
    return result;
}

static const struct etwas_option options[] = {
    {.name = "to",
     .value = "FORMAT",
     .help = "ndjson csv chrome ctf perfetto otlp etl or stack format",
     .type = ETWAS_OPTION_READ,
     .read = read_target},
    ETWAS_OUTPUT_OPTIONS(struct etwas_convert, output_file, "the result; - is standard output"),
    ETWAS_FLAG_OPTION(struct etwas_convert, compress, "compress", "of etl: compress its buffers"),
    ETWAS_WHERE_OPTIONS(struct etwas_convert, where),
    ETWAS_WINDOW_OPTIONS(struct etwas_convert, window),
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_convert_command = {
    .name = "convert",
    .summary = "make what other tools read",
    .usages = (const char *const[]){"--to FORMAT [OPTION...] FILE...", NULL},
    .description = "Converts traces to what other tools read. All files are one time line.",
    .details =
        (const char *const[]){
            "ndjson is JSON, an object a line, as etwas dump --json writes it. csv is "
            "columns, as etwas dump --csv. chrome is for the trace viewers of Chrome and "
            "Perfetto: instances and activities as asynchronous events, all others as "
            "instants.",
            "ctf is a folder in Common Trace Format 1.8, with a stream a processor. Of "
            "several files it has a trace each.",
            "perfetto is for Perfetto's trace viewer and its SQL: spans as slices, all "
            "others as instants with their fields.",
            "otlp is for OpenTelemetry's collector, its file receiver: instances and "
            "activities as spans, all others as log records.",
            "etl is a log file, with --output: the events of all files in order, with what "
            "describes them.",
            "folded is a line a stack, for flame graphs. speedscope is for speedscope. "
            "pprof is pprof's profile.proto. Stacks are those of the kernel's samples, "
            "which weigh the time between two. If there are none, they are those of "
            "heaptrace, which weigh the bytes that were allocated (pprof: also what was "
            "never freed). Else they are those of any events, by number.",
            "The output appears when it is whole. What cannot be written to its end leaves "
            "nothing. Where there is nothing to put into it, it is not made, and the exit "
            "status is 1. A PATH that is there is replaced only with --force, when the new "
            "one is whole, and never if it is one of FILE.",
            "A damaged file is converted as far as it can be read. What is missing is "
            "marked where it would have been, in the format's own way.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas convert --to perfetto -o shop.pftrace shop.etl",
             "Open it in https://ui.perfetto.dev."},
            {"etwas convert --to folded shop.etl | flamegraph.pl > shop.svg",
             "Draw a flame graph."},
            {"etwas convert --to etl --from +10s --until +12s -o part.etl shop.etl",
             "Cut out two seconds."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_FILES,
    .run = run_convert,
};
