/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_FILE_INSIDE_H
#define ETWAS_TOOLS_SHIP_READ_FILE_INSIDE_H

/*
 * A file from inside: for what learns, cuts and counts.
 */

#include "ship/read/block.h"
#include "ship/read/times.h"
#include "trace/current_event.h"
#include "trace/descriptions.h"

#include <etwas/buffers.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>

/*
 * What the decoder has been told: descriptions in [0, ahead_until) ahead of their turn, and all
 * records up to `at` in their turn. A block is encoded with a decoder that was told what its bounds
 * say, so that it is told the same in each process.
 */
struct etwas_ship_learned {
    bool is_open;
    bool is_sound; /* false: a read failed midway, and its state is undefined */
    uint64_t ahead_until;
    struct etwas_ship_position at;
    struct etwas_descriptions descriptions;
    struct etwas_current_event current;
    struct etwas_output text; /* of a field, while it is made */
};

enum {
    ETWAS_SHIP_REASON_BYTES = 160
};

struct etwas_ship_file {
    char *path;
    const char *name; /* its last part: what rows call it */
    char *host;
    size_t host_bytes;
    struct etwas_ship_facts facts;
    bool is_left;  /* etwas_ship_file_leave */
    bool is_own;   /* etwas wrote it: descriptions are in buffers of their own */
    bool has_cpus; /* events have their processor */
    etwas_trace_handle trace;
    EVENT_TRACE_LOGFILEA logfile; /* OpenTrace's */
    etwas_trace_information information;
    struct etwas_ship_learned learned;
    struct etwas_ship_samples samples;
    /* The callback of etwas_ship_file_read, while it runs. */
    void (*on_record)(EVENT_RECORD *record, void *context);
    void *on_record_context;
    char reason[ETWAS_SHIP_REASON_BYTES];
};

/* What reads: etwas_trace_process_buffers' callbacks, and one for records. */
struct etwas_ship_reader {
    etwas_trace_buffer_callback begin;
    etwas_trace_buffer_callback end; /* or NULL */
    void (*record)(EVENT_RECORD *record, void *context);
    void *context;
};

/*
 * Reads buffers that begin at `from` or behind it and before `until`. Damage is no failure: `end`
 * is told of it. False: it failed, and etwas_ship_file_reason says why.
 */
bool etwas_ship_file_read(struct etwas_ship_file *file, uint64_t from, uint64_t until,
                          const struct etwas_ship_reader *reader);

/* Nothing follows what is there. */
static inline bool etwas_ship_file_is_over(const struct etwas_ship_file *file)
{
    return file->facts.has_ended || file->is_left;
}

/* The session's number; `index` of an appended file's, from 0. */
uint64_t etwas_ship_file_session(const struct etwas_ship_file *file, uint32_t index);

/* When the session began and the file ended, by the header, in ns since 1970. */
int64_t etwas_ship_file_start_ns(const struct etwas_ship_file *file);
int64_t etwas_ship_file_end_ns(const struct etwas_ship_file *file);

/* As etwas_ship_file_reason says it; false. */
bool etwas_ship_file_fail(struct etwas_ship_file *file, const char *reason);

/*
 * Has the decoder told what stands before `from`, and ahead what describes events in buffers before
 * `until`; UINT64_MAX: in all that are there now. False: it failed.
 */
bool etwas_ship_learn(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                      uint64_t until);

void etwas_ship_learned_free(struct etwas_ship_learned *learned);

#endif
