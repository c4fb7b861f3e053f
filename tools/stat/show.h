/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STAT_SHOW_H
#define ETWAS_TOOLS_STAT_SHOW_H

/*
 * The views of `etwas stat`: each reads a file, or the files of a session, and prints the results.
 * All state that outlives a file is in the request, so several threads may each run a request.
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
    uint32_t limit; /* how many stacks or functions are shown; 0: all */
    struct etwas_where where;
    struct etwas_window window; /* resolved */
    struct etwas_field_paths paths;
    struct etwas_parts parts; /* of all files of the request */
    struct etwas_shared_descriptions shared;
};

/*
 * Show one file. `number` is its position on the command line, from 1. Return the exit status of
 * the program as if it were the only file.
 */
int etwas_stat_show_counts(struct etwas_stat_request *request, const char *path, uint32_t number);
int etwas_stat_show_cpu(struct etwas_stat_request *request, const char *path, uint32_t number);
int etwas_stat_show_heap(struct etwas_stat_request *request, const char *path, uint32_t number);
int etwas_stat_show_hot(struct etwas_stat_request *request, const char *path, uint32_t number);

/* Reads all files, and shows the proof of each session. Returns the exit status of the program. */
int etwas_stat_show_proof(struct etwas_stat_request *request, char *const *paths, uint32_t count);

/*
 * Writes FILE.index beside FILE (index.c). Returns ETWAS_EXIT_DONE, or ETWAS_EXIT_FAILED after a
 * message.
 */
int etwas_stat_write_index(const char *path);

#endif
