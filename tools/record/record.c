/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas record`.
 */

#include "record/record.h"

#include "cli/replace.h"
#include "cli/value.h"
#include "commands.h"
#include "exit.h"
#include "kernel/flags.h"

#include <etwas/evntrace.h>

#include <getopt.h>
#include <stdio.h>

enum {
    USER_STACK_BYTES = 8192, /* default size */
    MOST_USER_STACK_BYTES = 32768,
};

static const char *const clocks[] = {"qpc", "system", "tsc", NULL}; /* ClientContext - 1 */

static bool read_dwarf(const struct etwas_option_use *use)
{
    uint64_t bytes = USER_STACK_BYTES;

    if (use->text != NULL && (!etwas_value_size(use->text, 1, &bytes) || bytes == 0 ||
                              bytes % 8 != 0 || bytes > MOST_USER_STACK_BYTES)) {
        return etwas_option_refuse(use, "a multiple of 8 bytes up to 32 KiB");
    }
    *(uint32_t *)use->place = (uint32_t)bytes;
    return true;
}

static bool read_provider(const struct etwas_option_use *use)
{
    struct etwas_record_request *request = use->request;

    if (request->provider_count == ETWAS_RECORD_PROVIDERS) {
        fprintf(stderr, "etwas record: --enable: there are more than %d providers\n",
                ETWAS_RECORD_PROVIDERS);
        return false;
    }
    return etwas_steer_read_provider(use, &request->providers[request->provider_count++]);
}

/* Warns of requested stacks whose events are not recorded. */
static void warn_of_stacks(const struct etwas_record_request *request)
{
    uint32_t missing = request->stack_flags & ~request->flags;
    const char *name;

    if (request->user_stack_bytes != 0 && request->stack_count == 0) {
        fputs("etwas record: --dwarf: it has no effect without --stack\n", stderr);
    }
    while ((name = etwas_flags_next(&missing)) != NULL) {
        fprintf(stderr,
                "etwas record: --stack: %s has no stacks: no flag of --kernel has such events\n",
                name);
    }
}

/* Returns what is wrong with the combination of options; NULL if nothing is. */
static const char *misuse(const struct etwas_record_request *request)
{
    const struct etwas_steer_filters *filters = &request->filters;
    bool chooses_events = etwas_steer_filters_choose_events(filters);

    if (filters->process_count == 0 && !etwas_record_runs(request)) {
        return "which program? Or --pid LIST";
    }
    if (request->has_kernel && filters->program_bytes != 0) {
        return "--process: of what the kernel does, --pid chooses the processes";
    }
    return request->provider_count == 0 && (chooses_events || filters->program_bytes != 0)
               ? "--event and --process choose of what --enable names, and it is missing"
               : NULL;
}

static int run_record(int argc, char **argv)
{
    static struct etwas_record_request request = {
        .path = "etwas.etl",
        .flags = EVENT_TRACE_FLAG_PROCESS | EVENT_TRACE_FLAG_THREAD | EVENT_TRACE_FLAG_IMAGE_LOAD |
                 EVENT_TRACE_FLAG_CSWITCH | EVENT_TRACE_FLAG_PROFILE,
    };
    int result;

    if (!etwas_command_read(&etwas_record_command, argc, argv, &request, &result)) {
        return result;
    }
    request.program = argv + optind;
    request.is_unasked = !request.has_kernel && request.provider_count == 0;
    request.has_kernel = request.has_kernel || request.is_unasked;
    if (!etwas_command_fits(&etwas_record_command, misuse(&request), &result)) {
        return result;
    }
    warn_of_stacks(&request);
    return etwas_record_run(&request);
}

static const struct etwas_option options[] = {
    {.name = "kernel",
     .value = "FLAGS",
     .group = "What is recorded",
     .help = "of the kernel, such as process,cswitch,profile",
     .type = ETWAS_OPTION_READ,
     .read = etwas_record_read_flags},
    {.name = "stack",
     .value = "EVENTS",
     .help = "which of these have call stacks, such as profile,cswitch",
     .type = ETWAS_OPTION_READ,
     .read = etwas_record_read_stacks},
    {.name = "dwarf",
     .value = "SIZE",
     .is_optional = true,
     .help = "so much of the user stack too, for --stack: 8 KiB",
     .type = ETWAS_OPTION_READ,
     .read = read_dwarf,
     ETWAS_PLACE(struct etwas_record_request, user_stack_bytes)},
    {.name = "enable",
     .letter = 'e',
     .value = "PROVIDER[:KEYWORDS[:LEVEL]]",
     .help = "what programs log by PROVIDER; repeatable",
     .type = ETWAS_OPTION_READ,
     .read = read_provider,
     .source = ETWAS_VALUES_PROVIDERS},
    ETWAS_STEER_FILTER_OPTIONS(struct etwas_record_request, filters,
                               "Of which processes, and which events",
                               "only what these processes do and log, 8 at most"),
    {.name = "clock",
     .value = "NAME",
     .group = "How",
     .help = "what stamps the events: qpc (the default), system, tsc",
     .type = ETWAS_OPTION_CHOICE,
     .choices = clocks,
     ETWAS_PLACE(struct etwas_record_request, clock)},
    ETWAS_TRACE_OPTIONS(struct etwas_record_request, path, force,
                        "the trace to make (default: etwas.etl)"),
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_record_command = {
    .name = "record",
    .group = "Record",
    .summary = "record the kernel, or a program, while it runs",
    .usages = (const char *const[]){"[OPTION...] [--] PROGRAM [ARGUMENT...]",
                                    "[OPTION...] --pid LIST", NULL},
    .description = "Records what the kernel does in the whole system while a program runs, or "
                   "what some processes do until they end. With --enable it records what programs "
                   "log.",
    .details =
        (const char *const[]){
            "Ctrl-C ends it well: what was recorded until then is in the file. Recording the "
            "kernel needs root, or CAP_PERFMON and the right to read tracefs. Where the kernel "
            "refuses, it is said what is missing, and PROGRAM is not run.",
            "--enable takes a provider by name or GUID, as etwas start does, from its first event "
            "on. The kernel is recorded beside it only if --kernel or --stack asks for that, and "
            "without it no rights are needed. Providers of other processes of the same user with "
            "these names are recorded as well.",
            "Beside the kernel, what programs log goes to a file of its own: PATH with "
            ".programs.etl in place of .etl. etwas why and etwas dump show both in one order of "
            "time.",
            "FLAGS are names with commas between them: process, thread, image_load, "
            "process_counters, cswitch, dispatcher, profile, systemcall, memory_page_faults, "
            "memory_hard_faults, virtual_alloc, vamap, interrupt, dpc, disk_io, disk_io_init, "
            "split_io, file_io, file_io_init, disk_file_io, network_tcpip, dbgprint, job and "
            "no_sysconfig. alpc, registry and driver record nothing on Linux. EVENT_TRACE_FLAG_ "
            "may stand before each. The default is process,thread,image_load,cswitch,profile.",
            "EVENTS are names likewise: cswitch, profile, dispatcher, systemcall (what calls), "
            "memory_page_faults, memory_hard_faults, virtual_alloc, file_io_init, file_io, "
            "disk_io_init, split_io, network_tcpip (what is sent and received), dbgprint and job.",
            "--dwarf copies the top of a program's stack with each call stack, for code without "
            "frame pointers. SIZE is a multiple of 8 bytes, at most 32 KiB.",
            "A trace that is there is replaced once recording has begun, and only with --force. "
            "Else it stays, and PROGRAM is not run. A trace of the kernel is its user's alone.",
            "With --pid, the trace has what these processes do and log, and the switches and "
            "wakings that they have a part in. Their children count as other processes. Without "
            "PROGRAM, recording ends when all of them have ended, and a line on a terminal says "
            "how many events there are so far. 'etwas record -- tail --pid=PID -f /dev/null' "
            "records the whole system until a process ends.",
            ETWAS_STEER_PATTERN_TEXT,
            "--process and --event are for all that --enable names. With several, or a pattern, "
            "the trace is read once in the end for how much each recorded.",
            ETWAS_STEER_EVENT_TEXT,
            "The exit status is PROGRAM's, or 128 and the number of the signal that ended it, or "
            "0 without PROGRAM. It is 126 if PROGRAM cannot be executed, and 127 if it is not "
            "found. "
            "It is 4 instead of 0 if a file could not be written as a whole.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas record -- make && etwas stat --cpu-time etwas.etl",
             "Record the kernel while make runs, and show who used the processors."},
            {"etwas record -e 'Shop.*' -o shop.etl -- ./shop",
             "Record what a program logs, from its first event on."},
            {"etwas record --kernel process,thread,cswitch,dispatcher,systemcall -- ./shop",
             "Record what 'etwas why' asks of the kernel, and nothing else."},
            {NULL, NULL},
        },
    .runs_program = true,
    .run = run_record,
};
