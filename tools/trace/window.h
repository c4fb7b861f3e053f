/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_TRACE_WINDOW_H
#define ETWAS_TOOLS_TRACE_WINDOW_H

/*
 * The options --from and --until, which select the events of a window of time. They compare times
 * as `etwas dump` shows them, and both ends are inclusive.
 */

#include "cli/command.h"
#include "trace/coverage.h"
#include "trace/input.h"

enum etwas_window_anchor {
    ETWAS_WINDOW_OPEN,  /* no end was given */
    ETWAS_WINDOW_TIME,  /* at this moment */
    ETWAS_WINDOW_FIRST, /* this long after the first event */
    ETWAS_WINDOW_LAST,  /* this long before the last event */
    ETWAS_WINDOW_DAY,   /* this long after midnight of the first event's day */
};

struct etwas_window_end {
    enum etwas_window_anchor anchor;
    int64_t ns;       /* since 1970, or relative to the anchor */
    const char *text; /* as it was given */
};

struct etwas_window {
    struct etwas_window_end from;
    struct etwas_window_end until;
    bool is_local; /* times without Z or an offset are in this machine's zone, else in UTC */
    bool has_held; /* an event was inside the window */
};

/* Reads one end of a window into a struct etwas_window_end; for etwas_option.read. */
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

/*
 * For a command that shows times of day but has no option for their zone: its help says which one.
 */
#define ETWAS_WINDOW_NO_TIMES                                                                      \
    .absent = (const char *const[]){"--times", NULL},                                              \
    .absent_since = "its times are UTC, as --from takes them; 'etwas dump --times local' shows "   \
                    "events in this machine's zone"

/*
 * Converts both ends to times, and reads the traces if an end counts from their first or last
 * event. If the window ends before it begins, reports that on standard error, sets *result to the
 * exit status and returns false.
 */
bool etwas_window_resolve(struct etwas_window *window, const struct etwas_command *command,
                          char *const *paths, uint32_t count, int *result);

/* Finds the first event of the traces. Returns false if there is none. */
bool etwas_window_first(char *const *paths, uint32_t count, int64_t *first_ns);

static inline bool etwas_window_is_set(const struct etwas_window *window)
{
    return window->from.anchor != ETWAS_WINDOW_OPEN || window->until.anchor != ETWAS_WINDOW_OPEN;
}

/* Returns whether a record is inside a resolved window. */
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
 * If no event was inside the window, reports that, with the time that the traces cover, or that
 * they have no events. Call it after the events. Returns whether one was inside.
 */
bool etwas_window_finish(const struct etwas_window *window, const char *command, char *const *paths,
                         uint32_t count);

/*
 * Limits a run to a resolved window, for a command that needs no earlier events. It is exact to 100
 * ns; etwas_window_holds is more exact.
 */
void etwas_window_narrow(const struct etwas_window *window, struct etwas_input_run *run);

/* The text of the help guide "times": what TIME may be. */
extern const char etwas_window_help[];

#endif
