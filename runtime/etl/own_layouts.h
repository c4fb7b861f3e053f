/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records that etwas writes for itself (own_record.h), once for both sides: type, version and
 * fields of each. The writer has structures made of them, the decoder its table
 * (decode/other_classes.c).
 *
 * A layout is a macro that applies the operations of a visitor V, in the order of the payload:
 *
 *     RECORD(NAME, type, version, Name)   ETWAS_ETL_NAME_TYPE, its version, with which the payload
 *                                         begins, and the name that is shown
 *     FIELD(type, member, Name)           a value; the types are in field_types.h
 *     CHARS(count, member, Name)          a text with its 0 in so many bytes
 *     STRING(type, Name)                  a text with its 0, behind the structure
 *     REST(type, Name)                    values up to the end of the record
 *
 * The layouts of formats of messages, of parts of manifests and of losses are in own_record.h,
 * since nothing shows these records as events.
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
 * 0.02 %, half a second in 40 minutes. Our reader converts clock 3 with this ratio.
 *
 * `ticks` ticks of the session's clock take `nanoseconds` ns; both are between 1 and
 * ETWAS_ETL_CALIBRATION_LARGEST, so that products with a difference of stamps fit in 128 bits. The
 * three readings were taken together: as near as the clocks can be read.
 */
#define ETWAS_OWN_CALIBRATION(V)                                                                   \
    V##_RECORD(CALIBRATION, 0, 1, Calibration)                                                     \
    V##_FIELD(u32, clock_type, ClockType) /* of the session, ETWAS_ETL_CLOCK_* */                  \
    V##_FIELD(u64, ticks, Ticks) V##_FIELD(u64, nanoseconds, Nanoseconds)                          \
    V##_FIELD(i64, raw_stamp, RawStamp) /* the session's clock */                                  \
    V##_FIELD(i64, qpc_ns, QpcNs) /* the performance counter */                                    \
    V##_FIELD(filetime, filetime, SystemTime) /* system time */

/*
 * At some moment the session's clock was `raw_stamp`, the performance counter within qpc_error_ns
 * of qpc_ns, and the system time within filetime_error_ns of `filetime`. What is 0 is exact.
 */
#define ETWAS_OWN_CLOCK_SNAPSHOT(V)                                                                \
    V##_RECORD(CLOCK_SNAPSHOT, 1, 1, ClockSnapshot)                                                \
    V##_FIELD(u32, reason, Reason) /* ETWAS_ETL_CLOCK_SNAPSHOT_* */                                \
    V##_FIELD(i64, raw_stamp, RawStamp) V##_FIELD(i64, qpc_ns, QpcNs)                              \
    V##_FIELD(filetime, filetime, SystemTime)                                                      \
    /* since the machine booted; a jump between clock snapshots is a suspend */                    \
    V##_FIELD(i64, suspended_ns, SuspendedNs)                                                      \
    /* 0 when the session's clock is QPC; system time: 100 at least */                             \
    V##_FIELD(u32, qpc_error_ns, QpcErrorNs)                                                       \
    V##_FIELD(u32, filetime_error_ns, SystemTimeErrorNs) /* 0 when it is system time */

/*
 * The log file header counts what was lost in 32 bits, and knows nothing of what a circular file
 * replaced, nor which part of a new-file set a file is. Zeroes until the first sync, brought up to
 * date at each one, final at the end. The counts in an appended file are those of all its sessions.
 */
#define ETWAS_OWN_TOTALS(V)                                                                        \
    V##_RECORD(TOTALS, 2, 1, Totals)                                                               \
    V##_FIELD(u32, part, Part) /* number of the file in a new-file set, from 1; 0: no set */       \
    /* were in the file, and newer ones took their place */                                        \
    V##_FIELD(u64, overwritten_events, OverwrittenEvents)                                          \
    V##_FIELD(u64, overwritten_buffers, OverwrittenBuffers) /* likewise */                         \
    V##_FIELD(u64, lost_events, LostEvents) /* while this file was written; never in it */         \
    V##_FIELD(u64, lost_buffers, LostBuffers) /* likewise: could not be written */                 \
    /* by the session's writers, meanwhile; 0: a snapshot's, or not noted */                       \
    V##_FIELD(u64, attempted_events, AttemptedEvents)                                              \
    /* ETWAS_ETL_ENDS_*; 0 until the file is ended, and in files of before */                      \
    V##_FIELD(u32, ends, Ends)                                                                     \
    /* Win32: why the last of those could not; 0: they all could */                                \
    V##_FIELD(u16, unattached_code, UnattachedCode)                                                \
    /* processes that could not log into the session, since it began; UINT16_MAX: or more */       \
    V##_FIELD(u16, unattached_processes, UnattachedProcesses)

/*
 * Values as in <etwas/etwas.h>. The counter is measured only for a session that asked for it, or if
 * the process had it measured before. Else verdict and reasons are by what the machine says of it,
 * frequency_hz is 0, and there is no reason that takes measuring.
 */
#define ETWAS_OWN_CLOCK_RECORD(V)                                                                  \
    V##_RECORD(CLOCK_RECORD, 3, 1, Clock)                                                          \
    V##_FIELD(u32, requested_clock, RequestedClock) /* ClientContext as asked for, 1 for 0 */      \
    V##_FIELD(u32, clock_type, ClockType) /* what the session got, ETWAS_ETL_CLOCK_* */            \
    V##_FIELD(u32, verdict, Verdict) /* ETWAS_CLOCK_VERDICT_*, of the cycle counter */             \
    V##_FIELD(x32, reasons, Reasons) /* ETWAS_CLOCK_REASON_*, likewise */                          \
    V##_FIELD(u32, stated_by, StatedBy) /* ETWAS_CLOCK_STATED_* */                                 \
    /* of the cycle counter as calibrated; 0: it was not */                                        \
    V##_FIELD(u64, frequency_hz, FrequencyHz)                                                      \
    V##_FIELD(u64, stated_hz, StatedHz) /* 0: nothing states one */                                \
    V##_FIELD(u32, frequency_error_ppb, FrequencyErrorPpb)                                         \
    /* of the machine; 0: not noted. The header may count one more: the stream of threads without  \
       restartable sequences */                                                                    \
    V##_FIELD(u16, processors, Processors)                                                         \
    /* retention classes, and one more for what is of none: so many times are there these          \
       streams. 0: once */                                                                         \
    V##_FIELD(u8, rows, Rows)                                                                      \
    V##_FIELD(u8, one_stream, OneStream) /* 1: of each of several rows one, for all processors */  \
    /* the kernel's, in any session's file; "" where it is not known */                            \
    V##_CHARS(30, clocksource, ClockSource)                                                        \
    /* ETWAS_PROTOCOL_*, by which events came into its buffers; 0: not said */                     \
    V##_FIELD(u8, protocol, Protocol)                                                              \
    /* ETWAS_SEQUENCES_*: why that is not RSEQ, if it is not for that */                           \
    V##_FIELD(u8, sequences, Sequences)                                                            \
    V##_CHARS(16, hypervisor, Hypervisor) /* its signature; "" on bare metal. Both end with 0 */

/*
 * What became of the events of one of the kernel's sources on one processor. These are the last
 * records that a session writes, except those of its end that belong to no processor. The source's
 * name follows, with its 0.
 *
 *     attempted = taken + lost_no_room + lost_unread + lost_not_handed
 */
#define ETWAS_OWN_ACCOUNT(V)                                                                       \
    V##_RECORD(ACCOUNT, 5, 1, Account)                                                             \
    V##_FIELD(u32, number, Number) /* of this record among the accounts of the session, from 0 */  \
    V##_FIELD(u32, count, Count) /* how many of both kinds there are */                            \
    V##_FIELD(u32, source, Source) /* the same of all its accounts */                              \
    V##_FIELD(u32, processor, Processor)                                                           \
    V##_FIELD(u32, counted, Counted) /* ETWAS_ETL_COUNTED_* */                                     \
    V##_FIELD(x32, flags, Flags) /* EnableFlags that ask for it */                                 \
    V##_FIELD(u32, damaged, Damaged) /* 1: the processor's ring was */                             \
    V##_FIELD(u64, attempted, Attempted) V##_FIELD(u64, taken, Taken)                              \
    /* of those that were taken: no record came of them alone */                                   \
    V##_FIELD(u64, without_record, WithoutRecord)                                                  \
    V##_FIELD(u64, lost_no_room, LostNoRoom) /* in the ring, as the kernel says */                 \
    V##_FIELD(u64, lost_unread, LostUnread) /* came, and were not as the kernel describes them */  \
    /* the kernel counted them, and says nothing of them */                                        \
    V##_FIELD(u64, lost_not_handed, LostNotHanded)                                                 \
    V##_STRING(str, Name)

/*
 * The number of records of one kind that were made of the events of a source, in the stream of one
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
 * Events of a processor are missing, in whose stream this record lies: so many between the last one
 * that was read from its ring before and the first one after. Events of a processor that was not
 * recorded are not counted.
 */
#define ETWAS_OWN_KERNEL_LOSS(V)                                                                   \
    V##_RECORD(KERNEL_LOSS, 7, 1, KernelLoss)                                                      \
    V##_FIELD(u32, cause, Cause) /* ETWAS_ETL_KERNEL_LOSS_* */                                     \
    V##_FIELD(u64, events, Events) /* 0 of ETWAS_ETL_KERNEL_LOSS_OFF */                            \
    V##_FIELD(time, from_raw, From) /* 0: since the session began */                               \
    V##_FIELD(time, until_raw, Until)

/* What the system logger says of a flag without events; the reason follows. */
#define ETWAS_OWN_SILENT_FLAG(V)                                                                   \
    V##_RECORD(SILENT_FLAG, 8, 1, SilentFlag)                                                      \
    V##_FIELD(x32, flag, Flag) V##_STRING(str, Reason)

/*
 * A function of the kernel in which addresses of the session's events lie. Its name and its module,
 * which is empty for the kernel itself, follow; both end with 0.
 */
#define ETWAS_OWN_KERNEL_SYMBOL(V)                                                                 \
    V##_RECORD(KERNEL_SYMBOL, 9, 1, KernelSymbol)                                                  \
    /* how often an address came that there was no room to note, until then */                     \
    V##_FIELD(u32, left_out, LeftOut) V##_FIELD(x64, address, Address)                             \
    V##_FIELD(u64, bytes, Bytes) /* to the next symbol, at most 65,536 */                          \
    V##_STRING(utf8, Name) V##_STRING(utf8, Module)

/*
 * The first that a system logger of its own process says; a file without it is of the whole system.
 */
#define ETWAS_OWN_KERNEL_RUNG(V)                                                                   \
    V##_RECORD(KERNEL_RUNG, 10, 1, KernelRung)                                                     \
    V##_FIELD(u32, rung, Rung) /* ETWAS_KERNEL_RUNG_* */                                           \
    V##_FIELD(pid, process_id, ProcessId)                                                          \
    /* errno with which the kernel refused the rung above; 0: it did not */                        \
    V##_FIELD(u32, error, Error)

/*
 * Follows an event that has a stack: what a reader unwinds the program's part from. The registers
 * of `mask` follow, in the order of its bits, as perf events number them; then the stack, from the
 * stack pointer upwards.
 */
#define ETWAS_OWN_USER_STACK(V)                                                                    \
    V##_RECORD(USER_STACK, 11, 1, UserStack)                                                       \
    V##_FIELD(u32, machine, Machine) /* as ELF has it: 62 x86-64, 183 aarch64 */                   \
    V##_FIELD(pid, process_id, Process) V##_FIELD(tid, thread_id, Thread)                          \
    V##_FIELD(time, event_stamp, EventTimeStamp) V##_FIELD(x64, mask, Registers)                   \
    V##_REST(x64, Words)

#define ETWAS_OWN_NAMESPACE(V)                                                                     \
    V##_RECORD(NAMESPACE, 12, 1, Namespace)                                                        \
    V##_FIELD(pid, process_id, ProcessId) /* the process that logs, as it is numbered there */     \
    V##_FIELD(u64, namespace_id, NamespaceId) /* the inode of its PID namespace; 0: not known */

/*
 * What the kernel has counted of the logging thread since it began: the first thing that the thread
 * does behind the START of an instance or activity, or the last before its END. An unknown counter
 * is 0.
 */
#define ETWAS_OWN_COUNTERS(V)                                                                      \
    V##_RECORD(COUNTERS, 13, 1, ThreadCounters)                                                    \
    V##_FIELD(x32, known, Known) /* ETWAS_ETL_COUNTERS_* */                                        \
    V##_FIELD(guid, guid, Class) /* class of the instance, or provider of the activity */          \
    V##_FIELD(guid, activity, Activity) /* 0 of an instance */                                     \
    V##_FIELD(u32, instance, Instance) /* 0 of an activity */                                      \
    V##_FIELD(u32, type, Type) /* EVENT_TRACE_TYPE_START or _END: of which of its events */        \
    V##_FIELD(u32, processor, Processor) /* on which it was read */                                \
    V##_FIELD(u32, reserved, Reserved)                                                             \
    V##_FIELD(u64, run_ns, RunNs) /* on processors */                                              \
    V##_FIELD(u64, wait_ns, WaitNs) /* ready to run, and not on one */                             \
    V##_FIELD(u64, user_us, UserUs) V##_FIELD(u64, kernel_us, KernelUs)                            \
    V##_FIELD(u64, voluntary_switches, VoluntarySwitches) /* it had to wait for something */       \
    V##_FIELD(u64, involuntary_switches, InvoluntarySwitches)                                      \
    V##_FIELD(u64, minor_faults, MinorFaults)                                                      \
    V##_FIELD(u64, major_faults, MajorFaults) /* that had to wait for a disk */

/*
 * In a file that a flight recorder wrote for a trigger. It has what was recorded from `from_raw`
 * until `until_raw`, which was requested; older buffers were left out. Between covered_from_raw,
 * exclusively, and covered_to_raw the file has everything that any processor recorded, except what
 * was lost. The trigger lies in there, or both are the trigger's and there is no such interval.
 */
#define ETWAS_OWN_WINDOW(V)                                                                        \
    V##_RECORD(WINDOW, 14, 1, Window)                                                              \
    /* of the session's windows, from 1; 0: all recorders were asked for it */                     \
    V##_FIELD(u32, number, Number)                                                                 \
    V##_FIELD(u32, triggers, Triggers) /* that it answers: the first, and those joined to it */    \
    V##_FIELD(u32, missing, Missing) /* how many records of the next kind there are */             \
    V##_FIELD(time, trigger_raw, Trigger) V##_FIELD(time, from_raw, From)                          \
    V##_FIELD(time, until_raw, Until) V##_FIELD(time, covered_from_raw, CoveredFrom)               \
    V##_FIELD(time, covered_to_raw, CoveredTo)                                                     \
    /* events that the session lost between the trigger and the writing */                         \
    V##_FIELD(u64, lost, Lost)

/* What was overwritten of the window: recorded on a processor after `from_raw` and until to_raw. */
#define ETWAS_OWN_MISSING(V)                                                                       \
    V##_RECORD(MISSING, 15, 1, Missing)                                                            \
    V##_FIELD(u32, processor, Processor)                                                           \
    V##_FIELD(time, from_raw, From) V##_FIELD(time, to_raw, To)

/* clang-format on */

#endif
