/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_ANALYSE_CHOICE_H
#define ETWAS_TOOLS_ANALYSE_CHOICE_H

/*
 * Chooses which events of an analysis count: those in the window for which the conditions hold. All
 * others are still read.
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
 * Opens the choice for a file. `where` and `window` are already set, and stay the caller's. Returns
 * false if there is no memory. Close the choice in either case.
 */
bool etwas_choice_open(struct etwas_choice *choice, const char *path,
                       struct etwas_field_paths *paths, struct etwas_shared_descriptions *shared);

/* Call it for each record of the file, in the order of time. */
void etwas_choice_add_record(struct etwas_choice *choice, const struct etwas_input *input,
                             const EVENT_RECORD *record);

/*
 * Returns whether an event counts. `process` and `thread`, or ETWAS_EVENT_UNKNOWN_ID, are used if
 * the header does not have them.
 */
bool etwas_choice_has(struct etwas_choice *choice, const struct etwas_input *input,
                      const EVENT_RECORD *record, uint32_t process, uint32_t thread);

void etwas_choice_close(struct etwas_choice *choice);

/*
 * Returns whether the conditions hold for a thread. They are those of --pid, --tid and --process
 * alone. `name` is that of the thread's process, or NULL.
 */
bool etwas_choice_has_thread(struct etwas_where *where, uint32_t process, uint32_t thread,
                             const char *name);

#endif
