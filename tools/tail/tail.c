/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas tail`: shows the events of a running session as `etwas dump` shows those of a
 * file.
 */

#include "commands.h"
#include "dump/dump.h"
#include "exit.h"
#include "steer/session.h"
#include "where/option.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

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

/* Ends the run at a signal: before it opens its trace, before processing, or during it. */
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

/*
 * Blocks the signals in all threads; a new thread waits for them. Returns false if it cannot be
 * created.
 */
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

static int run_tail(int argc, char **argv)
{
    static struct etwas_input input;
    static struct etwas_input_run run = {.inputs = &input};
    static struct etwas_dump dump;
    const char *wrong;
    int result;

    etwas_dump_init(&dump, "tail", &run);
    run.live = dump.output;
    if (!etwas_command_read(&etwas_tail_command, argc, argv, &dump, &result)) {
        return result;
    }
    wrong = argc - optind == 1 ? NULL : optind == argc ? "which session?" : "one session at a time";
    if (!etwas_command_fits(&etwas_tail_command, wrong, &result) ||
        !etwas_dump_finish_options(&dump, &etwas_tail_command, &result)) {
        return result;
    }
    if (!is_in_real_time(argv[optind])) {
        return ETWAS_EXIT_FAILED;
    }
    if (!catch_signals(&run)) {
        etwas_steer_complain("etwas tail", argv[optind], "there can be no more threads");
        return ETWAS_EXIT_FAILED;
    }
    return etwas_dump_run(&dump, argv + optind, 1);
}

static const struct etwas_option options[] = {
    ETWAS_WHERE_OPTIONS(struct etwas_dump, where),
    ETWAS_LIMIT_OPTION(struct etwas_dump, limit, "end after N events"),
    ETWAS_DUMP_COLUMNS_OPTION,
    ETWAS_JSON_OPTION(struct etwas_dump, form, "an object a line"),
    ETWAS_COLOR_OPTION,
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_tail_command = {
    .name = "tail",
    .summary = "show the events of a real-time session as they come",
    .usages = (const char *const[]){"[OPTION...] SESSION", NULL},
    .description =
        "Shows the events of a real-time session as they come, a line each, until the session "
        "ends. SIGINT, SIGTERM and SIGHUP end it as well.",
    .details =
        (const char *const[]){
            "The session may be of any process of the user. Events come when their buffers are "
            "full or flushed: etwas start --realtime --flush.",
            "What was recorded while nobody consumed the session comes first, to whoever is the "
            "first consumer. Several consumers get the same events from then on.",
            "MSNT_SystemTrace/Lost_Event says that events are missing before the next event. "
            "RTLostEvent: they were lost before they could be consumed. RTLostBuffer: this "
            "consumer was too slow.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas tail shop", "Show all events."},
            {"etwas tail --where 'level <= 2' --json shop", "Pass on errors to a program."},
            {NULL, NULL},
        },
    ETWAS_WINDOW_NO_TIMES,
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_tail,
};
