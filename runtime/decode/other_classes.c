/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Classes beside the kernel's: the log file header, what merging adds to a file, and our own. */
#include "decode/builtin.h"
#include "etl/own_layouts.h"

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

#define OWN_RECORD(NAME, type, version, name) #type " " #name, version, version, "u32 Version; "
#define OWN_FIELD(type, member, name) #type " " #name "; "
#define OWN_CHARS(count, member, name) "char[" #count "] " #name "; "
#define OWN_STRING(type, name) #type " " #name "; "
#define OWN_REST(type, name) #type "[*] " #name "; "
#define OWN_LAYOUT(NAME) {ETWAS_OWN_##NAME(OWN)},

/* docs/reference/file-format.md */
static const struct etwas_builtin_layout etwas_own[] = {ETWAS_OWN_LAYOUTS(OWN_LAYOUT)};

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
