/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The command `etwas update`: changes what can be changed in a running session. */

#include "cli/command.h"
#include "cli/replace.h"
#include "commands.h"
#include "exit.h"
#include "steer/session.h"
#include "steer/summary.h"

#include <getopt.h>
#include <stdio.h>

#define NS_A_MS UINT64_C(1000000)

static const char command[] = "etwas update";

struct change {
    struct {
        const char *path;
        bool force;
    } output;
    uint64_t flush_ns;
    uint32_t maximum_buffers;
    bool real_time;
    bool no_real_time;
    bool next_file;
};

/* Returns what is wrong with the requested changes; NULL if nothing is. */
static const char *misuse(const struct change *change, int names)
{
    bool updates = change->output.path != NULL || change->flush_ns != 0 ||
                   change->maximum_buffers != 0 || change->real_time || change->no_real_time;

    if (names != 1) {
        return names == 0 ? "which session?" : "one session at a time";
    }
    if (change->real_time && change->no_real_time) {
        return "--realtime and --no-realtime exclude each other";
    }
    if (change->output.force && change->output.path == NULL) {
        return "--force goes with --output";
    }
    if (change->next_file) {
        return updates ? "--next-file changes nothing else" : NULL;
    }
    return updates ? NULL : "what shall change?";
}

/* Sets the timer in the session's own unit. Returns false if it is not a multiple of that. */
static bool set_timer(EVENT_TRACE_PROPERTIES *properties, uint64_t flush_ns)
{
    bool in_ms = (properties->LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER) != 0;
    uint32_t flush_ms = (uint32_t)((flush_ns + NS_A_MS - 1) / NS_A_MS);

    properties->FlushTimer = in_ms ? flush_ms : flush_ms / 1000;
    return in_ms || flush_ms % 1000 == 0;
}

/*
 * Turns the answer of QUERY into a request. A value of 0 means unchanged, but the modes and
 * EnableFlags must be repeated.
 */
static bool make_request(const struct change *change, const char *name,
                         struct etwas_steer_block *block)
{
    EVENT_TRACE_PROPERTIES *properties = &block->properties;

    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    if (!set_timer(properties, change->flush_ns)) {
        etwas_steer_complain(command, name, "its --flush is in whole seconds, as it was started");
        return false;
    }
    properties->MaximumBuffers = change->maximum_buffers;
    if (change->real_time) {
        properties->LogFileMode |= EVENT_TRACE_REAL_TIME_MODE;
    } else if (change->no_real_time) {
        properties->LogFileMode &= ~EVENT_TRACE_REAL_TIME_MODE;
    }
    if (change->output.path == NULL) {
        properties->LogFileNameOffset = 0;
        return true;
    }
    return etwas_steer_name_file(command, change->output.path, block->file_name);
}

/* A recorder only takes the new name, and creates no file yet. */
static bool makes_room(const struct change *change, const struct etwas_steer_block *block,
                       struct etwas_replaced *replaced)
{
    uint32_t mode = block->properties.LogFileMode;

    return change->output.path == NULL || (mode & EVENT_TRACE_BUFFERING_MODE) != 0 ||
           etwas_replace_begin(replaced, command, block->file_name,
                               (mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0, change->output.force);
}

/* Prints the values that the session returned, which are in force. */
static void say_changed(const struct change *change, struct etwas_steer_summary *summary,
                        const struct etwas_steer_block *block)
{
    etwas_steer_summary_print(summary, NULL, block->file_name);
    if (change->maximum_buffers != 0 &&
        block->properties.MaximumBuffers != change->maximum_buffers && !etwas_is_quiet) {
        fprintf(stderr, "%s: it has at most %u buffers now\n", command,
                block->properties.MaximumBuffers);
    }
}

static bool update(const struct change *change, const char *name)
{
    static struct etwas_steer_summary summary;
    static struct etwas_steer_block block;
    bool is_updated;

    if (!etwas_steer_summary_begin(&summary, command, "updated", name)) {
        return false;
    }
    etwas_steer_prepare(&block);
    is_updated = etwas_steer_control(command, name, &block, EVENT_TRACE_CONTROL_QUERY);
    if (is_updated && change->next_file) {
        etwas_steer_prepare(&block);
        is_updated = etwas_steer_control(command, name, &block, EVENT_TRACE_CONTROL_INCREMENT_FILE);
    } else if (is_updated) {
        struct etwas_replaced replaced = {.path = NULL};

        is_updated = make_request(change, name, &block) && makes_room(change, &block, &replaced) &&
                     etwas_steer_control(command, name, &block, EVENT_TRACE_CONTROL_UPDATE);
        etwas_replace_end(&replaced, is_updated);
    }
    if (is_updated) {
        say_changed(change, &summary, &block);
    }
    etwas_steer_summary_end(&summary);
    return is_updated;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run_update(int argc, char **argv)
{
    struct change change = {0};
    int result;

    if (!etwas_command_read(&etwas_update_command, argc, argv, &change, &result) ||
        !etwas_command_fits(&etwas_update_command, misuse(&change, argc - optind), &result)) {
        return result;
    }
    if (change.output.path != NULL &&
        !etwas_replace_may_numbered(command, change.output.path, change.output.force)) {
        return ETWAS_EXIT_OUTPUT;
    }
    result = update(&change, argv[optind]) ? ETWAS_EXIT_DONE : ETWAS_EXIT_FAILED;
    return etwas_output_finish(etwas_standard_output()) ? result : (int)ETWAS_EXIT_OUTPUT;
}

static const struct etwas_option options[] = {
    ETWAS_TRACE_OPTIONS(struct change, output.path, output.force,
                        "begin this log file, and finish the one before"),
    {.name = "flush",
     .value = "DURATION",
     .help = "how often buffers are written, full or not, in ms",
     .type = ETWAS_OPTION_DURATION,
     .least = 1,
     .most = UINT32_MAX * NS_A_MS,
     .unit = NS_A_MS,
     ETWAS_PLACE(struct change, flush_ns)},
    {.name = "max-buffers",
     .value = "N",
     .help = "buffers at most",
     .type = ETWAS_OPTION_COUNT,
     .least = 1,
     .most = UINT32_MAX,
     ETWAS_PLACE(struct change, maximum_buffers)},
    ETWAS_FLAG_OPTION(struct change, real_time, "realtime", "from now on for consumers, too"),
    ETWAS_FLAG_OPTION(struct change, no_real_time, "no-realtime", "from now on only for its file"),
    ETWAS_FLAG_OPTION(struct change, next_file, "next-file",
                      "of a session with --newfile: begin the next file"),
    ETWAS_QUIET_OPTION,
    {.name = NULL},
};

const struct etwas_command etwas_update_command = {
    .name = "update",
    .summary = "change a session while it runs",
    .usages = (const char *const[]){"OPTION... SESSION", NULL},
    .description = "Changes a session while it runs. What is not said stays as it is.",
    .details =
        (const char *const[]){
            "Of a flight recorder, --output writes a snapshot to that file.",
            "--flush is in whole milliseconds, and in whole seconds if the session was started so. "
            "--max-buffers is limited by what was set aside at the start.",
            "If the session refuses, nothing is changed, and the exit status is 2.",
            NULL,
        },
    .options = options,
    .examples =
        (const struct etwas_example[]){
            {"etwas update -o evening.etl shop", "Go on in another log file."},
            {"etwas update --realtime --flush 100ms shop", "Let consumers see events soon."},
            {NULL, NULL},
        },
    .operands = ETWAS_VALUES_SESSIONS,
    .run = run_update,
};
