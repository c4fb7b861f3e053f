/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's classes. ETW's pages do not document all layouts, such as versions from 4 on, and 3
 * of FileIo and DiskIo. Such layouts follow what consumers read and what files of these systems
 * contain.
 */
#include "decode/builtin.h"

#define TYPES(LAYOUT) ETWAS_BUILTIN_TYPES(LAYOUT)
#define FIELDS(LAYOUT) ETWAS_BUILTIN_FIELDS(LAYOUT)
#define LAYOUT(LAYOUT, other_types) ETWAS_BUILTIN_LAYOUT(LAYOUT, other_types)

#define PROCESS_TYPES TYPES(PROCESS)
#define PROCESS_HEAD FIELDS(PROCESS_HEAD)

static const struct etwas_builtin_layout process[] = {
    {"39 Defunct", 5, 5, FIELDS(PROCESS) "filetime ExitTime"},
    LAYOUT(PROCESS, "39 Defunct"),
    {PROCESS_TYPES "39 Defunct", 3, 3,
     PROCESS_HEAD "ptr DirectoryTableBase; sid UserSID; str ImageFileName; wstr CommandLine"},
    {PROCESS_TYPES "39 Defunct", 2, 2,
     PROCESS_HEAD "sid UserSID; str ImageFileName; wstr CommandLine"},
    {PROCESS_TYPES, 1, 1,
     "ptr PageDirectoryBase; pid ProcessId; pid ParentId; u32 SessionId; i32 ExitStatus; "
     "sid UserSID; str ImageFileName"},
    {PROCESS_TYPES, 0, 0, "ptr ProcessId; ptr ParentId; sid UserSID; str ImageFileName"},
    LAYOUT(COUNTERS, ""),
    {TYPES(COUNTERS), 2, 2, FIELDS(COUNTERS_OF_WINDOWS)},
    {"11 Terminate", 2, 2, "pid ProcessId"},
    {"35 InSwap", 2, 2, "ptr DirectoryTableBase; pid ProcessId"},
    {"48 WakeChargeUser, 49 WakeChargeExecution, 50 WakeChargeKernel, "
     "51 WakeChargeInstrumentation, 52 WakeChargePreserveProcess, 64 WakeReleaseUser, "
     "65 WakeReleaseExecution, 66 WakeReleaseKernel, 67 WakeReleaseInstrumentation, "
     "68 WakeReleasePreserveProcess, 80 WakeDropUser, 81 WakeDropExecution, 82 WakeDropKernel, "
     "83 WakeDropInstrumentation, 84 WakeDropPreserveProcess",
     2, 2, "ptr Object; ptr Tag; pid ProcessId; u32 Count"},
    {"96 WakeEventUser, 97 WakeEventExecution, 98 WakeEventKernel, 99 WakeEventInstrumentation", 2,
     2, "ptr Object"},
};

#define THREAD_TYPES TYPES(THREAD)
#define THREAD_HEAD FIELDS(THREAD_HEAD)
#define THREAD_1 THREAD_HEAD "ptr StartAddr; ptr Win32StartAddr; i8 WaitMode"

static const struct etwas_builtin_layout thread[] = {
    {THREAD_TYPES, 3, 4, FIELDS(THREAD) "wstr ThreadName"},
    LAYOUT(THREAD, ""),
    {THREAD_TYPES, 2, 2,
     THREAD_HEAD "ptr StartAddr; ptr Win32StartAddr; ptr TebBase; x32 SubProcessTag"},
    {"1 Start, 3 DCStart, 4 DCEnd", 1, 1, THREAD_1},
    {"2 End, 4 DCEnd", 1, 1, "pid ProcessId; tid TThreadId"},
    {THREAD_TYPES, 0, 0, "tid TThreadId; pid ProcessId"},
    {TYPES(CSWITCH), 3, 4,
     FIELDS(CSWITCH_HEAD) FIELDS(CSWITCH_REASON) "x8 ThreadFlags; " FIELDS(CSWITCH_STATE)
         FIELDS(CSWITCH_TAIL)},
    LAYOUT(CSWITCH, ""),
    {TYPES(CSWITCH), 1, 1,
     FIELDS(
         CSWITCH_HEAD) "i8 NewThreadQuantum; i8 OldThreadQuantum; "
                       "i8=WaitReason OldThreadWaitReason; i8=WaitMode OldThreadWaitMode; " FIELDS(
                           CSWITCH_STATE)},
    LAYOUT(READY_THREAD, ""),
    {"37 CompactCSwitch", 2, 2, ""},
    {"41 SpinLock", 2, 2,
     "ptr SpinLockAddress; ptr CallerAddress; u64 AcquireTime; u64 ReleaseTime; "
     "u32 WaitTimeInCycles; u32 SpinCount; tid ThreadId; u32 InterruptCount; u8 Irql; "
     "u8 AcquireDepth; x8 Flag; u8 Reserved"},
    {"48 SetPriority, 49 SetBasePriority, 51 SetPagePriority, 52 SetIoPriority", 3, 3,
     "tid ThreadId; u8 OldPriority; u8 NewPriority; u16 Reserved"},
    {"53 Affinity", 2, 2, "ptr Affinity; tid ThreadId; u16 Group; u16 Reserved"},
    {"57 WorkerThread", 1, 2, "tid TThreadId; u64 StartTime; ptr ThreadRoutine"},
    {"60 AntiStarvationBoost", 2, 2, "tid ThreadId; u16 ProcessorIndex; u8 Priority; u8 Reserved"},
    {"61 ThreadMigration", 2, 2,
     "tid ThreadId; u16 SourceProcessorIndex; u16 TargetProcessorIndex; u8 Priority; "
     "bool8 IdealProcessorAdjust; u16 OldIdealProcessorIndex"},
    {"62 KernelQueueEnqueue", 2, 2, "ptr Entry; tid ThreadId"},
    {"63 KernelQueueDequeue", 2, 2, "tid ThreadId; u32 EntryCount; ptr[EntryCount] Entries"},
    {"64 CallbackStart, 65 CallbackEnd", 2, 2, "ptr CallbackRoutine"},
    {"66 AutoBoostSetFloor", 2, 2,
     "ptr Lock; tid ThreadId; u8 NewCpuPriorityFloor; u8 OldCpuPriority; u8 IoPriorities; "
     "x8 BoostFlags"},
    {"67 AutoBoostClearFloor", 2, 2, "ptr LockAddress; tid ThreadId; x32 BoostBitmap"},
    {"68 AutoBoostEntryExhaustion", 2, 2, "ptr LockAddress; tid ThreadId"},
    {"69 SubProcessTagChanged", 2, 2, "x32 OldTag; x32 NewTag"},
    {"72 SetName", 2, 2, "pid ProcessId; tid ThreadId; wstr ThreadName"},
};

#define LOADER_HEAD "x64 BaseAddress; u8 ErrorOpcode; i8 Code; "

static const struct etwas_builtin_layout image[] = {
    LAYOUT(IMAGE, ""),
    {TYPES(IMAGE), 2, 2, FIELDS(IMAGE_HEAD) "u32 Reserved0; " FIELDS(IMAGE_TAIL)},
    {"10 Load", 1, 1, "ptr ImageBase; ptr ImageSize; pid ProcessId; wstr FileName"},
    {"10 Load", 0, 0, "ptr BaseAddress; u32 ModuleSize; wstr ImageFileName"},
    {"33 KernelBase", 2, 2, "ptr ImageBase"},
    {"34 HypercallPage", 2, 2, "ptr HypercallPageVa"},
    {"128 LoaderLockAttempt, 129 LoaderLockAcquire, 130 LoaderLockTriedAndFailed, "
     "131 LoaderLockWait, 132 ProcessInitDone, 133 CreateSectionBegin, 134 CreateSectionEnd, "
     "135 MapViewBegin",
     2, 2, ""},
    {"144 RelocateImageBegin, 145 RelocateImageEnd, 146 HandleOldDescsBegin, "
     "147 HandleOldDescsEnd, 148 HandleNewDescsBegin, 149 HandleNewDescsEnd, 150 DllMainExit",
     2, 2, "x64 BaseAddress"},
    {"160 FindDllByName, 161 MapViewEnd, 162 LoaderLockRelease, 163 DllMainEnter, "
     "164 LoaderError",
     2, 2, LOADER_HEAD "wstr String"},
    {"165 MapViewStart, 166 SnappingStart, 167 SnappingEnd, 168 LoadingStart, 169 LoadingEnd, "
     "170 FoundKnownDll, 171 AbnormalTermination, 172 ModulePlaceHolder, 173 ReadyToInit, "
     "174 ReadyToRun, 208 ApiSetResolving, 209 ApiSetHosted, 210 ApiSetUnhosted, "
     "211 ApiSetUnresolved",
     3, 3, LOADER_HEAD "wstr String"},
    {"176 NewDllLoad, 177 NewDllLoadAsData", 3, 3,
     "ptr NewDllBaseAddress; ptr ParentDllBaseAddress; u32 LoadReason; wstr FilePath"},
    {"192 DllSearchPathExternal, 193 DllSearchPathInternal", 3, 3,
     LOADER_HEAD "wstr String1; wstr String2"},
    {"212 DllSearchResults", 3, 3,
     "x32 LdrLoadFlags; x32 LdrSearchFlags; x32 SearchInfo; u32 LoadReason; wstr FullDllName"},
    {"213 DllPathSearchResults", 3, 3,
     "x32 SearchInfo; wstr Cwd; wstr AppDir; wstr DllDir; wstr DllLoadDir"},
};

static const struct etwas_builtin_layout disk_io[] = {
    LAYOUT(DISK_TRANSFER, "55 OpticalRead, 56 OpticalWrite"),
    {TYPES(DISK_TRANSFER), 2, 2, FIELDS(DISK_TRANSFER_2)},
    {TYPES(DISK_TRANSFER), 1, 1,
     "u32 DiskNumber; x32 IrpFlags; u32 TransferSize; u32 ResponseTime; i64 ByteOffset; "
     "ptr FileObject; u64 HighResResponseTime"},
    {TYPES(DISK_TRANSFER), 0, 0,
     "u32 DiskNumber; x32 IrpFlags; u32 TransferSize; u32 Reserved; i64 ByteOffset; "
     "ptr FileObject"},
    LAYOUT(DISK_INIT, "58 OpticalReadInit, 59 OpticalWriteInit, 60 OpticalFlushInit"),
    {TYPES(DISK_INIT), 2, 2, "ptr Irp"},
    LAYOUT(DISK_FLUSH, "57 OpticalFlushBuffers"),
    {TYPES(DISK_FLUSH), 2, 2, "u32 DiskNumber; x32 IrpFlags; u64 HighResResponseTime; ptr Irp"},
    {"34 DrvMjFnCall", 2, 2,
     "u32 MajorFunction; u32 MinorFunction; ptr RoutineAddr; ptr FileObject; ptr Irp; "
     "u32 UniqMatchId"},
    {"34 DrvMjFnCall", 1, 1,
     "u32 UniqMatchId; ptr RoutineAddr; ptr Irp; u32 MajorFunction; u32 MinorFunction; "
     "ptr FileObject"},
    {"35 DrvMjFnRet", 2, 2, "ptr Irp; u32 UniqMatchId"},
    {"35 DrvMjFnRet", 1, 1, "u32 UniqMatchId; ptr Irp"},
    {"37 DrvComplRout", 2, 2, "ptr Routine; ptr Irp; u32 UniqMatchId"},
    {"52 DrvComplReq", 1, 2, "ptr RoutineAddr; ptr Irp; u32 UniqMatchId"},
    {"53 DrvComplReqRet", 1, 2, "ptr Irp; u32 UniqMatchId"},
};

#define FILTER                                                                                     \
    "ptr RoutineAddr; ptr FileObject; ptr FileContext; ptr IrpPtr; ptr CallbackDataPtr; "          \
    "u32 MajorFunction"

static const struct etwas_builtin_layout file_io[] = {
    LAYOUT(FILE_NAME, "32 FileCreate, 35 FileDelete"),
    {TYPES(FILE_MAP), 2, 3, FIELDS(FILE_MAP) "pid ProcessId"},
    LAYOUT(FILE_MAP, ""),
    LAYOUT(FILE_CREATE, ""),
    {TYPES(FILE_CREATE), 2, 2,
     "ptr IrpPtr; ptr TTID; ptr FileObject; x32 CreateOptions; x32 FileAttributes; "
     "x32 ShareAccess; wstr OpenPath"},
    LAYOUT(FILE_SIMPLE, ""),
    {TYPES(FILE_SIMPLE), 2, 2, "ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey"},
    LAYOUT(FILE_TRANSFER, ""),
    {TYPES(FILE_TRANSFER), 3, 3, FIELDS(FILE_TRANSFER_HEAD)},
    {TYPES(FILE_TRANSFER), 2, 2,
     "u64 Offset; ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey; u32 IoSize; x32 IoFlags"},
    LAYOUT(FILE_INFO, ""),
    {TYPES(FILE_INFO), 2, 2,
     "ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey; ptr ExtraInfo; u32 InfoClass"},
    LAYOUT(FILE_DIRECTORY, "77 DirNotify"),
    {TYPES(FILE_DIRECTORY) "77 DirNotify", 2, 2,
     "ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey; u32 Length; u32 InfoClass; "
     "u32 FileIndex; wstr FileName"},
    LAYOUT(FILE_PATH, ""),
    LAYOUT(FILE_END, ""),
    {"96 PreOpInit, 97 PostOpInit", 3, 3, FILTER},
    {"98 PreOpCompletion, 99 PostOpCompletion", 3, 3, "time InitialTime; " FILTER},
    {"100 PreOpFailure, 101 PostOpFailure", 3, 3, FILTER "; status Status"},
};

static const struct etwas_builtin_layout page_fault[] = {
    LAYOUT(PAGE_FAULT, "13 GuardPageFault, 14 HardPageFault"),
    LAYOUT(HARD_FAULT, ""),
    LAYOUT(VIRTUAL_MEMORY, ""),
    {"100 HRRundown", 3, 3,
     "ptr HeapHandle; x32 HRFlags; pid HRPid; u32 HRRangeCount; u32 Reserved"},
    {"100 HRRundown", 2, 2, "ptr HeapHandle; x32 HRFlags; pid HRPid; u32 HRRangeCount"},
    {"101 HRCreate", 2, 2, "ptr HeapHandle; size FirstRangeSize; x32 HRCreateFlags"},
    {"102 HRReserve, 103 HRRelease", 2, 2, "ptr HeapHandle; ptr HRAddress; size HRSize"},
    {"104 HRDestroy", 2, 2, "ptr HeapHandle"},
    {"105 ImageLoadBacked", 2, 2, "ptr FileObject; x32 DeviceChar; x16 FileChar; x16 LoadFlags"},
    {"127 VirtualRotate, 134 MemResetInfo", 2, 2, "ptr BaseAddress; size SizeInBytes; x32 Flags"},
    {"128 VirtualAllocDCStart, 129 VirtualAllocDCEnd", 2, 2,
     FIELDS(VIRTUAL_MEMORY) "size CommitSizeInBytes"},
};

#define SPIN_LOCKS                                                                                 \
    "u32 SpinLockSpinThreshold; u32 SpinLockContentionSampleRate; u32 SpinLockAcquireSampleRate"

static const struct etwas_builtin_layout perf_info[] = {
    LAYOUT(SAMPLE, ""),
    {TYPES(SAMPLE), 1, 1, "ptr InstructionPointer; tid ThreadId; u16 Count"},
    {"34 Mark", 0, 0, "str Message"},
    {"47 PmcInterrupt", 2, 2,
     "ptr InstructionPointer; tid ThreadId; u16 ProfileSource; u16 Reserved"},
    {"48 PmcCounterConfig", 2, 2, "u32 CounterCount; wstr[CounterCount] CounterName"},
    {"50 MsiISR", 2, 2, FIELDS(ISR) "u32 MessageNumber"},
    LAYOUT(SYSTEM_CALL_ENTER, ""),
    LAYOUT(SYSTEM_CALL_EXIT, ""),
    {"58 DebuggerEnabled", 2, 2, ""},
    LAYOUT(THREAD_DPC, "70 IOTimer"),
    LAYOUT(TIMER_DPC, ""),
    LAYOUT(DPC, ""),
    {TYPES(DPC), 1, 1, FIELDS(CALL)},
    LAYOUT(ISR, "95 PassiveISR"),
    {TYPES(ISR) "95 PassiveISR", 1, 1, FIELDS(CALL) "u32 ReturnValue"},
    LAYOUT(INTERVAL, ""),
    {TYPES(INTERVAL), 2, 2, FIELDS(INTERVAL_2)},
    {"75 SpinLockStart, 76 SpinLockEnd", 3, 3, SPIN_LOCKS "; u32 SpinLockHoldThreshold"},
    {"75 SpinLockStart, 76 SpinLockEnd", 2, 2, SPIN_LOCKS},
    {"92 UnexpectedISR", 2, 2, "u16 Vector"},
    {"93 IoStartTimer, 94 IoStopTimer", 2, 2, "ptr DeviceObject; ptr TimerRoutine"},
    {"96 WdfISR, 97 WdfPassiveISR, 98 WdfDPC, 103 WdfWorkItem", 2, 2, "ptr Routine"},
    {"104 SetKTimer2, 105 ExpireKTimer2", 2, 2,
     "u64 DueTime; u64 MaximumDueTime; u64 Period; ptr Timer; ptr Callback; ptr CallbackContext; "
     "x8 TimerFlags"},
    {"106 CancelKTimer2", 2, 2, "ptr Timer"},
    {"107 DisableKTimer2", 2, 2,
     "ptr Timer; ptr DisableCallback; ptr DisableContext; x8 TimerFlags"},
    {"108 FinalizeKTimer2", 2, 2, "ptr Timer; ptr DisableCallback; ptr DisableContext"},
};

#define REGISTRY_TYPES                                                                             \
    "10 Create, 11 Open, 12 Delete, 13 Query, 14 SetValue, 15 DeleteValue, 16 QueryValue, "        \
    "17 EnumerateKey, 18 EnumerateValueKey, 19 QueryMultipleValue, 20 SetInformation, 21 Flush"

static const struct etwas_builtin_layout registry[] = {
    {REGISTRY_TYPES ", 22 KCBCreate, 23 KCBDelete, 24 KCBRundownBegin, 25 KCBRundownEnd, "
                    "26 Virtualize, 27 Close, 28 SetSecurity, 29 QuerySecurity",
     2, 2, "time InitialTime; status Status; u32 Index; ptr KeyHandle; wstr KeyName"},
    {REGISTRY_TYPES ", 22 RunDown", 1, 1,
     "ptr Status; ptr KeyHandle; i64 ElapsedTime; u32 Index; wstr KeyName"},
    {REGISTRY_TYPES, 0, 0, "ptr Status; ptr KeyHandle; i64 ElapsedTime; wstr KeyName"},
    {"30 TxRCommit, 31 TxRPrepare, 32 TxRRollback", 2, 2,
     "guid TxrGUID; status Status; u32 UowCount; u64 OperationTime; wstr Hive"},
    {"34 Counters", 2, 2,
     "u64 Counter1; u64 Counter2; u64 Counter3; u64 Counter4; u64 Counter5; u64 Counter6; "
     "u64 Counter7; u64 Counter8; u64 Counter9; u64 Counter10; u64 Counter11"},
    {"35 Config", 2, 2, "u32 CurrentControlSet"},
    {"36 HiveInit", 2, 2, "ptr Hive; u32 OperationType; x32 PoolTag; u32 Size; wstr FileName"},
    {"37 HiveDestroy", 2, 2, "ptr Hive; wstr FileName; wstr Path"},
    {"38 HiveLink", 2, 2, "ptr Hive; wstr Path"},
    {"39 HiveDCEnd", 2, 2, "u64 Size; ptr Hive; u32 LoadedKeyCount; wstr FileName; wstr LinkPath"},
    {"40 HiveDirty", 2, 2, "ptr Hive; wstr LinkPath; u32 DirtyReason"},
    {"48 ChangeNotify", 2, 2,
     "ptr Notification; ptr KeyHandle; u8 Type; bool8 WatchSubtree; bool8 Primary"},
};

static const struct etwas_builtin_layout tcp_ip[] = {
    LAYOUT(TCP_SEND, ""),
    LAYOUT(TCP_SEND_V6, ""),
    LAYOUT(TCP, "16 ReconnectIPV4, 18 TCPCopyIPV4"),
    LAYOUT(TCP_V6, "32 ReconnectIPV6, 34 TCPCopyIPV6"),
    LAYOUT(TCP_BEGIN, ""),
    LAYOUT(TCP_BEGIN_V6, ""),
    {"17 Fail", 2, 2, "u16 Proto; u16 FailureCode"},
    {"17 Fail", 1, 1, "u32 Proto"},
    /* Consumers do not agree on what follows the ports. */
    {"10 Send, 11 Recv, 12 Connect, 13 Disconnect, 14 Retransmit, 15 Accept, 16 Reconnect, "
     "18 TCPCopy, 19 ARPCopy, 20 FullACK, 21 PartACK, 22 DupACK",
     1, 1, FIELDS(ENDS_V4)},
    {"10 Send, 11 Recv, 12 Connect, 13 Disconnect, 14 Retransmit, 15 Accept", 0, 0,
     "ipv4 daddr; ipv4 saddr; port dport; port sport; u32 size; pid PID"},
};

static const struct etwas_builtin_layout udp_ip[] = {
    LAYOUT(UDP, ""),
    LAYOUT(UDP_V6, ""),
    {"10 Send, 11 Recv", 1, 1, FIELDS(ENDS_V4)},
    {"10 Send, 11 Recv", 0, 0,
     "ptr context; ipv4 saddr; port sport; u16 size; ipv4 daddr; port dport; u16 dsize"},
    {"17 Fail", 2, 2, "u16 Proto; u16 FailureCode"},
};

static const struct etwas_builtin_layout alpc[] = {
    {"33 ALPC-Send-Message, 34 ALPC-Receive-Message, 35 ALPC-Wait-For-Reply", 2, 2,
     "u32 MessageID"},
    {"36 ALPC-Wait-For-New-Message", 2, 2, "u32 IsServerPort; str PortName"},
    {"37 ALPC-Unwait", 2, 2, "status Status"},
};

static const struct etwas_builtin_layout split_io[] = {
    {TYPES(SPLIT_IO), 0, 2, FIELDS(SPLIT_IO)},
};

/* Like the kernel's other records of this kind; no page documents it. */
static const struct etwas_builtin_layout debug_print[] = {
    LAYOUT(DEBUG_PRINT, ""),
};

/* Like the kernel's other records of this kind; no page documents it. The path is etwas's own. */
static const struct etwas_builtin_layout job[] = {
    LAYOUT(JOB, "34 Open"),
    {TYPES(JOB) "34 Open", 2, 2, FIELDS(JOB_OF_WINDOWS)},
    LAYOUT(JOB_PROCESS, "36 RemoveProcess"),
    {TYPES(JOB_PROCESS) "36 RemoveProcess", 2, 2, FIELDS(JOB_PROCESS_OF_WINDOWS)},
};

static const struct etwas_builtin_layout object[] = {
    {"32 CreateHandle, 33 CloseHandle", 2, 2,
     "ptr Object; x32 Handle; u16 ObjectType; wstr ObjectName"},
    {"34 DuplicateHandle", 2, 2,
     "ptr Object; x32 SourceHandle; x32 TargetHandle; pid TargetProcessId; u16 ObjectType"},
    {"38 HandleDCStart, 39 HandleDCEnd", 2, 2,
     "ptr Object; pid ProcessId; x32 Handle; u16 ObjectType; wstr ObjectName"},
    {"36 TypeDCStart, 37 TypeDCEnd", 2, 2, "u16 ObjectType; u16 Reserved; wstr TypeName"},
    {"48 CreateObject, 49 DeleteObject", 2, 2, "ptr Object; u16 ObjectType"},
    {"50 ReferenceObject, 51 DereferenceObject", 2, 2, "ptr Object; x32 Tag; u32 Count"},
};

static const struct etwas_builtin_layout stack_walk[] = {
    LAYOUT(STACK, ""),
    {"34 KeyCreate, 35 KeyDelete, 36 KeyRundown", 2, 2, "ptr StackKey; ptr[*] Stack"},
    {"37 KernelStackByKey, 38 UserStackByKey", 2, 2,
     "time EventTimeStamp; pid StackProcess; tid StackThread; ptr StackKey"},
};

#define KERNEL(a, b, c, d, name, layouts)                                                          \
    ETWAS_BUILTIN_CLASS(a, b, c, d, true, "MSNT_SystemTrace", name, layouts)

const struct etwas_builtin_class etwas_kernel_classes[] = {
    KERNEL(0x3d6fa8d0, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c, "Process", process),
    KERNEL(0x3d6fa8d1, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c, "Thread", thread),
    KERNEL(0x2cb15d1d, 0x5fc1, 0x11d2, 0xabe100a0c911f518, "Image", image),
    KERNEL(0x3d6fa8d4, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c, "DiskIo", disk_io),
    KERNEL(0x90cbdc39, 0x4a3e, 0x11d1, 0x84f40000f80464e3, "FileIo", file_io),
    KERNEL(0x3d6fa8d3, 0xfe05, 0x11d0, 0x9dda00c04fd7ba7c, "PageFault", page_fault),
    KERNEL(0xce1dbfb4, 0x137e, 0x4da6, 0x87b03f59aa102cbc, "PerfInfo", perf_info),
    KERNEL(0xae53722e, 0xc863, 0x11d2, 0x865900c04fa321a1, "Registry", registry),
    KERNEL(0x9a280ac0, 0xc8e0, 0x11d1, 0x84e200c04fb998a2, "TcpIp", tcp_ip),
    KERNEL(0xbf3a50c5, 0xa9c9, 0x4988, 0xa0052df0b7c80f80, "UdpIp", udp_ip),
    KERNEL(0x45d8cccd, 0x539f, 0x4b72, 0xa8b75c683142609a, "ALPC", alpc),
    KERNEL(0xd837ca92, 0x12b9, 0x44a5, 0xad6a3a65b3578aa8, "SplitIo", split_io),
    KERNEL(0x13976d09, 0xa327, 0x438c, 0x950b7f03192815c7, "DbgPrint", debug_print),
    KERNEL(0x3282fc76, 0xfeed, 0x498e, 0x8aa7e70f459d430e, "Job", job),
    KERNEL(0x89497f50, 0xeffe, 0x4440, 0x8cf2ce6b1cdcaca7, "ObTrace", object),
    KERNEL(0xdef2fe46, 0x7bd6, 0x4b80, 0xbd94f57fe20d0ce3, "StackWalk", stack_walk),
};
const size_t etwas_kernel_class_count =
    sizeof etwas_kernel_classes / sizeof etwas_kernel_classes[0];

/* Names of the numbers and bits in the kernel's events. */

const struct etwas_builtin_map etwas_kernel_maps[] = {
    {"ThreadState", false,
     "0 Initialized, 1 Ready, 2 Running, 3 Standby, 4 Terminated, 5 Waiting, 6 Transition, "
     "7 DeferredReady"},
    {"WaitMode", false, "0 KernelMode, 1 UserMode"},
    {"WaitReason", false,
     "0 Executive, 1 FreePage, 2 PageIn, 3 PoolAllocation, 4 DelayExecution, 5 Suspended, "
     "6 UserRequest, 7 WrExecutive, 8 WrFreePage, 9 WrPageIn, 10 WrPoolAllocation, "
     "11 WrDelayExecution, 12 WrSuspended, 13 WrUserRequest, 14 WrEventPair, 15 WrQueue, "
     "16 WrLpcReceive, 17 WrLpcReply, 18 WrVirtualMemory, 19 WrPageOut, 20 WrRendezvous, "
     "21 WrKeyedEvent, 22 WrTerminated, 23 WrProcessInSwap, 24 WrCpuRateControl, "
     "25 WrCalloutStack, 26 WrKernel, 27 WrResource, 28 WrPushLock, 29 WrMutex, "
     "30 WrQuantumEnd, 31 WrDispatchInt, 32 WrPreempted, 33 WrYieldExecution, 34 WrFastMutex, "
     "35 WrGuardedMutex, 36 WrRundown"},
    {"AdjustReason", false, "0 None, 1 Increment, 2 Boost"},
    {"ReadyFlags", true,
     "1 ReadiedFromDpc, 2 KernelStackSwappedOut, 4 ProcessSwappedOut, 8 DirectSwitchAttempt"},
    {"ProcessFlags", true,
     "1 ApplicationId, 2 Wow64, 4 Protected, 8 Packaged, 16777216 Exec, "
     "33554432 NoCommandLine, 67108864 NoExitStatus, 134217728 EndNotSeen, "
     "268435456 CommandLineFromProc, 536870912 CommandLineCut"},
    {"SampleFlags", true, "1 Dpc, 2 Isr"}, /* above them a priority */
    {"ProfileSource", false, "0 Timer"},
    {"AllocationFlags", true, "4096 Commit, 8192 Reserve, 16384 Decommit, 32768 Release"},
    {"SoftInterrupt", false,
     "0 HI, 1 TIMER, 2 NET_TX, 3 NET_RX, 4 BLOCK, 5 IRQ_POLL, 6 TASKLET, 7 SCHED, 8 HRTIMER, 9 "
     "RCU"},
    {"SystemCall", false, etwas_system_call_names},
    {"DriveType", false, "1 Partition, 2 Volume, 3 ExtendedPartition"},
};
const size_t etwas_kernel_map_count = sizeof etwas_kernel_maps / sizeof etwas_kernel_maps[0];
