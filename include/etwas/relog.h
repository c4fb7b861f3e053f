/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_RELOG_H
#define ETWAS_RELOG_H

/*
 * Relogging: writing a log file with the events of other log files. ETW's ITraceRelogger is
 * similar. This header is a part of <etwas/etwas.h>, which states what holds for all of its
 * functions.
 *
 *     etwas_relog_open(traces, count, descriptor, 0, &relogger);
 *     ProcessTrace(traces, count, NULL, NULL);     callbacks call etwas_relog_inject
 *     etwas_relog_finish(relogger, true);
 *     etwas_relog_close(relogger);
 *
 * Each event keeps its bytes in the new file: its ids, extended items and payload. The events of
 * each processor are in the order of their stamps, or, if the stamps are system time, in the order
 * in which they were delivered.
 *
 * The clock. Traces of one machine keep their stamps and the readings of their clocks, and
 * StartTime is that of the trace that started first. Traces are of one machine if their headers
 * have one clock of one frequency, the same number of processors, and boot times less than a second
 * apart. Otherwise, and for an unknown clock, the clock is QPC, and each stamp is the time that
 * ProcessTrace gives the event, in nanoseconds since 1970. In this case there are no readings,
 * stamps in payloads are unchanged, and the processors of each trace follow those of the previous
 * one in the order of `traces`.
 *
 * The counts of lost and overwritten events are the sums over all traces. The header is that of the
 * trace that started first, except for its counts, for EndTime, which is the latest, and for
 * LogFileMode. The latter has EVENT_TRACE_RELOG_MODE and, as its only file mode,
 * EVENT_TRACE_FILE_MODE_SEQUENTIAL.
 */

#include <etwas/evntcons.h>
#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

ETWAS_BEGIN_DECLS

typedef struct etwas_relogger etwas_relogger;

/* Flags of etwas_relog_open. */
#define ETWAS_RELOG_COMPRESSED 1u /* as a session with EVENT_TRACE_COMPRESSED_MODE writes */

/*
 * Prepares relogging of `traces`. These are handles of OpenTrace for files, with
 * PROCESS_TRACE_MODE_EVENT_RECORD and PROCESS_TRACE_MODE_RAW_TIMESTAMP, which no thread processes.
 * `descriptor` is an empty file that is open for reading and writing, without O_APPEND; the caller
 * keeps it. *relogger receives the relogger for the other functions, which one thread at a time may
 * call; free it with etwas_relog_close.
 *
 * The relogger allocates 64 MiB, and a buffer for each processor of at most 128 KiB. What does not
 * fit lies until the end in a file without a name in $TMPDIR, else /var/tmp. At the end, each 48
 * MiB of it that came out of order take 128 KiB.
 *
 * ERROR_INVALID_PARAMETER: a pointer is NULL; other flags; no traces or more than 1,024; a trace of
 *   another mode or of a session.
 * ERROR_INVALID_HANDLE: a handle is not an open trace.
 * ERROR_BUSY: a trace is being processed.
 * ERROR_NOT_SUPPORTED: traces of several machines have more than 2,047 processors together.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 */
uint32_t etwas_relog_open(const etwas_trace_handle *traces, uint32_t count, int descriptor,
                          uint32_t flags, etwas_relogger **relogger) ETWAS_API(etwas_relog_open);

/*
 * Adds an event to the new file, from the callback that ProcessTrace gives it to, unchanged. Events
 * in buffer 0 are ignored, because they were already taken.
 *
 * ERROR_INVALID_PARAMETER: a pointer is NULL, or the record is not one that ProcessTrace gave.
 * ERROR_INVALID_HANDLE: the trace was not given to etwas_relog_open.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT and those of creating files: the file without a name failed.
 */
uint32_t etwas_relog_inject(etwas_relogger *relogger, etwas_trace_handle trace,
                            const EVENT_RECORD *record) ETWAS_API(etwas_relog_inject);

/*
 * Adds event metadata: an EventInfo (type 32) with a TRACE_EVENT_INFO, or a MapInfo (33) with the
 * GUID of a class and an EVENT_MAP_INFO, as in <etwas/tdh.h>. Errors are those of
 * etwas_relog_inject, and:
 *
 * ERROR_INVALID_PARAMETER: another type, or more bytes than a record has.
 */
uint32_t etwas_relog_describe(etwas_relogger *relogger, uint8_t type, const void *payload,
                              uint32_t bytes) ETWAS_API(etwas_relog_describe);

/*
 * Records that events of the traces are missing between the last injected event and the next one.
 * It counts as a lost buffer, and the next buffer of each processor has it in its flags. Errors are
 * those of etwas_relog_inject.
 */
uint32_t etwas_relog_gap(etwas_relogger *relogger) ETWAS_API(etwas_relog_gap);

/*
 * Writes the file. `all` says that all events of the traces were injected; otherwise the file does
 * not state the number of attempted events. Nothing may be injected afterwards.
 *
 * ERROR_INVALID_PARAMETER: a pointer is NULL, or it is the second call.
 * ERROR_NOT_ENOUGH_MEMORY: there is not enough memory.
 * ERROR_DISK_FULL, ERROR_WRITE_FAULT: the file is unusable.
 *
 * If the file without a name failed before, its code is returned and nothing is written.
 */
uint32_t etwas_relog_finish(etwas_relogger *relogger, bool all) ETWAS_API(etwas_relog_finish);

/* Frees a relogger; NULL does nothing. */
void etwas_relog_close(etwas_relogger *relogger) ETWAS_API(etwas_relog_close);

ETWAS_END_DECLS

#endif
