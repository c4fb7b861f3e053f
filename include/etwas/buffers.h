/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_BUFFERS_H
#define ETWAS_BUFFERS_H

/*
 * Reading a trace file buffer by buffer, starting at any buffer, even while the file is written.
 * This is for programs that forward a file's events and remember their position. ProcessTrace gives
 * the same events in the order of time. This header is a part of <etwas/etwas.h>, which states what
 * holds for all of its functions.
 */

#include <etwas/types.h>

#include <stdint.h>

ETWAS_BEGIN_DECLS

/*
 * The contents of a data buffer, by its first record. etwas writes records that are not events into
 * buffers of their own. If descriptions lie among the events, in a relogged file or in one of
 * another system, the kind is EVENTS.
 */
#define ETWAS_BUFFER_EVENTS 0u
/*
 * Descriptions of events, the images of a process if the session takes stacks, and a snapshot's
 * statement of the time that it covers. They are in no session's counts.
 */
#define ETWAS_BUFFER_DESCRIPTIONS 1u
/* Readings of the clocks; nothing is delivered. */
#define ETWAS_BUFFER_READINGS 2u

/*
 * A buffer of a file. The next one begins where this one ends, or later. A session numbers all its
 * buffers in a file from 1, in the order of their position. But the numbers of a circular file
 * begin anywhere, and those of a snapshot decrease. Within one stream, times do not decrease from a
 * number to the next.
 */
typedef struct etwas_trace_buffer {
    uint64_t file_offset; /* where it begins */
    uint64_t file_bytes;  /* its size in the file */
    uint64_t number;      /* from its header */
    uint32_t processor;   /* as in its events */
    uint32_t stream;      /* from its header */
    uint32_t session;     /* in an appended file, from 0 */
    uint32_t kind;        /* ETWAS_BUFFER_* */
    /* These are set when the buffer ends, and 0 until then. */
    uint64_t records;       /* records delivered from it */
    uint64_t damages;       /* damages found in it */
    uint64_t bytes_skipped; /* bytes that these skipped */
} etwas_trace_buffer;

/*
 * The result of a buffer callback: end the call, read this buffer, or pass over it. A buffer that
 * is passed over is not read, and its end is not reported.
 */
#define ETWAS_BUFFER_STOP 0u
#define ETWAS_BUFFER_READ 1u
#define ETWAS_BUFFER_PASS 2u

/*
 * A buffer callback. `buffer` and its records are valid until it returns. It may close the trace,
 * as any callback may.
 */
typedef uint32_t (*etwas_trace_buffer_callback)(const etwas_trace_buffer *buffer, void *context);

/*
 * Delivers the records of the data buffers at file offsets from `from_offset` to less than
 * `until_offset`, in the order of their position. Each goes to the callback that OpenTrace was
 * given, with its stamp in the requested form. Buffer 0, with the event of the log file header, is
 * not included. `begin` is called before each buffer, and `end` after its last record, on the
 * calling thread with `context`. Either may be NULL, which is as if it returned ETWAS_BUFFER_READ.
 * BufferCallback is not called. A record callback that needs no more ignores the rest of its
 * buffer.
 *
 * Offsets: 0 and UINT64_MAX select the whole file. To continue after a buffer, use its file_offset
 * + file_bytes. At other offsets of a compressed file no buffer begins, and the bytes up to the
 * next one are damage.
 *
 * A file without an end is taken as one that is being written, and its whole buffers are delivered.
 * A truncated or unusable buffer at its end is not there yet, and is not damage. A later call
 * delivers it, also on this handle; the file's length is taken when a call begins. If a file was
 * ended since OpenTrace, open it again to see that.
 *
 * Cost: a call costs what it delivers, however large the file is. For a file that was appended to,
 * or that is of another system, the headers of all buffers are read first, and again when it has
 * grown. A call uses memory for three buffers, and at most 5 MB for readings of the clocks. While
 * the headers are read it uses 48 bytes for each buffer.
 *
 * Times: in record callbacks and in `end`, etwas_trace_convert_time and
 * etwas_trace_convert_interval convert the stamps of this buffer by the readings of the clocks on
 * both sides of them, whatever their age. If there is no later reading yet, they do so up to
 * etwas_trace_known_until. For this purpose a call reads the newest readings, in buffer 0. If a
 * buffer has older stamps, it searches for others as far ahead and behind as these need. From then
 * on the two functions use, for this handle, the readings found so far, until ProcessTrace has run.
 * Stamps that were not delivered may be converted as if nothing in between had been read. If
 * ProcessTrace converts a file together with others of its set, or aligns it with them, times may
 * differ there. A message without a time of its own that begins a buffer has the session's start.
 *
 * Damage is reported as by ProcessTrace, except for numbers that are missing or occur twice
 * (ETWAS_DAMAGE_SEQUENCE), which the caller sees. Damage that OpenTrace found is reported by calls
 * from offset 0. Damage between buffers is not in their counts. etwas_trace_query counts for the
 * last call only.
 *
 * Cancellation and CloseTrace work as for ProcessTrace. The function must not be called in a
 * callback of the same trace.
 *
 * ERROR_FILE_CORRUPT: the whole range was read, and some of it was damaged.
 * ERROR_CANCELLED: a callback ended the call.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_BUSY: the trace is being processed.
 * ERROR_INVALID_PARAMETER: until_offset is less than from_offset.
 * ERROR_NOT_SUPPORTED: the handle is a running session, not a file; or the file is circular and
 *   without an end, so that its newest buffers replace its oldest. Relogging (relog.h) makes a file
 *   that can be read.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_trace_process_buffers(etwas_trace_handle trace, uint64_t from_offset,
                                     uint64_t until_offset, etwas_trace_buffer_callback begin,
                                     etwas_trace_buffer_callback end, void *context)
    ETWAS_API(etwas_trace_process_buffers);

/*
 * Reports up to which stamp the clocks have been read, as PROCESS_TRACE_MODE_RAW_TIMESTAMP gives
 * it. The time of a stamp that is not later will be the same when the file has grown, except for
 * moments that can no longer be distinguished if the file has no room for further readings.
 * INT64_MAX: no reading will follow, because the file was ended or has no readings. The value is
 * that of OpenTrace, or of the beginning of the last ProcessTrace or etwas_trace_process_buffers. A
 * session writes its readings at most about a second after its events. May be called from
 * callbacks.
 *
 * ERROR_INVALID_PARAMETER: `raw` is NULL.
 * ERROR_INVALID_HANDLE: the handle is not an open trace.
 * ERROR_NOT_SUPPORTED: the handle is a running session.
 */
uint32_t etwas_trace_known_until(etwas_trace_handle trace, int64_t *raw)
    ETWAS_API(etwas_trace_known_until);

ETWAS_END_DECLS

#endif
