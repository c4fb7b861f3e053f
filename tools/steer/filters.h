/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_FILTERS_H
#define ETWAS_TOOLS_STEER_FILTERS_H

/*
 * The options --pid, --process and --event of commands that enable providers. They become filters
 * of EnableTraceEx2, which select the processes and the events.
 */

#include "cli/command.h"

#include <etwas/evntcons.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_DESCRIPTORS = 5, /* per request: one of each kind, and a provider's name */
    ETWAS_STEER_IDS = MAX_EVENT_FILTER_EVENT_ID_COUNT,
};

/* All zeroes: there is no filter. */
struct etwas_steer_filters {
    uint32_t process_count;
    uint32_t processes[MAX_EVENT_FILTER_PID_COUNT];
    uint32_t program_bytes;
    etwas_wchar programs[MAX_EVENT_FILTER_DATA_SIZE / sizeof(etwas_wchar)];
    uint32_t id_count;
    uint16_t ids[2 + ETWAS_STEER_IDS]; /* an EVENT_FILTER_EVENT_ID, whose head takes two units */
    uint32_t name_bytes;
    _Alignas(uint64_t) char names[MAX_EVENT_FILTER_EVENT_NAME_SIZE]; /* EVENT_FILTER_EVENT_NAME */
};

/*
 * Reads numbers, separated by commas. Returns false if one is not a number, there are too many, or
 * the filter was set before.
 */
bool etwas_steer_filter_processes(struct etwas_steer_filters *filters, const char *list);

/* Reads names of program files in the same way. */
bool etwas_steer_filter_programs(struct etwas_steer_filters *filters, const char *list);

/* Reads ids of events, which are numbers, and names, which may contain * and ?, in the same way. */
bool etwas_steer_filter_events(struct etwas_steer_filters *filters, const char *list);

static inline bool etwas_steer_filters_choose_events(const struct etwas_steer_filters *filters)
{
    return filters->id_count != 0 || filters->name_bytes != 0;
}

static inline bool etwas_steer_filters_are_any(const struct etwas_steer_filters *filters)
{
    return filters->process_count != 0 || filters->program_bytes != 0 ||
           etwas_steer_filters_choose_events(filters);
}

/*
 * Makes the descriptors of a request, which point into the filters and to the name. `name` is a
 * name or pattern of all providers that the request is for, or NULL. `is_system`: the provider is a
 * system provider, all of whose events have ids. Returns the number of descriptors.
 */
uint32_t etwas_steer_filters_describe(const struct etwas_steer_filters *filters, const char *name,
                                      bool is_system,
                                      EVENT_FILTER_DESCRIPTOR descriptors[ETWAS_STEER_DESCRIPTORS]);

/* Read these options; `member` is the struct etwas_steer_filters of the request. */
bool etwas_steer_read_processes(const struct etwas_option_use *use);
bool etwas_steer_read_programs(const struct etwas_option_use *use);
bool etwas_steer_read_events(const struct etwas_option_use *use);

#define ETWAS_STEER_FILTER_OPTIONS(request, member, heading, pid_help)                             \
    {.name = "pid",                                                                                \
     .letter = 'p',                                                                                \
     .value = "LIST",                                                                              \
     .group = heading,                                                                             \
     .help = pid_help,                                                                             \
     .type = ETWAS_OPTION_READ,                                                                    \
     .read = etwas_steer_read_processes,                                                           \
     ETWAS_PLACE(request, member)},                                                                \
        {.name = "process",                                                                        \
         .value = "NAME",                                                                          \
         .help = "only programs of these names, with commas between",                              \
         .type = ETWAS_OPTION_READ,                                                                \
         .read = etwas_steer_read_programs,                                                        \
         ETWAS_PLACE(request, member)},                                                            \
    {                                                                                              \
        .name = "event", .value = "LIST", .help = "only these events: names with * and ?, or ids", \
        .type = ETWAS_OPTION_READ, .read = etwas_steer_read_events, ETWAS_PLACE(request, member),  \
    }

/* Paragraphs for the manual pages of commands with these options. */
#define ETWAS_STEER_PATTERN_TEXT                                                                   \
    "In a name of a PROVIDER * stands for any characters and ? for one: every provider of such a " \
    "name is enabled, registered now or later, from its first event on. What is asked of one "     \
    "provider itself counts more."
#define ETWAS_STEER_EVENT_TEXT                                                                     \
    "--event takes names of TraceLogging events, in which * and ? may be, and ids, up to 64, of "  \
    "events that have no names. What it does not name is left out. It is for modern providers. "   \
    "Those of the system take ids alone."

#endif
