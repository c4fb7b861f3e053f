/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Reading the file of an AutoLogger (docs/howto/autologger.md): values of the session by ETW's
 * names of them, then a section for each provider. The file is not trusted: anything that is not
 * exactly right is an error, and then nothing of it is used.
 */
#ifndef ETWAS_AUTOLOGGER_FILE_H
#define ETWAS_AUTOLOGGER_FILE_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/filter.h"

enum {
    ETWAS_AUTOLOGGER_BYTES = 64 << 10, /* of a file, at most */
    ETWAS_AUTOLOGGER_PROVIDERS = 64,
    ETWAS_AUTOLOGGER_PATH_BYTES = 4096,
};

struct etwas_autologger_provider {
    etwas_guid guid;
    uint32_t line; /* the line that its section begins in */
    uint32_t enabled;
    uint32_t level;
    uint32_t property;
    uint64_t match_any;
    uint64_t match_all;
};

struct etwas_autologger {
    uint32_t start;
    uint32_t buffer_size_kb;
    uint32_t clock; /* as Wnode.ClientContext */
    uint32_t file_max;
    uint32_t flush_timer;
    uint32_t log_file_mode;
    uint32_t maximum_file_size;
    uint32_t maximum_buffers;
    uint32_t minimum_buffers;
    char file_name[ETWAS_AUTOLOGGER_PATH_BYTES];    /* empty: none */
    etwas_wchar programs[ETWAS_FILTER_NAMES_UNITS]; /* `;` between them; empty: none */
    uint32_t provider_count;
    struct etwas_autologger_provider providers[ETWAS_AUTOLOGGER_PROVIDERS];
};

struct etwas_autologger_error {
    uint32_t line;      /* from 1 on */
    const char *reason; /* a part of a sentence, of static storage */
};

/* Reads a text, which need not be terminated. False: *fault says where it is wrong, and why. */
bool etwas_autologger_read(const char *text, size_t bytes, struct etwas_autologger *autologger,
                           struct etwas_autologger_error *fault);

#endif
