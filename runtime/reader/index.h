/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The buffers of a file, found by their headers alone, in the order the merge needs them: each
 * processor's buffers together, session by session and by sequence number. One pass over the file,
 * 72 bytes a buffer, or 168 where knots are looked for.
 */
#ifndef ETWAS_READER_INDEX_H
#define ETWAS_READER_INDEX_H

#include "reader/index_entry.h"
#include "reader/timeline.h"

struct etwas_trace;

struct etwas_index {
    struct etwas_index_entry *entries; /* data buffers: by processor, session, sequence number,
                                          position in the file */
    size_t count;
    size_t capacity;
    uint64_t unusable;     /* buffers, or stretches of the file, without a usable header */
    bool looked_for_knots; /* the file may have more than are known */
    struct etwas_knot_list knots;
};

/* Fills the index and reports what is wrong with headers. ERROR_SUCCESS, _NOT_ENOUGH_MEMORY. */
uint32_t etwas_index_build(struct etwas_trace *trace, struct etwas_index *index);

void etwas_index_free(struct etwas_index *index);

#endif
