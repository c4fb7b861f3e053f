/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas dump`.
 */

#include "dump/dump.h"

#include "commands.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const help[] = {
    "usage: etwas dump [--json] [--clock CLOCK] [--limit N] FILE...\n"
    "\n",
    "Shows the events of one or more traces, a line for each. The events of several\n"
    "files (at most 64) come in one time order.\n"
    "\n",
    "  -j, --json      one JSON object a line instead of columns\n"
    "  -c, --clock raw|qpc|system\n"
    "                  times by another clock of the machine that recorded them:\n"
    "                  raw: as recorded, in ticks of the session's clock (see 'etwas\n"
    "                  stat'); those of several files do not compare\n"
    "                  qpc: CLOCK_MONOTONIC_RAW in ns, with the error bound\n"
    "                  system: the wall clock as it was, with the error bound;\n"
    "                  without --clock, times go on from the session's start, and no\n"
    "                  step of the wall clock disturbs them\n"
    "  -r, --raw       --clock=raw\n"
    "  -n, --limit N   only the first N events\n"
    "  -h, --help      this text\n"
    "\n",
    "Columns, separated by spaces; '-' where an event has no such thing:\n"
    "  file      with several files: its number on the command line, from 1\n"
    "  time      UTC, with the 100 ns of Windows time; @N for a time outside the\n"
    "            years 1601 to 9999, in 100 ns since 1601; with --clock: raw_time,\n"
    "            qpc_ns and error_ns, or system_time and error_ns: the true time is\n"
    "            within so many ns, '-' if the file does not say\n"
    "  cpu       the processor that recorded it\n"
    "  process, thread\n"
    "  class     the event class: its name if it is well known, else its GUID; a\n"
    "            self-describing event as PROVIDER/EVENT; component:ID of a message\n"
    "            of TraceMessage that has that instead\n"
    "  type      a classic event's type; #ID/OPCODE of a manifest event;\n"
    "            message:NUMBER of a message\n"
    "  level     1 is most severe, 5 is verbose\n"
    "  instance  the instance number of an event of TraceEventInstance; the sequence\n"
    "            number of a message\n"
    "  parent    NUMBER@CLASS of its parent instance\n"
    "  payload   in hexadecimal\n"
    "The first event of a trace, EventTrace/Header, describes the session; 'etwas\n"
    "stat' shows it in words. Lines that begin with # are no events.\n"
    "\n",
    "JSON keys, in this order:\n"
    "  time (string, as above); with --clock raw_time (number), or qpc_ns (number)\n"
    "  and error_ns, or system_time (string) and error_ns (null: not known);\n"
    "  file, with several files; processor, process and thread, null if not known;\n"
    "  class (GUID); name, if it has one; type; level; version;\n"
    "  processor time of the thread, if recorded and not zero: kernel_ms and user_ms,\n"
    "  or in a private session processor_ms;\n"
    "  of manifest events: id, channel, task, keyword (hexadecimal string), activity\n"
    "  (GUID, if not zero);\n"
    "  of messages: message (number); sequence and component, if they have them;\n"
    "  their class is null if they have none;\n"
    "  of instance events: instance, parent_instance (0: none), parent_class (GUID);\n"
    "  extended, if there are any: an array of objects with type and data\n"
    "  (hexadecimal); payload (hexadecimal).\n"
    "Numbers have up to 64 bits.\n"
    "\n",
    "Damage and lost events are reported on standard error.\n"
    "Exit codes: see 'etwas --help'.\n",
    NULL,
};

static void on_record(EVENT_RECORD *record)
{
    const struct etwas_input *input = record->UserContext;
    struct etwas_dump *dump = input->context;

    if (dump->shown >= dump->limit || dump->output->error != 0) {
        dump->run->stop = true;
        return;
    }
    dump->shown++;
    if (dump->json) {
        etwas_dump_json(dump, input, record);
    } else {
        etwas_dump_text(dump, input, record);
    }
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

etwas_clock_time etwas_dump_time(const struct etwas_dump *dump, const struct etwas_input *input,
                                 const EVENT_RECORD *record)
{
    uint32_t clock = dump->clock == ETWAS_DUMP_QPC ? ETWAS_CLOCK_QPC : ETWAS_CLOCK_SYSTEM_TIME;
    etwas_clock_time time = {0, UINT64_MAX};

    (void)etwas_trace_convert_time(input->trace, record->EventHeader.TimeStamp.QuadPart, clock,
                                   &time);
    return time;
}

/* Returns whether to go on; otherwise *result is what the program exits with. */
static bool parse_options(int argc, char **argv, struct etwas_dump *dump, int *result)
{
    static const struct option options[] = {
        {"json", no_argument, NULL, 'j'}, {"clock", required_argument, NULL, 'c'},
        {"raw", no_argument, NULL, 'r'},  {"limit", required_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "jc:rn:h", options, NULL)) != -1) {
        if (option == 'j') {
            dump->json = true;
        } else if (option == 'r') {
            dump->clock = ETWAS_DUMP_RAW;
        } else if (option == 'h') {
            *result = etwas_command_help(help);
            return false;
        } else if (option == 'c') {
            if (!parse_clock(optarg, &dump->clock)) {
                *result = etwas_command_misused("dump");
                return false;
            }
        } else if (option != 'n') {
            *result = etwas_command_misused("dump");
            return false;
        } else if (!parse_limit(optarg, &dump->limit)) {
            fprintf(stderr, "etwas dump: --limit takes a number of events, not '%s'\n", optarg);
            *result = etwas_command_misused("dump");
            return false;
        }
    }
    if (optind == argc || argc - optind > ETWAS_INPUT_FILES) {
        fprintf(stderr, "etwas dump: %s\n",
                optind == argc ? "which file?" : "at most 64 files at once");
        *result = etwas_command_misused("dump");
        return false;
    }
    return true;
}

int etwas_command_dump(int argc, char **argv)
{
    struct etwas_output *output = etwas_standard_output();
    static struct etwas_input inputs[ETWAS_INPUT_FILES];
    struct etwas_input_run run = {.inputs = inputs};
    struct etwas_dump dump = {.limit = UINT64_MAX, .run = &run, .output = output};
    int result = ETWAS_EXIT_FINE;

    if (!parse_options(argc, argv, &dump, &result)) {
        return result;
    }
    dump.several_files = argc - optind > 1;
    for (int i = optind; i < argc; i++) {
        const struct etwas_input_callbacks callbacks = {on_record, dump.clock != ETWAS_DUMP_TIME};

        if (etwas_input_open(&inputs[run.count], argv[i], (uint32_t)(i - optind + 1), &callbacks,
                             &dump) == ETWAS_EXIT_FINE) {
            run.count++;
        } else {
            result = ETWAS_EXIT_OPEN;
        }
    }
    if (run.count > 0) {
        int processed;

        if (!dump.json) {
            etwas_dump_text_title(&dump);
        }
        etwas_progress_start(&run.progress, true);
        processed = etwas_input_process(&run);
        if (result == ETWAS_EXIT_FINE) {
            result = processed;
        }
    }
    if (!etwas_output_finish(output)) {
        return ETWAS_EXIT_OUTPUT;
    }
    for (uint32_t i = 0; i < run.count; i++) {
        etwas_input_warn(&inputs[i]);
    }
    return result;
}
