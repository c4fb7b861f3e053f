/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Files of a run that are parts of one new-file set, or of one session. They have one clock, and where two stamps are
 * within 100 ns their raw values and then the parts decide, in whatever order the files were given.
 */
#ifndef ETWAS_READER_FILE_SET_H
#define ETWAS_READER_FILE_SET_H

#include "reader/trace.h"

struct etwas_file_set_member {
    size_t file_number; /* rank of the file: all different */
    size_t set_number;  /* the same for the parts of a set, different otherwise */
    /* What converts its stamps: of a set the last file's, whose rate was measured longest. */
    const struct etwas_etl_clock *clock;
    const struct etwas_trace *trace; /* that one */
    bool has_other_parts;            /* parts of the set are in the run */
};

/* Whether one session recorded both, as far as their headers say. */
bool etwas_file_set_is_one_session(const struct etwas_trace *a, const struct etwas_trace *b);

/* Whether both are parts of one set. */
bool etwas_file_set_is_one_set(const struct etwas_trace *a, const struct etwas_trace *b);

/* What the file `index` of these is. `joins_sessions`: all files of a session are as the parts of a set. */
struct etwas_file_set_member etwas_file_set_member_of(struct etwas_trace *const *traces,
                                                      uint32_t count, uint32_t index,
                                                      bool joins_sessions);

#endif
