/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The progress line.
 */

#include "cli/progress.h"

#include "cli/quiet.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_AFTER_MS = 1000,
    AGAIN_AFTER_MS = 200
};

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void etwas_progress_start(struct etwas_progress *progress, bool prints_as_it_goes)
{
    progress->wanted = !etwas_is_quiet && isatty(STDERR_FILENO) != 0 &&
                       !(prints_as_it_goes && isatty(STDOUT_FILENO) != 0);
    progress->shown = false;
    progress->next_ms = now_ms() + FIRST_AFTER_MS;
}

bool etwas_progress_due(const struct etwas_progress *progress)
{
    return progress->wanted && now_ms() >= progress->next_ms;
}

void etwas_progress_show(struct etwas_progress *progress, uint64_t done_bytes, uint64_t total_bytes)
{
    double part = total_bytes > 0 ? (double)done_bytes / (double)total_bytes : 0;

    fprintf(stderr, "\r%3.0f %%  %.0f of %.0f MB ", (part < 1 ? part : 1) * 100,
            (double)done_bytes / 1e6, (double)total_bytes / 1e6);
    fflush(stderr);
    progress->shown = true;
    progress->next_ms = now_ms() + AGAIN_AFTER_MS;
}

void etwas_progress_end(struct etwas_progress *progress)
{
    if (progress->shown) {
        fprintf(stderr, "\r%40s\r", "");
        progress->shown = false;
    }
}
