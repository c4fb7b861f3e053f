/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The records of ETW's kernel classes that the system logger writes: group, version, event types
 * and fields of each, defined once for both sides. They generate the writer's structures and
 * constants (system/stream/kernel_record.h) and the decoder's tables (decode/kernel_classes.c).
 *
 * A layout is a macro that applies the operations of a visitor V, in the order of the payload:
 *
 *     LAYOUT(NAME, header, group, since, version)
 *                                  written as `version`; the same holds from `since` on
 *     TYPE(NAME, number, Name)     an event type: ETWAS_NAME, and the name that is shown
 *     FIELD(type, Name)            a value; the types are listed in decode/builtin.c
 *     MAPPED(type, Map, Name)      a value for which a map has names
 *     WIDE(count, Name)            UTF-16, `count` characters
 *     STRING(type, Name)           a text with its 0
 *     REST(type, Name)             values up to the end of the record
 *
 * A macro without LAYOUT and TYPE is a part that several layouts share. What only Windows writes is
 * only in the decoder's tables.
 */
#ifndef ETWAS_ETL_KERNEL_LAYOUTS_H
#define ETWAS_ETL_KERNEL_LAYOUTS_H

#include "etl/layout.h"

/* clang-format off */

/* ---- Process and Image ----------------------------------------------------------------------- */

#define ETWAS_LAYOUT_PROCESS_HEAD(V)                                                               \
    V##_FIELD(ptr, UniqueProcessKey) V##_FIELD(pid, ProcessId) V##_FIELD(pid, ParentId)            \
    V##_FIELD(u32, SessionId) V##_FIELD(i32, ExitStatus)

#define ETWAS_LAYOUT_PROCESS_TO_COMMAND_LINE(V)                                                    \
    ETWAS_LAYOUT_PROCESS_HEAD(V)                                                                   \
    V##_FIELD(ptr, DirectoryTableBase) V##_MAPPED(x32, ProcessFlags, Flags)                        \
    V##_FIELD(sid, UserSID) V##_STRING(str, ImageFileName) V##_STRING(wstr, CommandLine)

#define ETWAS_LAYOUT_PROCESS_PACKAGE(V)                                                            \
    V##_STRING(wstr, PackageFullName) V##_STRING(wstr, ApplicationId)

#define ETWAS_LAYOUT_PROCESS(V)                                                                    \
    V##_LAYOUT(PROCESS, SYSTEM64, 0x03, 4, 4)                                                      \
    V##_TYPE(PROCESS_START, 1, Start) V##_TYPE(PROCESS_END, 2, End)                                \
    V##_TYPE(PROCESS_RUNDOWN_START, 3, DCStart) V##_TYPE(PROCESS_RUNDOWN_END, 4, DCEnd)            \
    ETWAS_LAYOUT_PROCESS_TO_COMMAND_LINE(V)                                                        \
    ETWAS_LAYOUT_PROCESS_PACKAGE(V)

#define ETWAS_LAYOUT_COUNTERS_OF_WINDOWS(V)                                                        \
    V##_FIELD(pid, ProcessId) V##_FIELD(u32, PageFaultCount) V##_FIELD(u32, HandleCount)           \
    V##_FIELD(u32, Reserved) V##_FIELD(size, PeakVirtualSize) V##_FIELD(size, PeakWorkingSetSize)  \
    V##_FIELD(size, PeakPagefileUsage) V##_FIELD(size, QuotaPeakPagedPoolUsage)                    \
    V##_FIELD(size, QuotaPeakNonPagedPoolUsage) V##_FIELD(size, VirtualSize)                       \
    V##_FIELD(size, WorkingSetSize) V##_FIELD(size, PagefileUsage)                                 \
    V##_FIELD(size, QuotaPagedPoolUsage) V##_FIELD(size, QuotaNonPagedPoolUsage)                   \
    V##_FIELD(size, PrivatePageCount)

/* The transfers follow what Windows writes. */
#define ETWAS_LAYOUT_COUNTERS(V)                                                                   \
    V##_LAYOUT(COUNTERS, SYSTEM64, 0x03, 2, 2)                                                     \
    V##_TYPE(COUNTERS_END, 32, PerfCtr) V##_TYPE(COUNTERS_RUNDOWN, 33, PerfCtrRundown)             \
    ETWAS_LAYOUT_COUNTERS_OF_WINDOWS(V)                                                            \
    V##_FIELD(u64, ReadTransferCount) V##_FIELD(u64, WriteTransferCount)                           \
    V##_FIELD(u64, DiskReadBytes) V##_FIELD(u64, DiskWriteBytes)

#define ETWAS_LAYOUT_IMAGE_HEAD(V)                                                                 \
    V##_FIELD(ptr, ImageBase) V##_FIELD(ptr, ImageSize) V##_FIELD(pid, ProcessId)                  \
    V##_FIELD(x32, ImageChecksum) V##_FIELD(x32, TimeDateStamp)

#define ETWAS_LAYOUT_IMAGE_TAIL(V)                                                                 \
    V##_FIELD(ptr, DefaultBase) V##_FIELD(u32, Reserved1) V##_FIELD(u32, Reserved2)                \
    V##_FIELD(u32, Reserved3) V##_FIELD(u32, Reserved4) V##_STRING(wstr, FileName)

/* Load has the group of Process. */
#define ETWAS_LAYOUT_IMAGE(V)                                                                      \
    V##_LAYOUT(IMAGE, SYSTEM64, 0x14, 3, 3)                                                        \
    V##_TYPE(IMAGE_LOAD, 10, Load) V##_TYPE(IMAGE_UNLOAD, 2, Unload)                               \
    V##_TYPE(IMAGE_RUNDOWN_START, 3, DCStart) V##_TYPE(IMAGE_RUNDOWN_END, 4, DCEnd)                \
    ETWAS_LAYOUT_IMAGE_HEAD(V)                                                                     \
    V##_FIELD(u8, SignatureLevel) V##_FIELD(u8, SignatureType) V##_FIELD(u16, Reserved0)           \
    ETWAS_LAYOUT_IMAGE_TAIL(V)

/* The build of an image. The class has no group. */
#define ETWAS_LAYOUT_DEBUG_ID(V)                                                                   \
    V##_LAYOUT(DEBUG_ID, FULL_HEADER64, 0, 0, 2)                                                   \
    V##_TYPE(DEBUG_ID, 36, DbgID_RSDS)                                                             \
    V##_FIELD(ptr, ImageBase) V##_FIELD(pid, ProcessId) V##_FIELD(guid, GuidSig)                   \
    V##_FIELD(u32, Age) V##_STRING(utf8, PdbFileName)

/* ---- Thread ---------------------------------------------------------------------------------- */

#define ETWAS_LAYOUT_THREAD_HEAD(V)                                                                \
    V##_FIELD(pid, ProcessId) V##_FIELD(tid, TThreadId) V##_FIELD(ptr, StackBase)                  \
    V##_FIELD(ptr, StackLimit) V##_FIELD(ptr, UserStackBase) V##_FIELD(ptr, UserStackLimit)

#define ETWAS_LAYOUT_THREAD(V)                                                                     \
    V##_LAYOUT(THREAD, SYSTEM64, 0x05, 3, 3)                                                       \
    V##_TYPE(THREAD_START, 1, Start) V##_TYPE(THREAD_END, 2, End)                                  \
    V##_TYPE(THREAD_RUNDOWN_START, 3, DCStart) V##_TYPE(THREAD_RUNDOWN_END, 4, DCEnd)              \
    ETWAS_LAYOUT_THREAD_HEAD(V)                                                                    \
    V##_FIELD(ptr, Affinity) V##_FIELD(ptr, Win32StartAddr) V##_FIELD(ptr, TebBase)                \
    V##_FIELD(x32, SubProcessTag) V##_FIELD(u8, BasePriority) V##_FIELD(u8, PagePriority)          \
    V##_FIELD(u8, IoPriority) V##_FIELD(x8, ThreadFlags)

#define ETWAS_LAYOUT_CSWITCH_HEAD(V)                                                               \
    V##_FIELD(tid, NewThreadId) V##_FIELD(tid, OldThreadId) V##_FIELD(i8, NewThreadPriority)       \
    V##_FIELD(i8, OldThreadPriority)

#define ETWAS_LAYOUT_CSWITCH_REASON(V)                                                             \
    V##_FIELD(u8, PreviousCState) V##_FIELD(i8, SpareByte)                                         \
    V##_MAPPED(i8, WaitReason, OldThreadWaitReason)

#define ETWAS_LAYOUT_CSWITCH_STATE(V)                                                              \
    V##_MAPPED(i8, ThreadState, OldThreadState) V##_FIELD(i8, OldThreadWaitIdealProcessor)

#define ETWAS_LAYOUT_CSWITCH_TAIL(V) V##_FIELD(u32, NewThreadWaitTime) V##_FIELD(u32, Reserved)

#define ETWAS_LAYOUT_CSWITCH(V)                                                                    \
    V##_LAYOUT(CSWITCH, PERFINFO64, 0x05, 2, 2)                                                    \
    V##_TYPE(CSWITCH, 36, CSwitch)                                                                 \
    ETWAS_LAYOUT_CSWITCH_HEAD(V)                                                                   \
    ETWAS_LAYOUT_CSWITCH_REASON(V)                                                                 \
    V##_MAPPED(i8, WaitMode, OldThreadWaitMode)                                                    \
    ETWAS_LAYOUT_CSWITCH_STATE(V)                                                                  \
    ETWAS_LAYOUT_CSWITCH_TAIL(V)

#define ETWAS_LAYOUT_READY_THREAD(V)                                                               \
    V##_LAYOUT(READY_THREAD, SYSTEM64, 0x05, 2, 2)                                                 \
    V##_TYPE(READY_THREAD, 50, ReadyThread)                                                        \
    V##_FIELD(tid, TThreadId) V##_MAPPED(i8, AdjustReason, AdjustReason)                           \
    V##_FIELD(i8, AdjustIncrement) V##_MAPPED(x8, ReadyFlags, Flag) V##_FIELD(i8, Reserved)

/* ---- DiskIo and SplitIo ---------------------------------------------------------------------- */

#define ETWAS_LAYOUT_DISK_TRANSFER_2(V)                                                            \
    V##_FIELD(u32, DiskNumber) V##_FIELD(x32, IrpFlags) V##_FIELD(u32, TransferSize)               \
    V##_FIELD(u32, Reserved) V##_FIELD(i64, ByteOffset) V##_FIELD(ptr, FileObject)                 \
    V##_FIELD(ptr, Irp) V##_FIELD(u64, HighResResponseTime)

#define ETWAS_LAYOUT_DISK_TRANSFER(V)                                                              \
    V##_LAYOUT(DISK_TRANSFER, PERFINFO64, 0x01, 3, 3)                                              \
    V##_TYPE(DISK_READ, 10, Read) V##_TYPE(DISK_WRITE, 11, Write)                                  \
    ETWAS_LAYOUT_DISK_TRANSFER_2(V)                                                                \
    V##_FIELD(tid, IssuingThreadId)

#define ETWAS_LAYOUT_DISK_INIT(V)                                                                  \
    V##_LAYOUT(DISK_INIT, SYSTEM64, 0x01, 3, 3)                                                    \
    V##_TYPE(DISK_READ_INIT, 12, ReadInit) V##_TYPE(DISK_WRITE_INIT, 13, WriteInit)                \
    V##_TYPE(DISK_FLUSH_INIT, 15, FlushInit)                                                       \
    V##_FIELD(ptr, Irp) V##_FIELD(tid, IssuingThreadId)

#define ETWAS_LAYOUT_DISK_FLUSH(V)                                                                 \
    V##_LAYOUT(DISK_FLUSH, PERFINFO64, 0x01, 3, 3)                                                 \
    V##_TYPE(DISK_FLUSH, 14, FlushBuffers)                                                         \
    V##_FIELD(u32, DiskNumber) V##_FIELD(x32, IrpFlags) V##_FIELD(u64, HighResResponseTime)        \
    V##_FIELD(ptr, Irp) V##_FIELD(tid, IssuingThreadId)

#define ETWAS_LAYOUT_SPLIT_IO(V)                                                                   \
    V##_LAYOUT(SPLIT_IO, SYSTEM64, 0x1B, 0, 0)                                                     \
    V##_TYPE(SPLIT_IO, 32, VolMgr)                                                                 \
    V##_FIELD(ptr, ParentIrp) V##_FIELD(ptr, ChildIrp)

/* ---- FileIo ---------------------------------------------------------------------------------- */

/* A name that became known; one that existed at the session's start, or is known at its end. */
#define ETWAS_LAYOUT_FILE_NAME(V)                                                                  \
    V##_LAYOUT(FILE_NAME, PERFINFO64, 0x04, 0, 3)                                                  \
    V##_TYPE(FILE_NAME, 0, Name) V##_TYPE(FILE_NAME_RUNDOWN, 36, FileRundown)                      \
    V##_FIELD(ptr, FileObject) V##_STRING(wstr, FileName)

#define ETWAS_LAYOUT_FILE_MAP(V)                                                                   \
    V##_LAYOUT(FILE_MAP, SYSTEM64, 0x04, 2, 3)                                                     \
    V##_TYPE(FILE_MAP, 37, MapFile) V##_TYPE(FILE_UNMAP, 38, UnmapFile)                            \
    V##_TYPE(FILE_MAP_RUNDOWN_START, 39, MapFileDCStart)                                           \
    V##_TYPE(FILE_MAP_RUNDOWN_END, 40, MapFileDCEnd)                                               \
    V##_FIELD(ptr, ViewBase) V##_FIELD(ptr, FileKey) V##_FIELD(x64, MiscInfo)                      \
    V##_FIELD(ptr, ViewSize)

#define ETWAS_LAYOUT_FILE_CREATE(V)                                                                \
    V##_LAYOUT(FILE_CREATE, SYSTEM64, 0x04, 3, 3)                                                  \
    V##_TYPE(FILE_CREATE, 64, Create)                                                              \
    V##_FIELD(ptr, IrpPtr) V##_FIELD(ptr, FileObject) V##_FIELD(tid, TTID)                         \
    V##_FIELD(x32, CreateOptions) V##_FIELD(x32, FileAttributes) V##_FIELD(x32, ShareAccess)       \
    V##_STRING(wstr, OpenPath)

#define ETWAS_LAYOUT_FILE_SIMPLE(V)                                                                \
    V##_LAYOUT(FILE_SIMPLE, SYSTEM64, 0x04, 3, 3)                                                  \
    V##_TYPE(FILE_CLEANUP, 65, Cleanup) V##_TYPE(FILE_CLOSE, 66, Close)                            \
    V##_TYPE(FILE_FLUSH, 73, Flush)                                                                \
    V##_FIELD(ptr, IrpPtr) V##_FIELD(ptr, FileObject) V##_FIELD(ptr, FileKey) V##_FIELD(tid, TTID)

#define ETWAS_LAYOUT_FILE_TRANSFER_HEAD(V)                                                         \
    V##_FIELD(u64, Offset) V##_FIELD(ptr, IrpPtr) V##_FIELD(ptr, FileObject)                       \
    V##_FIELD(ptr, FileKey) V##_FIELD(tid, TTID) V##_FIELD(u32, IoSize) V##_FIELD(x32, IoFlags)

#define ETWAS_LAYOUT_FILE_TRANSFER(V)                                                              \
    V##_LAYOUT(FILE_TRANSFER, SYSTEM64, 0x04, 3, 3)                                                \
    V##_TYPE(FILE_READ, 67, Read) V##_TYPE(FILE_WRITE, 68, Write)                                  \
    ETWAS_LAYOUT_FILE_TRANSFER_HEAD(V)                                                             \
    V##_FIELD(x32, ExtraFlags)

#define ETWAS_LAYOUT_FILE_INFO_FIELDS(V)                                                           \
    V##_FIELD(ptr, IrpPtr) V##_FIELD(ptr, FileObject) V##_FIELD(ptr, FileKey)                      \
    V##_FIELD(ptr, ExtraInfo) V##_FIELD(tid, TTID) V##_FIELD(u32, InfoClass)

#define ETWAS_LAYOUT_FILE_INFO(V)                                                                  \
    V##_LAYOUT(FILE_INFO, SYSTEM64, 0x04, 3, 3)                                                    \
    V##_TYPE(FILE_SET_INFO, 69, SetInfo) V##_TYPE(FILE_DELETE, 70, Delete)                         \
    V##_TYPE(FILE_RENAME, 71, Rename) V##_TYPE(FILE_QUERY_INFO, 74, QueryInfo)                     \
    V##_TYPE(FILE_FS_CONTROL, 75, FSControl)                                                       \
    ETWAS_LAYOUT_FILE_INFO_FIELDS(V)

#define ETWAS_LAYOUT_FILE_PATH(V)                                                                  \
    V##_LAYOUT(FILE_PATH, SYSTEM64, 0x04, 3, 3)                                                    \
    V##_TYPE(FILE_DELETE_PATH, 79, DletePath) V##_TYPE(FILE_RENAME_PATH, 80, RenamePath)           \
    V##_TYPE(FILE_SET_LINK_PATH, 81, SetLinkPath)                                                  \
    ETWAS_LAYOUT_FILE_INFO_FIELDS(V)                                                               \
    V##_STRING(wstr, FileName)

#define ETWAS_LAYOUT_FILE_DIRECTORY(V)                                                             \
    V##_LAYOUT(FILE_DIRECTORY, SYSTEM64, 0x04, 3, 3)                                               \
    V##_TYPE(FILE_DIR_ENUM, 72, DirEnum)                                                           \
    V##_FIELD(ptr, IrpPtr) V##_FIELD(ptr, FileObject) V##_FIELD(ptr, FileKey) V##_FIELD(tid, TTID) \
    V##_FIELD(u32, Length) V##_FIELD(u32, InfoClass) V##_FIELD(u32, FileIndex)                     \
    V##_STRING(wstr, FileName)

#define ETWAS_LAYOUT_FILE_END(V)                                                                   \
    V##_LAYOUT(FILE_END, SYSTEM64, 0x04, 2, 3)                                                     \
    V##_TYPE(FILE_OPERATION_END, 76, OperationEnd)                                                 \
    V##_FIELD(ptr, IrpPtr) V##_FIELD(ptr, ExtraInfo) V##_FIELD(status, NtStatus)

/* ---- PageFault ------------------------------------------------------------------------------- */

#define ETWAS_LAYOUT_PAGE_FAULT(V)                                                                 \
    V##_LAYOUT(PAGE_FAULT, SYSTEM64, 0x02, 2, 2)                                                   \
    V##_TYPE(PAGE_FAULT_TRANSITION, 10, TransitionFault)                                           \
    V##_TYPE(PAGE_FAULT_DEMAND_ZERO, 11, DemandZeroFault)                                          \
    V##_TYPE(PAGE_FAULT_COPY_ON_WRITE, 12, CopyOnWrite)                                            \
    V##_TYPE(PAGE_FAULT_ACCESS_VIOLATION, 15, AccessViolation)                                     \
    V##_FIELD(ptr, VirtualAddress) V##_FIELD(ptr, ProgramCounter)

#define ETWAS_LAYOUT_HARD_FAULT(V)                                                                 \
    V##_LAYOUT(HARD_FAULT, SYSTEM64, 0x02, 2, 2)                                                   \
    V##_TYPE(HARD_FAULT, 32, HardFault)                                                            \
    V##_FIELD(time, InitialTime) V##_FIELD(x64, ReadOffset) V##_FIELD(ptr, VirtualAddress)         \
    V##_FIELD(ptr, FileObject) V##_FIELD(tid, TThreadId) V##_FIELD(u32, ByteCount)

#define ETWAS_LAYOUT_VIRTUAL_MEMORY(V)                                                             \
    V##_LAYOUT(VIRTUAL_MEMORY, SYSTEM64, 0x02, 2, 2)                                               \
    V##_TYPE(VIRTUAL_ALLOC, 98, VirtualAlloc) V##_TYPE(VIRTUAL_FREE, 99, VirtualFree)              \
    V##_FIELD(ptr, BaseAddress) V##_FIELD(size, RegionSize) V##_FIELD(pid, ProcessId)              \
    V##_MAPPED(x32, AllocationFlags, Flags)

/* ---- PerfInfo and StackWalk ------------------------------------------------------------------ */

#define ETWAS_LAYOUT_SAMPLE(V)                                                                     \
    V##_LAYOUT(SAMPLE, PERFINFO64, 0x0F, 2, 2)                                                     \
    V##_TYPE(SAMPLE_PROFILE, 46, SampleProfile)                                                    \
    V##_FIELD(ptr, InstructionPointer) V##_FIELD(tid, ThreadId) V##_FIELD(u16, Count)              \
    V##_MAPPED(x8, SampleFlags, Flags) V##_FIELD(u8, Rank)

#define ETWAS_LAYOUT_SYSTEM_CALL_ENTER(V)                                                          \
    V##_LAYOUT(SYSTEM_CALL_ENTER, SYSTEM64, 0x0F, 2, 2)                                            \
    V##_TYPE(SYSTEM_CALL_ENTER, 51, SysClEnter)                                                    \
    V##_MAPPED(ptr, SystemCall, SysCallAddress)

#define ETWAS_LAYOUT_SYSTEM_CALL_EXIT(V)                                                           \
    V##_LAYOUT(SYSTEM_CALL_EXIT, SYSTEM64, 0x0F, 2, 2)                                             \
    V##_TYPE(SYSTEM_CALL_EXIT, 52, SysClExit)                                                      \
    V##_FIELD(status, SysCallNtStatus)

#define ETWAS_LAYOUT_CALL(V) V##_FIELD(time, InitialTime) V##_FIELD(ptr, Routine)

#define ETWAS_LAYOUT_THREAD_DPC(V)                                                                 \
    V##_LAYOUT(THREAD_DPC, PERFINFO64, 0x0F, 2, 2)                                                 \
    V##_TYPE(THREAD_DPC, 66, ThreadDPC)                                                            \
    ETWAS_LAYOUT_CALL(V)

#define ETWAS_LAYOUT_TIMER_DPC(V)                                                                  \
    V##_LAYOUT(TIMER_DPC, PERFINFO64, 0x0F, 1, 2)                                                  \
    V##_TYPE(TIMER_DPC, 69, TimerDPC)                                                              \
    ETWAS_LAYOUT_CALL(V)

#define ETWAS_LAYOUT_DPC(V)                                                                        \
    V##_LAYOUT(DPC, PERFINFO64, 0x0F, 2, 2)                                                        \
    V##_TYPE(DPC, 68, DPC)                                                                         \
    V##_FIELD(time, InitialTime) V##_MAPPED(ptr, SoftInterrupt, Routine)

#define ETWAS_LAYOUT_ISR(V)                                                                        \
    V##_LAYOUT(ISR, PERFINFO64, 0x0F, 2, 2)                                                        \
    V##_TYPE(ISR, 67, ISR)                                                                         \
    ETWAS_LAYOUT_CALL(V)                                                                           \
    V##_FIELD(u8, ReturnValue) V##_FIELD(u16, Vector) V##_FIELD(u8, Reserved)

#define ETWAS_LAYOUT_INTERVAL_2(V)                                                                 \
    V##_MAPPED(u32, ProfileSource, Source) V##_FIELD(u32, NewInterval) V##_FIELD(u32, OldInterval)

#define ETWAS_LAYOUT_INTERVAL(V)                                                                   \
    V##_LAYOUT(INTERVAL, PERFINFO64, 0x0F, 3, 3)                                                   \
    V##_TYPE(INTERVAL_SET, 72, SetInterval) V##_TYPE(INTERVAL_AT_BEGIN, 73, CollectionStart)       \
    V##_TYPE(INTERVAL_AT_END, 74, CollectionEnd)                                                   \
    ETWAS_LAYOUT_INTERVAL_2(V)                                                                     \
    V##_STRING(wstr, SourceName)

#define ETWAS_LAYOUT_STACK(V)                                                                      \
    V##_LAYOUT(STACK, PERFINFO64, 0x18, 2, 2)                                                      \
    V##_TYPE(STACK, 32, Stack)                                                                     \
    V##_FIELD(time, EventTimeStamp) V##_FIELD(pid, StackProcess) V##_FIELD(tid, StackThread)       \
    V##_REST(ptr, Stack)

/* ---- TcpIp and UdpIp ------------------------------------------------------------------------- */

#define ETWAS_LAYOUT_ENDS_V4(V)                                                                    \
    V##_FIELD(pid, PID) V##_FIELD(u32, size) V##_FIELD(ipv4, daddr) V##_FIELD(ipv4, saddr)         \
    V##_FIELD(port, dport) V##_FIELD(port, sport)

#define ETWAS_LAYOUT_ENDS_V6(V)                                                                    \
    V##_FIELD(pid, PID) V##_FIELD(u32, size) V##_FIELD(ipv6, daddr) V##_FIELD(ipv6, saddr)         \
    V##_FIELD(port, dport) V##_FIELD(port, sport)

/* What follows the two endpoints: of Send, of Connect and Accept, and of all others. */
#define ETWAS_LAYOUT_CONNECTION(V) V##_FIELD(u32, seqnum) V##_FIELD(ptr, connid)

#define ETWAS_LAYOUT_CONNECTION_SEND(V)                                                            \
    V##_FIELD(u32, startime) V##_FIELD(u32, endtime)                                               \
    ETWAS_LAYOUT_CONNECTION(V)

#define ETWAS_LAYOUT_CONNECTION_BEGIN(V)                                                           \
    V##_FIELD(u16, mss) V##_FIELD(u16, sackopt) V##_FIELD(u16, tsopt) V##_FIELD(u16, wsopt)        \
    V##_FIELD(u32, rcvwin) V##_FIELD(i16, rcvwinscale) V##_FIELD(i16, sndwinscale)                 \
    ETWAS_LAYOUT_CONNECTION(V)

/* The types of IPv4 and of IPv6 have the same order. */
#define ETWAS_LAYOUT_TCP_SEND(V)                                                                   \
    V##_LAYOUT(TCP_SEND, PERFINFO64, 0x06, 2, 2)                                                   \
    V##_TYPE(TCP_SEND, 10, SendIPV4)                                                               \
    ETWAS_LAYOUT_ENDS_V4(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION_SEND(V)

#define ETWAS_LAYOUT_TCP_SEND_V6(V)                                                                \
    V##_LAYOUT(TCP_SEND_V6, PERFINFO64, 0x06, 2, 2)                                                \
    V##_TYPE(TCP_SEND_V6, 26, SendIPV6)                                                            \
    ETWAS_LAYOUT_ENDS_V6(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION_SEND(V)

#define ETWAS_LAYOUT_TCP_BEGIN(V)                                                                  \
    V##_LAYOUT(TCP_BEGIN, PERFINFO64, 0x06, 2, 2)                                                  \
    V##_TYPE(TCP_CONNECT, 12, ConnectIPV4) V##_TYPE(TCP_ACCEPT, 15, AcceptIPV4)                    \
    ETWAS_LAYOUT_ENDS_V4(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION_BEGIN(V)

#define ETWAS_LAYOUT_TCP_BEGIN_V6(V)                                                               \
    V##_LAYOUT(TCP_BEGIN_V6, PERFINFO64, 0x06, 2, 2)                                               \
    V##_TYPE(TCP_CONNECT_V6, 28, ConnectIPV6) V##_TYPE(TCP_ACCEPT_V6, 31, AcceptIPV6)              \
    ETWAS_LAYOUT_ENDS_V6(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION_BEGIN(V)

#define ETWAS_LAYOUT_TCP(V)                                                                        \
    V##_LAYOUT(TCP, PERFINFO64, 0x06, 2, 2)                                                        \
    V##_TYPE(TCP_RECEIVE, 11, RecvIPV4) V##_TYPE(TCP_DISCONNECT, 13, DisconnectIPV4)               \
    V##_TYPE(TCP_RETRANSMIT, 14, RetransmitIPV4)                                                   \
    ETWAS_LAYOUT_ENDS_V4(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION(V)

#define ETWAS_LAYOUT_TCP_V6(V)                                                                     \
    V##_LAYOUT(TCP_V6, PERFINFO64, 0x06, 2, 2)                                                     \
    V##_TYPE(TCP_RECEIVE_V6, 27, RecvIPV6) V##_TYPE(TCP_DISCONNECT_V6, 29, DisconnectIPV6)         \
    V##_TYPE(TCP_RETRANSMIT_V6, 30, RetransmitIPV6)                                                \
    ETWAS_LAYOUT_ENDS_V6(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION(V)

#define ETWAS_LAYOUT_UDP(V)                                                                        \
    V##_LAYOUT(UDP, PERFINFO64, 0x08, 2, 2)                                                        \
    V##_TYPE(UDP_SEND, 10, SendIPV4) V##_TYPE(UDP_RECEIVE, 11, RecvIPV4)                           \
    ETWAS_LAYOUT_ENDS_V4(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION(V)

#define ETWAS_LAYOUT_UDP_V6(V)                                                                     \
    V##_LAYOUT(UDP_V6, PERFINFO64, 0x08, 2, 2)                                                     \
    V##_TYPE(UDP_SEND_V6, 26, SendIPV6) V##_TYPE(UDP_RECEIVE_V6, 27, RecvIPV6)                     \
    ETWAS_LAYOUT_ENDS_V6(V)                                                                        \
    ETWAS_LAYOUT_CONNECTION(V)

/* ---- DbgPrint and Job ------------------------------------------------------------------------ */

#define ETWAS_LAYOUT_DEBUG_PRINT(V)                                                                \
    V##_LAYOUT(DEBUG_PRINT, SYSTEM64, 0x0A, 2, 2)                                                  \
    V##_TYPE(DEBUG_PRINT, 32, DbgPrint)                                                            \
    V##_FIELD(u32, Component) V##_FIELD(u32, Level) V##_STRING(str, Message)

#define ETWAS_LAYOUT_JOB_OF_WINDOWS(V)                                                             \
    V##_FIELD(guid, JobGuid) V##_FIELD(u32, JobId) V##_FIELD(x32, Flags) V##_FIELD(status, Status)

/* The types with a Path are etwas's own. */
#define ETWAS_LAYOUT_JOB(V)                                                                        \
    V##_LAYOUT(JOB, SYSTEM64, 0x07, 2, 2)                                                          \
    V##_TYPE(JOB_CREATE, 32, Create) V##_TYPE(JOB_TERMINATE, 33, Terminate)                        \
    ETWAS_LAYOUT_JOB_OF_WINDOWS(V)                                                                 \
    V##_STRING(wstr, Path)

#define ETWAS_LAYOUT_JOB_PROCESS_OF_WINDOWS(V)                                                     \
    V##_FIELD(guid, JobGuid) V##_FIELD(u32, JobId) V##_FIELD(pid, ProcessId)                       \
    V##_FIELD(status, Status)

#define ETWAS_LAYOUT_JOB_PROCESS(V)                                                                \
    V##_LAYOUT(JOB_PROCESS, SYSTEM64, 0x07, 2, 2)                                                  \
    V##_TYPE(JOB_ASSIGN_PROCESS, 35, AssignProcess)                                                \
    ETWAS_LAYOUT_JOB_PROCESS_OF_WINDOWS(V)                                                         \
    V##_STRING(wstr, Path)

/* ---- SystemConfig ---------------------------------------------------------------------------- */

/* Consumers read 134 characters of DomainName; ETW's documentation says 132. */
#define ETWAS_LAYOUT_CPU(V)                                                                        \
    V##_LAYOUT(CPU, SYSTEM64, 0x0B, 0, 2)                                                          \
    V##_TYPE(INVENTORY_CPU, 10, CPU)                                                               \
    V##_FIELD(u32, MHz) V##_FIELD(u32, NumberOfProcessors) V##_FIELD(u32, MemSize)                 \
    V##_FIELD(u32, PageSize) V##_FIELD(u32, AllocationGranularity) V##_WIDE(256, ComputerName)     \
    V##_WIDE(134, DomainName) V##_FIELD(ptr, HyperThreadingFlag)

#define ETWAS_LAYOUT_PHYSICAL_DISK(V)                                                              \
    V##_LAYOUT(PHYSICAL_DISK, SYSTEM64, 0x0B, 0, 2)                                                \
    V##_TYPE(INVENTORY_PHYSICAL_DISK, 11, PhyDisk)                                                 \
    V##_FIELD(u32, DiskNumber) V##_FIELD(u32, BytesPerSector) V##_FIELD(u32, SectorsPerTrack)      \
    V##_FIELD(u32, TracksPerCylinder) V##_FIELD(u64, Cylinders) V##_FIELD(u32, SCSIPort)           \
    V##_FIELD(u32, SCSIPath) V##_FIELD(u32, SCSITarget) V##_FIELD(u32, SCSILun)                    \
    V##_WIDE(256, Manufacturer) V##_FIELD(u32, PartitionCount) V##_FIELD(bool8, WriteCacheEnabled) \
    V##_FIELD(u8, Pad) V##_WIDE(3, BootDriveLetter) V##_WIDE(2, Spare)

#define ETWAS_LAYOUT_LOGICAL_DISK_1(V)                                                             \
    V##_FIELD(u64, StartOffset) V##_FIELD(u64, PartitionSize) V##_FIELD(u32, DiskNumber)           \
    V##_FIELD(u32, Size) V##_MAPPED(u32, DriveType, DriveType) V##_WIDE(4, DriveLetterString)      \
    V##_FIELD(u32, Pad1) V##_FIELD(u32, PartitionNumber) V##_FIELD(u32, SectorsPerCluster)         \
    V##_FIELD(u32, BytesPerSector) V##_FIELD(u32, Pad2) V##_FIELD(i64, NumberOfFreeClusters)       \
    V##_FIELD(i64, TotalNumberOfClusters) V##_WIDE(16, FileSystem) V##_FIELD(u32, VolumeExt)

#define ETWAS_LAYOUT_LOGICAL_DISK(V)                                                               \
    V##_LAYOUT(LOGICAL_DISK, SYSTEM64, 0x0B, 2, 2)                                                 \
    V##_TYPE(INVENTORY_LOGICAL_DISK, 12, LogDisk)                                                  \
    ETWAS_LAYOUT_LOGICAL_DISK_1(V)                                                                 \
    V##_FIELD(u32, Pad3)

#define ETWAS_LAYOUT_NIC(V)                                                                        \
    V##_LAYOUT(NIC, SYSTEM64, 0x0B, 2, 2)                                                          \
    V##_TYPE(INVENTORY_NIC, 13, NIC)                                                               \
    V##_FIELD(x64, PhysicalAddr) V##_FIELD(u32, PhysicalAddrLen) V##_FIELD(u32, Ipv4Index)         \
    V##_FIELD(u32, Ipv6Index) V##_STRING(wstr, NICDescription) V##_STRING(wstr, IpAddresses)       \
    V##_STRING(wstr, DnsServerAddresses)

#define ETWAS_LAYOUT_VIDEO(V)                                                                      \
    V##_LAYOUT(VIDEO, SYSTEM64, 0x0B, 0, 2)                                                        \
    V##_TYPE(INVENTORY_VIDEO, 14, Video)                                                           \
    V##_FIELD(u32, MemorySize) V##_FIELD(u32, XResolution) V##_FIELD(u32, YResolution)             \
    V##_FIELD(u32, BitsPerPixel) V##_FIELD(u32, VRefresh) V##_WIDE(256, ChipType)                  \
    V##_WIDE(256, DACType) V##_WIDE(256, AdapterString) V##_WIDE(256, BiosString)                  \
    V##_WIDE(256, DeviceId) V##_FIELD(x32, StateFlags)

#define ETWAS_LAYOUT_SERVICE(V)                                                                    \
    V##_LAYOUT(SERVICE, SYSTEM64, 0x0B, 2, 2)                                                      \
    V##_TYPE(INVENTORY_SERVICE, 15, Services)                                                      \
    V##_FIELD(pid, ProcessId) V##_FIELD(x32, ServiceState) V##_FIELD(x32, SubProcessTag)           \
    V##_STRING(wstr, ServiceName) V##_STRING(wstr, DisplayName) V##_STRING(wstr, ProcessName)

#define ETWAS_LAYOUT_POWER(V)                                                                      \
    V##_LAYOUT(POWER, SYSTEM64, 0x0B, 0, 2)                                                        \
    V##_TYPE(INVENTORY_POWER, 16, Power)                                                           \
    V##_FIELD(bool8, s1) V##_FIELD(bool8, s2) V##_FIELD(bool8, s3) V##_FIELD(bool8, s4)            \
    V##_FIELD(bool8, s5) V##_FIELD(u8, Pad1) V##_FIELD(u8, Pad2) V##_FIELD(u8, Pad3)

#define ETWAS_LAYOUT_NETWORK(V)                                                                    \
    V##_LAYOUT(NETWORK, SYSTEM64, 0x0B, 2, 2)                                                      \
    V##_TYPE(INVENTORY_NETWORK, 17, Network)                                                       \
    V##_FIELD(u32, TcbTablePartitions) V##_FIELD(u32, MaxHashTableSize)                            \
    V##_FIELD(u32, MaxUserPort) V##_FIELD(u32, TcpTimedWaitDelay)

#define ETWAS_LAYOUT_OPTICAL(V)                                                                    \
    V##_LAYOUT(OPTICAL, SYSTEM64, 0x0B, 2, 2)                                                      \
    V##_TYPE(INVENTORY_OPTICAL, 18, Optical)                                                       \
    V##_FIELD(u16, DiskNumber) V##_FIELD(u16, BusType) V##_FIELD(u16, DeviceType)                  \
    V##_FIELD(u16, MediaType) V##_FIELD(u64, StartingOffset) V##_FIELD(u64, Size)                  \
    V##_FIELD(u64, NumberOfFreeBlocks) V##_FIELD(u64, TotalNumberOfBlocks)                         \
    V##_FIELD(u64, NextWritableAddress) V##_FIELD(u32, NumberOfSessions)                           \
    V##_FIELD(u32, NumberOfTracks) V##_FIELD(u32, BytesPerSector) V##_FIELD(u16, DiscStatus)       \
    V##_FIELD(u16, LastSessionStatus) V##_STRING(wstr, DriveLetter)                                \
    V##_STRING(wstr, FileSystemName) V##_STRING(str, DeviceName) V##_STRING(str, ManufacturerName)

#define ETWAS_LAYOUT_IRQ(V)                                                                        \
    V##_LAYOUT(IRQ, SYSTEM64, 0x0B, 0, 2)                                                          \
    V##_TYPE(INVENTORY_IRQ, 21, IRQ)                                                               \
    V##_FIELD(x64, IRQAffinity) V##_FIELD(u32, IRQNum) V##_FIELD(u32, DeviceDescriptionLen)        \
    V##_STRING(wstr, DeviceDescription)

#define ETWAS_LAYOUT_PNP(V)                                                                        \
    V##_LAYOUT(PNP, SYSTEM64, 0x0B, 0, 2)                                                          \
    V##_TYPE(INVENTORY_PNP, 22, PnP)                                                               \
    V##_FIELD(u32, IDLength) V##_FIELD(u32, DescriptionLength) V##_FIELD(u32, FriendlyNameLength)  \
    V##_STRING(wstr, DeviceID) V##_STRING(wstr, DeviceDescription) V##_STRING(wstr, FriendlyName)

#define ETWAS_LAYOUT_IDE_CHANNEL(V)                                                                \
    V##_LAYOUT(IDE_CHANNEL, SYSTEM64, 0x0B, 2, 2)                                                  \
    V##_TYPE(INVENTORY_IDE_CHANNEL, 23, IDEChannel)                                                \
    V##_FIELD(u32, TargetId) V##_FIELD(u32, DeviceType) V##_FIELD(u32, DeviceTimingMode)           \
    V##_FIELD(u32, LocationInformationLen) V##_STRING(wstr, LocationInformation)

#define ETWAS_LAYOUT_PLATFORM(V)                                                                   \
    V##_LAYOUT(PLATFORM, SYSTEM64, 0x0B, 2, 2)                                                     \
    V##_TYPE(INVENTORY_PLATFORM, 25, Platform)                                                     \
    V##_STRING(wstr, SystemManufacturer) V##_STRING(wstr, SystemProductName)                       \
    V##_STRING(wstr, BiosDate) V##_STRING(wstr, BiosVersion)

/* ---- constants ------------------------------------------------------------------------------- */

#define ETWAS_EVERY_LAYOUT(V)                                                                      \
    ETWAS_LAYOUT_PROCESS(V) ETWAS_LAYOUT_COUNTERS(V) ETWAS_LAYOUT_IMAGE(V)                         \
    ETWAS_LAYOUT_DEBUG_ID(V) ETWAS_LAYOUT_THREAD(V) ETWAS_LAYOUT_CSWITCH(V)                        \
    ETWAS_LAYOUT_READY_THREAD(V) ETWAS_LAYOUT_DISK_TRANSFER(V) ETWAS_LAYOUT_DISK_INIT(V)           \
    ETWAS_LAYOUT_DISK_FLUSH(V) ETWAS_LAYOUT_SPLIT_IO(V) ETWAS_LAYOUT_FILE_NAME(V)                  \
    ETWAS_LAYOUT_FILE_MAP(V) ETWAS_LAYOUT_FILE_CREATE(V) ETWAS_LAYOUT_FILE_SIMPLE(V)               \
    ETWAS_LAYOUT_FILE_TRANSFER(V) ETWAS_LAYOUT_FILE_INFO(V) ETWAS_LAYOUT_FILE_PATH(V)              \
    ETWAS_LAYOUT_FILE_DIRECTORY(V) ETWAS_LAYOUT_FILE_END(V) ETWAS_LAYOUT_PAGE_FAULT(V)             \
    ETWAS_LAYOUT_HARD_FAULT(V) ETWAS_LAYOUT_VIRTUAL_MEMORY(V) ETWAS_LAYOUT_SAMPLE(V)               \
    ETWAS_LAYOUT_SYSTEM_CALL_ENTER(V) ETWAS_LAYOUT_SYSTEM_CALL_EXIT(V) ETWAS_LAYOUT_THREAD_DPC(V)  \
    ETWAS_LAYOUT_TIMER_DPC(V) ETWAS_LAYOUT_DPC(V) ETWAS_LAYOUT_ISR(V) ETWAS_LAYOUT_INTERVAL(V)     \
    ETWAS_LAYOUT_STACK(V) ETWAS_LAYOUT_TCP_SEND(V) ETWAS_LAYOUT_TCP_SEND_V6(V)                     \
    ETWAS_LAYOUT_TCP_BEGIN(V) ETWAS_LAYOUT_TCP_BEGIN_V6(V) ETWAS_LAYOUT_TCP(V)                     \
    ETWAS_LAYOUT_TCP_V6(V) ETWAS_LAYOUT_UDP(V) ETWAS_LAYOUT_UDP_V6(V) ETWAS_LAYOUT_DEBUG_PRINT(V)  \
    ETWAS_LAYOUT_JOB(V) ETWAS_LAYOUT_JOB_PROCESS(V) ETWAS_LAYOUT_CPU(V)                            \
    ETWAS_LAYOUT_PHYSICAL_DISK(V) ETWAS_LAYOUT_LOGICAL_DISK(V) ETWAS_LAYOUT_NIC(V)                 \
    ETWAS_LAYOUT_VIDEO(V) ETWAS_LAYOUT_SERVICE(V) ETWAS_LAYOUT_POWER(V) ETWAS_LAYOUT_NETWORK(V)    \
    ETWAS_LAYOUT_OPTICAL(V) ETWAS_LAYOUT_IRQ(V) ETWAS_LAYOUT_PNP(V) ETWAS_LAYOUT_IDE_CHANNEL(V)    \
    ETWAS_LAYOUT_PLATFORM(V)

/* clang-format on */

#define ETWAS_CONSTANT_LAYOUT(NAME, header, group, since, version)                                 \
    ETWAS_##NAME##_HEADER = ETWAS_ETL_##header, ETWAS_##NAME##_GROUP = (group),                    \
    ETWAS_##NAME##_SINCE = (since), ETWAS_##NAME##_VERSION = (version),
#define ETWAS_CONSTANT_TYPE(NAME, number, name) ETWAS_##NAME = (number),
#define ETWAS_CONSTANT_FIELD(type, name)
#define ETWAS_CONSTANT_MAPPED(type, map, name)
#define ETWAS_CONSTANT_WIDE(count, name)
#define ETWAS_CONSTANT_STRING(type, name)
#define ETWAS_CONSTANT_REST(type, name)

/* A layout defines ETWAS_NAME_HEADER, _GROUP, _SINCE and _VERSION; a type defines ETWAS_NAME. */
enum {
    ETWAS_EVERY_LAYOUT(ETWAS_CONSTANT)
};

/* A group and a type, as one number. */
#define ETWAS_KERNEL_HOOK(LAYOUT, type) (ETWAS_##LAYOUT##_GROUP << 8 | (type))

#endif
