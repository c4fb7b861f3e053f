/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_SHIP_READ_FILE_INSIDE_H
#define ETWAS_TOOLS_SHIP_READ_FILE_INSIDE_H

/*
 * The inner structure of a file, for the sources that learn descriptions, make blocks and count
 * events.
 */

#include "ship/read/block.h"
#include "ship/read/times.h"
#include "trace/current_event.h"
#include "trace/descriptions.h"

#include <etwas/buffers.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>

/*
 * What the decoder has learned: ahead, the descriptions in [0, ahead_until); in order, all records
 * up to `at`. Before a block is encoded, the decoder learns what its bounds say, so that every
 * process encodes it alike.
 */
struct etwas_ship_learned {
    bool is_open;
    bool is_sound; /* false: a read failed midway, so the state is undefined */
    uint64_t ahead_until;
    struct etwas_ship_position at;
    struct etwas_descriptions descriptions;
    struct etwas_current_event current;
    struct etwas_output text; /* for the text of a field */
};

enum {
    ETWAS_SHIP_REASON_BYTES = 160
};

struct etwas_ship_file {
    char *path;
    const char *name; /* without its folder, as in rows */
    char *host;
    size_t host_bytes;
    struct etwas_ship_facts facts;
    bool is_left;  /* etwas_ship_file_leave */
    bool is_own;   /* etwas wrote it: descriptions are in buffers of their own */
    bool has_cpus; /* events have a processor number */
    etwas_trace_handle trace;
    EVENT_TRACE_LOGFILEA logfile; /* filled in by OpenTrace */
    etwas_trace_information information;
    struct etwas_ship_learned learned;
    struct etwas_ship_samples samples;
    /* The record callback, while etwas_ship_file_read runs. */
    void (*on_record)(EVENT_RECORD *record, void *context);
    void *on_record_context;
    char reason[ETWAS_SHIP_REASON_BYTES];
};

/* Callbacks for reading: those of etwas_trace_process_buffers, and one for records. */
struct etwas_ship_reader {
    etwas_trace_buffer_callback begin;
    etwas_trace_buffer_callback end; /* or NULL */
    void (*record)(EVENT_RECORD *record, void *context);
    void *context;
};

/*
 * Reads the buffers that begin at or after `from` and before `until`. Damage is not a failure, but
 * reported to `end`. Returns false if reading failed; etwas_ship_file_reason says why.
 */
bool etwas_ship_file_read(struct etwas_ship_file *file, uint64_t from, uint64_t until,
                          const struct etwas_ship_reader *reader);

/* Returns whether nothing will follow the present content. */
static inline bool etwas_ship_file_is_over(const struct etwas_ship_file *file)
{
    return file->facts.has_ended || file->is_left;
}

/* Returns a session number. `index` is that of a session in an appended file, from 0. */
uint64_t etwas_ship_file_session(const struct etwas_ship_file *file, uint32_t index);

/* Return the session's start and the file's end, as in the header, in ns since 1970. */
int64_t etwas_ship_file_start_ns(const struct etwas_ship_file *file);
int64_t etwas_ship_file_end_ns(const struct etwas_ship_file *file);

/* Sets the text that etwas_ship_file_reason returns. Returns false. */
bool etwas_ship_file_fail(struct etwas_ship_file *file, const char *reason);

/*
 * Makes the decoder learn, in order, all records before `from`. It also learns ahead the
 * descriptions in buffers before `until`; UINT64_MAX: in all present buffers. Returns false if it
 * failed.
 */
bool etwas_ship_learn(struct etwas_ship_file *file, const struct etwas_ship_position *from,
                      uint64_t until);

void etwas_ship_learned_free(struct etwas_ship_learned *learned);

#endif
