/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_CHOICE_H
#define ETWAS_TOOLS_ANALYSE_CHOICE_H

/*
 * Which of the events that an analysis is about count: those for which the conditions hold, and
 * that lie in the window. All others are still read.
 */

#include "trace/current_event.h"
#include "trace/descriptions.h"
#include "trace/window.h"
#include "where/where.h"

struct etwas_choice {
    struct etwas_where *where;
    struct etwas_window *window;
    struct etwas_descriptions descriptions;
    struct etwas_current_event current;
};

/*
 * Opens the choice for a file: its conditions and its window, which stay the caller's, are set.
 * False without memory. To be closed either way.
 */
bool etwas_choice_open(struct etwas_choice *choice, const char *path,
                       struct etwas_field_paths *paths, struct etwas_shared_descriptions *shared);

/* Takes each record of the file, in the order of time. */
void etwas_choice_add_record(struct etwas_choice *choice, const struct etwas_input *input,
                             const EVENT_RECORD *record);

/*
 * Returns whether an event counts. `process` and `thread` are what it is of where its header does
 * not say so, or ETWAS_EVENT_UNKNOWN_ID.
 */
bool etwas_choice_has(struct etwas_choice *choice, const struct etwas_input *input,
                      const EVENT_RECORD *record, uint32_t process, uint32_t thread);

void etwas_choice_close(struct etwas_choice *choice);

/*
 * Returns whether the conditions hold for a thread, of which nothing else is known; `name` is that
 * of its process, or NULL. They are of --pid, --tid and --process alone.
 */
bool etwas_choice_has_thread(struct etwas_where *where, uint32_t process, uint32_t thread,
                             const char *name);

#endif
