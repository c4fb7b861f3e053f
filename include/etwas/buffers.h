/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_BUFFERS_H
#define ETWAS_BUFFERS_H

/*
 * A trace file buffer by buffer, from any of them on, also while it is written: for who hands a file's
 * events on and remembers how far he is. A part of <etwas/etwas.h>, which says what holds for all of its
 * functions. ProcessTrace gives the same events in the order of time.
 */

#include <etwas/types.h>

#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * What a data buffer has, by its first record: etwas writes what is no event into buffers of its own. Where descriptions
 * lie among the events, in a relogged file and in one of another system, all is events.
 */
#define ETWAS_BUFFER_EVENTS 0u
/* Of events, and the images of a process that takes stacks: records that are in no session's counts. */
#define ETWAS_BUFFER_DESCRIPTIONS 1u
/* Of the clocks: nothing that is delivered. */
#define ETWAS_BUFFER_READINGS 2u

/*
 * The next begins where this one ends, or later. A session numbers all its buffers of a file from 1, in the order of
 * their place there; but the numbers of a circular file begin anywhere, and those of a snapshot fall. Of one stream times
 * do not go back from a number to the next.
 */
typedef struct etwas_trace_buffer {
    uint64_t file_offset; /* where it begins */
    uint64_t file_bytes;  /* that it takes of the file */
    uint64_t number;      /* as its header says */
    uint32_t processor;   /* as its events have it */
    uint32_t stream;      /* as its header says */
    uint32_t session;     /* of an appended file, from 0 */
    uint32_t kind;        /* ETWAS_BUFFER_* */
    /* When it ends; 0 until then. */
    uint64_t records;       /* that were delivered of it */
    uint64_t damages;       /* that were met in it */
    uint64_t bytes_skipped; /* by these */
} etwas_trace_buffer;

/* What is to be done now: no more of the file; go on; or pass over this buffer, which is not read then and does not end. */
#define ETWAS_BUFFER_STOP 0u
#define ETWAS_BUFFER_READ 1u
#define ETWAS_BUFFER_PASS 2u

/* `buffer` is valid until it returns, as its records are. May close the trace, as any callback may. */
typedef uint32_t (*etwas_trace_buffer_callback)(const etwas_trace_buffer *buffer, void *context);

/*
 * Delivers the records of the file's data buffers that begin at or behind `from_offset` and before `until_offset`, in
 * the order of their place in the file and, within one, of theirs there: each to the callback that OpenTrace was given,
 * with its stamp as that asked for it. Buffer 0, with the log file header's event, is none of them. `begin` is asked
 * before each buffer, `end` told behind its last record; either may be NULL, as if it had returned ETWAS_BUFFER_READ;
 * both run on the calling thread with `context`. BufferCallback is not called. A record callback that has had enough
 * ignores the rest of its buffer.
 *
 * Offsets: 0 and UINT64_MAX are all of the file; to go on from a buffer, its file_offset + file_bytes. Elsewhere in a
 * file that is compressed no buffer begins: what lies up to the next is damage.
 *
 * A file without an end is taken for one that is being written: of it those buffers are there that are whole. What is
 * cut, or cannot be used, at its end is not there yet, and no damage; it is for a later call, also on this handle, for
 * which the file is as long as when it began. A file that was ended since OpenTrace says so when it is opened again.
 *
 * A call costs what it delivers and no more, however large the file is. One that was appended to, or is of another
 * system, is looked through by its buffers' headers, and again when it has grown. Memory: three buffers, and 5 MB at
 * most of readings of the clocks; while a file is looked through 48 bytes for each of its buffers.
 *
 * Times: in record callbacks and in `end`, what etwas_trace_convert_time and etwas_trace_convert_interval say of the
 * stamps in this buffer is by the readings of the clocks on both sides of them, whatever their age, or up to
 * etwas_trace_known_until where there is no later one yet. For that a call reads those in buffer 0, which are the
 * newest, and, where a buffer has stamps that are older, looks for others as far ahead and behind as these need. From
 * then on they answer for the handle by what has been read so far, until ProcessTrace has run: of stamps that were not
 * delivered perhaps as if nothing had been read in between. A file that is converted together with others of its set,
 * or aligned with them, by ProcessTrace may have other times there. A message without a time of its own that begins a
 * buffer has the session's start.
 *
 * Damage is told as ProcessTrace tells it, but for numbers that are missing or there twice (ETWAS_DAMAGE_SEQUENCE),
 * which the caller sees; what OpenTrace found, by calls from offset 0. Damage between buffers is in none of their
 * counts. What etwas_trace_query counts is that of the last call.
 *
 * Cancellation and CloseTrace as for ProcessTrace. Not from a callback of the same trace. Errors:
 *   ERROR_FILE_CORRUPT      all of it was gone through, and something was damaged
 *   ERROR_CANCELLED         a callback wanted no more
 *   ERROR_INVALID_HANDLE, ERROR_BUSY while the trace is processed
 *   ERROR_INVALID_PARAMETER until_offset is less than from_offset
 *   ERROR_NOT_SUPPORTED     a running session's name, not its file; or a circular file without an end, in which what is
 *                           newest takes the place of what is oldest: relogging it (relog.h) makes one that can be
 *   ERROR_NOT_ENOUGH_MEMORY
 */
uint32_t etwas_trace_process_buffers(etwas_trace_handle trace, uint64_t from_offset,
                                     uint64_t until_offset, etwas_trace_buffer_callback begin,
                                     etwas_trace_buffer_callback end, void *context)
    ETWAS_API(etwas_trace_process_buffers);

/*
 * Up to which stamp, as PROCESS_TRACE_MODE_RAW_TIMESTAMP has it, the clocks have been read: the time of one that is not
 * later is what it will be when the file has grown, but for what can no longer be told apart where the file has no more
 * room for readings. INT64_MAX: nothing more will come, since the file was ended or has no readings. As of OpenTrace,
 * or of when the last of ProcessTrace and etwas_trace_process_buffers began. A session writes its readings about a
 * second behind its events at the latest. May be called from callbacks.
 * Errors: ERROR_INVALID_PARAMETER for NULL; ERROR_INVALID_HANDLE; ERROR_NOT_SUPPORTED for a running session.
 */
uint32_t etwas_trace_known_until(etwas_trace_handle trace, int64_t *raw)
    ETWAS_API(etwas_trace_known_until);

ETWAS_END_DECLS

#endif
