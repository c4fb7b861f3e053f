/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_START_REQUEST_H
#define ETWAS_TOOLS_STEER_START_REQUEST_H

/*
 * A request to start a session: the options that the command lines of `etwas start` and of
 * etwas-host have in common.
 */

#include "steer/provider.h"
#include "steer/session.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_PROVIDERS = 64 /* that a session may enable from its start on */
};

struct etwas_steer_start_request {
    const char *name;
    const char
        *autologger;  /* a file that says all the rest, by its name; NULL: the options say it */
    bool has_options; /* other ones */
    const char *path; /* of the log file, or of snapshots, as it was given; NULL: none */
    bool force;       /* what is there is replaced */
    char file_name[ETWAS_STEER_NAME_BYTES]; /* the same from the root on */
    uint32_t log_file_mode;
    uint32_t clock; /* as Wnode.ClientContext */
    uint32_t buffer_kb;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint32_t maximum_mb;
    uint32_t flush_ms;
    uint32_t provider_count;
    struct etwas_steer_provider providers[ETWAS_STEER_PROVIDERS];
};

/* The options for getopt_long, and their help. -h is left to the caller. */
extern const char etwas_steer_start_request_letters[];
extern const struct option etwas_steer_start_request_options[];
extern const char etwas_steer_start_request_help[];
extern const char etwas_steer_start_request_modes_help[];

/*
 * Reads one of these options. Returns false after getopt_long or this function has reported what is
 * wrong. `command` is "etwas start" or "etwas-host".
 */
bool etwas_steer_start_request_option(struct etwas_steer_start_request *request,
                                      const char *command, int option);

/*
 * Reads the rest of the command line, which is the session's name alone unless an AutoLogger gives
 * one, and checks that all options fit together. Returns false after a message on standard error.
 */
bool etwas_steer_start_request_finish(struct etwas_steer_start_request *request,
                                      const char *command, int argc, char **argv);

/*
 * Returns false after a message on standard error if a file is in the way that is not to be
 * replaced.
 */
bool etwas_steer_start_request_may_write(const struct etwas_steer_start_request *request,
                                         const char *command);

/*
 * Starts the session and enables its providers. Returns false after a message on standard error;
 * then nothing runs.
 */
bool etwas_steer_start_request_start(const struct etwas_steer_start_request *request,
                                     const char *command, TRACEHANDLE *session);

#endif
