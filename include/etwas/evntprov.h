/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_EVNTPROV_H
#define ETWAS_EVNTPROV_H

/*
 * Event descriptors and filters: what consumers and session properties need of ETW's evntprov.h.
 * The functions of modern providers are not in this release.
 */

#include <etwas/types.h>

#ifndef ETWAS_NO_WINDOWS_TYPES
#include <etwas/windows_types.h>
#endif

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

/* What a session asks of a provider. */
#define EVENT_CONTROL_CODE_DISABLE_PROVIDER 0u
#define EVENT_CONTROL_CODE_ENABLE_PROVIDER 1u
#define EVENT_CONTROL_CODE_CAPTURE_STATE 2u

/* What a modern event is. ETW page: "EVENT_DESCRIPTOR structure". */
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

#endif
