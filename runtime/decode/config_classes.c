/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Classes of the machine's configuration, and classes that only Windows writes: pools, heaps, and
 * more.
 */
#include "decode/builtin.h"

#define FIELDS(LAYOUT) ETWAS_BUILTIN_FIELDS(LAYOUT)
#define LAYOUT(LAYOUT) ETWAS_BUILTIN_LAYOUT(LAYOUT, "")

#define PLUG_AND_PLAY_HEAD "guid ClassGuid; u32 UpperFiltersCount; u32 LowerFiltersCount; "
#define PLUG_AND_PLAY_TAIL                                                                         \
    "wstr DeviceID; wstr DeviceDescription; wstr FriendlyName; wstr PdoName; wstr ServiceName; "   \
    "wstr[UpperFiltersCount] UpperFilters; wstr[LowerFiltersCount] LowerFilters"

static const struct etwas_builtin_layout system_config[] = {
    {"10 CPU", 3, 3,
     FIELDS(CPU) "ptr HighestUserAddress; u16 ProcessorArchitecture; u16 ProcessorLevel; "
                 "x16 ProcessorRevision; bool8 PaeEnabled; bool8 NxEnabled; u32 MemorySpeed"},
    LAYOUT(CPU),
    LAYOUT(PHYSICAL_DISK),
    LAYOUT(LOGICAL_DISK),
    {"12 LogDisk", 0, 1, FIELDS(LOGICAL_DISK_1)},
    LAYOUT(NIC),
    {"13 NIC", 0, 1,
     "wchar[256] NICName; u32 Index; u32 PhysicalAddrLen; wchar[8] PhysicalAddr; u32 Size; "
     "ipv4 IpAddress; ipv4 SubnetMask; ipv4 DhcpServer; ipv4 Gateway; ipv4 PrimaryWinsServer; "
     "ipv4 SecondaryWinsServer; ipv4 DnsServer1; ipv4 DnsServer2; ipv4 DnsServer3; "
     "ipv4 DnsServer4; u32 Data"},
    LAYOUT(VIDEO),
    {"15 Services", 3, 3, FIELDS(SERVICE) "wstr LoadOrderGroup; wstr SvchostGroup"},
    LAYOUT(SERVICE),
    {"15 Services", 0, 1,
     "wchar[34] ServiceName; wchar[256] DisplayName; wchar[34] ProcessName; pid ProcessId"},
    LAYOUT(POWER),
    LAYOUT(NETWORK),
    LAYOUT(OPTICAL),
    {"21 IRQ", 3, 3,
     "x64 IRQAffinity; u16 IRQGroup; u16 Reserved; u32 IRQNum; u32 DeviceDescriptionLen; "
     "wstr DeviceDescription"},
    LAYOUT(IRQ),
    {"22 PnP", 5, 5, PLUG_AND_PLAY_HEAD "x32 DevStatus; u32 DevProblem; " PLUG_AND_PLAY_TAIL},
    {"22 PnP", 4, 4, PLUG_AND_PLAY_HEAD PLUG_AND_PLAY_TAIL},
    {"22 PnP", 3, 3, FIELDS(PNP) "wstr PdoName"},
    LAYOUT(PNP),
    LAYOUT(IDE_CHANNEL),
    /* It is not known whether there is padding before the masks. */
    {"24 NumaNode", 2, 2, "u32 NodeCount"},
    LAYOUT(PLATFORM),
    {"26 ProcessorGroup", 2, 2, "u32 GroupCount"},
    {"27 ProcessorNumber", 2, 2, "u32 ProcessorCount; u32[ProcessorCount] ProcessorNumber"},
    {"28 DPI", 2, 2, "u32 MachineDPI; u32 UserDPI"},
    {"29 CodeIntegrity", 2, 2, "x32 CodeIntegrityInfo"},
    {"30 TelemetryConfiguration", 2, 2, "guid MachineId"},
    {"31 Defragmentation", 2, 2,
     "u64 AlignmentClusters; u64 AvgFreeSpaceSize; u64 ClustersPerSlab; "
     "u64 FragmentedDirectoryExtents; u64 FragmentedExtents; u64 FreeSpaceCount; "
     "u64 LargestFreeSpaceSize; u64 LastRunActualPurgeClusters; u64 LastRunClustersTrimmed; "
     "u64 LastRunFullDefragTime; u64 LastRunTime; u64 MFTSize; u64 TotalClusters; "
     "u64 TotalUsedClusters; u32 AvgFragmentsPerFile; u32 BytesPerCluster; u32 DirectoryCount; "
     "u32 FragmentedDirectories; u32 FragmentedFiles; u32 FragmentedSpace; u32 HardwareIssue; "
     "u32 InUseMFTRecords; u32 InUseSlabs; u32 LastRunActualPurgeSlabs; "
     "u32 LastRunInitialBackedSlabs; u32 LastRunPercentFragmentation; u32 LastRunPinnedSlabs; "
     "u32 LastRunPotentialPurgeSlabs; u32 LastRunSpaceInefficientSlabs; "
     "u32 LastRunTrimmedSlabs; u32 LastRunUnknownEvictFailSlabs; "
     "u32 LastRunVolsnapPinnedSlabs; u32 MFTFragmentCount; u32 MovableFiles; "
     "u32 TotalMFTRecords; u32 TotalSlabs; u32 UnmovableFiles; guid VolumeId; "
     "wstr VolumePathNames"},
    {"32 MobilePlatform", 2, 2,
     "wstr BootLoaderVersion; wstr FirmwareRevision; wstr FriendlyName; wstr HardwareRevision; "
     "wstr Manufacturer; wstr ManufacturerDisplayName; wstr ManufacturerModelName; "
     "wstr MobileOperatorDisplayName; wstr MobileOperatorName; wstr ModelName; "
     "wstr RadioHardwareRevision; wstr RadioSoftwareRevision; wstr ROMVersion; wstr SOCVersion; "
     "wstr HardwareVariant"},
    {"33 DeviceFamily", 2, 2, "u64 UAPInfo; u32 DeviceFamily; u32 DeviceForm"},
    {"34 FlightIds", 2, 2, "wstr UpdateId; wstr FlightIdList"},
    {"35 Processors", 2, 2,
     "u32 ProcessorIndex; x32 FeatureSet; u32 ProcessorSpeed; wchar[64] ProcessorName; "
     "wchar[16] VendorIdentifier; wchar[128] ProcessorIdentifier"},
};

#define POOL_ENTRY "u32 Type; x32 Tag; size NumberOfBytes; ptr Entry"

static const struct etwas_builtin_layout pool[] = {
    {"32 PoolAllocation, 34 PoolFree", 2, 2, POOL_ENTRY},
    {"33 SessionPoolAllocation, 35 SessionPoolFree", 2, 2, POOL_ENTRY "; u32 SessionId"},
    {"40 PoolSnapDCStart, 41 PoolSnapDCEnd, 42 BigPoolSnapDCStart, 43 BigPoolSnapDCEnd, "
     "44 SessionPoolSnapDCStart, 45 SessionPoolSnapDCEnd, 46 SessionBigPoolSnapDCStart, "
     "47 SessionBigPoolSnapDCEnd",
     2, 2, ""},
};

#define HEAP_SNAPSHOT                                                                              \
    "ptr HeapHandle; size FreeSpace; size CommittedSpace; size ReservedSpace; x32 HeapFlags; "     \
    "pid ProcessId; size LargeUCRSpace; u32 FreeListLength; u32 UCRLength"
#define HEAP_SPACE                                                                                 \
    "size FreeSpace; size CommittedSpace; size ReservedSpace; u32 NoOfUCRs; size AllocatedSpace"

/* Version 0 is from consumers that do not distinguish versions. */
static const struct etwas_builtin_layout heap[] = {
    {"32 Create", 0, 3,
     "ptr HeapHandle; x32 HeapFlags; size ReservedSpace; size CommittedSpace; "
     "size AllocatedSpace"},
    {"32 Create", 0, 2, "ptr HeapHandle; x32 HeapFlags"},
    {"33 Alloc", 0, 2, "ptr HeapHandle; size AllocSize; ptr AllocAddress; u32 SourceId"},
    {"34 ReAlloc", 0, 2,
     "ptr HeapHandle; ptr NewAllocAddress; ptr OldAllocAddress; size NewAllocSize; "
     "size OldAllocSize; u32 SourceId"},
    {"35 Destroy, 43 Lock, 44 Unlock, 45 Validate, 46 Walk", 0, 2, "ptr HeapHandle"},
    {"36 Free", 0, 2, "ptr HeapHandle; ptr FreeAddress; u32 SourceId"},
    {"37 Expand", 0, 3, "ptr HeapHandle; size CommittedSize; ptr CommitAddress; " HEAP_SPACE},
    {"38 SnapShot", 0, 3, HEAP_SNAPSHOT "; size AllocatedSpace"},
    {"38 SnapShot", 0, 2, HEAP_SNAPSHOT},
    {"42 Contract", 0, 3, "ptr HeapHandle; size DeCommittedSize; ptr DeCommitAddress; " HEAP_SPACE},
    {"47 SubsegmentAlloc, 48 SubsegmentFree, 49 SubsegmentAllocCached, 50 SubsegmentFreeCached", 0,
     2, "ptr HeapHandle; ptr SubSegment; size SubSegmentSize; size BlockSize"},
    {"51 Commit, 52 Decommit", 0, 2, "ptr HeapHandle; ptr Block; size Size; ptr Caller"},
    {"53 SubsegmentInit", 0, 2,
     "ptr HeapHandle; ptr SubSegment; size BlockSize; size BlockCount; u32 AffinityIndex"},
    {"54 AffinityManagerEnable", 0, 2, "ptr HeapHandle; u32 BucketIndex"},
    {"55 AffinitySlotAssigned", 0, 2, "u32 SlotIndex"},
    {"56 SubSegmentActivated", 0, 2, "ptr HeapHandle; ptr SubSegment"},
    {"57 AffinitySlotChanged", 0, 2, "ptr Heap; ptr SubSegment; u32 SlotIndex"},
    {"58 SubsegmentReuseThresholdActivated", 0, 2, "ptr Heap; ptr SubSegment; u32 BucketIndex"},
};

static const struct etwas_builtin_layout notification[] = {
    {"32 Subscribe, 33 Unsubscribe", 0, 2,
     "x64 StateName; ptr Subscription; ptr NameSub; ptr Callback; u32 RefCount; "
     "x32 DeliveryFlags"},
    {"34 Callback", 0, 2,
     "x64 StateName; ptr Subscription; ptr NameSub; ptr Callback; u32 ChangeStamp; "
     "x32 DeliveryFlags; x32 Return"},
    {"35 Publish", 0, 2, "x64 StateName; u32 DataLength"},
    {"36 NameSubRundown", 0, 2, "x64 StateName; ptr NameSub"},
};

#define UMS_THREADS "pid ProcessId; tid ScheduledThreadId; "

static const struct etwas_builtin_layout user_scheduling[] = {
    {"32 DSwitchStart, 33 DSwitchEnd", 2, 2, UMS_THREADS "tid PrimaryThreadId; x32 SwitchFlags"},
    {"34 ScheduledPark", 2, 2, UMS_THREADS "x32 ParkFlags"},
    {"35 Disassociate", 2, 2,
     UMS_THREADS "tid PrimaryThreadId; x32 UmsApcControlFlags; status Status"},
    {"36 CSwitch", 2, 2,
     "tid ScheduledThreadId; u32 SwitchCount; u32 KernelYieldCount; u32 MixedYieldCount; "
     "u32 YieldCount"},
};

static const struct etwas_builtin_layout power[] = {
    {"60 IdleExitLatency", 2, 2,
     "x32 Flags; u32 PlatformState; u32 ProcessorState; u32 ReturnLatency; u32 TotalLatency"},
};

static const struct etwas_builtin_layout multimedia[] = {
    {"32 Start, 33 Stop, 36 Sleep, 37 SleepResp", 0, 0, ""},
    {"34 Scheduler", 0, 0,
     "pid ScheduledPID; tid ScheduledTID; u32 SchedulingPriority; u32 TaskIndex"},
    {"35 Wakeup", 0, 0, "u32 Reason"},
};

const struct etwas_builtin_class etwas_config_classes[] = {
    ETWAS_BUILTIN_CLASS(0x01853a65, 0x418f, 0x4f36, 0xaefcdc0f1d2fd235, true, "MSNT_SystemTrace",
                        "SystemConfig", system_config),
    ETWAS_BUILTIN_CLASS(0x0268a8b6, 0x74fd, 0x4302, 0x9dd06e8f1795c0cf, true, "MSNT_SystemTrace",
                        "Pool", pool),
    ETWAS_BUILTIN_CLASS(0x222962ab, 0x6180, 0x4b88, 0xa825346b75f2a24a, false, "HeapTraceProvider",
                        "Heap", heap),
    ETWAS_BUILTIN_CLASS(0x42695762, 0xea50, 0x497a, 0x90685cbbb35e0b95, false, "WnfProvider", "Wnf",
                        notification),
    ETWAS_BUILTIN_CLASS(0x9aec974b, 0x5b8e, 0x4118, 0x9b923186d8002ce5, true, "MSNT_SystemTrace",
                        "Ums", user_scheduling),
    ETWAS_BUILTIN_CLASS(0xe43445e0, 0x0903, 0x48c3, 0xb878ff0fccebdd04, true, "MSNT_SystemTrace",
                        "Power", power),
    ETWAS_BUILTIN_CLASS(0xf8f10121, 0xb617, 0x4a56, 0x868b9df1b27fe32c, false, "MMCSSTrace",
                        "MMCSS", multimedia),
};
const size_t etwas_config_class_count =
    sizeof etwas_config_classes / sizeof etwas_config_classes[0];
