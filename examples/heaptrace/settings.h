/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How the launcher `heaptrace` tells the preloaded library what to do: three environment variables.
 *
 *   HEAPTRACE_SETTINGS  nine decimal numbers, one space between them, in the order of the members
 *                       first_process_id to is_shared
 *   HEAPTRACE_OUTPUT    absolute path of the trace file
 *   HEAPTRACE_COUNTS    absolute path of the counts file; may be missing
 */
#ifndef ETWAS_HEAPTRACE_SETTINGS_H
#define ETWAS_HEAPTRACE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#define HEAPTRACE_ENV_SETTINGS "HEAPTRACE_SETTINGS"
#define HEAPTRACE_ENV_OUTPUT "HEAPTRACE_OUTPUT"
#define HEAPTRACE_ENV_COUNTS "HEAPTRACE_COUNTS"

/* What the launcher and the library exit with when tracing cannot start, as env and nohup do. */
#define HEAPTRACE_EXIT_FAILURE 125

/* The longest path; the suffixes of children's files fit behind it. */
enum {
    HEAPTRACE_PATH_BYTES = 4096,
    HEAPTRACE_SUFFIX_BYTES = 32
};

struct heaptrace_settings {
    uint32_t
        first_process_id; /* the image that writes OUT itself; 0 once it has; others: OUT_PID */
    uint32_t follow;      /* 1: children are traced too */
    uint32_t clock;       /* ETWAS_CLOCK_* */
    uint32_t buffer_size_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t flush_timer_s;
    uint32_t frames; /* of a stack, at most; 0: no stacks */
    uint32_t
        is_shared; /* 1: into the session that enables the provider, whichever process has it */
    char output[HEAPTRACE_PATH_BYTES];
    char counts[HEAPTRACE_PATH_BYTES]; /* empty: no counts file */
};

/*
 * Library: reads the settings and takes out of the environment what the program should not see.
 * Without `follow` that is all three variables and our own LD_PRELOAD entry, so that nothing the
 * program starts is traced; with it only first_process_id becomes 0. False when there are no
 * settings, or not whole. Paths are copied: programs that set their title write over the
 * environment. Not thread-safe.
 */
bool heaptrace_settings_take(struct heaptrace_settings *settings);

#endif
