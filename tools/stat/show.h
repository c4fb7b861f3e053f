/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STAT_SHOW_H
#define ETWAS_TOOLS_STAT_SHOW_H

/*
 * What `etwas stat` shows of a file or of a session: analyses read it, and what they found is
 * printed. Everything that lasts longer than a file is in the request, so several requests may be
 * shown at once, each in a thread of its own.
 */

#include "print/output.h"
#include "trace/descriptions.h"
#include "trace/parts.h"
#include "trace/window.h"
#include "where/where.h"

struct etwas_stat_request {
    struct etwas_output *output;
    int form; /* enum etwas_form */
    bool is_verbose;
    uint32_t limit; /* of stacks or functions; 0: all */
    struct etwas_where where;
    struct etwas_window window; /* resolved */
    struct etwas_field_paths paths;
    struct etwas_parts parts; /* of all files of the request */
    struct etwas_shared_descriptions shared;
};

/*
 * Show one file. `number` is the file's on the command line, from 1. Returns what the program would
 * exit with if it were the only one.
 */
int etwas_stat_show_counts(struct etwas_stat_request *request, const char *path, uint32_t number);
int etwas_stat_show_cpu(struct etwas_stat_request *request, const char *path, uint32_t number);
int etwas_stat_show_heap(struct etwas_stat_request *request, const char *path, uint32_t number);
int etwas_stat_show_hot(struct etwas_stat_request *request, const char *path, uint32_t number);

/* Reads all files, and shows the proof of each session. Returns what the program exits with. */
int etwas_stat_show_proof(struct etwas_stat_request *request, char *const *paths, uint32_t count);

/*
 * Writes FILE.index beside FILE (index.c). Returns what the program exits with; not ETWAS_EXIT_DONE
 * after a message.
 */
int etwas_stat_write_index(const char *path);

#endif
