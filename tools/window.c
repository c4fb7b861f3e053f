/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reading the ends of a window, and finding the events that they count from.
 */

#include "window.h"

#include "commands.h"
#include "event.h"
#include "names.h"
#include "where/scan.h"

#include <etwas/evntrace.h>
#include <stdio.h>

const char etwas_window_help[] =
    "Times of --from and --to:\n"
    "  2026-11-21T08:19:17.123456789Z       as dump shows it, or the beginning of it\n"
    "                                       from the day on; UTC\n"
    "  +1.5                                 seconds after the first event\n"
    "  -2.5                                 seconds before the last one\n"
    "Of several files these are the first and the last of all. Both ends are inside.\n";

/* ---- an end as it was given ------------------------------------------------------------------ */

#define NS_PER_SECOND INT64_C(1000000000)

/* Seconds with up to nine decimals. False: the text is something else, or longer than 292 years. */
static bool parse_seconds(const char *text, int64_t *ns)
{
    int64_t unit = NS_PER_SECOND;
    bool any = false;
    bool fits = true;

    *ns = 0;
    for (; *text >= '0' && *text <= '9'; text++) {
        fits = fits && !__builtin_mul_overflow(*ns, 10, ns) &&
               !__builtin_add_overflow(*ns, (*text - '0') * NS_PER_SECOND, ns);
        any = true;
    }
    if (*text == '.') {
        for (text++; *text >= '0' && *text <= '9' && unit > 1; text++) {
            unit /= 10;
            fits = fits && !__builtin_add_overflow(*ns, (*text - '0') * unit, ns);
            any = true;
        }
    }
    return any && fits && *text == '\0';
}

static bool parse(struct etwas_window_end *end, const char *text)
{
    if (*text == '+' || *text == '-') {
        end->anchor = *text == '+' ? ETWAS_WINDOW_FIRST : ETWAS_WINDOW_LAST;
        return parse_seconds(text + 1, &end->ns);
    }
    end->anchor = ETWAS_WINDOW_TIME;
    return etwas_where_date(text, &end->ns);
}

bool etwas_window_option(struct etwas_window_end *end, const char *command, const char *option,
                         const char *text)
{
    if (parse(end, text)) {
        return true;
    }
    fprintf(stderr,
            "etwas %s: %s takes a time as 2026-11-21T08:19:17.5Z, or seconds as +1.5 after the "
            "first event or -2.5 before the last one, not '%s'\n",
            command, option, text);
    return false;
}

/* ---- the events that it counts from ---------------------------------------------------------- */

struct search {
    etwas_trace_handle traces[ETWAS_INPUT_FILES];
    uint32_t count;
    bool wants_last;
    bool any;
    bool stop;
    int64_t first_ns;
    int64_t last_ns;
};

static void on_record(EVENT_RECORD *record)
{
    struct search *search = record->UserContext;
    int64_t time_ns = record->EventHeader.TimeStamp.QuadPart;

    /* What the session says of itself and of events is not the programs'. */
    if (!etwas_event_is_header_class(record) &&
        !etwas_event_is_of_class(record, &etwas_names_metadata_class) &&
        !etwas_event_is_of_class(record, &etwas_names_own_class)) {
        search->first_ns = search->any ? search->first_ns : time_ns;
        search->last_ns = time_ns;
        search->any = true;
        search->stop = !search->wants_last;
    }
}

static uint32_t on_buffer(EVENT_TRACE_LOGFILEA *logfile)
{
    const struct search *search = logfile->Context;

    return !search->stop;
}

/* What is wrong with a file is told by who reads it after this. */
static void find_ends(struct search *search, char *const *paths, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        EVENT_TRACE_LOGFILEA logfile = {
            .LogFileName = paths[i],
            .ProcessTraceMode =
                PROCESS_TRACE_MODE_EVENT_RECORD | ETWAS_PROCESS_TRACE_MODE_NANOSECONDS,
            .EventRecordCallback = on_record,
            .BufferCallback = on_buffer,
            .Context = search,
        };
        etwas_trace_handle trace = OpenTraceA(&logfile);

        if (trace != INVALID_PROCESSTRACE_HANDLE) {
            search->traces[search->count++] = trace;
        }
    }
    if (search->count > 0) {
        etwas_filetime any = {0, 0};

        /* The beginning of a file is a part that may be found by its index. */
        (void)etwas_process_traces(search->traces, search->count, search->wants_last ? NULL : &any,
                                   NULL);
    }
    for (uint32_t i = 0; i < search->count; i++) {
        CloseTrace(search->traces[i]);
    }
}

/* A moment beyond what 64 bits hold is the last that they do. */
static int64_t moment(const struct etwas_window_end *end, const struct search *search)
{
    int64_t ns = end->ns;

    if (end->anchor == ETWAS_WINDOW_FIRST && __builtin_add_overflow(search->first_ns, ns, &ns)) {
        return INT64_MAX;
    }
    if (end->anchor == ETWAS_WINDOW_LAST && __builtin_sub_overflow(search->last_ns, ns, &ns)) {
        return INT64_MIN;
    }
    return ns;
}

static bool counts_from(const struct etwas_window *window, enum etwas_window_anchor anchor)
{
    return window->from.anchor == anchor || window->to.anchor == anchor;
}

bool etwas_window_resolve(struct etwas_window *window, const char *command, char *const *paths,
                          uint32_t count)
{
    struct search search = {.wants_last = counts_from(window, ETWAS_WINDOW_LAST)};

    if (search.wants_last || counts_from(window, ETWAS_WINDOW_FIRST)) {
        find_ends(&search, paths, count);
    }
    window->from.ns = moment(&window->from, &search);
    window->to.ns = moment(&window->to, &search);
    if (window->from.anchor != ETWAS_WINDOW_OPEN && window->to.anchor != ETWAS_WINDOW_OPEN &&
        window->from.ns > window->to.ns) {
        fprintf(stderr, "etwas %s: --from is later than --to\n", command);
        return false;
    }
    return true;
}

void etwas_window_narrow(const struct etwas_window *window, struct etwas_input_run *run)
{
    bool has_from = window->from.anchor != ETWAS_WINDOW_OPEN;
    bool has_to = window->to.anchor != ETWAS_WINDOW_OPEN;

    run->has_span = etwas_window_is_set(window);
    run->from_filetime = has_from ? etwas_input_filetime(window->from.ns) : 0;
    run->to_filetime = has_to ? etwas_input_filetime(window->to.ns) : INT64_MAX;
}
