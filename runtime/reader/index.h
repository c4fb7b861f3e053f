/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The buffers of a file, found by their headers alone, in the order the merge needs them: each
 * processor's buffers together, session by session and by sequence number. One pass over the file,
 * 72 bytes a buffer, or 168 where clock snapshots are looked for.
 */
#ifndef ETWAS_READER_INDEX_H
#define ETWAS_READER_INDEX_H

#include "etl/layout.h"
#include "reader/timeline.h"

struct etwas_index_file;
struct etwas_trace;

/* A buffer, as the index knows it. */
struct etwas_index_entry {
    uint64_t file_offset;
    int64_t sequence;
    int64_t collected;     /* when, by a stamp: no record of ours is newer */
    uint32_t buffer_bytes; /* in the file, as its header says */
    uint32_t file_bytes;   /* of these, how many the file has: fewer in a buffer that is cut */
    uint32_t data_end;     /* Offset: uncompressed, from the buffer's start */
    uint16_t processor;
    uint16_t logger_id;
    bool compressed;
    bool is_misnumbered; /* before it buffers are missing, or its number was there already */
    uint32_t session;    /* of an appended file: which of its sessions, from 0 */
};
_Static_assert(sizeof(struct etwas_index_entry) == 48, "the index is as small as it says");

struct etwas_index {
    struct etwas_index_entry *entries; /* data buffers: by processor, session, sequence number,
                                          position in the file */
    size_t count;
    size_t capacity;
    size_t processors; /* whose buffers these are */
    uint64_t unusable; /* buffers, or stretches of the file, without a usable header */
    bool has_searched_clock_snapshots; /* the file may have more than are known */
    struct etwas_clock_snapshot_list snapshots;
};

/*
 * Fills the index and reports what is wrong with headers. `file`, which may be NULL: FILE.index, from which they
 * come, or that gets them. ERROR_SUCCESS, _NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_index_build(struct etwas_trace *trace, struct etwas_index *index,
                           struct etwas_index_file *file);

void etwas_index_free(struct etwas_index *index);

/* Tells the sessions of an appended file apart (appended.c). False without memory. */
bool etwas_index_find_sessions(struct etwas_trace *trace, struct etwas_index *index);

/*
 * Finds what the sequence numbers and the header's count show to be missing or there twice (missing_buffers.c). What is within
 * the file the entries say, for the streams that come to them to report; what is missing at its end is reported. The
 * index is by session and sequence number.
 */
void etwas_index_check_missing(struct etwas_trace *trace, struct etwas_index *index);

/*
 * Are the streams of the file in the order of time, and no record newer than its buffer was collected? Ours are, but
 * for a clock that may be set back, and from one session of an appended file to the next. Then what is outside of
 * a wanted span need not be read.
 */
bool etwas_index_can_seek(const struct etwas_trace *trace, const struct etwas_index *index);

/* Is the buffer in the file as the index has it? To be asked of what FILE.index said. */
bool etwas_index_entry_is_confirmed(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry);

/* Checks a buffer header against the `available` bytes of the file from its start. False: unusable,
 * nothing filled. *doubtful: usable, but its two ends of data contradict each other. */
bool etwas_index_entry_check(const struct etwas_etl_buffer_header *header, uint64_t file_offset,
                             uint64_t available, uint32_t largest_data_bytes,
                             struct etwas_index_entry *entry, bool *doubtful);

/* When the buffer was collected; INT64_MAX if that cannot be read. */
int64_t etwas_index_entry_collected(struct etwas_trace *trace,
                                    const struct etwas_index_entry *entry);

/*
 * Has a running session written another buffer there? To be asked after reading from it: a buffer
 * is written from its head on, so the head changes before anything behind it. What cannot be read
 * is damage, which the stream meets by itself.
 */
bool etwas_index_entry_is_replaced(struct etwas_trace *trace,
                                   const struct etwas_index_entry *entry);

#endif
