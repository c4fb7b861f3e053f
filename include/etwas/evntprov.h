/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTPROV_H
#define ETWAS_EVNTPROV_H

/*
 * Modern providers, event descriptors and filters: ETW's evntprov.h.
 *
 * A provider registers under a GUID, and up to 8 sessions may enable it (EnableTraceEx2 in
 * evntrace.h). An event goes to each session if its level and its keyword match. The level matches
 * if it is not above the session's; the session's level 0 means every level. The keyword matches if
 * it is 0, or if it shares a bit with MatchAnyKeyword and has all bits of MatchAllKeyword. A
 * MatchAnyKeyword of 0 means every keyword. EVENT_ENABLE_PROPERTY_IGNORE_KEYWORD_0 keeps events
 * with keyword 0 out of a session.
 */

#include <etwas/types.h>

#ifndef ETWAS_NO_WINDOWS_TYPES
#include <etwas/windows_types.h>
#endif

ETWAS_BEGIN_DECLS

#define EVENT_MIN_LEVEL 0u
#define EVENT_MAX_LEVEL 0xFFu

#define MAX_EVENT_DATA_DESCRIPTORS 128
#define MAX_EVENT_FILTER_DATA_SIZE 1024
#define MAX_EVENT_FILTER_PAYLOAD_SIZE 4096
#define MAX_EVENT_FILTER_EVENT_NAME_SIZE 4096
#define MAX_EVENT_FILTERS_COUNT 13
#define MAX_EVENT_FILTER_PID_COUNT 8
#define MAX_EVENT_FILTER_EVENT_ID_COUNT 64

/* EVENT_FILTER_DESCRIPTOR.Type. */
#define EVENT_FILTER_TYPE_NONE 0x00000000u
#define EVENT_FILTER_TYPE_SCHEMATIZED 0x80000000u
#define EVENT_FILTER_TYPE_SYSTEM_FLAGS 0x80000001u
#define EVENT_FILTER_TYPE_TRACEHANDLE 0x80000002u
#define EVENT_FILTER_TYPE_PID 0x80000004u
#define EVENT_FILTER_TYPE_EXECUTABLE_NAME 0x80000008u
#define EVENT_FILTER_TYPE_PACKAGE_ID 0x80000010u
#define EVENT_FILTER_TYPE_PACKAGE_APP_ID 0x80000020u
#define EVENT_FILTER_TYPE_PAYLOAD 0x80000100u
#define EVENT_FILTER_TYPE_EVENT_ID 0x80000200u
#define EVENT_FILTER_TYPE_EVENT_NAME 0x80000400u
#define EVENT_FILTER_TYPE_STACKWALK 0x80001000u
#define EVENT_FILTER_TYPE_STACKWALK_NAME 0x80002000u
#define EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW 0x80004000u
#define EVENT_FILTER_TYPE_CONTAINER 0x80008000u

/* EVENT_DATA_DESCRIPTOR.Type. */
#define EVENT_DATA_DESCRIPTOR_TYPE_NONE 0u
#define EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA 1u
#define EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA 2u
#define EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE 3u
/*
 * The two kinds of metadata, preceded by the header of the extended item that they become, in a
 * multiple of 8 bytes. Only the macros of <etwas/TraceLoggingProvider.h> may make such blocks.
 */
#define EVENT_DATA_DESCRIPTOR_TYPE_EVENT_ITEM 0x81u
#define EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_ITEM 0x82u

/* The requests of a session to a provider. */
#define EVENT_CONTROL_CODE_DISABLE_PROVIDER 0u
#define EVENT_CONTROL_CODE_ENABLE_PROVIDER 1u
#define EVENT_CONTROL_CODE_CAPTURE_STATE 2u

/* The identity of a modern event. ETW page: "EVENT_DESCRIPTOR structure". */
typedef struct _EVENT_DESCRIPTOR {
    uint16_t Id;
    uint8_t Version;
    uint8_t Channel;
    uint8_t Level;
    uint8_t Opcode;
    uint16_t Task;
    uint64_t Keyword;
} EVENT_DESCRIPTOR, *PEVENT_DESCRIPTOR;
typedef const EVENT_DESCRIPTOR *PCEVENT_DESCRIPTOR;
ETWAS_ASSERT_SIZE(EVENT_DESCRIPTOR, 16);

/* A piece of a modern event's data. ETW page: "EVENT_DATA_DESCRIPTOR structure". */
__extension__ typedef struct _EVENT_DATA_DESCRIPTOR {
    uint64_t Ptr;  /* the address of the data */
    uint32_t Size; /* bytes */
    union {
        uint32_t Reserved;
        struct {
            uint8_t Type; /* EVENT_DATA_DESCRIPTOR_TYPE_... */
            uint8_t Reserved1;
            uint16_t Reserved2;
        };
    };
} EVENT_DATA_DESCRIPTOR, *PEVENT_DATA_DESCRIPTOR;
ETWAS_ASSERT_SIZE(EVENT_DATA_DESCRIPTOR, 16);

/* A filter of events or processes. ETW page: "EVENT_FILTER_DESCRIPTOR structure". */
typedef struct _EVENT_FILTER_DESCRIPTOR {
    uint64_t Ptr;  /* the address of the filter's data */
    uint32_t Size; /* bytes */
    uint32_t Type; /* EVENT_FILTER_TYPE_... */
} EVENT_FILTER_DESCRIPTOR, *PEVENT_FILTER_DESCRIPTOR;
ETWAS_ASSERT_SIZE(EVENT_FILTER_DESCRIPTOR, 16);

/* Data of EVENT_FILTER_TYPE_SCHEMATIZED. ETW page: "EVENT_FILTER_HEADER structure". */
typedef struct _EVENT_FILTER_HEADER {
    uint16_t Id;
    uint8_t Version;
    uint8_t Reserved[5];
    uint64_t InstanceId;
    uint32_t Size;       /* bytes, this header included */
    uint32_t NextOffset; /* bytes from this header to the next, 0 for the last */
} EVENT_FILTER_HEADER, *PEVENT_FILTER_HEADER;
ETWAS_ASSERT_SIZE(EVENT_FILTER_HEADER, 24);

/*
 * Data of EVENT_FILTER_TYPE_EVENT_ID and _STACKWALK. ETW page: "EVENT_FILTER_EVENT_ID structure".
 */
typedef struct _EVENT_FILTER_EVENT_ID {
    uint8_t FilterIn; /* not 0: only these events; 0: all but these */
    uint8_t Reserved;
    uint16_t Count;
    uint16_t Events[1]; /* Count ids */
} EVENT_FILTER_EVENT_ID, *PEVENT_FILTER_EVENT_ID;
ETWAS_ASSERT_SIZE(EVENT_FILTER_EVENT_ID, 6);

/*
 * Data of EVENT_FILTER_TYPE_EVENT_NAME and _STACKWALK_NAME.
 * ETW page: "EVENT_FILTER_EVENT_NAME structure".
 */
typedef struct _EVENT_FILTER_EVENT_NAME {
    uint64_t MatchAnyKeyword;
    uint64_t MatchAllKeyword;
    uint8_t Level;
    uint8_t FilterIn; /* not 0: only these events; 0: all but these */
    uint16_t NameCount;
    uint8_t Names[1]; /* NameCount UTF-8 strings, each with its NUL */
} EVENT_FILTER_EVENT_NAME, *PEVENT_FILTER_EVENT_NAME;
ETWAS_ASSERT_SIZE(EVENT_FILTER_EVENT_NAME, 24);

/* Data of EVENT_FILTER_TYPE_STACKWALK_LEVEL_KW. ETW page: "EVENT_FILTER_LEVEL_KW structure". */
typedef struct _EVENT_FILTER_LEVEL_KW {
    uint64_t MatchAnyKeyword;
    uint64_t MatchAllKeyword;
    uint8_t Level;
    uint8_t FilterIn; /* not 0: stacks only for these events; 0: for all but these */
} EVENT_FILTER_LEVEL_KW, *PEVENT_FILTER_LEVEL_KW;
ETWAS_ASSERT_SIZE(EVENT_FILTER_LEVEL_KW, 24);

/* ---- Providers ---- */

/* A registration: never a pointer, 0 is none. */
typedef uint64_t REGHANDLE, *PREGHANDLE;

/*
 * ETW page: "PENABLECALLBACK callback function". The callback is called when a session enables the
 * provider, changes its setting, disables it, stops, or requests the provider's state.
 * EventRegister calls it if a session has enabled the provider before. The arguments describe the
 * settings of all sessions together:
 *
 *   IsEnabled         EVENT_CONTROL_CODE_ENABLE_PROVIDER while any session enables it, then
 *                     EVENT_CONTROL_CODE_DISABLE_PROVIDER; or EVENT_CONTROL_CODE_CAPTURE_STATE
 *   Level             the highest level; 0: every level
 *   MatchAnyKeyword   the keywords of all sessions together; all bits if one of them has 0
 *   MatchAllKeyword   the bits that all of them have
 *
 * SourceId is that of the call that caused the callback, or else all 0. FilterData is NULL: filters
 * for a provider are not supported. The callback may call every function. It runs in the thread of
 * the function that causes it, or in a thread of the library (see EnableTraceEx2). Callbacks of one
 * registration run one after the other. The callback must return, as that of RegisterTraceGuids
 * must. A request to cancel its thread is held back until it has returned.
 */
typedef void (*PENABLECALLBACK)(const etwas_guid *SourceId, uint32_t IsEnabled, uint8_t Level,
                                uint64_t MatchAnyKeyword, uint64_t MatchAllKeyword,
                                EVENT_FILTER_DESCRIPTOR *FilterData, void *CallbackContext);

/*
 * Registers a provider. EnableCallback may be NULL; it receives CallbackContext. Sessions that have
 * enabled ProviderId before receive its events from here on. A GUID can be registered several
 * times, and all its registrations are enabled alike. *RegHandle is 0 on failure. In a fork's child
 * the handle stays valid, and no session enables it.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: ProviderId or RegHandle is NULL.
 * ERROR_NO_SYSTEM_RESOURCES: there are 1,024 registrations, those of RegisterTraceGuids included.
 * ERROR_ALREADY_INITIALIZED: another copy of the library is active in the process (etwas.h).
 *
 * ETW page: "EventRegister function".
 */
uint32_t EventRegister(const etwas_guid *ProviderId, PENABLECALLBACK EnableCallback,
                       void *CallbackContext, REGHANDLE *RegHandle) ETWAS_API(etwas_EventRegister);

/*
 * Ends a registration; 0 is accepted and does nothing. The call waits until the registration's
 * callback has returned. It does not wait for a callback that waits for this thread, nor for the
 * callback that makes the call.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_HANDLE: not a registration of EventRegister, or one that has ended.
 *
 * ETW page: "EventUnregister function".
 */
uint32_t EventUnregister(REGHANDLE RegHandle) ETWAS_API(etwas_EventUnregister);

/*
 * Returns whether a session requests an event with this descriptor, or with this level and keyword,
 * by the test that EventWrite makes. Returns 0 for handle 0, for a handle that is not a
 * registration, and if EventDescriptor is NULL.
 *
 * Lock-free; thread-safe and async-signal-safe.
 *
 * ETW pages: "EventEnabled function", "EventProviderEnabled function".
 */
uint8_t EventEnabled(REGHANDLE RegHandle, const EVENT_DESCRIPTOR *EventDescriptor)
    ETWAS_API(etwas_EventEnabled);
uint8_t EventProviderEnabled(REGHANDLE RegHandle, uint8_t Level, uint64_t Keyword)
    ETWAS_API(etwas_EventProviderEnabled);

/* EventWriteEx's Flags. */
#define EVENT_WRITE_FLAG_NO_FAULTING 0x00000001u /* accepted, no effect */
#define EVENT_WRITE_FLAG_INPRIVATE 0x00000002u /* not for EVENT_ENABLE_PROPERTY_EXCLUDE_INPRIVATE */

/*
 * Writes an event to every session that requests it. The event has at most
 * MAX_EVENT_DATA_DESCRIPTORS blocks of data. They are recorded in their order, without gaps; blocks
 * of 0 bytes are ignored.
 *
 * ActivityId NULL means the thread's own id (EventActivityIdControl). RelatedActivityId, which may
 * be NULL, becomes the extended item EVENT_HEADER_EXT_TYPE_RELATED_ACTIVITYID. EventWrite has
 * neither, and EventWriteTransfer has both.
 *
 * Filter: bit n keeps the event out of the session with the LoggerId n + 1 (TRACE_ENABLE_INFO of
 * EnumerateTraceGuidsEx). Private sessions have no bit.
 *
 * Several sessions: an event that is too large for the buffers of one session is counted lost there
 * (lost_too_large) and goes to the others. An event that one session has no buffer for goes to
 * none, if that session is tried first: sessions with a full current buffer are. The others count
 * it lost too (lost_withheld). A session with EVENT_TRACE_INDEPENDENT_SESSION_MODE never withholds
 * events from others. The code returned is that of the session that failed. It is ERROR_SUCCESS if
 * only independent sessions failed and another has the event. docs/reference/modes.md says which
 * cases remain.
 *
 * The call takes no lock and allocates nothing. It makes no system call, except those that a
 * session requests (process_times in etwas.h; EVENT_ENABLE_PROPERTY_STACK_TRACE in evntcons.h).
 * Thread-safe and async-signal-safe.
 *
 * ERROR_SUCCESS: the event was recorded; or RegHandle is 0, or no session requests the event. In
 *   the latter cases no other argument is checked.
 * ERROR_INVALID_HANDLE: not a registration of EventRegister, or one that has ended.
 * ERROR_INVALID_PARAMETER: EventDescriptor is NULL; other flags; more than
 *   MAX_EVENT_DATA_DESCRIPTORS blocks, or UserData NULL with blocks; a block with a size and no
 *   address. If descriptor types are used (EventSetInformation): an unknown type, or two blocks of
 *   one metadata type.
 * ERROR_NOT_SUPPORTED: descriptor types are used, and one is
 *   EVENT_DATA_DESCRIPTOR_TYPE_TIMESTAMP_OVERRIDE.
 * ERROR_ARITHMETIC_OVERFLOW: the record would exceed 65,535 bytes, including its header of 80.
 *   Items that a session requests (EVENT_ENABLE_PROPERTY_... in evntcons.h) are left out first.
 * ERROR_MORE_DATA: the event does not fit into a session's buffer; it is counted lost there.
 * ERROR_NOT_ENOUGH_MEMORY: a session has no free buffer; the event is counted lost there.
 * ERROR_LOG_FILE_FULL: a real-time session has no consumer, and its backlog and buffers are full.
 *
 * ETW pages: "EventWrite function", "EventWriteTransfer function", "EventWriteEx function".
 */
uint32_t EventWrite(REGHANDLE RegHandle, const EVENT_DESCRIPTOR *EventDescriptor,
                    uint32_t UserDataCount, EVENT_DATA_DESCRIPTOR *UserData)
    ETWAS_API(etwas_EventWrite);
uint32_t EventWriteTransfer(REGHANDLE RegHandle, const EVENT_DESCRIPTOR *EventDescriptor,
                            const etwas_guid *ActivityId, const etwas_guid *RelatedActivityId,
                            uint32_t UserDataCount, EVENT_DATA_DESCRIPTOR *UserData)
    ETWAS_API(etwas_EventWriteTransfer);
uint32_t EventWriteEx(REGHANDLE RegHandle, const EVENT_DESCRIPTOR *EventDescriptor, uint64_t Filter,
                      uint32_t Flags, const etwas_guid *ActivityId,
                      const etwas_guid *RelatedActivityId, uint32_t UserDataCount,
                      EVENT_DATA_DESCRIPTOR *UserData) ETWAS_API(etwas_EventWriteEx);

/*
 * Writes an event with a UTF-16 string and its NUL as data. In its descriptor only level and
 * keyword are not 0, and it has EVENT_HEADER_FLAG_STRING_ONLY. Otherwise it is like EventWrite.
 * Errors are those of EventWrite, and:
 *
 * ERROR_INVALID_PARAMETER: String is NULL.
 *
 * ETW page: "EventWriteString function".
 */
uint32_t EventWriteString(REGHANDLE RegHandle, uint8_t Level, uint64_t Keyword,
                          const etwas_wchar *String) ETWAS_API(etwas_EventWriteString);

/* EventActivityIdControl's ControlCode. */
#define EVENT_ACTIVITY_CTRL_GET_ID 1u        /* gives the thread's id */
#define EVENT_ACTIVITY_CTRL_SET_ID 2u        /* sets it */
#define EVENT_ACTIVITY_CTRL_CREATE_ID 3u     /* gives a new id */
#define EVENT_ACTIVITY_CTRL_GET_SET_ID 4u    /* sets the thread's id, and gives the one before */
#define EVENT_ACTIVITY_CTRL_CREATE_SET_ID 5u /* sets a new id, and gives the one before */

/*
 * The activity id of the calling thread, which its events carry. It starts as all 0. A new id is
 * never all 0 and unique on this computer since it started.
 *
 * Thread-safe and async-signal-safe, also in a handler that interrupts a call of the same thread.
 *
 * ERROR_INVALID_PARAMETER: ActivityId NULL, or another code.
 *
 * ETW page: "EventActivityIdControl function".
 */
uint32_t EventActivityIdControl(uint32_t ControlCode, etwas_guid *ActivityId)
    ETWAS_API(etwas_EventActivityIdControl);

/* EventSetInformation's InformationClass. */
typedef enum _EVENT_INFO_CLASS {
    EventProviderBinaryTrackInfo = 0,
    EventProviderSetReserved1 = 1,
    EventProviderSetTraits = 2,
    EventProviderUseDescriptorType = 3,
    MaxEventInfo = 4
} EVENT_INFO_CLASS;

/* The type of a trait in the data of EventProviderSetTraits. */
#define ETW_PROVIDER_TRAIT_TYPE_GROUP 1u /* the GUID of a provider group */

/*
 * Sets a property of a registration.
 *
 * EventProviderUseDescriptorType: one byte; 1 enables the Type of data descriptors, 0 (the default)
 *   disables it. If it is enabled, a block of EVENT_DATA_DESCRIPTOR_TYPE_PROVIDER_METADATA becomes
 *   the extended item EVENT_HEADER_EXT_TYPE_PROV_TRAITS. A block of
 *   EVENT_DATA_DESCRIPTOR_TYPE_EVENT_METADATA becomes the item
 *   EVENT_HEADER_EXT_TYPE_EVENT_SCHEMA_TL. The items have this order, and neither is part of the
 *   event's data.
 * EventProviderSetTraits: the total size in 2 bytes, the provider's name in UTF-8 with its NUL,
 *   then traits, each with its size in 2 bytes, type in 1 byte, and data. Traits can be set once,
 *   and enable descriptor types. They are checked and not recorded by themselves: events carry the
 *   traits that they are given. A trait of type ETW_PROVIDER_TRAIT_TYPE_GROUP has a GUID: the
 *   provider belongs to this group. Sessions enable it through the group
 *   (EVENT_ENABLE_PROPERTY_PROVIDER_GROUP), and its callback is notified at once.
 *
 * Thread-safe, also in a control callback; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: not a registration of EventRegister; EventInformation is NULL with a
 *   length; the length does not fit the class; traits are malformed or set already, or have two
 *   groups.
 * ERROR_NOT_SUPPORTED: another class; or EventProviderBinaryTrackInfo, because programs are not
 *   tracked.
 *
 * ETW page: "EventSetInformation function".
 */
uint32_t EventSetInformation(REGHANDLE RegHandle, EVENT_INFO_CLASS InformationClass,
                             void *EventInformation, uint32_t InformationLength)
    ETWAS_API(etwas_EventSetInformation);

/* ---- Filling descriptors ---- */

/* DataPtr stays the caller's, and is read by the call that writes the event. */
static inline void EventDataDescCreate(EVENT_DATA_DESCRIPTOR *EventDataDescriptor,
                                       const void *DataPtr, uint32_t DataSize)
{
    EventDataDescriptor->Ptr = (uint64_t)(uintptr_t)DataPtr;
    EventDataDescriptor->Size = DataSize;
    EventDataDescriptor->Reserved = 0;
}

static inline void EventDescCreate(EVENT_DESCRIPTOR *EventDescriptor, uint16_t Id, uint8_t Version,
                                   uint8_t Channel, uint8_t Level, uint16_t Task, uint8_t Opcode,
                                   uint64_t Keyword)
{
    EventDescriptor->Id = Id;
    EventDescriptor->Version = Version;
    EventDescriptor->Channel = Channel;
    EventDescriptor->Level = Level;
    EventDescriptor->Opcode = Opcode;
    EventDescriptor->Task = Task;
    EventDescriptor->Keyword = Keyword;
}

static inline void EventDescZero(EVENT_DESCRIPTOR *EventDescriptor)
{
    EventDescCreate(EventDescriptor, 0, 0, 0, 0, 0, 0, 0);
}

/* EventDescGetId and EventDescSetId, and the same for every member. */
#define ETWAS_EVENT_DESCRIPTOR_MEMBER(name, type)                                                  \
    static inline type EventDescGet##name(const EVENT_DESCRIPTOR *EventDescriptor)                 \
    {                                                                                              \
        return EventDescriptor->name;                                                              \
    }                                                                                              \
    static inline EVENT_DESCRIPTOR *EventDescSet##name(EVENT_DESCRIPTOR *EventDescriptor,          \
                                                       type name)                                  \
    {                                                                                              \
        EventDescriptor->name = name;                                                              \
        return EventDescriptor;                                                                    \
    }
ETWAS_EVENT_DESCRIPTOR_MEMBER(Id, uint16_t)
ETWAS_EVENT_DESCRIPTOR_MEMBER(Version, uint8_t)
ETWAS_EVENT_DESCRIPTOR_MEMBER(Channel, uint8_t)
ETWAS_EVENT_DESCRIPTOR_MEMBER(Level, uint8_t)
ETWAS_EVENT_DESCRIPTOR_MEMBER(Opcode, uint8_t)
ETWAS_EVENT_DESCRIPTOR_MEMBER(Task, uint16_t)
ETWAS_EVENT_DESCRIPTOR_MEMBER(Keyword, uint64_t)
#undef ETWAS_EVENT_DESCRIPTOR_MEMBER

static inline EVENT_DESCRIPTOR *EventDescOrKeyword(EVENT_DESCRIPTOR *EventDescriptor,
                                                   uint64_t Keyword)
{
    EventDescriptor->Keyword |= Keyword;
    return EventDescriptor;
}

/*
 * Computes the GUID that TraceLogging and EventSource derive from a provider's name if the program
 * specifies none. It is the same for a name in any case. It is wrong for a provider that chose its
 * GUID otherwise. Thread-safe; not async-signal-safe.
 *
 * ERROR_INVALID_PARAMETER: an argument is NULL; the name is empty, not UTF-8, or longer than 1,024
 *   units of UTF-16.
 */
uint32_t etwas_name_guid(const char *name, etwas_guid *guid) ETWAS_API(etwas_name_guid);

ETWAS_END_DECLS

#endif
