/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_WMISTR_H
#define ETWAS_WMISTR_H

/*
 * WNODE_HEADER, its flags, and the request codes of a provider's control callback.
 */

#include <etwas/types.h>

#ifndef ETWAS_NO_WINDOWS_TYPES
#include <etwas/windows_types.h>
#endif

/*
 * The head of EVENT_TRACE_PROPERTIES, and the structure that a control callback gets. ETW page:
 * "WNODE_HEADER structure".
 */
__extension__ typedef struct _WNODE_HEADER {
    uint32_t BufferSize; /* in: bytes of the whole allocation, structure and both names */
    uint32_t ProviderId; /* reserved */
    union {
        uint64_t HistoricalContext; /* out: the session's handle */
        struct {
            uint32_t Version; /* reserved */
            uint32_t Linkage; /* reserved */
        };
    };
    union {
        uint32_t CountLost;            /* reserved */
        etwas_handle KernelHandle;     /* reserved */
        etwas_large_integer TimeStamp; /* out: when filled, 100 ns units since 1601 */
    };
    etwas_guid Guid;        /* in and out: the session's GUID */
    uint32_t ClientContext; /* in and out: the clock, 0 or 1 QPC, 2 system time, 3 cycle counter */
    uint32_t Flags;         /* in: WNODE_FLAG_TRACED_GUID, always */
} WNODE_HEADER, *PWNODE_HEADER;
ETWAS_ASSERT_SIZE(WNODE_HEADER, 48);

#define WNODE_FLAG_ALL_DATA 0x00000001u
#define WNODE_FLAG_SINGLE_INSTANCE 0x00000002u
#define WNODE_FLAG_SINGLE_ITEM 0x00000004u
#define WNODE_FLAG_EVENT_ITEM 0x00000008u
#define WNODE_FLAG_FIXED_INSTANCE_SIZE 0x00000010u
#define WNODE_FLAG_TOO_SMALL 0x00000020u
#define WNODE_FLAG_INSTANCES_SAME 0x00000040u
#define WNODE_FLAG_STATIC_INSTANCE_NAMES 0x00000080u
#define WNODE_FLAG_INTERNAL 0x00000100u
#define WNODE_FLAG_USE_TIMESTAMP 0x00000200u
#define WNODE_FLAG_PERSIST_EVENT 0x00000400u
#define WNODE_FLAG_EVENT_REFERENCE 0x00002000u
#define WNODE_FLAG_ANSI_INSTANCENAMES 0x00004000u
#define WNODE_FLAG_METHOD_ITEM 0x00008000u
#define WNODE_FLAG_PDO_INSTANCE_NAMES 0x00010000u
#define WNODE_FLAG_TRACED_GUID 0x00020000u
#define WNODE_FLAG_LOG_WNODE 0x00040000u
#define WNODE_FLAG_USE_GUID_PTR 0x00080000u
#define WNODE_FLAG_USE_MOF_PTR 0x00100000u
#define WNODE_FLAG_NO_HEADER 0x00200000u
#define WNODE_FLAG_SEND_DATA_BLOCK 0x00400000u
#define WNODE_FLAG_VERSIONED_PROPERTIES 0x00800000u
#define WNODE_FLAG_SEVERITY_MASK 0xFF000000u

/* Rights of EventAccessControl. */
#define WMIGUID_QUERY 0x0001u
#define WMIGUID_SET 0x0002u
#define WMIGUID_NOTIFICATION 0x0004u
#define WMIGUID_READ_DESCRIPTION 0x0008u
#define WMIGUID_EXECUTE 0x0010u
#define TRACELOG_CREATE_REALTIME 0x0020u
#define TRACELOG_CREATE_ONDISK 0x0040u
#define TRACELOG_GUID_ENABLE 0x0080u
#define TRACELOG_ACCESS_KERNEL_LOGGER 0x0100u
#define TRACELOG_LOG_EVENT 0x0200u
#define TRACELOG_CREATE_INPROC 0x0200u
#define TRACELOG_ACCESS_REALTIME 0x0400u
#define TRACELOG_REGISTER_GUIDS 0x0800u
#define TRACELOG_JOIN_GROUP 0x1000u

/*
 * ETW sends ENABLE_EVENTS, DISABLE_EVENTS and CAPTURE_STATE.
 * ETW page: "WMIDPREQUEST callback function".
 */
typedef enum {
    WMI_GET_ALL_DATA = 0,
    WMI_GET_SINGLE_INSTANCE = 1,
    WMI_SET_SINGLE_INSTANCE = 2,
    WMI_SET_SINGLE_ITEM = 3,
    WMI_ENABLE_EVENTS = 4,
    WMI_DISABLE_EVENTS = 5,
    WMI_ENABLE_COLLECTION = 6,
    WMI_DISABLE_COLLECTION = 7,
    WMI_REGINFO = 8,
    WMI_EXECUTE_METHOD = 9,
    WMI_CAPTURE_STATE = 10
} WMIDPREQUESTCODE;

#endif
