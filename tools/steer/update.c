/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The command `etwas update`: what of a session may change while it runs.
 */

#include "cli/options.h"
#include "cli/replace.h"
#include "commands.h"
#include "steer/session.h"
#include "steer/summary.h"

#include <stdio.h>
#include <string.h>

static const char *const help[] = {
    "usage: etwas update OPTION... SESSION\n"
    "\n",
    "Changes a session while it runs; what is not said stays as it is.\n"
    "\n"
    "  -o, --output FILE   the log file is finished, and this one begun; of a flight\n"
    "                      recorder it is a snapshot\n"
    "  -f, --force         a FILE that is there is replaced\n"
    "  --flush MS          how often what is in buffers is written; whole seconds\n"
    "                      where the session was started so\n"
    "  --maximum N         buffers at most, within what was set aside at the start\n"
    "  --realtime          it is for consumers too from now on\n"
    "  --no-realtime       it is for its file alone\n"
    "  --next-file         of a session with --newfile: the next of its files begins\n"
    "  -h, --help          this text\n"
    "\n"
    "Exit codes: see 'etwas --help'; 2 where the session refuses, nothing is changed.\n",
    NULL,
};

enum {
    FLUSH = 256,
    MAXIMUM,
    REAL_TIME,
    NO_REAL_TIME,
    NEXT_FILE,
};

static const struct option named[] = {
    {"output", required_argument, NULL, 'o'},
    {"force", no_argument, NULL, 'f'},
    {"flush", required_argument, NULL, FLUSH},
    {"maximum", required_argument, NULL, MAXIMUM},
    {"realtime", no_argument, NULL, REAL_TIME},
    {"no-realtime", no_argument, NULL, NO_REAL_TIME},
    {"next-file", no_argument, NULL, NEXT_FILE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const char command[] = "etwas update";

struct change {
    const char *path;
    uint32_t flush_ms;
    uint32_t maximum_buffers;
    bool real_time;
    bool no_real_time;
    bool next_file;
    bool force;
};

static bool take_option(void *context, int option)
{
    struct change *change = context;

    switch (option) {
    case 'o':
        change->path = optarg;
        return true;
    case 'f':
        change->force = true;
        return true;
    case FLUSH:
        return etwas_options_number("update", "--flush", 1, UINT32_MAX, &change->flush_ms);
    case MAXIMUM:
        return etwas_options_number("update", "--maximum", 1, UINT32_MAX, &change->maximum_buffers);
    case REAL_TIME:
        change->real_time = true;
        return true;
    case NO_REAL_TIME:
        change->no_real_time = true;
        return true;
    case NEXT_FILE:
        change->next_file = true;
        return true;
    default: /* getopt_long has said what is wrong */
        return false;
    }
}

/* What is wrong with what is asked for; NULL: nothing. */
static const char *look_at(const struct change *change, int names)
{
    bool updates = change->path != NULL || change->flush_ms != 0 || change->maximum_buffers != 0 ||
                   change->real_time || change->no_real_time;

    return names != 1 ? names == 0 ? "which session?" : "one session at a time"
           : change->real_time && change->no_real_time ? "--realtime or --no-realtime?"
           : change->force && change->path == NULL     ? "--force goes with -o"
           : change->next_file && updates              ? "--next-file changes nothing else"
           : !change->next_file && !updates            ? "what shall change?"
                                                       : NULL;
}

/* The timer in the session's own unit. False: it cannot have such a one. */
static bool set_timer(EVENT_TRACE_PROPERTIES *properties, uint32_t flush_ms)
{
    bool in_ms = (properties->LogFileMode & EVENT_TRACE_USE_MS_FLUSH_TIMER) != 0;

    properties->FlushTimer = in_ms ? flush_ms : flush_ms / 1000;
    return in_ms || flush_ms % 1000 == 0;
}

/*
 * Makes the request of what QUERY has answered: what is 0 stays as it is, the modes and EnableFlags
 * do not.
 */
static bool make_request(const struct change *change, const char *name,
                         struct etwas_steer_block *block)
{
    EVENT_TRACE_PROPERTIES *properties = &block->properties;

    properties->Wnode.Flags = WNODE_FLAG_TRACED_GUID;
    if (!set_timer(properties, change->flush_ms)) {
        etwas_steer_complain(command, name, "its --flush is in whole seconds");
        return false;
    }
    properties->MaximumBuffers = change->maximum_buffers;
    if (change->real_time) {
        properties->LogFileMode |= EVENT_TRACE_REAL_TIME_MODE;
    } else if (change->no_real_time) {
        properties->LogFileMode &= ~EVENT_TRACE_REAL_TIME_MODE;
    }
    if (change->path == NULL) {
        properties->LogFileNameOffset = 0;
        return true;
    }
    return etwas_steer_name_file(command, change->path, block->file_name);
}

/* A recorder takes another name and makes no file yet. */
static bool makes_room(const struct change *change, const struct etwas_steer_block *block,
                       struct etwas_replaced *replaced)
{
    uint32_t mode = block->properties.LogFileMode;

    return change->path == NULL || (mode & EVENT_TRACE_BUFFERING_MODE) != 0 ||
           etwas_replace_begin(replaced, command, block->file_name,
                               (mode & EVENT_TRACE_FILE_MODE_NEWFILE) != 0, change->force);
}

/* In force is what the answer says. */
static void say_changed(const struct change *change, struct etwas_steer_summary *summary,
                        const struct etwas_steer_block *block)
{
    etwas_steer_summary_print(summary, NULL, block->file_name);
    if (change->maximum_buffers != 0 &&
        block->properties.MaximumBuffers != change->maximum_buffers) {
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

int etwas_command_update(int argc, char **argv)
{
    static const struct etwas_options options = {"update", help, named, "o:fh", take_option};
    struct change change = {0};
    int result;

    if (!etwas_options_read(&options, argc, argv, &change, &result) ||
        !etwas_options_fit(&options, look_at(&change, argc - optind), &result)) {
        return result;
    }
    if (change.path != NULL && !etwas_replace_may_numbered(command, change.path, change.force)) {
        return ETWAS_EXIT_OUTPUT;
    }
    result = update(&change, argv[optind]) ? ETWAS_EXIT_FINE : ETWAS_EXIT_OPEN;
    return etwas_output_finish(etwas_standard_output()) ? result : (int)ETWAS_EXIT_OUTPUT;
}
