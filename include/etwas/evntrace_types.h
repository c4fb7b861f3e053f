/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTRACE_TYPES_H
#define ETWAS_EVNTRACE_TYPES_H

/*
 * The structures and callbacks of evntrace.h. Include evntrace.h instead.
 */

#include <etwas/types.h>
#include <etwas/wmistr.h>

ETWAS_BEGIN_DECLS

typedef etwas_trace_handle TRACEHANDLE, *PTRACEHANDLE;
typedef etwas_trace_handle CONTROLTRACE_ID, *PCONTROLTRACE_ID;
typedef etwas_trace_handle PROCESSTRACE_HANDLE, *PPROCESSTRACE_HANDLE;

/* What OpenTrace returns on failure. */
#define INVALID_PROCESSTRACE_HANDLE ((TRACEHANDLE)0xFFFFFFFFFFFFFFFFu)

/* Defined in evntprov.h. */
typedef struct _EVENT_FILTER_DESCRIPTOR EVENT_FILTER_DESCRIPTOR, *PEVENT_FILTER_DESCRIPTOR;
/* Defined in evntcons.h. */
typedef struct _EVENT_RECORD EVENT_RECORD, *PEVENT_RECORD;

/*
 * ETW page: "WMIDPREQUEST callback function". A provider's control callback. RequestCode is
 * WMI_ENABLE_EVENTS when a session enables the provider or changes its level or flags,
 * WMI_DISABLE_EVENTS when it is disabled, and WMI_CAPTURE_STATE when a session requests the
 * provider's state as events. RequestContext is the argument of RegisterTraceGuids. Buffer is a
 * WNODE_HEADER of the library, valid until the callback returns; GetTraceLoggerHandle reads it.
 * BufferSize is reserved. The returned value is used only during RegisterTraceGuids, which then
 * returns it.
 *
 * The callback runs in the thread of the function that causes it, or in the thread of another
 * caller that already runs callbacks of the same registration. It may also run in a thread of the
 * library (see EnableTraceEx2). If a session ends because its file is full, the callback runs in
 * the thread that writes its buffers. In the library's threads all signals are blocked, and a
 * thread or process that the callback starts there inherits that.
 *
 * The callback may call every function. It must not wait, with ProcessTrace, for the end of a
 * session if the STOP of that session waits for the callback. It must return: pthread_exit, longjmp
 * and C++ exceptions may not leave it. A request to cancel its thread is held back until it has
 * returned.
 */
typedef uint32_t (*WMIDPREQUEST)(WMIDPREQUESTCODE RequestCode, void *RequestContext,
                                 uint32_t *BufferSize, void *Buffer);

/* ---- Sessions ---- */

/*
 * A session: the values that the caller requests, the values in force, and statistics. One
 * allocation holds the structure, then the session name, then the log file name. Zero it first.
 *
 * ETW page: "EVENT_TRACE_PROPERTIES structure".
 */
__extension__ typedef struct _EVENT_TRACE_PROPERTIES {
    WNODE_HEADER Wnode;
    uint32_t BufferSize;      /* KB, 4 to 16384; 0 means 64; out: as adjusted */
    uint32_t MinimumBuffers;  /* buffers reserved at start; out: as adjusted */
    uint32_t MaximumBuffers;  /* buffers the session may grow to; out: as adjusted */
    uint32_t MaximumFileSize; /* MB, or KB with EVENT_TRACE_USE_KBYTES_FOR_SIZE; 0: no limit */
    uint32_t LogFileMode;     /* EVENT_TRACE_..._MODE_... */
    uint32_t FlushTimer;  /* seconds, or ms with EVENT_TRACE_USE_MS_FLUSH_TIMER; 0 means that only
                             full buffers are written */
    uint32_t EnableFlags; /* EVENT_TRACE_FLAG_..., system loggers only */
    union {
        int32_t AgeLimit;        /* not used */
        uint32_t FlushThreshold; /* not used */
    };
    uint32_t NumberOfBuffers;     /* out: allocated */
    uint32_t FreeBuffers;         /* out: allocated and not in use */
    uint32_t EventsLost;          /* out: events that could not be recorded */
    uint32_t BuffersWritten;      /* out */
    uint32_t LogBuffersLost;      /* out: buffers that could not be written to the file */
    uint32_t RealTimeBuffersLost; /* out: buffers that could not be delivered */
    etwas_handle LoggerThreadId;  /* out: the flusher's thread id */
    uint32_t LogFileNameOffset;   /* bytes from the structure's start; 0 means no file */
    uint32_t LoggerNameOffset;    /* bytes from the structure's start; StartTrace fills the name */
} EVENT_TRACE_PROPERTIES, *PEVENT_TRACE_PROPERTIES;
ETWAS_ASSERT_SIZE(EVENT_TRACE_PROPERTIES, 120);

/*
 * EVENT_TRACE_PROPERTIES and 24 bytes more, which are used only with
 * WNODE_FLAG_VERSIONED_PROPERTIES. ETW page: "EVENT_TRACE_PROPERTIES_V2 structure".
 */
__extension__ typedef struct _EVENT_TRACE_PROPERTIES_V2 {
    WNODE_HEADER Wnode;
    uint32_t BufferSize;
    uint32_t MinimumBuffers;
    uint32_t MaximumBuffers;
    uint32_t MaximumFileSize;
    uint32_t LogFileMode;
    uint32_t FlushTimer;
    uint32_t EnableFlags;
    union {
        int32_t AgeLimit;
        uint32_t FlushThreshold;
    };
    uint32_t NumberOfBuffers;
    uint32_t FreeBuffers;
    uint32_t EventsLost;
    uint32_t BuffersWritten;
    uint32_t LogBuffersLost;
    uint32_t RealTimeBuffersLost;
    etwas_handle LoggerThreadId;
    uint32_t LogFileNameOffset;
    uint32_t LoggerNameOffset;
    union {
        struct {
            uint32_t VersionNumber : 8; /* 2 */
        };
        uint32_t V2Control;
    };
    uint32_t FilterDescCount;
    EVENT_FILTER_DESCRIPTOR *FilterDesc;
    union {
        struct {
            uint32_t Wow : 1;                /* not used */
            uint32_t QpcDeltaTracking : 1;   /* not used */
            uint32_t LargeMdlPages : 1;      /* huge pages for the buffers, where granted */
            uint32_t ExcludeKernelStack : 1; /* of system loggers: user parts alone */
        };
        uint64_t V2Options;
    };
} EVENT_TRACE_PROPERTIES_V2, *PEVENT_TRACE_PROPERTIES_V2;
ETWAS_ASSERT_SIZE(EVENT_TRACE_PROPERTIES_V2, 144);

/*
 * The parameters of EnableTraceEx2 in addition to level and keywords. ETW page:
 * "ENABLE_TRACE_PARAMETERS structure".
 */
typedef struct _ENABLE_TRACE_PARAMETERS {
    uint32_t Version;                          /* ENABLE_TRACE_PARAMETERS_VERSION_2 */
    uint32_t EnableProperty;                   /* EVENT_ENABLE_PROPERTY_... */
    uint32_t ControlFlags;                     /* 0 */
    etwas_guid SourceId;                       /* id of the caller; for modern providers */
    EVENT_FILTER_DESCRIPTOR *EnableFilterDesc; /* FilterDescCount of them */
    uint32_t FilterDescCount;                  /* 0 to MAX_EVENT_FILTERS_COUNT */
} ENABLE_TRACE_PARAMETERS, *PENABLE_TRACE_PARAMETERS;
ETWAS_ASSERT_SIZE(ENABLE_TRACE_PARAMETERS, 48);

typedef struct _ENABLE_TRACE_PARAMETERS_V1 {
    uint32_t Version; /* ENABLE_TRACE_PARAMETERS_VERSION */
    uint32_t EnableProperty;
    uint32_t ControlFlags;
    etwas_guid SourceId;
    EVENT_FILTER_DESCRIPTOR *EnableFilterDesc; /* one, or NULL */
} ENABLE_TRACE_PARAMETERS_V1, *PENABLE_TRACE_PARAMETERS_V1;
ETWAS_ASSERT_SIZE(ENABLE_TRACE_PARAMETERS_V1, 40);

/* ---- Information about providers and sessions ---- */

/* A registered provider. ETW page: "TRACE_GUID_PROPERTIES structure". */
typedef struct _TRACE_GUID_PROPERTIES {
    etwas_guid Guid;
    uint32_t GuidType;    /* not used */
    uint32_t LoggerId;    /* the session that enables it, the low 8 bits of its handle; 0: none */
    uint32_t EnableLevel; /* 0 to 255 */
    uint32_t EnableFlags; /* the provider's own */
    uint8_t IsEnable;     /* 1 or 0 */
} TRACE_GUID_PROPERTIES, *PTRACE_GUID_PROPERTIES;
ETWAS_ASSERT_SIZE(TRACE_GUID_PROPERTIES, 36);

/* A session that enables a provider. ETW page: "TRACE_ENABLE_INFO structure". */
typedef struct _TRACE_ENABLE_INFO {
    uint32_t IsEnabled; /* 1; 0 for a session that the process cannot log to */
    uint8_t Level;
    uint8_t Reserved1;
    uint16_t LoggerId;       /* the session, the low 8 bits of its handle */
    uint32_t EnableProperty; /* EVENT_ENABLE_PROPERTY_... */
    uint32_t Reserved2;      /* ETWAS_ENABLE_FILTERED_...; 0 in ETW */
    uint64_t MatchAnyKeyword;
    uint64_t MatchAllKeyword;
} TRACE_ENABLE_INFO, *PTRACE_ENABLE_INFO;
ETWAS_ASSERT_SIZE(TRACE_ENABLE_INFO, 32);

/* A registration of a provider. ETW page: "TRACE_PROVIDER_INSTANCE_INFO structure". */
typedef struct _TRACE_PROVIDER_INSTANCE_INFO {
    uint32_t NextOffset;  /* bytes from this block to the next; 0 in the last */
    uint32_t EnableCount; /* TRACE_ENABLE_INFO blocks after this one */
    uint32_t Pid;
    uint32_t Flags; /* TRACE_PROVIDER_FLAG_... */
} TRACE_PROVIDER_INSTANCE_INFO, *PTRACE_PROVIDER_INSTANCE_INFO;
ETWAS_ASSERT_SIZE(TRACE_PROVIDER_INSTANCE_INFO, 16);

/* The head of the information about a provider. ETW page: "TRACE_GUID_INFO structure". */
typedef struct _TRACE_GUID_INFO {
    uint32_t InstanceCount; /* TRACE_PROVIDER_INSTANCE_INFO blocks that follow */
    uint32_t Reserved;
} TRACE_GUID_INFO, *PTRACE_GUID_INFO;
ETWAS_ASSERT_SIZE(TRACE_GUID_INFO, 8);

/* ETW page: "PROFILE_SOURCE_INFO structure". */
typedef struct _PROFILE_SOURCE_INFO {
    uint32_t NextEntryOffset;
    uint32_t Source;
    uint32_t MinInterval; /* 100 ns units */
    uint32_t MaxInterval; /* 100 ns units */
    uint64_t Reserved;
    etwas_wchar Description[1];
} PROFILE_SOURCE_INFO, *PPROFILE_SOURCE_INFO;
ETWAS_ASSERT_SIZE(PROFILE_SOURCE_INFO, 32);

/* ETW page: "CLASSIC_EVENT_ID structure". */
typedef struct _CLASSIC_EVENT_ID {
    etwas_guid EventGuid;
    uint8_t Type;
    uint8_t Reserved[7];
} CLASSIC_EVENT_ID, *PCLASSIC_EVENT_ID;
ETWAS_ASSERT_SIZE(CLASSIC_EVENT_ID, 24);

/* ETW page: "TRACE_PROFILE_INTERVAL structure". */
typedef struct _TRACE_PROFILE_INTERVAL {
    uint32_t Source;
    uint32_t Interval; /* 100 ns units */
} TRACE_PROFILE_INTERVAL, *PTRACE_PROFILE_INTERVAL;
ETWAS_ASSERT_SIZE(TRACE_PROFILE_INTERVAL, 8);

/* ETW page: "TRACE_VERSION_INFO structure". */
typedef struct _TRACE_VERSION_INFO {
    uint32_t EtwTraceProcessingVersion; /* of OpenTrace and ProcessTrace; 1 here */
    uint32_t Reserved;
} TRACE_VERSION_INFO, *PTRACE_VERSION_INFO;
ETWAS_ASSERT_SIZE(TRACE_VERSION_INFO, 8);

/* ETW page: "TRACE_PERIODIC_CAPTURE_STATE_INFO structure". */
typedef struct _TRACE_PERIODIC_CAPTURE_STATE_INFO {
    uint32_t CaptureStateFrequencyInSeconds;
    uint16_t ProviderCount;
    uint16_t Reserved;
} TRACE_PERIODIC_CAPTURE_STATE_INFO, *PTRACE_PERIODIC_CAPTURE_STATE_INFO;
ETWAS_ASSERT_SIZE(TRACE_PERIODIC_CAPTURE_STATE_INFO, 8);

/*
 * The queries of QueryTraceProcessingHandle. ETW page: "ETW_PROCESS_HANDLE_INFO_TYPE enumeration".
 */
typedef enum _ETW_PROCESS_HANDLE_INFO_TYPE {
    EtwQueryPartitionInformation = 1,
    EtwQueryPartitionInformationV2 = 2,
    EtwQueryLastDroppedTimes = 3,
    EtwQueryLogFileHeader = 4,
    EtwQueryProcessHandleInfoMax = 5
} ETW_PROCESS_HANDLE_INFO_TYPE;

typedef struct _ETW_TRACE_PARTITION_INFORMATION {
    etwas_guid PartitionId;
    etwas_guid ParentId;
    int64_t QpcOffsetFromRoot;
    uint32_t PartitionType;
} ETW_TRACE_PARTITION_INFORMATION, *PETW_TRACE_PARTITION_INFORMATION;
ETWAS_ASSERT_SIZE(ETW_TRACE_PARTITION_INFORMATION, 48);

typedef struct _ETW_TRACE_PARTITION_INFORMATION_V2 {
    int64_t QpcOffsetFromRoot;
    uint32_t PartitionType;
    etwas_wchar *PartitionId;
    etwas_wchar *ParentId;
} ETW_TRACE_PARTITION_INFORMATION_V2, *PETW_TRACE_PARTITION_INFORMATION_V2;
ETWAS_ASSERT_SIZE(ETW_TRACE_PARTITION_INFORMATION_V2, 32);

/* ---- Events as a classic provider writes them ---- */

/* The class of an event: the low byte of the headers' Version, and the rest of it. */
typedef struct etwas_event_class {
    uint8_t Type;  /* EVENT_TRACE_TYPE_..., or the provider's own from 10 on */
    uint8_t Level; /* TRACE_LEVEL_...; a lower number is more severe */
    uint16_t Version;
} etwas_event_class;

/*
 * The header of an event for TraceEvent. The caller sets Size, Flags and Guid or GuidPtr, and may
 * set Class.
 *
 * ETW page: "EVENT_TRACE_HEADER structure".
 */
__extension__ typedef struct _EVENT_TRACE_HEADER {
    uint16_t Size; /* in: bytes of header and data */
    union {
        uint16_t FieldTypeFlags; /* reserved */
        struct {
            uint8_t HeaderType;  /* reserved */
            uint8_t MarkerFlags; /* reserved */
        };
    };
    union {
        uint32_t Version; /* the whole of Class */
        etwas_event_class Class;
    };
    uint32_t ThreadId;             /* out */
    uint32_t ProcessId;            /* out */
    etwas_large_integer TimeStamp; /* out: 100 ns units since 1601, or raw */
    union {
        etwas_guid Guid;  /* in: the event's class */
        uint64_t GuidPtr; /* in: its address, with WNODE_FLAG_USE_GUID_PTR */
    };
    union {
        struct {
            uint32_t KernelTime; /* out: ticks */
            uint32_t UserTime;   /* out: ticks */
        };
        uint64_t ProcessorTime; /* out: private sessions */
        struct {
            uint32_t ClientContext; /* reserved */
            uint32_t Flags;         /* in: WNODE_FLAG_TRACED_GUID and others */
        };
    };
} EVENT_TRACE_HEADER, *PEVENT_TRACE_HEADER;
ETWAS_ASSERT_SIZE(EVENT_TRACE_HEADER, 48);

/*
 * The head of an event for TraceEventInstance. The caller sets Size, Flags and RegHandle, and
 * Class and ParentRegHandle where wanted.
 * ETW page: "EVENT_INSTANCE_HEADER structure".
 */
__extension__ typedef struct _EVENT_INSTANCE_HEADER {
    uint16_t Size; /* in: bytes of header and data */
    union {
        uint16_t FieldTypeFlags; /* reserved */
        struct {
            uint8_t HeaderType;  /* reserved */
            uint8_t MarkerFlags; /* reserved */
        };
    };
    union {
        uint32_t Version; /* the whole of Class */
        etwas_event_class Class;
    };
    uint32_t ThreadId;             /* out */
    uint32_t ProcessId;            /* out */
    etwas_large_integer TimeStamp; /* out: 100 ns units since 1601, or raw */
    uint64_t RegHandle;            /* in: the class, from RegisterTraceGuids */
    uint32_t InstanceId;           /* out */
    uint32_t ParentInstanceId;     /* out */
    union {
        struct {
            uint32_t KernelTime; /* out: ticks */
            uint32_t UserTime;   /* out: ticks */
        };
        uint64_t ProcessorTime; /* out: private sessions */
        struct {
            uint32_t EventId; /* reserved */
            uint32_t Flags;   /* in: WNODE_FLAG_TRACED_GUID and others */
        };
    };
    uint64_t ParentRegHandle; /* in: the parent's class */
} EVENT_INSTANCE_HEADER, *PEVENT_INSTANCE_HEADER;
ETWAS_ASSERT_SIZE(EVENT_INSTANCE_HEADER, 56);

/* An instance event as it is recorded: the class GUIDs stand in place of the two handles. */
__extension__ typedef struct _EVENT_INSTANCE_GUID_HEADER {
    uint16_t Size;
    union {
        uint16_t FieldTypeFlags;
        struct {
            uint8_t HeaderType;
            uint8_t MarkerFlags;
        };
    };
    union {
        uint32_t Version;
        etwas_event_class Class;
    };
    uint32_t ThreadId;
    uint32_t ProcessId;
    etwas_large_integer TimeStamp;
    union {
        etwas_guid Guid;
        uint64_t GuidPtr;
    };
    union {
        struct {
            uint32_t KernelTime;
            uint32_t UserTime;
        };
        uint64_t ProcessorTime;
        struct {
            uint32_t ClientContext;
            uint32_t Flags;
        };
    };
    uint32_t InstanceId;
    uint32_t ParentInstanceId;
    etwas_guid ParentGuid;
} EVENT_INSTANCE_GUID_HEADER, *PEVENT_INSTANCE_GUID_HEADER;
ETWAS_ASSERT_SIZE(EVENT_INSTANCE_GUID_HEADER, 72);

/* An instance of an event class. CreateTraceInstanceId fills it. */
typedef struct EVENT_INSTANCE_INFO {
    etwas_handle RegHandle;
    uint32_t InstanceId;
} EVENT_INSTANCE_INFO, *PEVENT_INSTANCE_INFO;
ETWAS_ASSERT_SIZE(EVENT_INSTANCE_INFO, 16);

/* A piece of an event's data elsewhere in memory. ETW page: "MOF_FIELD structure". */
typedef struct _MOF_FIELD {
    uint64_t DataPtr;  /* the address of the data */
    uint32_t Length;   /* bytes */
    uint32_t DataType; /* ETW_..._TYPE_VALUE; not used */
} MOF_FIELD, *PMOF_FIELD;
ETWAS_ASSERT_SIZE(MOF_FIELD, 16);

/* Fills the MOF_FIELD that MOF points to. */
#define DEFINE_TRACE_MOF_FIELD(MOF, ptr, length, type)                                             \
    ((MOF)->DataPtr = (uint64_t)(uintptr_t)(ptr), (MOF)->Length = (uint32_t)(length),              \
     (void)((MOF)->DataType = (uint32_t)(type)))

/* An event class of a provider. ETW page: "TRACE_GUID_REGISTRATION structure". */
typedef struct _TRACE_GUID_REGISTRATION {
    const etwas_guid *Guid; /* in: the class */
    etwas_handle RegHandle; /* out: the class's handle, never NULL after a success */
} TRACE_GUID_REGISTRATION, *PTRACE_GUID_REGISTRATION;
ETWAS_ASSERT_SIZE(TRACE_GUID_REGISTRATION, 16);

/* ---- Events as a consumer gets them ---- */

/* ETW page: "ETW_BUFFER_CONTEXT structure". */
__extension__ typedef struct _ETW_BUFFER_CONTEXT {
    union {
        struct {
            uint8_t ProcessorNumber;
            uint8_t Alignment;
        };
        uint16_t ProcessorIndex;
    };
    uint16_t LoggerId;
} ETW_BUFFER_CONTEXT, *PETW_BUFFER_CONTEXT;
ETWAS_ASSERT_SIZE(ETW_BUFFER_CONTEXT, 4);

/* ETW page: "EVENT_TRACE structure". */
__extension__ typedef struct _EVENT_TRACE {
    EVENT_TRACE_HEADER Header;
    uint32_t InstanceId;       /* 0 for events of TraceEvent; a message's sequence number */
    uint32_t ParentInstanceId; /* 0 if there is no parent */
    etwas_guid ParentGuid;     /* the parent's class */
    void *MofData;             /* the event's data, the reader's memory, valid in the callback */
    uint32_t MofLength;        /* bytes */
    union {
        uint32_t ClientContext;
        ETW_BUFFER_CONTEXT BufferContext;
    };
} EVENT_TRACE, *PEVENT_TRACE;
ETWAS_ASSERT_SIZE(EVENT_TRACE, 88);

/* The fields of a log file's header event. ETW page: "TRACE_LOGFILE_HEADER structure". */
#define ETWAS_TRACE_LOGFILE_HEADER_FIELDS(pointer)                                                 \
    uint32_t BufferSize; /* bytes */                                                               \
    union {                                                                                        \
        uint32_t Version;                                                                          \
        struct {                                                                                   \
            uint8_t MajorVersion;                                                                  \
            uint8_t MinorVersion;                                                                  \
            uint8_t SubVersion;                                                                    \
            uint8_t SubMinorVersion;                                                               \
        } VersionDetail;                                                                           \
    };                                                                                             \
    uint32_t ProviderVersion;                                                                      \
    uint32_t NumberOfProcessors;                                                                   \
    etwas_large_integer EndTime; /* 100 ns units since 1601 */                                     \
    uint32_t TimerResolution;    /* of KernelTime and UserTime, 100 ns units */                    \
    uint32_t MaximumFileSize;    /* MB */                                                          \
    uint32_t LogFileMode;                                                                          \
    uint32_t BuffersWritten;                                                                       \
    union {                                                                                        \
        etwas_guid LogInstanceGuid;                                                                \
        struct {                                                                                   \
            uint32_t StartBuffers;                                                                 \
            uint32_t PointerSize; /* bytes */                                                      \
            uint32_t EventsLost;                                                                   \
            uint32_t CpuSpeedInMHz;                                                                \
        };                                                                                         \
    };                                                                                             \
    pointer LoggerName;  /* not a valid address in a file */                                       \
    pointer LogFileName; /* not a valid address in a file */                                       \
    etwas_time_zone_information TimeZone;                                                          \
    etwas_large_integer BootTime;  /* 100 ns units since 1601 */                                   \
    etwas_large_integer PerfFreq;  /* ticks a second */                                            \
    etwas_large_integer StartTime; /* 100 ns units since 1601 */                                   \
    uint32_t ReservedFlags;        /* the clock: 1 QPC, 2 system time, 3 cycle counter */          \
    uint32_t BuffersLost;

__extension__ typedef struct _TRACE_LOGFILE_HEADER {
    ETWAS_TRACE_LOGFILE_HEADER_FIELDS(etwas_wchar *)
} TRACE_LOGFILE_HEADER, *PTRACE_LOGFILE_HEADER;
ETWAS_ASSERT_SIZE(TRACE_LOGFILE_HEADER, 280);

/* The same as a 32-bit system writes it. */
__extension__ typedef struct _TRACE_LOGFILE_HEADER32 {
    ETWAS_TRACE_LOGFILE_HEADER_FIELDS(uint32_t)
} TRACE_LOGFILE_HEADER32, *PTRACE_LOGFILE_HEADER32;
ETWAS_ASSERT_SIZE(TRACE_LOGFILE_HEADER32, 272);

/* The same as a 64-bit system writes it. */
__extension__ typedef struct _TRACE_LOGFILE_HEADER64 {
    ETWAS_TRACE_LOGFILE_HEADER_FIELDS(uint64_t)
} TRACE_LOGFILE_HEADER64, *PTRACE_LOGFILE_HEADER64;
ETWAS_ASSERT_SIZE(TRACE_LOGFILE_HEADER64, 280);

#undef ETWAS_TRACE_LOGFILE_HEADER_FIELDS

typedef struct _EVENT_TRACE_LOGFILEA EVENT_TRACE_LOGFILEA, *PEVENT_TRACE_LOGFILEA;
typedef struct _EVENT_TRACE_LOGFILEW EVENT_TRACE_LOGFILEW, *PEVENT_TRACE_LOGFILEW;

/*
 * Callbacks run in the thread that calls ProcessTrace. Their arguments belong to the reader and are
 * valid until they return. A buffer callback returns 0 to end ProcessTrace.
 *
 * ETW pages: "PEVENT_CALLBACK", "PEVENT_RECORD_CALLBACK", "PEVENT_TRACE_BUFFER_CALLBACKW callback
 * function".
 */
typedef void (*PEVENT_CALLBACK)(EVENT_TRACE *pEvent);
typedef void (*PEVENT_RECORD_CALLBACK)(EVENT_RECORD *EventRecord);
typedef uint32_t (*PEVENT_TRACE_BUFFER_CALLBACKA)(EVENT_TRACE_LOGFILEA *Logfile);
typedef uint32_t (*PEVENT_TRACE_BUFFER_CALLBACKW)(EVENT_TRACE_LOGFILEW *Logfile);

/* A trace to open, and the position of its reader. ETW page: "EVENT_TRACE_LOGFILEW structure". */
#define ETWAS_EVENT_TRACE_LOGFILE_FIELDS(character, buffer_callback)                               \
    character *LogFileName; /* in: the file to read */                                             \
    character *LoggerName;  /* in: the session to follow, else NULL */                             \
    int64_t CurrentTime;    /* out: of the last event, 100 ns units since 1601 */                  \
    uint32_t BuffersRead;   /* out: buffers processed */                                           \
    union {                                                                                        \
        uint32_t LogFileMode;      /* not used */                                                  \
        uint32_t ProcessTraceMode; /* in: PROCESS_TRACE_MODE_... */                                \
    };                                                                                             \
    EVENT_TRACE CurrentEvent;                                                                      \
    TRACE_LOGFILE_HEADER LogfileHeader; /* out */                                                  \
    buffer_callback BufferCallback;     /* in: called after each buffer, or NULL */                \
    uint32_t BufferSize;                /* out: bytes of the current buffer */                     \
    uint32_t Filled;                    /* out: bytes used in the current buffer */                \
    uint32_t EventsLost;                /* not used */                                             \
    union {                                                                                        \
        PEVENT_CALLBACK EventCallback;              /* in */                                       \
        PEVENT_RECORD_CALLBACK EventRecordCallback; /* in: with ..._MODE_EVENT_RECORD */           \
    };                                                                                             \
    uint32_t IsKernelTrace; /* out */                                                              \
    void *Context;          /* in: given to the callback as UserContext */

__extension__ struct _EVENT_TRACE_LOGFILEA {
    ETWAS_EVENT_TRACE_LOGFILE_FIELDS(char, PEVENT_TRACE_BUFFER_CALLBACKA)
};
ETWAS_ASSERT_SIZE(EVENT_TRACE_LOGFILEA, 448);

__extension__ struct _EVENT_TRACE_LOGFILEW {
    ETWAS_EVENT_TRACE_LOGFILE_FIELDS(etwas_wchar, PEVENT_TRACE_BUFFER_CALLBACKW)
};
ETWAS_ASSERT_SIZE(EVENT_TRACE_LOGFILEW, 448);

#undef ETWAS_EVENT_TRACE_LOGFILE_FIELDS

#if defined(UNICODE) || defined(_UNICODE)
typedef EVENT_TRACE_LOGFILEW EVENT_TRACE_LOGFILE, *PEVENT_TRACE_LOGFILE;
typedef PEVENT_TRACE_BUFFER_CALLBACKW PEVENT_TRACE_BUFFER_CALLBACK;
#else
typedef EVENT_TRACE_LOGFILEA EVENT_TRACE_LOGFILE, *PEVENT_TRACE_LOGFILE;
typedef PEVENT_TRACE_BUFFER_CALLBACKA PEVENT_TRACE_BUFFER_CALLBACK;
#endif

ETWAS_END_DECLS

#endif
