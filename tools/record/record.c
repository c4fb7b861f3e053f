/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas record`.
 */

#include "record/record.h"

#include "commands.h"
#include "event/names.h"
#include "kernel/flags.h"

#include <etwas/evntrace.h>

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    USER_STACK_BYTES = 8192 /* unless others are asked for */
};

static const char *const help[] = {
    "usage: etwas record [OPTION...] [--] PROGRAM [ARGUMENT...]\n"
    "       etwas record [OPTION...] --pid PID\n"
    "\n",
    "Records what the kernel does in the whole system while PROGRAM runs, or until\n"
    "the process PID ends. Ctrl-C ends it well: what was recorded until then is in\n"
    "the file. Needs root, or CAP_PERFMON and leave to read tracefs; where the kernel\n"
    "refuses, it is said what is missing, and PROGRAM is not run.\n"
    "\n"
    "With --enable it records what PROGRAM logs itself, and that alone unless -k or\n"
    "-s asks for the kernel, too; it needs no rights then. Providers of other\n"
    "processes of the same user with these names are recorded as well.\n"
    "\n",
    "  -k, --kernel FLAGS  what to record, with commas between: process, thread,\n"
    "                      image_load, process_counters, cswitch, dispatcher,\n"
    "                      profile, systemcall,\n"
    "                      memory_page_faults, memory_hard_faults, virtual_alloc,\n"
    "                      vamap, interrupt, dpc,\n"
    "                      disk_io, disk_io_init, split_io, file_io,\n"
    "                      file_io_init, disk_file_io, network_tcpip,\n"
    "                      dbgprint, job, no_sysconfig; alpc, registry and\n"
    "                      driver, which record nothing on Linux.\n"
    "                      Default: process,thread,image_load,cswitch,profile.\n"
    "                      EVENT_TRACE_FLAG_ may stand before each\n"
    "  -s, --stack EVENTS  which of them have stacks: cswitch, profile, dispatcher,\n"
    "                      systemcall (what calls), memory_page_faults,\n"
    "                      memory_hard_faults, virtual_alloc, file_io_init, file_io,\n"
    "                      disk_io_init, split_io, network_tcpip (what is sent and\n"
    "                      received), dbgprint, job\n"
    "  -d, --dwarf[=BYTES] with --stack: so many bytes of the program's stack, 8192\n"
    "                      unless others are said, for what has no frame pointers\n"
    "  -e, --enable PROVIDER[:KEYWORDS[:LEVEL]]\n"
    "                      a program's provider from its first event on, by name or\n"
    "                      GUID, as 'etwas start' takes it; as often as there are\n"
    "                      providers. Beside the kernel it goes to a file of its own,\n"
    "                      FILE with .programs.etl for .etl\n"
    "  -c, --clock CLOCK   that stamps them: qpc (the default), system or tsc\n"
    "  -o, --output FILE   default: etwas.etl. It is its user's alone\n"
    "  -f, --force         a FILE that is there is replaced once all has begun; else\n"
    "                      it stays, and PROGRAM is not run\n"
    "  -p, --pid PID       a process to wait for; on a terminal a line says how\n"
    "                      far it is\n"
    "  -O, --only          with --pid: what that process does and logs alone, and\n"
    "                      switches and wakings that it has a part in. Its children\n"
    "                      are others\n"
    "  -h, --help          this text\n"
    "\n",
    "What programs log is in another file than what the kernel does: 'etwas why' and\n"
    "'etwas dump' show both on one time line.\n"
    "\n",
    "Exit codes: PROGRAM's, or 128 and the number of the signal that ended it; with\n"
    "--pid 0. Where nothing could be recorded: see 'etwas --help'; 4 instead of 0\n"
    "where a file could not be written as a whole.\n"
    "\n",
    "Examples:\n"
    "  etwas record -- make && etwas stat --cpu etwas.etl\n"
    "  etwas record -e Shop.Till -o shop.etl -- ./shop && etwas dump shop.etl\n"
    "  etwas record -k process,cswitch,dispatcher,systemcall -o k.etl -- ./service\n",
    NULL,
};

static const struct option options[] = {
    {"kernel", required_argument, NULL, 'k'},
    {"stack", required_argument, NULL, 's'},
    {"dwarf", optional_argument, NULL, 'd'},
    {"enable", required_argument, NULL, 'e'},
    {"clock", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, 'f'},
    {"pid", required_argument, NULL, 'p'},
    {"only", no_argument, NULL, 'O'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool parse_process(const char *text, pid_t *process)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    *process = (pid_t)number;
    return errno == 0 && end != text && *end == '\0' && number > 0 && number == (long)*process;
}

static bool parse_bytes(const char *text, uint32_t *bytes)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);

    *bytes = (uint32_t)number;
    return *text >= '1' && *text <= '9' && *end == '\0' && number % 8 == 0 && number <= 32768;
}

/* `bad`: of a list the rest. */
static void say_wrong(int option, const char *bad)
{
    int length = (int)strcspn(bad, ",");

    if (option == 'c') {
        fprintf(stderr, "etwas record: --clock takes qpc, system or tsc, not '%s'\n", bad);
    } else if (option == 'e') {
        fprintf(stderr, "etwas record: --enable takes up to %d times PROVIDER[:KEYWORDS[:LEVEL]]\n",
                ETWAS_RECORD_PROVIDERS);
    } else if (option == 'd') {
        fprintf(stderr, "etwas record: --dwarf takes bytes, by eights up to 32768, not '%s'\n",
                bad);
    } else if (option == 'p') {
        fprintf(stderr, "etwas record: --pid takes the number of a process, not '%s'\n", bad);
    } else if (length == 0) {
        fprintf(stderr, "etwas record: -%c has an empty name\n", option);
    } else {
        fprintf(stderr, "etwas record: '%.*s' is not something that -%c takes\n", length, bad,
                option);
    }
}

/* Warns of requested stacks that never come. */
static void warn_of_stacks(const struct etwas_record_request *request)
{
    uint32_t missing = request->stack_flags & ~request->flags;
    const char *name;

    if (request->user_stack_bytes != 0 && request->stack_count == 0) {
        fputs("etwas record: --dwarf does nothing without --stack\n", stderr);
    }
    while ((name = etwas_flags_next(&missing)) != NULL) {
        fprintf(stderr, "etwas record: no stacks of %s: no flag of -k has such events\n", name);
    }
}

static bool parse_option(int option, struct etwas_record_request *request)
{
    const char *bad = optarg;
    bool good;

    switch (option) {
    case 'k':
        request->has_kernel = true;
        good = etwas_record_parse_flags(optarg, &request->flags, &bad);
        break;
    case 's':
        request->has_kernel = true;
        good = etwas_record_parse_stacks(optarg, request, &bad);
        break;
    case 'd':
        request->user_stack_bytes = USER_STACK_BYTES;
        good = optarg == NULL || parse_bytes(optarg, &request->user_stack_bytes);
        break;
    case 'e':
        good = request->provider_count < ETWAS_RECORD_PROVIDERS &&
               etwas_steer_parse_provider(optarg, &request->providers[request->provider_count++]);
        break;
    case 'c':
        good = etwas_names_parse_clock(optarg, &request->clock);
        break;
    case 'p':
        good = parse_process(optarg, &request->process);
        break;
    case 'O':
        request->only = true;
        good = true;
        break;
    case 'o':
        request->path = optarg;
        good = true;
        break;
    case 'f':
        request->force = true;
        good = true;
        break;
    default: /* getopt_long has said what is wrong */
        return false;
    }
    if (!good) {
        say_wrong(option, bad);
    }
    return good;
}

int etwas_command_record(int argc, char **argv)
{
    static struct etwas_record_request request = {
        .path = "etwas.etl",
        .flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |
                 EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_PROFILE,
        .clock = 1,
    };
    int option;

    while ((option = getopt_long(argc, argv, "+k:s:d::e:c:o:fp:Oh", options, NULL)) != -1) {
        if (option == 'h') {
            return etwas_command_help(help);
        }
        if (!parse_option(option, &request)) {
            return etwas_command_misused("record");
        }
    }
    request.program = argv + optind;
    request.has_kernel = request.has_kernel || request.provider_count == 0;
    if ((request.process != 0) == (optind < argc)) {
        fputs(request.process != 0 ? "etwas record: a program to run or --pid, not both\n"
                                   : "etwas record: which program, or --pid?\n",
              stderr);
        return etwas_command_misused("record");
    }
    if (request.only && request.process == 0) {
        fputs("etwas record: --only goes with --pid\n", stderr);
        return etwas_command_misused("record");
    }
    warn_of_stacks(&request);
    return etwas_record_run(&request);
}
