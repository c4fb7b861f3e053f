/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_START_REQUEST_H
#define ETWAS_TOOLS_STEER_START_REQUEST_H

/*
 * A session that shall be started, as the command lines of `etwas start` and of etwas-host say it
 * alike.
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

/* For getopt_long, and what they are, for a --help. -h is the caller's. */
extern const char etwas_steer_start_request_letters[];
extern const struct option etwas_steer_start_request_options[];
extern const char etwas_steer_start_request_help[];
extern const char etwas_steer_start_request_modes_help[];

/*
 * One option of these. False: getopt_long has said what is wrong, or it is said here. `command` is
 * "etwas start" or "etwas-host".
 */
bool etwas_steer_start_request_option(struct etwas_steer_start_request *request,
                                      const char *command, int option);

/*
 * What is left of the command line is the name, alone, unless an AutoLogger has one. Looks whether
 * all of it goes together. False likewise.
 */
bool etwas_steer_start_request_finish(struct etwas_steer_start_request *request,
                                      const char *command, int argc, char **argv);

/* False after a message: a file is in its way, that is not to be replaced. */
bool etwas_steer_start_request_may_write(const struct etwas_steer_start_request *request,
                                         const char *command);

/*
 * Starts it, and enables its providers. False after a message on standard error: then nothing runs.
 */
bool etwas_steer_start_request_start(const struct etwas_steer_start_request *request,
                                     const char *command, TRACEHANDLE *session);

#endif
