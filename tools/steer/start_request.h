/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_START_REQUEST_H
#define ETWAS_TOOLS_STEER_START_REQUEST_H

/*
 * A request to start a session: what the command lines of `etwas start` and etwas-host have in
 * common.
 */

#include "cli/command.h"
#include "commands.h"
#include "steer/provider.h"
#include "steer/session.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ETWAS_STEER_PROVIDERS = 64, /* providers that can be enabled when a session starts */
    ETWAS_STEER_NO_CLOCK = -1,  /* no clock was chosen */
};

struct etwas_steer_start_request {
    const char *name;
    const char *autologger; /* name of a file with all settings; NULL: they are in the options */
    struct {
        const char *path; /* path of the log file or of snapshots, as given; NULL: none */
        bool force;       /* replace an existing file */
    } output;
    char file_name[ETWAS_STEER_NAME_BYTES]; /* the absolute path */
    bool buffering;
    bool circular;
    bool new_file;
    bool append;
    bool compress;
    bool real_time;
    uint32_t mode;          /* other bits of LogFileMode */
    uint32_t log_file_mode; /* all bits */
    int clock;              /* Wnode.ClientContext - 1 */
    uint64_t buffer_bytes;
    uint32_t minimum_buffers;
    uint32_t maximum_buffers;
    uint64_t maximum_bytes; /* largest size of the log file */
    uint64_t flush_ns;
    struct etwas_steer_filters filters; /* apply to all enabled providers */
    uint32_t provider_count;
    struct etwas_steer_provider providers[ETWAS_STEER_PROVIDERS];
};

extern const struct etwas_option etwas_steer_start_options[];

/*
 * Reads the command line of `etwas start`, and checks that its options fit together. Returns as
 * etwas_command_read does.
 */
bool etwas_steer_start_request_read(struct etwas_steer_start_request *request, int argc,
                                    char **argv, int *result);

/*
 * Returns false after a message on standard error if the file exists and must not be replaced.
 * `command` is "etwas start" or "etwas-host".
 */
bool etwas_steer_start_request_may_write(const struct etwas_steer_start_request *request,
                                         const char *command);

/*
 * Starts the session and enables its providers. Returns false after a message on standard error;
 * then no session is running.
 */
bool etwas_steer_start_request_start(const struct etwas_steer_start_request *request,
                                     const char *command, TRACEHANDLE *session);

#endif
