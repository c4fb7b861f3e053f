/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_WINDOW_H
#define ETWAS_TOOLS_TRACE_WINDOW_H

/*
 * The options --from and --until of commands, which select the events of a window of time by the
 * times that `etwas dump` shows. Both ends belong to the window.
 */

#include "cli/command.h"
#include "trace/coverage.h"
#include "trace/input.h"

enum etwas_window_anchor {
    ETWAS_WINDOW_OPEN,  /* no such end */
    ETWAS_WINDOW_TIME,  /* at this moment */
    ETWAS_WINDOW_FIRST, /* so long after the first event */
    ETWAS_WINDOW_LAST,  /* so long before the last one */
    ETWAS_WINDOW_DAY,   /* so long after the beginning of the day of the first event */
};

struct etwas_window_end {
    enum etwas_window_anchor anchor;
    int64_t ns;       /* since 1970, or from the event */
    const char *text; /* as it was given */
};

struct etwas_window {
    struct etwas_window_end from;
    struct etwas_window_end until;
    bool is_local; /* times without Z and offset are of this machine's zone, else of UTC */
    bool has_held; /* an event was inside */
};

/* Reads one end of a window, a struct etwas_window_end. As etwas_option.read. */
bool etwas_window_read_option(const struct etwas_option_use *use);

/* Both options in the table of a command; `member` is the struct etwas_window of its request. */
#define ETWAS_WINDOW_OPTIONS(request, member)                                                      \
    {.name = "from",                                                                               \
     .value = "TIME",                                                                              \
     .help = "only events at TIME or later: etwas help times",                                     \
     .type = ETWAS_OPTION_READ,                                                                    \
     .read = etwas_window_read_option,                                                             \
     ETWAS_PLACE(request, member.from)},                                                           \
    {                                                                                              \
        .name = "until", .value = "TIME", .help = "only events at TIME or earlier",                \
        .type = ETWAS_OPTION_READ, .read = etwas_window_read_option,                               \
        ETWAS_PLACE(request, member.until)                                                         \
    }

/* In a command that shows times of day: which zone they are of is no choice, and is said. */
#define ETWAS_WINDOW_NO_TIMES                                                                      \
    .absent = (const char *const[]){"--times", NULL},                                              \
    .absent_since = "its times are UTC, as --from takes them; 'etwas dump --times local' shows "   \
                    "events in this machine's zone"

/*
 * Converts both ends to times. If one counts from the first or last event of the traces, reads
 * these to find it. Returns false after a message on standard error, with the exit status in
 * *result: the window ends before it begins.
 */
bool etwas_window_resolve(struct etwas_window *window, const struct etwas_command *command,
                          char *const *paths, uint32_t count, int *result);

/* Finds the first event of the traces. Returns false if there is none. */
bool etwas_window_first(char *const *paths, uint32_t count, int64_t *first_ns);

static inline bool etwas_window_is_set(const struct etwas_window *window)
{
    return window->from.anchor != ETWAS_WINDOW_OPEN || window->until.anchor != ETWAS_WINDOW_OPEN;
}

/* Returns whether a record is inside of a window that is resolved. */
static inline bool etwas_window_holds(struct etwas_window *window, const struct etwas_input *input,
                                      const EVENT_RECORD *record)
{
    bool is_inside = true;

    if (etwas_window_is_set(window)) {
        int64_t time_ns = etwas_input_shown_ns(input, record);

        is_inside = (window->from.anchor == ETWAS_WINDOW_OPEN || time_ns >= window->from.ns) &&
                    (window->until.anchor == ETWAS_WINDOW_OPEN || time_ns <= window->until.ns);
    }
    if (is_inside && !window->has_held) {
        window->has_held = etwas_trace_coverage_is_event(input, record);
    }
    return is_inside;
}

/*
 * To be called after the events. If none was inside of the window, reports so, with the time that
 * the traces cover, or that they have no events. Returns whether one was.
 */
bool etwas_window_finish(const struct etwas_window *window, const char *command, char *const *paths,
                         uint32_t count);

/*
 * Limits a run to what a resolved window selects, for a command that needs nothing of what came
 * before. Exact to 100 ns; etwas_window_holds is more exact.
 */
void etwas_window_narrow(const struct etwas_window *window, struct etwas_input_run *run);

/* What TIME is: the guide "times" of the help. */
extern const char etwas_window_help[];

#endif
