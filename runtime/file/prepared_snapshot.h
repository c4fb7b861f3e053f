/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A snapshot that can be written from a signal handler, whatever the interrupted thread was doing,
 * and whatever other threads do meanwhile. What it needs is prepared, in memory outside the heap.
 *
 *     prepare_snapshot.c   its memory: buffer 0, the metadata known by then, room for a list of the
 *                          pool's buffers and for one of them
 *     signal_snapshot.c    the file, with lseek, write and ftruncate, and no other system call
 *                          except those of the clocks
 *
 * The file is written in this order, so that it is useful wherever a second crash breaks it off:
 *
 *     1. buffer 0, of a file in progress
 *     2. the pool's buffers, the newest first (pool_read.h)
 *     3. buffer 0, with what is known at the end
 *     4. clock snapshots that found no room in buffer 0, the metadata prepared, and that which was
 *        described later, for which alone the heap is read
 *     5. the numbers of the data buffers, from the last one, which gets 1, to the first; and buffer
 *        0 once more
 */
#ifndef ETWAS_FILE_PREPARED_SNAPSHOT_H
#define ETWAS_FILE_PREPARED_SNAPSHOT_H

#include <etwas/etwas.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer/pool_read.h"
#include "clock/clock_reading.h"
#include "file/log_header.h"
#include "platform/memory.h"
#include "provider/metadata.h"
#include "session/session.h"

struct etwas_prepared_snapshot {
    /* Constant. In a fork's child all of it is zeroes, or the session is the parent's. */
    struct etwas_memory memory; /* the memory that contains this */
    struct etwas_session *session;
    struct etwas_session_key key;
    struct etwas_pool *pool;
    struct etwas_pool_view view; /* except buffer_count */
    int descriptor;
    uint32_t clock;
    uint16_t logger_id;
    bool buffering;
    const uint8_t *built; /* buffer 0 up to the clock snapshots */
    uint32_t built_bytes;
    const uint8_t *metadata; /* buffers of records, whose size is in place of each header */
    uint32_t metadata_buffers;
    struct etwas_metadata_cursor described; /* `metadata` has the metadata up to here */
    /* how many descriptions existed when they were read, or fewer */
    uint32_t descriptions;

    /* Changed by the thread that writes the snapshot. */
    uint32_t is_busy;
    struct etwas_log_header header; /* its content has room for a buffer */
    struct etwas_clock_history history;
    struct etwas_clock_reading ended;
    struct etwas_held_buffer *list; /* room for as many buffers as the pool may have */
    uint8_t *scratch;               /* room for one buffer */
    uint32_t entries;               /* of the file, buffer 0 included */
    uint64_t events_left_out;       /* events that were in the pool */
    uint64_t buffers_left_out;
    uint32_t code; /* code of the first refusal */
};

/*
 * Prepares a snapshot of a session that runs. Role held; the caller frees *prepared.
 * ERROR_NOT_ENOUGH_MEMORY. ERROR_INVALID_PARAMETER: the descriptor's file cannot be written at any
 * position.
 */
uint32_t etwas_prepared_snapshot_make(struct etwas_session *session, int descriptor,
                                      struct etwas_prepared_snapshot **prepared);
void etwas_prepared_snapshot_free(struct etwas_prepared_snapshot *prepared);

/* Writes the snapshot, as etwas_snapshot_signal_safe documents. */
uint32_t etwas_prepared_snapshot_write(struct etwas_prepared_snapshot *prepared);

#endif
