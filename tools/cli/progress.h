/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_PROGRESS_H
#define ETWAS_TOOLS_CLI_PROGRESS_H

/*
 * A line on standard error that says how far long work is. Only on a terminal, only after a second.
 */

#include <stdbool.h>
#include <stdint.h>

struct etwas_progress {
    bool wanted;
    bool shown;
    int64_t next_ms; /* when to write again */
};

/*
 * `prints_as_it_goes`: the work prints to standard output as it goes, and there the line would be
 * in the way of it.
 */
void etwas_progress_start(struct etwas_progress *progress, bool prints_as_it_goes);

/* Is it time for etwas_progress_show? Cheap enough for every buffer. */
bool etwas_progress_due(const struct etwas_progress *progress);

void etwas_progress_show(struct etwas_progress *progress, uint64_t done_bytes,
                         uint64_t total_bytes);

/* Takes the line away. */
void etwas_progress_end(struct etwas_progress *progress);

#endif
