/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_RELOG_H
#define ETWAS_RELOG_H

/*
 * Relogging: a log file made of the events of others. A part of <etwas/etwas.h>, which says what holds for
 * all of its functions. ETW's ITraceRelogger is of the same kind.
 *
 *     etwas_relog_open(traces, count, descriptor, 0, &relogger);
 *     ProcessTrace(traces, count, NULL, NULL);     callbacks call etwas_relog_inject
 *     etwas_relog_finish(relogger, true);
 *     etwas_relog_close(relogger);
 *
 * Each event has in the new file the bytes that it had: its ids, extended items and payload. Each
 * processor's events are there in the order of their stamps, of system time in the order in which they
 * were delivered.
 *
 * The clock. Traces of one machine, as their headers tell it by one clock of one frequency, as many
 * processors and boot times less than a second apart, keep the stamps that they have, and the readings of
 * their clocks; StartTime is that of the trace that started first. Else, and of a clock that is not known,
 * the clock is QPC, and each stamp is the time that ProcessTrace gives the event, in nanoseconds since
 * 1970; there are no readings, stamps in payloads stay what they were, and the processors of each trace
 * come behind those of the one before it, in the order of `traces`.
 *
 * What was lost and overwritten is the sum of all traces. The header is that of the trace that started
 * first, but for its counts, EndTime, which is the latest, and LogFileMode, which has
 * EVENT_TRACE_RELOG_MODE, and of file modes EVENT_TRACE_FILE_MODE_SEQUENTIAL alone.
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
 * Prepares to relog what `traces` have: handles of OpenTrace for files, with
 * PROCESS_TRACE_MODE_EVENT_RECORD and PROCESS_TRACE_MODE_RAW_TIMESTAMP, which no thread processes.
 * `descriptor` is an empty file, open for reading and writing, without O_APPEND; it stays the caller's.
 * *relogger receives what the other functions take, each from one thread at a time, to be given back with
 * etwas_relog_close. Takes 64 MiB and a buffer for each processor, at most 128 KiB; what does not fit lies
 * in a file without a name in $TMPDIR, else /var/tmp, until the end, when each 48 MiB of it that came out
 * of order take 128 KiB. Errors: ERROR_INVALID_PARAMETER for
 * NULL, other flags, more than 1,024 traces or none, and traces of another mode or of sessions;
 * ERROR_INVALID_HANDLE; ERROR_BUSY; ERROR_NOT_SUPPORTED for traces of several machines with more than
 * 2,047 processors together; ERROR_NOT_ENOUGH_MEMORY.
 */
uint32_t etwas_relog_open(const etwas_trace_handle *traces, uint32_t count, int descriptor,
                          uint32_t flags, etwas_relogger **relogger) ETWAS_API(etwas_relog_open);

/*
 * Takes an event over, from the callback that is given it by ProcessTrace, as it is given. What lies in
 * buffer 0 is passed over: it is taken already. Errors: ERROR_INVALID_PARAMETER for NULL and for a record
 * that ProcessTrace did not give; ERROR_INVALID_HANDLE for a trace that etwas_relog_open was not given;
 * ERROR_NOT_ENOUGH_MEMORY; ERROR_DISK_FULL, ERROR_WRITE_FAULT and those of files that cannot be made, for
 * the file without a name.
 */
uint32_t etwas_relog_inject(etwas_relogger *relogger, etwas_trace_handle trace,
                            const EVENT_RECORD *record) ETWAS_API(etwas_relog_inject);

/*
 * Adds event metadata: an EventInfo (type 32) with a TRACE_EVENT_INFO, or a MapInfo (33) with the GUID of
 * a class and an EVENT_MAP_INFO, as <etwas/tdh.h> has them. Errors: as those of etwas_relog_inject;
 * ERROR_INVALID_PARAMETER for another type and for more bytes than a record has.
 */
uint32_t etwas_relog_describe(etwas_relogger *relogger, uint8_t type, const void *payload,
                              uint32_t bytes) ETWAS_API(etwas_relog_describe);

/*
 * Says that something of the traces is missing between the event that was injected last and the next one.
 * It counts as a buffer that was lost, and the next buffer of each processor says so in its flags. Errors:
 * as those of etwas_relog_inject.
 */
uint32_t etwas_relog_gap(etwas_relogger *relogger) ETWAS_API(etwas_relog_gap);

/*
 * Writes the file. `all`: everything that the traces have was injected; else the file does not say how
 * many events were attempted. Nothing is injected after it. Errors: ERROR_INVALID_PARAMETER for NULL, and
 * the second time; ERROR_NOT_ENOUGH_MEMORY; ERROR_DISK_FULL and ERROR_WRITE_FAULT, after which the file is
 * of no use; and what the file without a name failed with before, after which nothing is written.
 */
uint32_t etwas_relog_finish(etwas_relogger *relogger, bool all) ETWAS_API(etwas_relog_finish);

/* Gives it back; NULL does nothing. */
void etwas_relog_close(etwas_relogger *relogger) ETWAS_API(etwas_relog_close);

ETWAS_END_DECLS

#endif
