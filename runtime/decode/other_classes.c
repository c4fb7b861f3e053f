/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Classes beside the kernel's: the log file header, what merging adds to a file, and our own. */
#include "decode/builtin.h"

#define KNOWN_VERSIONS 0, 2

/* struct etwas_etl_log_header64 and its names; the width of the two pointers is the event's. */
static const struct etwas_builtin_layout event_trace[] = {
    {"0 Header", KNOWN_VERSIONS,
     "u32 BufferSize; u8[4] Version; u32 ProviderVersion; u32 NumberOfProcessors; "
     "filetime EndTime; u32 TimerResolution; u32 MaxFileSize; x32 LogFileMode; "
     "u32 BuffersWritten; u32 StartBuffers; u32 PointerSize; u32 EventsLost; u32 CPUSpeed; "
     "ptr LoggerName; ptr LogFileName; struct TimeZoneInformation; .i32 Bias; "
     ".wchar[32] StandardName; .u16[8] StandardDate; .i32 StandardBias; "
     ".wchar[32] DaylightName; .u16[8] DaylightDate; .i32 DaylightBias; .u32 Padding; "
     "filetime BootTime; u64 PerfFreq; filetime StartTime; u32 ReservedFlags; u32 BuffersLost; "
     "wstr SessionNameString; wstr LogFileNameString"},
    {"5 Extension, 32 EndExtension", 2, 2, "x32[8] GroupMasks; u32 KernelEventVersion"},
    {"5 Extension, 32 EndExtension", 0, 1, "x32[8] GroupMasks"},
    {"8 RDComplete, 48 RundownBegin, 49 RundownEnd, 65 DbgIdNB10", KNOWN_VERSIONS, ""},
    {"64 DbgIdRSDS", KNOWN_VERSIONS, "guid Guid; u32 Age; str PdbName"},
    {"66 BuildInfo", KNOWN_VERSIONS, "str BuildString"},
    {"67 BinaryPath", KNOWN_VERSIONS, "u32 GuidCount; guid[GuidCount] Guid; wstr BinaryPath"},
    {"80 PartitionInfoExtension", 2, 2,
     "u16 EventVersion; u16 Reserved; u32 PartitionType; i64 QpcOffsetFromRoot; guid PartitionId; "
     "guid ParentId"},
};

static const struct etwas_builtin_layout lost_event[] = {
    {"32 RTLostEvent, 33 RTLostBuffer, 34 RTLostFile", KNOWN_VERSIONS, ""},
};

static const struct etwas_builtin_layout image_id[] = {
    {"0 Info", KNOWN_VERSIONS,
     "ptr ImageBase; ptr ImageSize; pid ProcessId; x32 TimeDateStamp; wstr OriginalFileName"},
    {"32 None", KNOWN_VERSIONS, ""},
    ETWAS_BUILTIN_LAYOUT(DEBUG_ID, "37 DbgID_ILRSDS"),
    {"64 FileVersion", KNOWN_VERSIONS,
     "u32 ImageSize; x32 TimeDateStamp; wstr OrigFileName; wstr FileDescription; "
     "wstr FileVersion; wstr BinFileVersion; wstr VerLanguage; wstr ProductName; "
     "wstr CompanyName; wstr ProductVersion; wstr FileId; wstr ProgramId"},
};

static const struct etwas_builtin_layout sys_config[] = {
    {"32 BuildInfo", KNOWN_VERSIONS, "filetime InstallDate; wstr BuildLab; wstr ProductName"},
    {"33 SystemPaths", KNOWN_VERSIONS, "wstr SystemDirectory; wstr SystemWindowsDirectory"},
    {"34 UnknownVolume", KNOWN_VERSIONS, "wstr VolumePath"},
    {"35 VolumeMapping", KNOWN_VERSIONS, "wstr NtPath; wstr DosPath"},
};

/* etl/own_record.h; docs/file-format.md */
static const struct etwas_builtin_layout etwas_own[] = {
    {"0 Calibration", 1, 1,
     "u32 Version; u32 ClockType; u64 Ticks; u64 Nanoseconds; i64 RawStamp; i64 QpcNs; "
     "filetime SystemTime"},
    {"1 Knot", 1, 1,
     "u32 Version; u32 Reason; i64 RawStamp; i64 QpcNs; filetime SystemTime; i64 SuspendedNs; "
     "u32 QpcErrorNs; u32 SystemTimeErrorNs"},
    {"2 Totals", 1, 1,
     "u32 Version; u32 Part; u64 OverwrittenEvents; u64 OverwrittenBuffers; u64 LostEvents; "
     "u64 LostBuffers; u64 AttemptedEvents"},
    {"3 Clock", 1, 1,
     "u32 Version; u32 RequestedClock; u32 ClockType; u32 Verdict; x32 Reasons; u32 StatedBy; "
     "u64 FrequencyHz; u64 StatedHz; u32 FrequencyErrorPpb; u32 Processors; "
     "char[32] ClockSource; char[16] Hypervisor"},
    {"5 Account", 1, 1,
     "u32 Version; u32 Number; u32 Count; u32 Source; u32 Processor; u32 Counted; x32 Flags; "
     "u32 Damaged; u64 Attempted; u64 Taken; u64 WithoutRecord; u64 LostNoRoom; u64 LostUnread; "
     "u64 LostNotHanded; str Name"},
    {"6 AccountRecords", 1, 1,
     "u32 Version; u32 Number; u32 Count; u32 Source; u32 Processor; u32 Type; guid Class; "
     "u64 Made; u64 Refused"},
    {"7 KernelLoss", 1, 1, "u32 Version; u32 Cause; u64 Events; time From; time Until"},
    {"8 SilentFlag", 1, 1, "u32 Version; x32 Flag; str Reason"},
    {"11 UserStack", 1, 1,
     "u32 Version; u32 Machine; pid Process; tid Thread; time EventTimeStamp; x64 Registers; "
     "x64[*] Words"},
    {"9 KernelSymbol", 1, 1,
     "u32 Version; u32 LeftOut; x64 Address; u64 Bytes; utf8 Name; utf8 Module"},
    {"10 KernelRung", 1, 1, "u32 Version; u32 Rung; pid ProcessId; u32 Error"},
    {"12 Namespace", 1, 1, "u32 Version; pid ProcessId; u64 NamespaceId"},
    {"13 ThreadCounters", 1, 1,
     "u32 Version; x32 Known; guid Class; guid Activity; u32 Instance; u32 Type; u32 Processor; "
     "u32 Reserved; u64 RunNs; u64 WaitNs; u64 UserUs; u64 KernelUs; u64 VoluntarySwitches; "
     "u64 InvoluntarySwitches; u64 MinorFaults; u64 MajorFaults"},
    {"14 Window", 1, 1,
     "u32 Version; u32 Number; u32 Triggers; u32 Missing; time Trigger; time From; time Until; "
     "time CoveredFrom; time CoveredTo; u64 Lost"},
    {"15 Missing", 1, 1, "u32 Version; u32 Processor; time From; time To"},
};

const struct etwas_builtin_class etwas_other_classes[] = {
    ETWAS_BUILTIN_CLASS(0x68fdd900, 0x4a3e, 0x11d1, 0x84f40000f80464e3, true, "MSNT_SystemTrace",
                        "EventTrace", event_trace),
    ETWAS_BUILTIN_CLASS(0x6a399ae0, 0x4bc6, 0x4de9, 0x870b3657f8947e7e, true, "MSNT_SystemTrace",
                        "Lost_Event", lost_event),
    ETWAS_BUILTIN_CLASS(0xb3e675d7, 0x2554, 0x4f18, 0x830b2762732560de, false, "KernelTraceControl",
                        "ImageID", image_id),
    ETWAS_BUILTIN_CLASS(0x9b79ee91, 0xb5fd, 0x41c0, 0xa2434248e266e9d0, false, "KernelTraceControl",
                        "SysConfig", sys_config),
    ETWAS_BUILTIN_CLASS(0x7be5a508, 0xdb35, 0x4ec9, 0xb650a9720ecb3b69, false, "etwas", "Etwas",
                        etwas_own),
};
const size_t etwas_other_class_count = sizeof etwas_other_classes / sizeof etwas_other_classes[0];
