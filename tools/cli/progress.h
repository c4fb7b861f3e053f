/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_CLI_PROGRESS_H
#define ETWAS_TOOLS_CLI_PROGRESS_H

/*
 * A line on standard error that shows the progress of long work. It appears only on a terminal,
 * only after a second, and not with --quiet.
 */

#include <stdbool.h>
#include <stdint.h>

struct etwas_progress {
    bool wanted;
    bool shown;
    int64_t next_ms; /* time of the next update */
};

/*
 * Begins the work. `prints_as_it_goes`: the work writes to standard output; if that is a terminal,
 * no line is shown.
 */
void etwas_progress_start(struct etwas_progress *progress, bool prints_as_it_goes);

/*
 * Returns whether it is time to call etwas_progress_show. It is cheap enough to call for every
 * buffer.
 */
bool etwas_progress_due(const struct etwas_progress *progress);

void etwas_progress_show(struct etwas_progress *progress, uint64_t done_bytes,
                         uint64_t total_bytes);

/* Removes the line. */
void etwas_progress_end(struct etwas_progress *progress);

#endif
