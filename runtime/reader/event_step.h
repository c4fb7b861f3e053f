/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* One step of ProcessTrace with the earliest stream, of a file or of a running session. */
#ifndef ETWAS_READER_EVENT_STEP_H
#define ETWAS_READER_EVENT_STEP_H

#include "reader/damage.h"
#include "reader/stream.h"

/*
 * Records that several files of one run contain: snapshots of one flight recorder overlap, and a
 * file may be given twice. Two records are the same if their session, stream, stamp, place in the
 * buffer and bytes are the same, because buffers are written to each file as they are. The files of
 * one session are on one time line, so the same record has the same key, and it is enough to
 * remember the records that were delivered with the current key.
 */

/* A record that was delivered. */
struct etwas_duplicates_record {
    uint64_t key;   /* the group's key number when it was delivered */
    uint64_t hash;  /* of the record's bytes */
    uint32_t place; /* offset in its buffer */
    uint32_t size;
    size_t file; /* its number in the run */
};

/*
 * A group: the streams of one processor in the files of one session. Zeroed, nothing was delivered.
 */
struct etwas_duplicates {
    int64_t raw;                             /* the key that the streams have reached */
    uint64_t key;                            /* number of that key, from 1 */
    struct etwas_duplicates_record *records; /* a hash table; an entry of an older key is free */
    size_t room;                             /* a power of 2; 0: none yet */
    size_t count;                            /* records of the current key */
    bool out_of_memory;
};

/*
 * Groups the streams, each of one file and one processor, that may have records in common. The
 * caller frees *groups with etwas_duplicates_free. Returns false without memory.
 */
bool etwas_duplicates_find_groups(struct etwas_stream **streams, size_t count,
                                  struct etwas_duplicates **groups, size_t *group_count);

void etwas_duplicates_free(struct etwas_duplicates *groups, size_t count);

/*
 * Returns whether the stream's record was already delivered from another file. If it was not, the
 * record is remembered.
 */
bool etwas_duplicates_is_delivered(struct etwas_stream *stream);

/*
 * All streams of all files in one time order: a binary heap with the earliest record on top.
 *
 * The order is FILETIME; of equal ones the nanoseconds that the clocks know beyond it; then the
 * file's index in the caller's array, the raw stamp, the number of the part, the buffer's sequence
 * number and the processor. It is a total order, so the same files are always delivered in the same
 * order. The parts of one set count as one file.
 */

struct etwas_merge_heap {
    struct etwas_stream **heap; /* room for every stream; the caller owns it */
    size_t count;
};

/* Compares two streams with the same FILETIME. */
bool etwas_merge_heap_is_before_of_equals(struct etwas_stream *a, struct etwas_stream *b);

/*
 * In one trace FILETIME never decreases while the raw stamp grows, so mostly the stamps alone
 * decide.
 */
static inline bool etwas_merge_heap_is_before(struct etwas_stream *a, struct etwas_stream *b)
{
    if (a->trace == b->trace && a->key_raw != b->key_raw) {
        return a->key_raw < b->key_raw;
    }
    return a->key_filetime != b->key_filetime ? a->key_filetime < b->key_filetime
                                              : etwas_merge_heap_is_before_of_equals(a, b);
}

void etwas_merge_heap_push(struct etwas_merge_heap *merge, struct etwas_stream *stream);

/* Returns the earliest stream; NULL when none is left. */
struct etwas_stream *etwas_merge_heap_top(const struct etwas_merge_heap *merge);

/* Returns where the earliest of the others is; NULL when there is none. */
struct etwas_stream **etwas_merge_heap_second(const struct etwas_merge_heap *merge);

/* Moves the top to its place after its key has grown. */
void etwas_merge_heap_sift_down(struct etwas_merge_heap *merge);

void etwas_merge_heap_remove_top(struct etwas_merge_heap *merge);

/* The time span of events that the caller requests, by their FILETIME. */
struct etwas_span {
    int64_t start_filetime;
    int64_t end_filetime;
};

/*
 * Updates the stream's key to its record. The key never decreases in a stream, so that one damaged
 * stamp cannot hold up or hurry the other streams.
 */
static inline void etwas_event_step_update_key(struct etwas_stream *stream, bool is_first)
{
    if (stream->state == ETWAS_STREAM_RECORD &&
        (is_first || stream->record.stamp > stream->key_raw)) {
        stream->key_raw = stream->record.stamp;
        stream->key_filetime = etwas_event_time_filetime(&stream->time, stream->key_raw);
    }
}

/* Delivers the stream's record, with this time, to the trace's event callback (deliver.c). */
void etwas_deliver(struct etwas_stream *stream, int64_t filetime);

/*
 * Delivers and counts the record if its time is in the requested span and another file did not have
 * it. The span holds for every event, the header event too. Mostly the key is the record's own.
 */
static inline void etwas_event_step_deliver(struct etwas_stream *stream,
                                            const struct etwas_span *span)
{
    int64_t filetime = stream->record.stamp == stream->key_raw
                           ? stream->key_filetime
                           : etwas_event_time_filetime(&stream->time, stream->record.stamp);

    if (filetime < span->start_filetime || filetime > span->end_filetime) {
        return;
    }
    if (stream->duplicates != NULL && etwas_duplicates_is_delivered(stream)) {
        etwas_trace_count(&stream->trace->information.repeated_events, 1);
        return;
    }
    if (stream->buffer != &stream->trace->log.buffer) {
        etwas_trace_count(&stream->trace->information.events, 1);
    }
    etwas_deliver(stream, filetime);
}

/* Goes to the stream's next record and updates the key: RECORD or BUFFER_END. */
static inline enum etwas_stream_state etwas_event_step_go_on(struct etwas_stream *stream)
{
    if (etwas_stream_next_record(stream) == ETWAS_STREAM_RECORD &&
        stream->buffer != &stream->trace->log.buffer) {
        etwas_event_step_update_key(stream, false);
    }
    return stream->state;
}

/* Delivers the stream's record and goes to the next: RECORD or BUFFER_END. */
static inline enum etwas_stream_state etwas_event_step_pass(struct etwas_stream *stream,
                                                            const struct etwas_span *span)
{
    etwas_event_step_deliver(stream, span);
    return etwas_event_step_go_on(stream);
}

/*
 * Does the same with *first, and goes on while records are of one plain form and before *second,
 * the earliest of the others; `second` is NULL if there is none. If the two are a pair, without
 * others, it goes on with the earlier of them, which then is *first.
 */
enum etwas_stream_state etwas_deliver_records(struct etwas_stream **first,
                                              struct etwas_stream **second, bool is_pair,
                                              const struct etwas_span *span);

/* Calls the buffer callback at the end of a buffer. Returns false if it asks to stop. */
bool etwas_event_step_end_buffer(struct etwas_stream *stream);

#endif
