/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas tail`: the events of a session that runs, as `etwas dump` shows those of a
 * file.
 */

#include "cli/options.h"
#include "commands.h"
#include "dump/dump.h"
#include "steer/session.h"
#include "where/option.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

static const char *const help[] = {
    "usage: etwas tail [OPTION...] SESSION\n"
    "\n",
    "Shows the events of a real-time session as they come, a line for each, with\n"
    "their fields by name, until the session ends, or SIGINT, SIGTERM or SIGHUP\n"
    "comes. The session may be of any process of the user. Events come when their\n"
    "buffers are full or flushed ('etwas start --realtime --flush'). What was\n"
    "recorded while nobody consumed the session comes first, to whoever is the first;\n"
    "several get the same from then on.\n"
    "\n"
    "  -w, --where EXPRESSION\n"
    "                  only events for which it is true; see below\n"
    "  -n, --limit N   N events, and it ends\n"
    "  -C, --columns NAME,...\n"
    "                  these columns, in this order; 'etwas dump --help' has them\n"
    "  -j, --json      one JSON object a line instead of columns, with the keys of\n"
    "                  'etwas dump --json'\n"
    "  -h, --help      this text\n"
    "\n"
    "MSNT_SystemTrace/Lost_Event says that some are missing before the next event:\n"
    "RTLostEvent, they were lost before this could get them; RTLostBuffer, this was\n"
    "too slow.\n"
    "\n",
    etwas_where_help,
    "\n"
    "Exit codes: see 'etwas --help'; 2 where there is no such session, or its process\n"
    "was killed.\n",
    NULL,
};

enum {
    LOOK_AGAIN_NS = 10000000,
};

static sigset_t ending_signals(void)
{
    sigset_t signals;

    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGHUP);
    return signals;
}

/*
 * Ends the run, whether it processes its trace by now, has it only opened, or has still to open it.
 */
static void *stop_at_signal(void *argument)
{
    const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
    struct etwas_input_run *run = argument;
    const sigset_t signals = ending_signals();
    int signal_number;

    (void)sigwait(&signals, &signal_number);
    __atomic_store_n(&run->stop, true, __ATOMIC_RELEASE);
    for (;;) {
        (void)CloseTrace(__atomic_load_n(&run->inputs[0].trace, __ATOMIC_ACQUIRE));
        (void)nanosleep(&pause, NULL);
    }
    return NULL;
}

/* From here on they are the thread's alone. False: there can be no thread. */
static bool catch_signals(struct etwas_input_run *run)
{
    const sigset_t signals = ending_signals();
    pthread_t thread;

    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    return pthread_create(&thread, NULL, stop_at_signal, run) == 0 && pthread_detach(thread) == 0;
}

static bool is_in_real_time(const char *name)
{
    static struct etwas_steer_block block;

    etwas_steer_prepare(&block);
    if (!etwas_steer_control("etwas tail", name, &block, EVENT_TRACE_CONTROL_QUERY)) {
        return false;
    }
    if ((block.properties.LogFileMode & EVENT_TRACE_REAL_TIME_MODE) == 0) {
        etwas_steer_complain("etwas tail", name,
                             "it is not in real time; 'etwas update --realtime' has it so");
        return false;
    }
    return true;
}

static const char *misuse(const struct etwas_dump *dump, int names)
{
    if (names != 1) {
        return names == 0 ? "which session?" : "one session at a time";
    }
    return dump->columns_text != NULL && dump->form == ETWAS_DUMP_JSON
               ? "--columns does not go with --json"
               : NULL;
}

int etwas_command_tail(int argc, char **argv)
{
    static const struct option named[] = {
        {"json", no_argument, NULL, 'j'},          {"limit", required_argument, NULL, 'n'},
        {"columns", required_argument, NULL, 'C'}, {"where", required_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    static const struct etwas_options options = {"tail", help, named, "jn:C:w:h",
                                                 etwas_dump_take_option};
    static struct etwas_input input;
    static struct etwas_input_run run = {.inputs = &input};
    static struct etwas_dump dump;
    int result;

    dump.command = "tail";
    dump.limit = UINT64_MAX;
    dump.run = &run;
    dump.output = etwas_standard_output();
    run.live = dump.output;
    if (!etwas_options_read(&options, argc, argv, &dump, &result) ||
        !etwas_options_fit(&options, misuse(&dump, argc - optind), &result)) {
        return result;
    }
    if (!etwas_dump_choose_columns(&dump)) {
        return etwas_command_misused("tail");
    }
    if (!is_in_real_time(argv[optind])) {
        return ETWAS_EXIT_OPEN;
    }
    if (!catch_signals(&run)) {
        etwas_steer_complain("etwas tail", argv[optind], "there can be no more threads");
        return ETWAS_EXIT_OPEN;
    }
    return etwas_dump_run(&dump, argv + optind, 1);
}
