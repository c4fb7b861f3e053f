/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTCONS_H
#define ETWAS_EVNTCONS_H

/*
 * Events in the form of EVENT_RECORD: ETW's evntcons.h.
 */

#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/types.h>

/* EVENT_TRACE_LOGFILEW.ProcessTraceMode. */
#define PROCESS_TRACE_MODE_REAL_TIME 0x00000100u     /* follow a running session */
#define PROCESS_TRACE_MODE_RAW_TIMESTAMP 0x00001000u /* give time stamps as recorded */
#define PROCESS_TRACE_MODE_EVENT_RECORD 0x10000000u  /* call EventRecordCallback */

/* EVENT_HEADER.Flags. */
#define EVENT_HEADER_FLAG_EXTENDED_INFO 0x0001u
#define EVENT_HEADER_FLAG_PRIVATE_SESSION 0x0002u
#define EVENT_HEADER_FLAG_STRING_ONLY 0x0004u
#define EVENT_HEADER_FLAG_TRACE_MESSAGE 0x0008u
#define EVENT_HEADER_FLAG_NO_CPUTIME 0x0010u
#define EVENT_HEADER_FLAG_32_BIT_HEADER 0x0020u
#define EVENT_HEADER_FLAG_64_BIT_HEADER 0x0040u
#define EVENT_HEADER_FLAG_DECODE_GUID 0x0080u
#define EVENT_HEADER_FLAG_CLASSIC_HEADER 0x0100u
#define EVENT_HEADER_FLAG_PROCESSOR_INDEX 0x0200u

/*
 * An event of TraceMessage has EVENT_HEADER_FLAG_TRACE_MESSAGE. EventDescriptor.Id is its number
 * and EventDescriptor.Task the TRACE_MESSAGE_... flags it was recorded with, which say what else is
 * set; the rest of the descriptor is 0. UserData holds the arguments alone.
 *
 *   TRACE_MESSAGE_SEQUENCE      the item EVENT_HEADER_EXT_TYPE_INSTANCE_INFO: InstanceId is the
 *                               number
 *   TRACE_MESSAGE_GUID          ProviderId is the class
 *   TRACE_MESSAGE_COMPONENTID   ProviderId.Data1 is the component id
 *   TRACE_MESSAGE_TIMESTAMP     TimeStamp; without it, the time of the event before in its stream
 *                               or, if there is none, when the session began
 *   TRACE_MESSAGE_SYSTEMINFO    ThreadId and ProcessId
 *
 * In EVENT_TRACE the same are in InstanceId, Header.Guid, Header.TimeStamp, Header.ThreadId and
 * Header.ProcessId; Header.Class.Version is the message's number.
 */

/* EVENT_HEADER.EventProperty. */
#define EVENT_HEADER_PROPERTY_XML 0x0001u
#define EVENT_HEADER_PROPERTY_FORWARDED_XML 0x0002u
#define EVENT_HEADER_PROPERTY_LEGACY_EVENTLOG 0x0004u
#define EVENT_HEADER_PROPERTY_RELOGGABLE 0x0008u

/* EVENT_HEADER_EXTENDED_DATA_ITEM.ExtType. */
#define EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID 0x0001u
#define EVENT_HEADER_EXT_TYPE_SID 0x0002u
#define EVENT_HEADER_EXT_TYPE_TS_ID 0x0003u
#define EVENT_HEADER_EXT_TYPE_INSTANCE_INFO 0x0004u
#define EVENT_HEADER_EXT_TYPE_STACK_TRACE32 0x0005u
#define EVENT_HEADER_EXT_TYPE_STACK_TRACE64 0x0006u
#define EVENT_HEADER_EXT_TYPE_PEBS_INDEX 0x0007u
#define EVENT_HEADER_EXT_TYPE_PMC_COUNTERS 0x0008u
#define EVENT_HEADER_EXT_TYPE_PSM_KEY 0x0009u
#define EVENT_HEADER_EXT_TYPE_EVENT_KEY 0x000Au
#define EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL 0x000Bu
#define EVENT_HEADER_EXT_TYPE_PROV_TRAITS 0x000Cu
#define EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY 0x000Du
#define EVENT_HEADER_EXT_TYPE_CONTROL_GUID 0x000Eu
#define EVENT_HEADER_EXT_TYPE_QPC_DELTA 0x000Fu
#define EVENT_HEADER_EXT_TYPE_CONTAINER_ID 0x0010u
#define EVENT_HEADER_EXT_TYPE_STACK_KEY32 0x0011u
#define EVENT_HEADER_EXT_TYPE_STACK_KEY64 0x0012u
#define EVENT_HEADER_EXT_TYPE_MAX 0x0013u

/*
 * Bits of EnableProperty of EnableTraceEx2: what a session requests for the events of modern
 * providers. Classic events are not affected.
 *
 * These select events:
 *   IGNORE_KEYWORD_0            no events with keyword 0
 *   EXCLUDE_INPRIVATE           no events with EVENT_WRITE_FLAG_INPRIVATE (EventWriteEx)
 *
 * These add an extended item to each event:
 *   SID                         EVENT_HEADER_EXT_TYPE_SID: the effective user as S-1-22-1-<user id>
 *   TS_ID                       EVENT_HEADER_EXT_TYPE_TS_ID: 32 bits, the login session that the
 *                               system audits, or the session of getsid if there is none
 *   EVENT_KEY                   EVENT_HEADER_EXT_TYPE_EVENT_KEY: 64 bits, unique among the events
 *                               of the process; the same in all sessions that record the event
 *   PROCESS_START_KEY           EVENT_HEADER_EXT_TYPE_PROCESS_START_KEY: 64 bits, unique among the
 *                               processes since the machine booted; kept by exec, new after fork
 *   SOURCE_CONTAINER_TRACKING   EVENT_HEADER_EXT_TYPE_CONTAINER_ID: the container's id, 64
 *                               hexadecimal digits without a NUL; no item outside a container
 *   STACK_TRACE                 EVENT_HEADER_EXT_TYPE_STACK_TRACE64: a MatchId of 0, then at most
 *                               192 return addresses. The first is that of the caller of the
 *                               function that writes the event. They are found by frame pointers
 *                               (compile with -fno-omit-frame-pointer). Code without them ends a
 *                               stack or leaves wrong addresses in it. Threads' own stacks and
 *                               signal stacks are followed; any other stack, such as that of a
 *                               coroutine, has one address. A thread's first stack costs it some
 *                               system calls. Filters of EnableTraceEx2 select the events that
 *                               get one. From then on each file, snapshot and consumer of the
 *                               session also has the images of the processes that log into it
 *                               (docs/reference/file-format.md), which are not events of it.
 *                               The session's flusher takes the loader's lock: a callback of
 *                               dl_iterate_phdr, which holds it, must not stop the session
 *
 * If the items make an event longer than a record, or too long for the session's buffers, it is not
 * lost, as it is in ETW. It has the same items there with a stack of one frame, 2^64 - 1, which
 * marks a cut stack. If it requests no stack, or if even that is too long, it has none of the
 * items. No count includes this: the event is recorded as a whole, and its size shows that its
 * items did not fit. Items are in the order of their types, after
 * EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID and before _PROV_TRAITS and _EVENT_SCHEMA_TL. User,
 * session and container are those at the time of EnableTraceEx2; a process that changes them has to
 * enable again.
 *
 * PROVIDER_GROUP: the GUID is that of a provider group.
 *
 * ETWAS_ENABLE_PROPERTY_COUNTERS (etwas.h) is not one of ETW's. It adds records to the START and
 * END of activities, and of classic providers' instances too.
 *
 * These are accepted without effect: PSM_KEY (there is no such key), ENABLE_KEYWORD_0 (events with
 * keyword 0 are recorded anyway), ENABLE_SILOS (containers are recorded anyway).
 */
#define EVENT_ENABLE_PROPERTY_SID 0x00000001u
#define EVENT_ENABLE_PROPERTY_TS_ID 0x00000002u
#define EVENT_ENABLE_PROPERTY_STACK_TRACE 0x00000004u
#define EVENT_ENABLE_PROPERTY_PSM_KEY 0x00000008u
#define EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 0x00000010u
#define EVENT_ENABLE_PROPERTY_PROVIDER_GROUP 0x00000020u
#define EVENT_ENABLE_PROPERTY_ENABLE_KEYWORD_0 0x00000040u
#define EVENT_ENABLE_PROPERTY_PROCESS_START_KEY 0x00000080u
#define EVENT_ENABLE_PROPERTY_EVENT_KEY 0x00000100u
#define EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE 0x00000200u
#define EVENT_ENABLE_PROPERTY_ENABLE_SILOS 0x00000400u
#define EVENT_ENABLE_PROPERTY_SOURCE_CONTAINER_TRACKING 0x00000800u

/*
 * The head of an event. A classic event has EVENT_HEADER_FLAG_CLASSIC_HEADER, its class in
 * ProviderId, and its type, level and version in EventDescriptor.Opcode, .Level and .Version.
 * ETW page: "EVENT_HEADER structure".
 */
__extension__ typedef struct _EVENT_HEADER {
    uint16_t Size;
    uint16_t HeaderType;    /* 0 in what ProcessTrace delivers */
    uint16_t Flags;         /* EVENT_HEADER_FLAG_... */
    uint16_t EventProperty; /* EVENT_HEADER_PROPERTY_... */
    uint32_t ThreadId;
    uint32_t ProcessId;
    etwas_large_integer TimeStamp; /* 100 ns units since 1601, or as recorded */
    etwas_guid ProviderId;
    EVENT_DESCRIPTOR EventDescriptor;
    union {
        struct {
            uint32_t KernelTime; /* ticks of TRACE_LOGFILE_HEADER.TimerResolution */
            uint32_t UserTime;   /* ticks of TRACE_LOGFILE_HEADER.TimerResolution */
        };
        uint64_t ProcessorTime; /* private sessions */
    };
    etwas_guid ActivityId;
} EVENT_HEADER, *PEVENT_HEADER;
ETWAS_ASSERT_SIZE(EVENT_HEADER, 80);

/*
 * A piece of information in addition to the data. ETW page: "EVENT_HEADER_EXTENDED_DATA_ITEM
 * structure".
 */
__extension__ typedef struct _EVENT_HEADER_EXTENDED_DATA_ITEM {
    uint16_t Reserved1;
    uint16_t ExtType; /* EVENT_HEADER_EXT_TYPE_... */
    struct {
        uint16_t Linkage : 1; /* another item follows */
        uint16_t Reserved2 : 15;
    };
    uint16_t DataSize; /* bytes */
    uint64_t DataPtr;  /* the address of the data */
} EVENT_HEADER_EXTENDED_DATA_ITEM, *PEVENT_HEADER_EXTENDED_DATA_ITEM;
ETWAS_ASSERT_SIZE(EVENT_HEADER_EXTENDED_DATA_ITEM, 16);

/* Data of EVENT_HEADER_EXT_TYPE_INSTANCE_INFO. */
typedef struct _EVENT_EXTENDED_ITEM_INSTANCE {
    uint32_t InstanceId;
    uint32_t ParentInstanceId;
    etwas_guid ParentGuid;
} EVENT_EXTENDED_ITEM_INSTANCE, *PEVENT_EXTENDED_ITEM_INSTANCE;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_INSTANCE, 24);

typedef struct _EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID {
    etwas_guid RelatedActivityId;
} EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID, *PEVENT_EXTENDED_ITEM_RELATED_ACTIVITYID;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_RELATED_ACTIVITYID, 16);

typedef struct _EVENT_EXTENDED_ITEM_TS_ID {
    uint32_t SessionId;
} EVENT_EXTENDED_ITEM_TS_ID, *PEVENT_EXTENDED_ITEM_TS_ID;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_TS_ID, 4);

/* The number of addresses follows from the item's DataSize. */
typedef struct _EVENT_EXTENDED_ITEM_STACK_TRACE32 {
    uint64_t MatchId;
    uint32_t Address[1];
} EVENT_EXTENDED_ITEM_STACK_TRACE32, *PEVENT_EXTENDED_ITEM_STACK_TRACE32;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_STACK_TRACE32, 16);

typedef struct _EVENT_EXTENDED_ITEM_STACK_TRACE64 {
    uint64_t MatchId;
    uint64_t Address[1];
} EVENT_EXTENDED_ITEM_STACK_TRACE64, *PEVENT_EXTENDED_ITEM_STACK_TRACE64;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_STACK_TRACE64, 16);

typedef struct _EVENT_EXTENDED_ITEM_PEBS_INDEX {
    uint64_t PebsIndex;
} EVENT_EXTENDED_ITEM_PEBS_INDEX, *PEVENT_EXTENDED_ITEM_PEBS_INDEX;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_PEBS_INDEX, 8);

/* The number of counters follows from the item's DataSize. */
typedef struct _EVENT_EXTENDED_ITEM_PMC_COUNTERS {
    uint64_t Counter[1];
} EVENT_EXTENDED_ITEM_PMC_COUNTERS, *PEVENT_EXTENDED_ITEM_PMC_COUNTERS;
ETWAS_ASSERT_SIZE(EVENT_EXTENDED_ITEM_PMC_COUNTERS, 8);

/*
 * An event. It and all it points to belong to the reader and are valid in the callback only.
 * ETW page: "EVENT_RECORD structure".
 */
struct _EVENT_RECORD {
    EVENT_HEADER EventHeader;
    ETW_BUFFER_CONTEXT BufferContext;
    uint16_t ExtendedDataCount;
    uint16_t UserDataLength; /* bytes */
    EVENT_HEADER_EXTENDED_DATA_ITEM *ExtendedData;
    void *UserData;
    void *UserContext; /* EVENT_TRACE_LOGFILEW.Context */
};
typedef const EVENT_RECORD *PCEVENT_RECORD;
ETWAS_ASSERT_SIZE(EVENT_RECORD, 112);

/* The operations of EventAccessControl. ETW page: "EVENTSECURITYOPERATION enumeration". */
typedef enum {
    EventSecuritySetDACL = 0,
    EventSecuritySetSACL = 1,
    EventSecurityAddDACL = 2,
    EventSecurityAddSACL = 3,
    EventSecurityMax = 4
} EVENTSECURITYOPERATION;

ETWAS_BEGIN_DECLS

/*
 * Functions for the access rights of sessions and providers. Only processes of one user see each
 * other's sessions and providers, so such rights would protect nothing. The functions always fail,
 * so that no caller relies on a protection.
 *
 * Thread-safe, async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: Guid is NULL.
 * ERROR_NOT_SUPPORTED: in all other cases.
 *
 * ETW pages: "EventAccessControl function", "EventAccessQuery function", "EventAccessRemove
 * function".
 */
uint32_t EventAccessControl(etwas_guid *Guid, uint32_t Operation, void *Sid, uint32_t Rights,
                            uint8_t AllowOrDeny) ETWAS_API(etwas_EventAccessControl);
uint32_t EventAccessQuery(etwas_guid *Guid, void *Buffer, uint32_t *BufferSize)
    ETWAS_API(etwas_EventAccessQuery);
uint32_t EventAccessRemove(etwas_guid *Guid) ETWAS_API(etwas_EventAccessRemove);

ETWAS_END_DECLS

#endif
