/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The buffers of a file, found by their headers alone, in the order that the merge needs: the
 * buffers of each processor together, session by session and by sequence number. Building it takes
 * one pass over the file with one read of 72 bytes a buffer, or of 168 while clock snapshots are
 * searched.
 */
#ifndef ETWAS_READER_INDEX_H
#define ETWAS_READER_INDEX_H

#include "etl/layout.h"
#include "reader/timeline.h"

struct etwas_index_file;
struct etwas_trace;

/* One buffer. */
struct etwas_index_entry {
    uint64_t file_offset;
    int64_t sequence;
    int64_t collected;     /* stamp of its collection; no record that etwas wrote in it is newer */
    uint32_t buffer_bytes; /* in the file, as its header says */
    uint32_t file_bytes;   /* how many of these the file has; fewer in a buffer that is cut */
    uint32_t data_end;     /* where its data end, uncompressed, from the buffer's start */
    uint16_t processor;
    uint16_t logger_id;
    bool compressed;
    bool is_misnumbered; /* buffers before it are missing, or its number appeared already */
    uint32_t session;    /* which session of an appended file, from 0 */
};
_Static_assert(sizeof(struct etwas_index_entry) == 48, "the index is as small as it says");

struct etwas_index {
    /* data buffers, ordered by processor, session, sequence number and position in the file */
    struct etwas_index_entry *entries;
    size_t count;
    size_t capacity;
    size_t processors; /* how many processors have buffers */
    uint64_t unusable; /* buffers, or stretches of the file, without a usable header */
    /* the pass over the buffers also searched for clock snapshots */
    bool has_searched_clock_snapshots;
    struct etwas_clock_snapshot_list snapshots;
};

/*
 * Fills the index and reports damaged headers. `file` may be NULL; otherwise it is FILE.index, from
 * which the headers come or to which they are written. Returns ERROR_SUCCESS or
 * ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_index_build(struct etwas_trace *trace, struct etwas_index *index,
                           struct etwas_index_file *file);

void etwas_index_free(struct etwas_index *index);

/* Sets `session` of each entry of an appended file (appended.c). Returns false without memory. */
bool etwas_index_find_sessions(struct etwas_trace *trace, struct etwas_index *index);

/*
 * Finds buffers that are missing or appear twice, by their sequence numbers and by the header's
 * count (missing_buffers.c). Gaps inside the file are marked in the entries, and the stream that
 * reaches an entry reports it. What is missing at the end is reported here. The index is sorted by
 * session and sequence number.
 */
void etwas_index_check_missing(struct etwas_trace *trace, struct etwas_index *index);

/*
 * Returns whether the streams of the file are in time order and no record is newer than its
 * buffer's collection. Buffers outside of a requested time span need not be read then. This holds
 * for files of etwas, except where the wall clock stamps and for appended files with several
 * sessions.
 */
bool etwas_index_can_seek(const struct etwas_trace *trace, const struct etwas_index *index);

/*
 * Returns whether the buffer in the file is as the entry says. Used for entries that came from
 * FILE.index.
 */
bool etwas_index_entry_is_confirmed(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry);

/*
 * Checks a buffer header against the `available` bytes of the file from its start, and fills the
 * entry. Returns false for an unusable header and fills nothing. *doubtful is set if the header is
 * usable but its two ends of data differ.
 */
bool etwas_index_entry_check(const struct etwas_etl_buffer_header *header, uint64_t file_offset,
                             uint64_t available, uint32_t largest_data_bytes,
                             struct etwas_index_entry *entry, bool *doubtful);

/* Reads from the file when the buffer was collected; INT64_MAX if that cannot be read. */
int64_t etwas_index_entry_collected(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry);

/*
 * Returns whether a running session has replaced the buffer. Called after reading from it: a buffer
 * is written from its header on, so the header changes before anything behind it. If the header
 * cannot be read, the buffer counts as not replaced, because the stream reports that damage itself.
 */
bool etwas_index_entry_is_replaced(struct etwas_trace *trace,
                                   const struct etwas_index_entry *entry);

#endif
