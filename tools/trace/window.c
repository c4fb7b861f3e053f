/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Reads the ends of a window, and finds the events that they count from. */

#include "trace/window.h"

#include "cli/quiet.h"
#include "cli/value.h"
#include "exit.h"
#include "print/text.h"
#include "where/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char etwas_window_help[] =
    "Times of --from and --until:\n"
    "  2026-11-21T08:19:17.123456789Z       as commands show it, or the beginning of\n"
    "                                       it from the day on; UTC, with --times\n"
    "                                       local this machine's time\n"
    "  2026-11-21T09:19:17+01:00            with an offset from UTC\n"
    "  08:19, 08:19:17.5                    on the day of the first event\n"
    "  +1.5, +1500ms                        seconds after the first event\n"
    "  -2.5                                 seconds before the last one\n"
    "Of a recorder's file they count from the ends of what it covers. Of several\n"
    "files these are the first and the last of all. Both ends are inside.\n"
    "Commands show times in UTC, so that --from takes them as they stand. dump alone\n"
    "has --times, which shows those of events in other ways.\n";

/* ---- parsing an end -------------------------------------------------------------------------- */

#define NS_PER_SECOND UINT64_C(1000000000)

static bool parse(struct etwas_window_end *end, const char *text)
{
    uint64_t ns;

    if (*text == '+' || *text == '-') {
        end->anchor = *text == '+' ? ETWAS_WINDOW_FIRST : ETWAS_WINDOW_LAST;
        return etwas_value_duration(text + 1, NS_PER_SECOND, &ns) &&
               !__builtin_add_overflow(ns, 0, &end->ns);
    }
    if (etwas_where_time_of_day(text, &end->ns)) {
        end->anchor = ETWAS_WINDOW_DAY;
        return true;
    }
    end->anchor = ETWAS_WINDOW_TIME;
    return etwas_where_date(text, ETWAS_WHERE_UTC, &end->ns);
}

bool etwas_window_read_option(const struct etwas_option_use *use)
{
    struct etwas_window_end *end = use->place;

    end->text = use->text;
    return parse(end, use->text) ||
           etwas_option_refuse(use,
                               "a time, such as 2026-11-21T08:19:17.5Z, 08:19, +1.5s after the "
                               "first event or -2s before the last one");
}

/* ---- the events that ends count from --------------------------------------------------------- */

struct ends {
    int64_t first_ns;
    int64_t last_ns;
};

/*
 * Finds the ends of the coverage that recorders' files state, and of other files' events. Returns
 * false if there are none.
 */
static bool find_ends(struct ends *ends, char *const *paths, uint32_t count, bool wants_last)
{
    struct etwas_trace_coverage *coverage = calloc(count, sizeof *coverage);
    bool any = false;

    for (uint32_t i = 0; coverage != NULL && i < count; i += ETWAS_INPUT_FILES) {
        uint32_t left = count - i;

        etwas_trace_coverage_read_files(coverage + i, paths + i,
                                        left < ETWAS_INPUT_FILES ? left : ETWAS_INPUT_FILES,
                                        wants_last);
    }
    for (uint32_t i = 0; coverage != NULL && i < count; i++) {
        bool is_said = coverage[i].is_said && !coverage[i].is_none;
        int64_t first_ns = is_said ? coverage[i].said_from_ns + 1 : coverage[i].first_ns;
        int64_t last_ns = is_said ? coverage[i].said_until_ns : coverage[i].last_ns;

        if (is_said || coverage[i].has_events) {
            ends->first_ns = any && ends->first_ns < first_ns ? ends->first_ns : first_ns;
            ends->last_ns = any && ends->last_ns > last_ns ? ends->last_ns : last_ns;
            any = true;
        }
    }
    free(coverage);
    return any;
}

/* Returns the beginning of the day of a time, in UTC or in this machine's zone. */
static int64_t day_of(int64_t unix_ns, bool is_local)
{
    time_t seconds = (time_t)(unix_ns / (int64_t)NS_PER_SECOND - (unix_ns < 0));
    struct tm parts;

    (void)(is_local ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts));
    parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
    parts.tm_isdst = -1;
    return (is_local ? mktime(&parts) : timegm(&parts)) * (int64_t)NS_PER_SECOND;
}

/* Returns the time of an end, limited to the range of int64_t. */
static int64_t moment(const struct etwas_window_end *end, const struct ends *ends, bool is_local)
{
    int64_t ns = end->ns;

    if (end->anchor == ETWAS_WINDOW_TIME && is_local) {
        (void)etwas_where_date(end->text, ETWAS_WHERE_LOCAL, &ns);
        return ns;
    }
    if (end->anchor == ETWAS_WINDOW_DAY) {
        return day_of(ends->first_ns, is_local) + ns;
    }
    if (end->anchor == ETWAS_WINDOW_FIRST && __builtin_add_overflow(ends->first_ns, ns, &ns)) {
        return INT64_MAX;
    }
    if (end->anchor == ETWAS_WINDOW_LAST && __builtin_sub_overflow(ends->last_ns, ns, &ns)) {
        return INT64_MIN;
    }
    return ns;
}

bool etwas_window_first(char *const *paths, uint32_t count, int64_t *first_ns)
{
    struct ends ends = {0, 0};
    bool is_found = find_ends(&ends, paths, count, false);

    *first_ns = ends.first_ns;
    return is_found;
}

static bool counts_from(const struct etwas_window *window, enum etwas_window_anchor anchor)
{
    return window->from.anchor == anchor || window->until.anchor == anchor;
}

bool etwas_window_resolve(struct etwas_window *window, const struct etwas_command *command,
                          char *const *paths, uint32_t count, int *result)
{
    bool wants_last = counts_from(window, ETWAS_WINDOW_LAST);
    struct ends ends = {0, 0};
    bool is_known = window->from.anchor == window->until.anchor;
    bool is_reversed;

    if (wants_last || counts_from(window, ETWAS_WINDOW_FIRST) ||
        counts_from(window, ETWAS_WINDOW_DAY)) {
        is_known |= find_ends(&ends, paths, count, wants_last);
    }
    window->from.ns = moment(&window->from, &ends, window->is_local);
    window->until.ns = moment(&window->until, &ends, window->is_local);
    /* Without an event, the ends have nothing to count from. Opening the files reports that. */
    is_reversed = is_known && window->from.anchor != ETWAS_WINDOW_OPEN &&
                  window->until.anchor != ETWAS_WINDOW_OPEN && window->from.ns > window->until.ns;
    return etwas_command_fits(command, is_reversed ? "--from is later than --until" : NULL, result);
}

bool etwas_window_finish(const struct etwas_window *window, const char *command, char *const *paths,
                         uint32_t count)
{
    struct etwas_output *errors = etwas_standard_error();
    struct ends ends = {0, 0};

    if (window->has_held || etwas_is_quiet) {
        return window->has_held;
    }
    etwas_output_format(errors, "etwas %s: note: ", command);
    if (!find_ends(&ends, paths, count, true)) {
        etwas_output_text(errors, "there are no events of providers in ");
        etwas_text_utf8(errors, ETWAS_TEXT_PLAIN, count == 1 ? paths[0] : "the files",
                        count == 1 ? strlen(paths[0]) : strlen("the files"));
    } else {
        etwas_output_text(errors, "no event is in this window; the trace goes from ");
        etwas_text_time_ns(errors, ends.first_ns);
        etwas_output_text(errors, " until ");
        etwas_text_time_ns(errors, ends.last_ns);
    }
    etwas_output_char(errors, '\n');
    etwas_output_flush(errors);
    return false;
}

void etwas_window_narrow(const struct etwas_window *window, struct etwas_input_run *run)
{
    bool has_from = window->from.anchor != ETWAS_WINDOW_OPEN;
    bool has_to = window->until.anchor != ETWAS_WINDOW_OPEN;

    run->has_span = etwas_window_is_set(window);
    run->from_filetime = has_from ? etwas_input_filetime(window->from.ns) : 0;
    run->to_filetime = has_to ? etwas_input_filetime(window->until.ns) : INT64_MAX;
}
