/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The kernel's classes. Versions from 4 on, and 3 of FileIo and DiskIo, are not documented by ETW's
 * pages; they are as consumers read them, and as files of these systems have them.
 */
#include "decode/builtin.h"

#define ANY_VERSION 0, UINT8_MAX

#define PROCESS_TYPES "1 Start, 2 End, 3 DCStart, 4 DCEnd"
#define PROCESS_HEAD                                                                               \
    "ptr UniqueProcessKey; pid ProcessId; pid ParentId; u32 SessionId; i32 ExitStatus; "

/* Our own has the transfers behind it. */
#define PROCESS_USE                                                                                \
    "pid ProcessId; u32 PageFaultCount; u32 HandleCount; u32 Reserved; size PeakVirtualSize; "     \
    "size PeakWorkingSetSize; size PeakPagefileUsage; size QuotaPeakPagedPoolUsage; "              \
    "size QuotaPeakNonPagedPoolUsage; size VirtualSize; size WorkingSetSize; "                     \
    "size PagefileUsage; size QuotaPagedPoolUsage; size QuotaNonPagedPoolUsage; "                  \
    "size PrivatePageCount"

static const struct etwas_builtin_layout process[] = {
    {"39 Defunct", 5, 5,
     PROCESS_HEAD "ptr DirectoryTableBase; x32=ProcessFlags Flags; sid UserSID; str ImageFileName; "
                  "wstr CommandLine; wstr PackageFullName; wstr ApplicationId; filetime ExitTime"},
    {PROCESS_TYPES ", 39 Defunct", 4, 4,
     PROCESS_HEAD "ptr DirectoryTableBase; x32=ProcessFlags Flags; sid UserSID; str ImageFileName; "
                  "wstr CommandLine; wstr PackageFullName; wstr ApplicationId"},
    {PROCESS_TYPES ", 39 Defunct", 3, 3,
     PROCESS_HEAD "ptr DirectoryTableBase; sid UserSID; str ImageFileName; wstr CommandLine"},
    {PROCESS_TYPES ", 39 Defunct", 2, 2,
     PROCESS_HEAD "sid UserSID; str ImageFileName; wstr CommandLine"},
    {PROCESS_TYPES, 1, 1,
     "ptr PageDirectoryBase; pid ProcessId; pid ParentId; u32 SessionId; i32 ExitStatus; "
     "sid UserSID; str ImageFileName"},
    {PROCESS_TYPES, 0, 0, "ptr ProcessId; ptr ParentId; sid UserSID; str ImageFileName"},
    {"32 PerfCtr, 33 PerfCtrRundown", 2, 2,
     PROCESS_USE "; u64 ReadTransferCount; u64 WriteTransferCount; u64 DiskReadBytes; "
                 "u64 DiskWriteBytes"},
    {"32 PerfCtr, 33 PerfCtrRundown", 2, 2, PROCESS_USE},
    {"11 Terminate", ANY_VERSION, ""},
};

#define THREAD_TYPES "1 Start, 2 End, 3 DCStart, 4 DCEnd"
#define THREAD_HEAD                                                                                \
    "pid ProcessId; tid TThreadId; ptr StackBase; ptr StackLimit; ptr UserStackBase; "             \
    "ptr UserStackLimit; "

#define THREAD_NEW                                                                                 \
    THREAD_HEAD "ptr Affinity; ptr Win32StartAddr; ptr TebBase; x32 SubProcessTag; "               \
                "u8 BasePriority; u8 PagePriority; u8 IoPriority; x8 ThreadFlags"

static const struct etwas_builtin_layout thread[] = {
    {THREAD_TYPES, 3, 3, THREAD_NEW "; wstr ThreadName"},
    {THREAD_TYPES, 3, 3, THREAD_NEW},
    {THREAD_TYPES, 2, 2,
     THREAD_HEAD "ptr StartAddr; ptr Win32StartAddr; ptr TebBase; x32 SubProcessTag"},
    {"1 Start, 3 DCStart", 1, 1, THREAD_HEAD "ptr StartAddr; ptr Win32StartAddr; i8 WaitMode"},
    {"2 End, 4 DCEnd", 1, 1, "pid ProcessId; tid TThreadId"},
    {THREAD_TYPES, 0, 0, "tid TThreadId; pid ProcessId"},
    {"36 CSwitch", 2, 2,
     "tid NewThreadId; tid OldThreadId; i8 NewThreadPriority; i8 OldThreadPriority; "
     "u8 PreviousCState; i8 SpareByte; i8=WaitReason OldThreadWaitReason; i8=WaitMode "
     "OldThreadWaitMode; "
     "i8=ThreadState OldThreadState; i8 OldThreadWaitIdealProcessor; u32 NewThreadWaitTime; u32 "
     "Reserved"},
    {"50 ReadyThread", 2, 2,
     "tid TThreadId; i8=AdjustReason AdjustReason; i8 AdjustIncrement; x8=ReadyFlags Flag; i8 "
     "Reserved"},
    {"37 CompactCSwitch, 41 SpinLock, 48 SetPriority, 49 SetBasePriority, 51 SetPagePriority, "
     "52 SetIoPriority, 53 Affinity",
     ANY_VERSION, ""},
};

#define IMAGE_TYPES "10 Load, 2 Unload, 3 DCStart, 4 DCEnd"
#define IMAGE_HEAD                                                                                 \
    "ptr ImageBase; ptr ImageSize; pid ProcessId; x32 ImageChecksum; x32 TimeDateStamp; "
#define IMAGE_TAIL                                                                                 \
    "ptr DefaultBase; u32 Reserved1; u32 Reserved2; u32 Reserved3; u32 Reserved4; wstr FileName"

static const struct etwas_builtin_layout image[] = {
    {IMAGE_TYPES, 3, 3,
     IMAGE_HEAD "u8 SignatureLevel; u8 SignatureType; u16 Reserved0; " IMAGE_TAIL},
    {IMAGE_TYPES, 2, 2, IMAGE_HEAD "u32 Reserved0; " IMAGE_TAIL},
    {"10 Load", 1, 1, "ptr ImageBase; ptr ImageSize; pid ProcessId; wstr FileName"},
    {"33 KernelBase, 34 HypercallPage", ANY_VERSION, ""},
};

#define DISK_TRANSFER                                                                              \
    "u32 DiskNumber; x32 IrpFlags; u32 TransferSize; u32 Reserved; i64 ByteOffset; "               \
    "ptr FileObject; ptr Irp; u64 HighResResponseTime"

static const struct etwas_builtin_layout disk_io[] = {
    {"10 Read, 11 Write", 3, 3, DISK_TRANSFER "; tid IssuingThreadId"},
    {"10 Read, 11 Write", 2, 2, DISK_TRANSFER},
    {"12 ReadInit, 13 WriteInit, 15 FlushInit", 3, 3, "ptr Irp; tid IssuingThreadId"},
    {"12 ReadInit, 13 WriteInit, 15 FlushInit", 2, 2, "ptr Irp"},
    {"14 FlushBuffers", 3, 3,
     "u32 DiskNumber; x32 IrpFlags; u64 HighResResponseTime; ptr Irp; tid IssuingThreadId"},
    {"14 FlushBuffers", 2, 2, "u32 DiskNumber; x32 IrpFlags; u64 HighResResponseTime; ptr Irp"},
    {"34 DrvMjFnCall", ANY_VERSION,
     "u32 MajorFunction; u32 MinorFunction; ptr RoutineAddr; ptr FileObject; ptr Irp; "
     "u32 UniqMatchId"},
    {"35 DrvMjFnRet, 53 DrvComplReqRet", ANY_VERSION, "ptr Irp; u32 UniqMatchId"},
    {"37 DrvComplRout", ANY_VERSION, "ptr Routine; ptr Irp; u32 UniqMatchId"},
    {"52 DrvComplReq", ANY_VERSION, "ptr RoutineAddr; ptr Irp; u32 UniqMatchId"},
};

#define FILE_INFO_TYPES "69 SetInfo, 70 Delete, 71 Rename, 74 QueryInfo, 75 FSControl"

static const struct etwas_builtin_layout file_io[] = {
    {"0 Name, 32 FileCreate, 35 FileDelete, 36 FileRundown", 0, 3, "ptr FileObject; wstr FileName"},
    {"37 MapFile, 38 UnmapFile, 39 MapFileDCStart, 40 MapFileDCEnd", 2, 3,
     "ptr ViewBase; ptr FileKey; x64 MiscInfo; ptr ViewSize"},
    {"64 Create", 3, 3,
     "ptr IrpPtr; ptr FileObject; tid TTID; x32 CreateOptions; x32 FileAttributes; "
     "x32 ShareAccess; wstr OpenPath"},
    {"64 Create", 2, 2,
     "ptr IrpPtr; ptr TTID; ptr FileObject; x32 CreateOptions; x32 FileAttributes; "
     "x32 ShareAccess; wstr OpenPath"},
    {"65 Cleanup, 66 Close, 73 Flush", 3, 3, "ptr IrpPtr; ptr FileObject; ptr FileKey; tid TTID"},
    {"65 Cleanup, 66 Close, 73 Flush", 2, 2, "ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey"},
    {"67 Read, 68 Write", 3, 3,
     "u64 Offset; ptr IrpPtr; ptr FileObject; ptr FileKey; tid TTID; u32 IoSize; x32 IoFlags; "
     "x32 ExtraFlags"},
    {"67 Read, 68 Write", 2, 2,
     "u64 Offset; ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey; u32 IoSize; x32 IoFlags"},
    {FILE_INFO_TYPES, 3, 3,
     "ptr IrpPtr; ptr FileObject; ptr FileKey; ptr ExtraInfo; tid TTID; u32 InfoClass"},
    {FILE_INFO_TYPES, 2, 2,
     "ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey; ptr ExtraInfo; u32 InfoClass"},
    {"72 DirEnum, 77 DirNotify", 3, 3,
     "ptr IrpPtr; ptr FileObject; ptr FileKey; tid TTID; u32 Length; u32 InfoClass; "
     "u32 FileIndex; wstr FileName"},
    {"72 DirEnum, 77 DirNotify", 2, 2,
     "ptr IrpPtr; ptr TTID; ptr FileObject; ptr FileKey; u32 Length; u32 InfoClass; "
     "u32 FileIndex; wstr FileName"},
    {"79 DletePath, 80 RenamePath, 81 SetLinkPath", 3, 3,
     "ptr IrpPtr; ptr FileObject; ptr FileKey; ptr ExtraInfo; tid TTID; u32 InfoClass; "
     "wstr FileName"},
    {"76 OperationEnd", 2, 3, "ptr IrpPtr; ptr ExtraInfo; status NtStatus"},
};

static const struct etwas_builtin_layout page_fault[] = {
    {"10 TransitionFault, 11 DemandZeroFault, 12 CopyOnWrite, 13 GuardPageFault, "
     "14 HardPageFault, 15 AccessViolation",
     ANY_VERSION, "ptr VirtualAddress; ptr ProgramCounter"},
    {"32 HardFault", 2, 2,
     "time InitialTime; x64 ReadOffset; ptr VirtualAddress; ptr FileObject; tid TThreadId; "
     "u32 ByteCount"},
    {"98 VirtualAlloc, 99 VirtualFree", 2, 2,
     "ptr BaseAddress; size RegionSize; pid ProcessId; x32=AllocationFlags Flags"},
    {"105 ImageLoadBacked", 2, 2, "ptr FileObject; x32 DeviceChar; x16 FileChar; x16 LoadFlags"},
};

static const struct etwas_builtin_layout perf_info[] = {
    {"46 SampleProfile", 2, 2,
     "ptr InstructionPointer; tid ThreadId; u16 Count; x8=SampleFlags Flags; u8 Rank"},
    {"51 SysClEnter", ANY_VERSION, "ptr=SystemCall SysCallAddress"},
    {"52 SysClExit", ANY_VERSION, "status SysCallNtStatus"},
    {"66 ThreadDPC, 69 TimerDPC", 2, 2, "time InitialTime; ptr Routine"},
    {"68 DPC", 2, 2, "time InitialTime; ptr=SoftInterrupt Routine"},
    {"67 ISR", 2, 2, "time InitialTime; ptr Routine; u8 ReturnValue; u16 Vector; u8 Reserved"},
    {"72 SetInterval, 73 CollectionStart, 74 CollectionEnd", 3, 3,
     "u32=ProfileSource Source; u32 NewInterval; u32 OldInterval; wstr SourceName"},
    {"72 SetInterval, 73 CollectionStart, 74 CollectionEnd", 2, 2,
     "u32=ProfileSource Source; u32 NewInterval; u32 OldInterval"},
    {"34 Mark, 47 PmcInterrupt, 50 MsiISR", ANY_VERSION, ""},
};

#define REGISTRY_TYPES                                                                             \
    "10 Create, 11 Open, 12 Delete, 13 Query, 14 SetValue, 15 DeleteValue, 16 QueryValue, "        \
    "17 EnumerateKey, 18 EnumerateValueKey, 19 QueryMultipleValue, 20 SetInformation, 21 Flush"

static const struct etwas_builtin_layout registry[] = {
    {REGISTRY_TYPES ", 22 KCBCreate, 23 KCBDelete, 24 KCBRundownBegin, 25 KCBRundownEnd, "
                    "26 Virtualize, 27 Close",
     2, 2, "time InitialTime; status Status; u32 Index; ptr KeyHandle; wstr KeyName"},
    {REGISTRY_TYPES ", 22 RunDown", 1, 1,
     "ptr Status; ptr KeyHandle; i64 ElapsedTime; u32 Index; wstr KeyName"},
    {REGISTRY_TYPES, 0, 0, "ptr Status; ptr KeyHandle; i64 ElapsedTime; wstr KeyName"},
};

#define ENDS_V4 "pid PID; u32 size; ipv4 daddr; ipv4 saddr; port dport; port sport"
#define ENDS_V6 "pid PID; u32 size; ipv6 daddr; ipv6 saddr; port dport; port sport"
#define TCP_SEND "; u32 startime; u32 endtime; u32 seqnum; ptr connid"
#define TCP_CONNECT                                                                                \
    "; u16 mss; u16 sackopt; u16 tsopt; u16 wsopt; u32 rcvwin; i16 rcvwinscale; "                  \
    "i16 sndwinscale; u32 seqnum; ptr connid"

static const struct etwas_builtin_layout tcp_ip[] = {
    {"10 SendIPV4", 2, 2, ENDS_V4 TCP_SEND},
    {"26 SendIPV6", 2, 2, ENDS_V6 TCP_SEND},
    {"11 RecvIPV4, 13 DisconnectIPV4, 14 RetransmitIPV4, 16 ReconnectIPV4, 18 TCPCopyIPV4", 2, 2,
     ENDS_V4 "; u32 seqnum; ptr connid"},
    {"27 RecvIPV6, 29 DisconnectIPV6, 30 RetransmitIPV6, 32 ReconnectIPV6, 34 TCPCopyIPV6", 2, 2,
     ENDS_V6 "; u32 seqnum; ptr connid"},
    {"12 ConnectIPV4, 15 AcceptIPV4", 2, 2, ENDS_V4 TCP_CONNECT},
    {"28 ConnectIPV6, 31 AcceptIPV6", 2, 2, ENDS_V6 TCP_CONNECT},
    {"17 Fail", 2, 2, "u16 Proto; u16 FailureCode"},
    {"10 Send, 11 Recv, 12 Connect, 13 Disconnect, 14 Retransmit, 15 Accept, 16 Reconnect", 1, 1,
     ENDS_V4},
};

static const struct etwas_builtin_layout udp_ip[] = {
    {"10 SendIPV4, 11 RecvIPV4", 2, 2, ENDS_V4 "; u32 seqnum; ptr connid"},
    {"26 SendIPV6, 27 RecvIPV6", 2, 2, ENDS_V6 "; u32 seqnum; ptr connid"},
    {"17 Fail", 2, 2, "u16 Proto; u16 FailureCode"},
};

static const struct etwas_builtin_layout alpc[] = {
    {"33 ALPC-Send-Message, 34 ALPC-Receive-Message, 35 ALPC-Wait-For-Reply", ANY_VERSION,
     "u32 MessageID"},
    {"36 ALPC-Wait-For-New-Message", ANY_VERSION, "u32 IsServerPort; str PortName"},
    {"37 ALPC-Unwait", ANY_VERSION, "status Status"},
};

static const struct etwas_builtin_layout split_io[] = {
    {"32 VolMgr", ANY_VERSION, "ptr ParentIrp; ptr ChildIrp"},
};

/* As the kernel's other records of this kind; no page documents it. */
static const struct etwas_builtin_layout debug_print[] = {
    {"32 DbgPrint", ANY_VERSION, "u32 Component; u32 Level; str Message"},
};

/* As the kernel's other records of this kind; no page documents it. The path is our own. */
#define JOB_LIFE "guid JobGuid; u32 JobId; x32 Flags; status Status"
#define JOB_PROCESS "guid JobGuid; u32 JobId; pid ProcessId; status Status"

static const struct etwas_builtin_layout job[] = {
    {"32 Create, 33 Terminate, 34 Open", ANY_VERSION, JOB_LIFE "; wstr Path"},
    {"32 Create, 33 Terminate, 34 Open", ANY_VERSION, JOB_LIFE},
    {"35 AssignProcess, 36 RemoveProcess", ANY_VERSION, JOB_PROCESS "; wstr Path"},
    {"35 AssignProcess, 36 RemoveProcess", ANY_VERSION, JOB_PROCESS},
};

static const struct etwas_builtin_layout object[] = {
    {"32 CreateHandle, 33 CloseHandle", 2, 2,
     "ptr Object; x32 Handle; u16 ObjectType; wstr ObjectName"},
    {"34 DuplicateHandle", 2, 2,
     "ptr Object; x32 SourceHandle; x32 TargetHandle; pid TargetProcessId; u16 ObjectType"},
    {"38 HandleDCStart, 39 HandleDCEnd", 2, 2,
     "ptr Object; pid ProcessId; x32 Handle; u16 ObjectType; wstr ObjectName"},
    {"36 TypeDCStart, 37 TypeDCEnd", 2, 2, "u16 ObjectType; u16 Reserved; wstr TypeName"},
};

static const struct etwas_builtin_layout stack_walk[] = {
    {"32 Stack", ANY_VERSION,
     "time EventTimeStamp; pid StackProcess; tid StackThread; ptr[*] Stack"},
    {"34 KeyCreate, 35 KeyDelete, 36 KeyRundown", ANY_VERSION, "ptr StackKey; ptr[*] Stack"},
    {"37 KernelStackByKey, 38 UserStackByKey", ANY_VERSION,
     "time EventTimeStamp; pid StackProcess; tid StackThread; ptr StackKey"},
};

static const struct etwas_builtin_layout system_config[] = {
    {"10 CPU", 2, 2,
     "u32 MHz; u32 NumberOfProcessors; u32 MemSize; u32 PageSize; u32 AllocationGranularity; "
     "wchar[256] ComputerName; wchar[134] DomainName; ptr HyperThreadingFlag"},
    {"11 PhyDisk", 2, 2,
     "u32 DiskNumber; u32 BytesPerSector; u32 SectorsPerTrack; u32 TracksPerCylinder; "
     "u64 Cylinders; u32 SCSIPort; u32 SCSIPath; u32 SCSITarget; u32 SCSILun; "
     "wchar[256] Manufacturer; u32 PartitionCount; bool8 WriteCacheEnabled; u8 Pad; "
     "wchar[3] BootDriveLetter; wchar[2] Spare"},
    {"12 LogDisk", 2, 2,
     "u64 StartOffset; u64 PartitionSize; u32 DiskNumber; u32 Size; u32=DriveType DriveType; "
     "wchar[4] DriveLetterString; u32 Pad1; u32 PartitionNumber; u32 SectorsPerCluster; "
     "u32 BytesPerSector; u32 Pad2; i64 NumberOfFreeClusters; i64 TotalNumberOfClusters; "
     "wchar[16] FileSystem; u32 VolumeExt; u32 Pad3"},
    {"13 NIC", 2, 2,
     "x64 PhysicalAddr; u32 PhysicalAddrLen; u32 Ipv4Index; u32 Ipv6Index; "
     "wstr NICDescription; wstr IpAddresses; wstr DnsServerAddresses"},
    {"14 Video", 2, 2,
     "u32 MemorySize; u32 XResolution; u32 YResolution; u32 BitsPerPixel; u32 VRefresh; "
     "wchar[256] ChipType; wchar[256] DACType; wchar[256] AdapterString; "
     "wchar[256] BiosString; wchar[256] DeviceId; x32 StateFlags"},
    {"15 Services", 2, 2,
     "pid ProcessId; x32 ServiceState; x32 SubProcessTag; wstr ServiceName; wstr DisplayName; "
     "wstr ProcessName"},
    {"16 Power", 2, 2,
     "bool8 s1; bool8 s2; bool8 s3; bool8 s4; bool8 s5; u8 Pad1; u8 Pad2; u8 Pad3"},
    {"17 Network", 2, 2,
     "u32 TcbTablePartitions; u32 MaxHashTableSize; u32 MaxUserPort; u32 TcpTimedWaitDelay"},
    {"21 IRQ", 2, 2,
     "x64 IRQAffinity; u32 IRQNum; u32 DeviceDescriptionLen; wstr DeviceDescription"},
    {"22 PnP", 2, 2,
     "u32 IDLength; u32 DescriptionLength; u32 FriendlyNameLength; wstr DeviceID; "
     "wstr DeviceDescription; wstr FriendlyName"},
    {"23 IDEChannel", 2, 2,
     "u32 TargetId; u32 DeviceType; u32 DeviceTimingMode; u32 LocationInformationLen; "
     "wstr LocationInformation"},
    {"18 Optical", 2, 2,
     "u16 DiskNumber; u16 BusType; u16 DeviceType; u16 MediaType; u64 StartingOffset; u64 Size; "
     "u64 NumberOfFreeBlocks; u64 TotalNumberOfBlocks; u64 NextWritableAddress; "
     "u32 NumberOfSessions; u32 NumberOfTracks; u32 BytesPerSector; u16 DiscStatus; "
     "u16 LastSessionStatus; wstr DriveLetter; wstr FileSystemName; wstr DeviceName; "
     "wstr ManufacturerName"},
    {"25 Platform", 2, 2,
     "wstr SystemManufacturer; wstr SystemProductName; wstr BiosDate; wstr BiosVersion"},
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
    KERNEL(0x01853a65, 0x418f, 0x4f36, 0xaefcdc0f1d2fd235, "SystemConfig", system_config),
};
const size_t etwas_kernel_class_count =
    sizeof etwas_kernel_classes / sizeof etwas_kernel_classes[0];
