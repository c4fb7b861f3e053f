/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records that etwas writes for itself (own_record.h): type, version and fields of each,
 * defined once for both sides. They generate the writer's structures and the decoder's table
 * (decode/other_classes.c).
 *
 * A layout is a macro that applies the operations of a visitor V, in the order of the payload:
 *
 *     RECORD(NAME, type, version, Name)   ETWAS_ETL_NAME_TYPE, its version, with which the payload
 *                                         begins, and the name that is shown
 *     FIELD(type, member, Name)           a value; the types are in field_types.h
 *     CHARS(count, member, Name)          a text with its 0 in `count` bytes
 *     STRING(type, Name)                  a text with its 0, after the structure
 *     REST(type, Name)                    values up to the end of the record
 *
 * The layouts of message formats, manifest chunks and losses are in own_record.h, because these
 * records are not shown as events.
 */
#ifndef ETWAS_ETL_OWN_LAYOUTS_H
#define ETWAS_ETL_OWN_LAYOUTS_H

#include "etl/field_types.h"

/* clang-format off */

#define ETWAS_OWN_LAYOUTS(X)                                                                       \
    X(CALIBRATION) X(CLOCK_SNAPSHOT) X(TOTALS) X(CLOCK_RECORD) X(ACCOUNT) X(ACCOUNT_RECORDS)       \
    X(KERNEL_LOSS) X(SILENT_FLAG) X(KERNEL_SYMBOL) X(KERNEL_RUNG) X(USER_STACK) X(NAMESPACE)       \
    X(COUNTERS) X(WINDOW) X(MISSING)

/*
 * CpuSpeedInMHz of the log file header is a whole number of MHz. At 2,994.37 MHz that is wrong by
 * 0.02 %, half a second in 40 minutes. So the reader converts clock 3 with this ratio.
 *
 * `ticks` ticks of the session's clock take `nanoseconds` ns; both are between 1 and
 * ETWAS_ETL_CALIBRATION_LARGEST, so that products with a difference of stamps fit in 128 bits. The
 * three readings were taken together, as close as the clocks can be read.
 */
#define ETWAS_OWN_CALIBRATION(V)                                                                   \
    V##_RECORD(CALIBRATION, 0, 1, Calibration)                                                     \
    V##_FIELD(u32, clock_type, ClockType) /* of the session, ETWAS_ETL_CLOCK_* */                  \
    V##_FIELD(u64, ticks, Ticks) V##_FIELD(u64, nanoseconds, Nanoseconds)                          \
    V##_FIELD(i64, raw_stamp, RawStamp) /* the session's clock */                                  \
    V##_FIELD(i64, qpc_ns, QpcNs) /* the performance counter */                                    \
    V##_FIELD(filetime, filetime, SystemTime) /* system time */

/*
 * At one moment the session's clock was `raw_stamp`, the performance counter within qpc_error_ns of
 * qpc_ns, and the system time within filetime_error_ns of `filetime`. An error of 0 means exact.
 */
#define ETWAS_OWN_CLOCK_SNAPSHOT(V)                                                                \
    V##_RECORD(CLOCK_SNAPSHOT, 1, 1, ClockSnapshot)                                                \
    V##_FIELD(u32, reason, Reason) /* ETWAS_ETL_CLOCK_SNAPSHOT_* */                                \
    V##_FIELD(i64, raw_stamp, RawStamp) V##_FIELD(i64, qpc_ns, QpcNs)                              \
    V##_FIELD(filetime, filetime, SystemTime)                                                      \
    /* since the machine booted; a jump between clock snapshots is a suspend */                    \
    V##_FIELD(i64, suspended_ns, SuspendedNs)                                                      \
    /* 0 if the session's clock is QPC; at least 100 if it is system time */                       \
    V##_FIELD(u32, qpc_error_ns, QpcErrorNs)                                                       \
    V##_FIELD(u32, filetime_error_ns, SystemTimeErrorNs) /* 0 if it is system time */

/*
 * The log file header counts losses in 32 bits. It has neither what a circular file replaced nor
 * which part of a new-file set a file is. The totals are zeroes until the first sync, updated at
 * each one, and final at the end. In an appended file they include all its sessions.
 */
#define ETWAS_OWN_TOTALS(V)                                                                        \
    V##_RECORD(TOTALS, 2, 1, Totals)                                                               \
    V##_FIELD(u32, part, Part) /* number of the file in a new-file set, from 1; 0: no set */       \
    /* were in the file, and were replaced by newer ones */                                        \
    V##_FIELD(u64, overwritten_events, OverwrittenEvents)                                          \
    V##_FIELD(u64, overwritten_buffers, OverwrittenBuffers) /* likewise */                         \
    V##_FIELD(u64, lost_events, LostEvents) /* while this file was written; never in it */         \
    V##_FIELD(u64, lost_buffers, LostBuffers) /* likewise: could not be written */                 \
    /* by the session's writers meanwhile; 0 in snapshots, or not recorded */                      \
    V##_FIELD(u64, attempted_events, AttemptedEvents)                                              \
    /* ETWAS_ETL_ENDS_*; 0 until the file is ended, and in older files */                          \
    V##_FIELD(u32, ends, Ends)                                                                     \
    /* Win32 code: why the last of these processes could not; 0: there are none */                 \
    V##_FIELD(u16, unattached_code, UnattachedCode)                                                \
    /* processes that could not log into the session, since it began; UINT16_MAX: or more */       \
    V##_FIELD(u16, unattached_processes, UnattachedProcesses)

/*
 * Values as in <etwas/etwas.h>. The counter is measured only for a session that requested it, or if
 * the process had measured it before. Otherwise verdict and reasons come from what the machine
 * reports, frequency_hz is 0, and no reason is given that depends on a measurement.
 */
#define ETWAS_OWN_CLOCK_RECORD(V)                                                                  \
    V##_RECORD(CLOCK_RECORD, 3, 1, Clock)                                                          \
    V##_FIELD(u32, requested_clock, RequestedClock) /* ClientContext as requested, 1 for 0 */      \
    V##_FIELD(u32, clock_type, ClockType) /* what the session got, ETWAS_ETL_CLOCK_* */            \
    V##_FIELD(u32, verdict, Verdict) /* ETWAS_CLOCK_VERDICT_*, of the cycle counter */             \
    V##_FIELD(x32, reasons, Reasons) /* ETWAS_CLOCK_REASON_*, likewise */                          \
    V##_FIELD(u32, stated_by, StatedBy) /* ETWAS_CLOCK_STATED_* */                                 \
    /* of the cycle counter, as calibrated; 0: not calibrated */                                   \
    V##_FIELD(u64, frequency_hz, FrequencyHz)                                                      \
    V##_FIELD(u64, stated_hz, StatedHz) /* 0: not stated */                                        \
    V##_FIELD(u32, frequency_error_ppb, FrequencyErrorPpb)                                         \
    /* of the machine; 0: not recorded. The header may count one more: the stream of threads       \
       without restartable sequences */                                                            \
    V##_FIELD(u16, processors, Processors)                                                         \
    /* rows of streams: the retention classes, and one for events without a class; 0: one row */   \
    V##_FIELD(u8, rows, Rows)                                                                      \
    V##_FIELD(u8, one_stream, OneStream) /* 1: several rows, each with one stream */               \
    /* the kernel's, whatever the session's clock; "": not known */                                \
    V##_CHARS(30, clocksource, ClockSource)                                                        \
    /* ETWAS_PROTOCOL_*, by which events came into its buffers; 0: not recorded */                 \
    V##_FIELD(u8, protocol, Protocol)                                                              \
    /* ETWAS_SEQUENCES_*: why the protocol is not RSEQ */                                          \
    V##_FIELD(u8, sequences, Sequences)                                                            \
    V##_CHARS(16, hypervisor, Hypervisor) /* its signature; "" on bare metal. Both end with 0 */

/*
 * The counts of the events of one kernel source on one processor. These are the last records that a
 * session writes, except those of its end that belong to no processor. The source's name follows,
 * with its 0.
 *
 *     attempted = taken + lost_no_room + lost_unread + lost_not_handed
 */
#define ETWAS_OWN_ACCOUNT(V)                                                                       \
    V##_RECORD(ACCOUNT, 5, 1, Account)                                                             \
    V##_FIELD(u32, number, Number) /* of this record among the session's accounts, from 0 */       \
    V##_FIELD(u32, count, Count) /* how many of both kinds there are */                            \
    V##_FIELD(u32, source, Source) /* the same in all accounts of a source */                      \
    V##_FIELD(u32, processor, Processor)                                                           \
    V##_FIELD(u32, counted, Counted) /* ETWAS_ETL_COUNTED_* */                                     \
    V##_FIELD(x32, flags, Flags) /* EnableFlags that request it */                                 \
    V##_FIELD(u32, damaged, Damaged) /* 1: the processor's ring was damaged */                     \
    V##_FIELD(u64, attempted, Attempted) V##_FIELD(u64, taken, Taken)                              \
    /* of those taken: events without a record of their own */                                     \
    V##_FIELD(u64, without_record, WithoutRecord)                                                  \
    V##_FIELD(u64, lost_no_room, LostNoRoom) /* in the ring, as the kernel reports */              \
    V##_FIELD(u64, lost_unread, LostUnread) /* contradict the kernel's description */              \
    /* the kernel counted them, but neither delivered nor reported them lost */                    \
    V##_FIELD(u64, lost_not_handed, LostNotHanded)                                                 \
    V##_STRING(str, Name)

/*
 * The number of records of one kind that were made from a source's events, in the stream of one
 * processor.
 */
#define ETWAS_OWN_ACCOUNT_RECORDS(V)                                                               \
    V##_RECORD(ACCOUNT_RECORDS, 6, 1, AccountRecords)                                              \
    V##_FIELD(u32, number, Number) V##_FIELD(u32, count, Count)                                    \
    V##_FIELD(u32, source, Source) V##_FIELD(u32, processor, Processor)                            \
    V##_FIELD(u32, type, Type) /* of the class */                                                  \
    V##_FIELD(guid, class_guid, Class) V##_FIELD(u64, made, Made)                                  \
    V##_FIELD(u64, refused, Refused) /* of these: no buffer had room */

/*
 * `events` events are missing of the processor in whose stream this record lies: between the last
 * one read from its ring before and the first one after. Events of a processor that was not
 * recorded are not counted.
 */
#define ETWAS_OWN_KERNEL_LOSS(V)                                                                   \
    V##_RECORD(KERNEL_LOSS, 7, 1, KernelLoss)                                                      \
    V##_FIELD(u32, cause, Cause) /* ETWAS_ETL_KERNEL_LOSS_* */                                     \
    V##_FIELD(u64, events, Events) /* 0 for ETWAS_ETL_KERNEL_LOSS_OFF */                           \
    V##_FIELD(time, from_raw, From) /* 0: since the session began */                               \
    V##_FIELD(time, until_raw, Until)

/* A flag that has no events; the reason follows. */
#define ETWAS_OWN_SILENT_FLAG(V)                                                                   \
    V##_RECORD(SILENT_FLAG, 8, 1, SilentFlag)                                                      \
    V##_FIELD(x32, flag, Flag) V##_STRING(str, Reason)

/*
 * A function of the kernel in which addresses of the session's events lie. Its name and its module,
 * which is empty for the kernel itself, follow; both end with 0.
 */
#define ETWAS_OWN_KERNEL_SYMBOL(V)                                                                 \
    V##_RECORD(KERNEL_SYMBOL, 9, 1, KernelSymbol)                                                  \
    /* how many addresses were left out until then, for lack of room */                            \
    V##_FIELD(u32, left_out, LeftOut) V##_FIELD(x64, address, Address)                             \
    V##_FIELD(u64, bytes, Bytes) /* to the next symbol, at most 65,536 */                          \
    V##_STRING(utf8, Name) V##_STRING(utf8, Module)

/*
 * The first record of a system logger that records only its own process. A file without it is about
 * the whole system.
 */
#define ETWAS_OWN_KERNEL_RUNG(V)                                                                   \
    V##_RECORD(KERNEL_RUNG, 10, 1, KernelRung)                                                     \
    V##_FIELD(u32, rung, Rung) /* ETWAS_KERNEL_RUNG_* */                                           \
    V##_FIELD(pid, process_id, ProcessId)                                                          \
    /* errno with which the kernel refused the next higher rung; 0: none */                        \
    V##_FIELD(u32, error, Error)

/*
 * Follows an event that has a stack. A reader unwinds the program's part of the stack from it. The
 * registers of `mask` follow, in the order of its bits, numbered as in perf events; then the stack,
 * from the stack pointer upwards.
 */
#define ETWAS_OWN_USER_STACK(V)                                                                    \
    V##_RECORD(USER_STACK, 11, 1, UserStack)                                                       \
    V##_FIELD(u32, machine, Machine) /* as in ELF: 62 x86-64, 183 aarch64 */                       \
    V##_FIELD(pid, process_id, Process) V##_FIELD(tid, thread_id, Thread)                          \
    V##_FIELD(time, event_stamp, EventTimeStamp) V##_FIELD(x64, mask, Registers)                   \
    V##_REST(x64, Words)

#define ETWAS_OWN_NAMESPACE(V)                                                                     \
    V##_RECORD(NAMESPACE, 12, 1, Namespace)                                                        \
    V##_FIELD(pid, process_id, ProcessId) /* the id of the logging process in that namespace */    \
    V##_FIELD(u64, namespace_id, NamespaceId) /* the inode of its PID namespace; 0: not known */

/*
 * The kernel's counters of the logging thread since it began, read directly after the START of an
 * instance or activity, or directly before its END. An unknown counter is 0.
 */
#define ETWAS_OWN_COUNTERS(V)                                                                      \
    V##_RECORD(COUNTERS, 13, 1, ThreadCounters)                                                    \
    V##_FIELD(x32, known, Known) /* ETWAS_ETL_COUNTERS_* */                                        \
    V##_FIELD(guid, guid, Class) /* class of the instance, or provider of the activity */          \
    V##_FIELD(guid, activity, Activity) /* 0 for an instance */                                    \
    V##_FIELD(u32, instance, Instance) /* 0 for an activity */                                     \
    V##_FIELD(u32, type, Type) /* EVENT_TRACE_TYPE_START or _END: the event's type */              \
    V##_FIELD(u32, processor, Processor) /* that ran the thread when they were read */             \
    V##_FIELD(u32, reserved, Reserved)                                                             \
    V##_FIELD(u64, run_ns, RunNs) /* on processors */                                              \
    V##_FIELD(u64, wait_ns, WaitNs) /* ready to run, and waiting for one */                        \
    V##_FIELD(u64, user_us, UserUs) V##_FIELD(u64, kernel_us, KernelUs)                            \
    V##_FIELD(u64, voluntary_switches, VoluntarySwitches) /* it had to wait for something */       \
    V##_FIELD(u64, involuntary_switches, InvoluntarySwitches)                                      \
    V##_FIELD(u64, minor_faults, MinorFaults)                                                      \
    V##_FIELD(u64, major_faults, MajorFaults) /* that had to wait for storage */

/*
 * The window of a file that a flight recorder wrote for a trigger. The file was requested to
 * contain what was recorded from `from_raw` until `until_raw`; older buffers were left out. Between
 * covered_from_raw, exclusively, and covered_to_raw the file has everything that any processor
 * recorded, except what was lost. The trigger lies in that interval, or both stamps are the
 * trigger's and there is no such interval.
 */
#define ETWAS_OWN_WINDOW(V)                                                                        \
    V##_RECORD(WINDOW, 14, 1, Window)                                                              \
    /* among the session's windows, from 1; 0: requested from all recorders */                     \
    V##_FIELD(u32, number, Number)                                                                 \
    V##_FIELD(u32, triggers, Triggers) /* the first, and those joined to it */                     \
    V##_FIELD(u32, missing, Missing) /* how many records of the next kind there are */             \
    V##_FIELD(time, trigger_raw, Trigger) V##_FIELD(time, from_raw, From)                          \
    V##_FIELD(time, until_raw, Until) V##_FIELD(time, covered_from_raw, CoveredFrom)               \
    V##_FIELD(time, covered_to_raw, CoveredTo)                                                     \
    /* events that the session lost between the trigger and the writing */                         \
    V##_FIELD(u64, lost, Lost)

/*
 * A part of the window that was overwritten: what a processor recorded after from_raw, until
 * to_raw.
 */
#define ETWAS_OWN_MISSING(V)                                                                       \
    V##_RECORD(MISSING, 15, 1, Missing)                                                            \
    V##_FIELD(u32, processor, Processor)                                                           \
    V##_FIELD(time, from_raw, From) V##_FIELD(time, to_raw, To)

/* clang-format on */

#endif
