/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas dump`.
 */

#include "dump/dump.h"

#include "cli/files.h"
#include "cli/options.h"
#include "commands.h"
#include "trace/condition.h"
#include "where/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
    "usage: etwas dump [OPTION...] FILE...\n"
    "\n",
    "Shows the events of one or more traces, a line for each, with their fields by\n"
    "name. The events of several files come in one time order, also of files whose\n"
    "clocks are not the same; a folder stands for the log files in it (*.etl,\n"
    "*.etl.0001, *.etl_PID). What a part of a new-file set does not say of its\n"
    "events, as of a class described later, the last of the given parts says.\n"
    "\n",
    "  -w, --where EXPRESSION\n"
    "                  only events for which it is true; see below\n"
    "      --from TIME, --to TIME\n"
    "                  only events of this window; see below\n"
    "  -n, --limit N   only the first N events\n"
    "  -C, --columns NAME,...\n"
    "                  these columns, in this order; see below\n"
    "  -j, --json      one JSON object a line instead of columns\n"
    "      --csv       the columns as CSV (RFC 4180)\n"
    "  -x, --hex       nothing decoded: payloads in hexadecimal\n"
    "  -S, --symbols   call stacks, also those of the kernel's StackWalk, by names of\n"
    "                  functions, as far as they are known (see call_stack), and\n"
    "                  behind the kernel's addresses of code what lies there:\n"
    "                  samples', page faults', routines', where threads start\n"
    "  -c, --clock raw|qpc|system\n"
    "                  times by another clock of the machine that recorded them:\n"
    "                  raw: as recorded, in ticks of the session's clock (see 'etwas\n"
    "                  stat'); those of several files do not compare\n"
    "                  qpc: CLOCK_MONOTONIC_RAW in ns, with the error bound\n"
    "                  system: the wall clock as it was, with the error bound;\n"
    "                  without --clock, times go on from the session's start, and no\n"
    "                  step of the wall clock disturbs them\n"
    "  -r, --raw       --clock=raw\n"
    "  -h, --help      this text\n"
    "\n",
    "Columns, separated by spaces; '-' where an event has no such thing. Shown are\n"
    "file (with several files), time, cpu, process, thread, event and fields; with\n"
    "--hex class, type, level, instance, parent and payload in place of the last two.\n"
    "  file      its number on the command line, from 1\n"
    "  time      UTC, to the nanosecond if the clock is that fine; @N for a time not\n"
    "            in the years 1601 to 9999, in 100 ns since 1601; where the clock is\n"
    "            that fine, @before-1677-09-21 and @after-2262-04-11, between which\n"
    "            ns fit into 64 bits; with --clock: raw_time, qpc_ns, or system_time\n"
    "  raw_time  as recorded, in ticks of the session's clock\n"
    "  error_ns  with --clock=qpc or system: the true time is within so many ns\n"
    "  cpu       the processor that recorded it\n"
    "  process, thread\n"
    "  event     PROVIDER/EVENT, with /OPCODE of a self-describing one that has one;\n"
    "            of an event that nothing describes, GUID/TYPE of a\n"
    "            classic one, GUID/#ID of a manifest one, GUID/message:NUMBER, with\n"
    "            the provider's name for the GUID if other events say it, or it is\n"
    "            well known\n"
    "  fields    NAME=VALUE ..., a NAME with blanks in ` `, without what the schema\n"
    "            calls NoPrint; stamps of the session's clock, as InitialTime, as\n"
    "            the event's time is (--where compares ticks, as --raw shows);\n"
    "            Offset of FileIo: end, or position where that is not known\n"
    "            (-1 and -2 without a sign);\n"
    "            payload=HEXADECIMAL where nothing describes the event;\n"
    "            (truncated: ...) in place of a field that is not whole,\n"
    "            (not described: ...) of one of unknown type, count or length;\n"
    "            (N more bytes: ...) behind the last one;\n"
    "            (version N decoded as M) where only another version is described, or\n"
    "            (version N is not known: ...) with what all known ones have;\n"
    "            behind a value (odd byte: ...), (not UTF-8: ...), or what else is\n"
    "            odd about it;\n"
    "            the text of a message, and behind it what of its payload is not in\n"
    "            it\n"
    "  event_class  the event without the part that tells those of a class apart\n"
    "  marks     what else fields shows in parentheses, alone: for a choice of FIELDs\n"
    "  provider, name    the names alone; name is the last part of the event's\n"
    "  class     the event class: its name if it is well known, else its GUID; a\n"
    "            self-describing event as PROVIDER/EVENT; component:ID of a message\n"
    "            of TraceMessage that has that instead\n"
    "  type      a classic event's type; #ID/OPCODE of a manifest event;\n"
    "            message:NUMBER of a message\n"
    "  id, version, opcode, task, channel, keyword, activity\n"
    "  related_activity  another one that the event belongs to: mostly the parent\n"
    "  level     1 is most severe, 5 is verbose\n"
    "  instance  the instance number of an event of TraceEventInstance; the sequence\n"
    "            number of a message\n"
    "  parent    NUMBER@CLASS of its parent instance\n"
    "  text      of a message whose format is known, or of an event with a message\n"
    "  duration  of an event that ends an instance or activity: ns since its start\n"
    "  duration_error_ns   how far that may be off, on whatever processors both were\n"
    "  call_stack   addresses of the calls that led to it, innermost first; with\n"
    "            --symbols FUNCTION+OFFSET in FILE < ..., FILE+OFFSET where none is\n"
    "            known: they are those of the file that the trace names, if it is of\n"
    "            the same build, and else it is (changed since)\n"
    "  payload   in hexadecimal\n"
    "  FIELD     any other name: the field that is called so; fields.FIELD always;\n"
    "            STRUCT.MEMBER\n"
    "The first event of a trace, EventTrace/Header, describes the session; 'etwas\n"
    "stat' shows it in words. Lines that begin with # are no events. Records that\n"
    "describe events are not shown, except with --hex.\n"
    "\n",
    etwas_window_help,
    "Of files that etwas wrote no more is read than the window takes, where no\n"
    "durations are asked for; what is wrong with the rest is not told then.\n"
    "\n",
    etwas_where_help,
    "\n"
    "JSON keys, in this order:\n"
    "  time (string, as above); with --clock raw_time (number), or qpc_ns (number)\n"
    "  and error_ns, or system_time (string) and error_ns (null: not known);\n"
    "  file, with several files; processor, process and thread, null if not known;\n"
    "  class (GUID); provider and event (without the opcode, which is type), if it\n"
    "  has them (with --hex in one: name); type; level; version;\n"
    "  processor time of the thread, if recorded and not zero: kernel_ms and user_ms,\n"
    "  or in a private session processor_ms;\n"
    "  of manifest events: id, channel, task, keyword (hexadecimal string), activity\n"
    "  (GUID, if not zero), related_activity (GUID, if it has one);\n"
    "  of messages: message (number); sequence and component, if they have them;\n"
    "  their class is null if they have none;\n"
    "  of instance events: instance, parent_instance (0: none), parent_class (GUID);\n"
    "  duration_ns, if --where asks for the duration and it is known, and\n"
    "  duration_error_ns (null: not known);\n"
    "  call_stack, if it has one: an array of hexadecimal strings, innermost first;\n"
    "  symbols, with --symbols: the same, as the column call_stack has them;\n"
    "  extended, if there are any: an array of objects with type and data\n"
    "  (hexadecimal);\n"
    "  fields: an object; numbers as numbers (null: not finite), names of\n"
    "  enumerations and all else as strings, the second of two fields of one name\n"
    "  as NAME#2; or text, of a message whose format is known;\n"
    "  field_times: an object with those fields that are stamps, as the event's time\n"
    "  is (null: 0), unless --clock=raw; with --symbols field_symbols: those that are\n"
    "  addresses of code, as symbols has them (null: not known);\n"
    "  truncated (the field that is not whole; 'argument N' of a message) or\n"
    "  undescribed (the field that cannot be read) and rest (hexadecimal), if a\n"
    "  payload does not fit; odd, of values that are: an array of objects with field,\n"
    "  index of an element, and odd, in words; decoded_as_version (number), where\n"
    "  only another version is described (null: fields are those of all known ones);\n"
    "  payload (hexadecimal) where nothing describes the event.\n"
    "Numbers have up to 64 bits.\n"
    "\n",
    "Damage, lost events, and events that contradict their description are reported\n"
    "on standard error.\n"
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

static bool is_wanted(struct etwas_dump *dump)
{
    const struct etwas_current_event *current = &dump->current;

    if (!etwas_window_holds(&dump->window, current->input, current->record)) {
        return false;
    }
    return !dump->has_where || etwas_condition_holds(&dump->where, &dump->current);
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
    if (!dump->hex || dump->has_where) {
        schema_texts = etwas_descriptions_known(descriptions, record);
    }
    if (schema_texts == NULL && (!dump->hex || dump->has_where)) {
        taken = etwas_descriptions_add_record(descriptions, record);
        if (taken == ERROR_SUCCESS && !dump->hex) {
            return;
        }
        schema_texts = etwas_descriptions_find(descriptions, record, &senseless);
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
        dump->clock == ETWAS_DUMP_TIME && etwas_text_is_beyond(etwas_input_shown_ns(input, record));
    if (dump->form == ETWAS_DUMP_JSON) {
        etwas_dump_json(dump);
    } else if (dump->form == ETWAS_DUMP_CSV) {
        etwas_dump_csv(dump);
    } else {
        etwas_dump_text(dump);
    }
    /* A session may not have another event for long. */
    dump->run->stop = dump->run->stop || (dump->run->live != NULL && dump->shown >= dump->limit);
}

static bool parse_limit(const char *text, uint64_t *limit)
{
    char *end;

    errno = 0;
    *limit = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-';
}

static bool parse_clock(const char *text, enum etwas_dump_clock *clock)
{
    static const char *const names[] = {
        [ETWAS_DUMP_RAW] = "raw",
        [ETWAS_DUMP_QPC] = "qpc",
        [ETWAS_DUMP_SYSTEM] = "system",
    };

    for (unsigned i = ETWAS_DUMP_RAW; i <= ETWAS_DUMP_SYSTEM; i++) {
        if (strcmp(text, names[i]) == 0) {
            *clock = (enum etwas_dump_clock)i;
            return true;
        }
    }
    fprintf(stderr, "etwas dump: --clock takes raw, qpc or system, not '%s'\n", text);
    return false;
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

bool etwas_dump_take_option(void *context, int option)
{
    struct etwas_dump *dump = context;

    switch (option) {
    case 'j':
        dump->form = ETWAS_DUMP_JSON;
        return true;
    case 'v':
        dump->form = ETWAS_DUMP_CSV;
        return true;
    case 'x':
        dump->hex = true;
        return true;
    case 'S':
        dump->symbols = true;
        dump->wants_stacks = true;
        return true;
    case 'r':
        dump->clock = ETWAS_DUMP_RAW;
        return true;
    case 'c':
        return parse_clock(optarg, &dump->clock);
    case 'C':
        dump->columns_text = optarg;
        return true;
    case 'w':
        dump->has_where = etwas_where_option(&dump->where, dump->command, optarg, &dump->paths);
        dump->wants_durations |= dump->where.wants_duration;
        return dump->has_where;
    case 'f':
        return etwas_window_option(&dump->window.from, "dump", "--from", optarg);
    case 't':
        return etwas_window_option(&dump->window.to, "dump", "--to", optarg);
    case 'n':
        if (!parse_limit(optarg, &dump->limit)) {
            fprintf(stderr, "etwas %s: --limit takes a number of events, not '%s'\n", dump->command,
                    optarg);
            return false;
        }
        return true;
    default:
        return false;
    }
}

/* What is wrong with the options together; NULL: nothing. */
static const char *misuse(const struct etwas_dump *dump)
{
    return dump->columns_text != NULL && dump->form == ETWAS_DUMP_JSON
               ? "--columns does not go with --json"
               : NULL;
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_dump *dump, struct etwas_files *files,
                          int *result)
{
    static const struct option named[] = {
        {"json", no_argument, NULL, 'j'},
        {"csv", no_argument, NULL, 'v'},
        {"hex", no_argument, NULL, 'x'},
        {"clock", required_argument, NULL, 'c'},
        {"raw", no_argument, NULL, 'r'},
        {"limit", required_argument, NULL, 'n'},
        {"columns", required_argument, NULL, 'C'},
        {"where", required_argument, NULL, 'w'},
        {"from", required_argument, NULL, 'f'},
        {"to", required_argument, NULL, 't'},
        {"symbols", no_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"dump", help, named, "jxc:rn:C:w:Sh",
                                                 etwas_dump_take_option};
    const char *wrong;

    if (!etwas_options_read(&options, argc, argv, dump, result)) {
        return false;
    }
    wrong = etwas_files_read(files, argv + optind, argv + argc, ETWAS_INPUT_FILES);
    if (!etwas_options_fit(&options, wrong != NULL ? wrong : misuse(dump), result)) {
        return false;
    }
    dump->several_files = files->count > 1;
    if (!etwas_dump_choose_columns(dump)) {
        *result = etwas_command_misused("dump");
        return false;
    }
    return true;
}

static enum etwas_input_time input_time(const struct etwas_dump *dump)
{
    if (dump->clock != ETWAS_DUMP_TIME) {
        return ETWAS_INPUT_RAW;
    }
    if (dump->wants_raw_time || dump->wants_durations) {
        return ETWAS_INPUT_BOTH;
    }
    return dump->hex ? ETWAS_INPUT_FILETIME : ETWAS_INPUT_NANOSECONDS;
}

static const char too_many[] = "for so many files";

/* What the addresses of the next of the run's inputs are; its last part may say more. */
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

    if (result == ETWAS_EXIT_FINE &&
        !etwas_all_descriptions_add(&dump->descriptions, input, &dump->paths)) {
        CloseTrace(input->trace);
        result = etwas_output_no_memory(too_many);
    }
    if (result == ETWAS_EXIT_FINE && dump->symbols &&
        !read_addresses(dump, input, is_session ? NULL : etwas_parts_last(&dump->parts, number))) {
        dump->current.out_of_memory = true;
    }
    dump->run->count += result == ETWAS_EXIT_FINE;
    return result;
}

static int open_inputs(struct etwas_dump *dump, char *const *paths, uint32_t count)
{
    int result = ETWAS_EXIT_FINE;

    if (dump->run->live == NULL && !etwas_parts_read(&dump->parts, paths, count)) {
        return etwas_output_no_memory(too_many);
    }
    etwas_shared_descriptions_open(&dump->descriptions.shared, paths, count);
    for (uint32_t i = 0; i < count; i++) {
        if (open_input(dump, paths[i], i + 1) != ETWAS_EXIT_FINE) {
            result = ETWAS_EXIT_OPEN;
        }
    }
    return result;
}

static int process(struct etwas_dump *dump)
{
    if (dump->form == ETWAS_DUMP_TEXT) {
        etwas_dump_text_title(dump);
    } else if (dump->form == ETWAS_DUMP_CSV) {
        etwas_dump_csv_title(dump);
    }
    if (!dump->wants_durations) {
        etwas_window_narrow(&dump->window, dump->run);
    }
    if (dump->run->live != NULL) {
        etwas_output_flush(dump->output);
    } else {
        etwas_progress_start(&dump->run->progress, true);
    }
    return etwas_input_process(dump->run);
}

/* Says what is to be said behind the events. Returns what the program exits with. */
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
    if (dump->shown > 0 && dump->wants_stacks && !dump->has_stack) {
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

        result = result == ETWAS_EXIT_FINE ? processed : result;
    }
    result =
        etwas_output_finish(dump->output) ? finish(dump, paths, count, result) : ETWAS_EXIT_OUTPUT;
    dump_free(dump);
    return result;
}

int etwas_command_dump(int argc, char **argv)
{
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    static struct etwas_input_run run = {.inputs = inputs};
    static struct etwas_dump dump;
    static struct etwas_files files;
    int result;

    dump.command = "dump";
    dump.limit = UINT64_MAX;
    dump.run = &run;
    dump.output = etwas_standard_output();
    if (!parse_options(argc, argv, &dump, &files, &result)) {
        return result;
    }
    if (!etwas_window_resolve(&dump.window, "dump", files.paths, files.count)) {
        return etwas_command_misused("dump");
    }
    return etwas_dump_run(&dump, files.paths, files.count);
}
