/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How the launcher `heaptrace` passes the settings to the preloaded library: three environment
 * variables.
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

/* Exit code of the launcher and the library if tracing cannot start, as for env and nohup. */
#define HEAPTRACE_EXIT_FAILURE 125

/* The longest path, and room in it for the suffixes of children's files. */
enum {
    HEAPTRACE_PATH_BYTES = 4096,
    HEAPTRACE_SUFFIX_BYTES = 32
};

struct heaptrace_settings {
    uint32_t first_process_id; /* writes OUT itself, until its next exec; others write OUT_PID */
    uint32_t follow;           /* 1: children are traced too */
    uint32_t clock;            /* ETWAS_CLOCK_* */
    uint32_t buffer_size_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t flush_timer_s;
    uint32_t frames;    /* at most, per stack; 0: no stacks */
    uint32_t is_shared; /* 1: into the session of any process that enables the provider */
    char output[HEAPTRACE_PATH_BYTES];
    char counts[HEAPTRACE_PATH_BYTES]; /* empty: no counts file */
};

/*
 * Reads the settings, in the library, and removes from the environment what the program should not
 * see. Without `follow` that is all three variables and our LD_PRELOAD entry, so that nothing the
 * program starts is traced. Otherwise only first_process_id becomes 0. Returns false if the
 * settings are missing or incomplete. The paths are copied, because programs that set their title
 * overwrite the environment. Not thread-safe.
 */
bool heaptrace_settings_take(struct heaptrace_settings *settings);

#endif
