/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STAT_CHOICE_H
#define ETWAS_TOOLS_STAT_CHOICE_H

/*
 * Which of the events that an analysis of `etwas stat` is about count: those for which --where and
 * the like hold, and that lie in the window. All others are still read.
 */

#include "stat/show.h"
#include "trace/current_event.h"
#include "trace/descriptions.h"

struct etwas_stat_choice {
    struct etwas_where *where;
    struct etwas_window *window;
    struct etwas_descriptions descriptions;
    struct etwas_current_event current;
};

/* Returns whether the request chooses at all. */
bool etwas_stat_choice_is_made(const struct etwas_stat_request *request);

/* Opens the choice for a file. False without memory. To be closed either way. */
bool etwas_stat_choice_open(struct etwas_stat_choice *choice, struct etwas_stat_request *request,
                            const char *path);

/* Takes each record of the file, in the order of time. */
void etwas_stat_choice_add_record(struct etwas_stat_choice *choice, const struct etwas_input *input,
                                  const EVENT_RECORD *record);

/*
 * Returns whether an event counts. `process` and `thread` are what it is of where its header does
 * not say so, or ETWAS_EVENT_UNKNOWN_ID.
 */
bool etwas_stat_choice_has(struct etwas_stat_choice *choice, const struct etwas_input *input,
                           const EVENT_RECORD *record, uint32_t process, uint32_t thread);

void etwas_stat_choice_close(struct etwas_stat_choice *choice);

/*
 * Returns whether the conditions hold for a thread, of which nothing else is known; `name` is that
 * of its process, or NULL. They are of --pid, --tid and --process alone.
 */
bool etwas_stat_choice_has_thread(struct etwas_where *where, uint32_t process, uint32_t thread,
                                  const char *name);

#endif
