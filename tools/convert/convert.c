/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas convert`.
 */

#include "convert/convert.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"
#include "where/option.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
    "usage: etwas convert --to FORMAT [--output PATH] [--force] [--where EXPR]\n"
    "                     [--from TIME] [--to TIME] [--compress] FILE...\n"
    "\n",
    "Makes of traces what other tools read. All files are one time line.\n"
    "\n",
    "  -t, --to FORMAT    ndjson    a JSON object a line, as 'etwas dump --json'\n"
    "                     csv       columns, as 'etwas dump --csv'\n"
    "                     chrome    JSON of about:tracing: spans as asynchronous\n"
    "                               events, all others as instants\n"
    "                     ctf       a folder, Common Trace Format 1.8: a stream a\n"
    "                               processor; of several files it has a trace each\n"
    "                     perfetto  for Perfetto's trace viewer and its SQL: spans as\n"
    "                               slices, all others as instants with their fields\n"
    "                     otlp      for OpenTelemetry's collector, its file receiver:\n"
    "                               instances and activities as spans, all others as\n"
    "                               log records\n"
    "                     etl       a log file, with --output: the events of all\n"
    "                               files in order, with what describes them\n"
    "                     folded    a line a stack, for flame graphs\n"
    "                     speedscope\n"
    "                               stacks by thread as speedscope's JSON\n"
    "                     pprof     stacks as pprof's profile.proto\n"
    "  -o, --output PATH  there instead of to standard output. It appears when it is\n"
    "                     whole: what cannot be written to its end leaves nothing,\n"
    "                     and where there is nothing to put into it, it is not made.\n"
    "                     - is standard output\n"
    "  -f, --force        a file PATH that is there, and none of FILE, is replaced\n"
    "                     when the new one is whole\n"
    "  -w, --where EXPR   only such events\n"
    "      --compress     of etl: its buffers are compressed\n"
    "      --from TIME, --to TIME\n"
    "                     only events of these times. What begins with a digit or a\n"
    "                     sign is a time, and no format does\n"
    "  -h, --help         this text\n"
    "\n",
    "Stacks are those of the kernel's samples, which weigh the time between two; if\n"
    "there are none, those of heaptrace, which weigh the bytes that were allocated\n"
    "(pprof: also what was never freed); else those of any events, by number.\n"
    "\n",
    "A damaged file is converted as far as it can be read, and what is missing is\n"
    "marked where it would have been, in the format's own way.\n"
    "\n",
    etwas_window_help,
    "\n",
    etwas_where_help,
    "\n"
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

static const struct etwas_convert_target *const targets[] = {
    &etwas_convert_ndjson, &etwas_convert_csv,        &etwas_convert_chrome,
    &etwas_convert_ctf,    &etwas_convert_etl,        &etwas_convert_perfetto,
    &etwas_convert_folded, &etwas_convert_speedscope, &etwas_convert_pprof,
    &etwas_convert_otlp,
};

static const struct etwas_convert_target *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(name, targets[i]->name) == 0) {
            return targets[i];
        }
    }
    fprintf(stderr, "etwas convert: there is no format '%s'\n", name);
    return NULL;
}

enum {
    FROM = 256
};

static bool take_option(void *context, int option)
{
    struct etwas_convert *convert = context;

    switch (option) {
    case FROM:
        return etwas_window_option(&convert->window.from, "convert", "--from", optarg);
    case 't':
        if (optarg[0] != 0 && strchr("+-0123456789", optarg[0]) != NULL) {
            return etwas_window_option(&convert->window.to, "convert", "--to", optarg);
        }
        convert->target = find_target(optarg);
        return convert->target != NULL;
    case 'o':
        convert->output_file.path = strcmp(optarg, "-") == 0 ? NULL : optarg;
        return true;
    case 'f':
        convert->output_file.force = true;
        return true;
    case 'c':
        convert->compress = true;
        return true;
    case 'w':
        convert->has_where =
            etwas_where_option(&convert->where, "convert", optarg, &convert->field_paths);
        return convert->has_where;
    default:
        return false;
    }
}

/* What is wrong with the options together; NULL: nothing. */
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

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_convert *convert, int *result)
{
    static const struct option named[] = {
        {"to", required_argument, NULL, 't'},    {"output", required_argument, NULL, 'o'},
        {"where", required_argument, NULL, 'w'}, {"force", no_argument, NULL, 'f'},
        {"from", required_argument, NULL, FROM}, {"compress", no_argument, NULL, 'c'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"convert", help, named, "t:o:fw:h", take_option};
    static struct etwas_files files;
    const char *wrong;

    if (!etwas_options_read(&options, argc, argv, convert, result)) {
        return false;
    }
    wrong = etwas_files_read(&files, argv + optind, argv + argc, ETWAS_INPUT_FILES);
    convert->paths = files.paths;
    convert->path_count = files.count;
    return etwas_options_fit(&options, wrong != NULL ? wrong : misuse(convert), result);
}

/* Writes it under its name if all is well enough. */
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

        /* A trace without events counts as empty only if a window or --where was asked for. */
        convert->is_empty |= (!is_inside && etwas_window_is_set(&convert->window)) ||
                             (convert->where.was_asked && !convert->where.has_held);
    }
    result = etwas_where_finish(&convert->where, &convert->field_paths, "convert", true, result);
    if (convert->output != NULL && !etwas_output_finish(convert->output)) {
        result = ETWAS_EXIT_OUTPUT;
    }
    /* What is damaged, or lacks a file, was converted; else it is nobody's. */
    if (convert->is_empty && convert->output_file.path != NULL && result == ETWAS_EXIT_FINE) {
        result = ETWAS_EXIT_NO;
    }
    if (result == ETWAS_EXIT_OUTPUT || result == ETWAS_EXIT_NO || convert->is_empty ||
        convert->is_refused || convert->out_of_memory || convert->run.count == 0) {
        etwas_output_file_drop(&convert->output_file);
    } else if (!etwas_output_file_keep(&convert->output_file)) {
        result = ETWAS_EXIT_OUTPUT;
    }
    return result;
}

int etwas_command_convert(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_convert convert;
    int result = ETWAS_EXIT_FINE;

    convert.run.inputs = inputs;
    if (!parse_options(argc, argv, &convert, &result)) {
        return result;
    }
    etwas_shared_descriptions_open(&convert.descriptions.shared, convert.paths, convert.path_count);
    result = etwas_window_resolve(&convert.window, "convert", convert.paths, convert.path_count)
                 ? make(&convert)
                 : etwas_command_misused("convert");
    etwas_convert_free(&convert);
    return result;
}
