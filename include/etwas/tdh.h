/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TDH_H
#define ETWAS_TDH_H

/*
 * Descriptions of the fields of events: the structures and numbers of ETW's tdh.h. A file has them
 * in its event-metadata records, and <etwas/decode.h> returns every event's schema in this form.
 * The functions of TDH are not included.
 *
 * Offsets count bytes from the start of the structure that has them; 0: there is none. Strings are
 * UTF-16 with a terminating 0.
 */

#include <etwas/evntprov.h>
#include <etwas/types.h>

#include <stdint.h>

/* ETW page: "DECODING_SOURCE enumeration". */
typedef enum _DECODING_SOURCE {
    DecodingSourceXMLFile = 0,
    DecodingSourceWbem = 1, /* classic events */
    DecodingSourceWPP = 2,
    DecodingSourceTlg = 3,
    DecodingSourceMax = 4
} DECODING_SOURCE;

/* EVENT_PROPERTY_INFO.Flags. ETW page: "PROPERTY_FLAGS enumeration". */
typedef enum _PROPERTY_FLAGS {
    PropertyStruct = 0x1,
    PropertyParamLength = 0x2, /* lengthPropertyIndex is valid */
    PropertyParamCount = 0x4,  /* countPropertyIndex is valid */
    PropertyWBEMXmlFragment = 0x8,
    PropertyParamFixedLength = 0x10,
    PropertyParamFixedCount = 0x20,
    PropertyHasTags = 0x40,
    PropertyHasCustomSchema = 0x80
} PROPERTY_FLAGS;

/* ETW page: "TDH_IN_TYPE enumeration". */
enum _TDH_IN_TYPE {
    TDH_INTYPE_NULL,
    TDH_INTYPE_UNICODESTRING,
    TDH_INTYPE_ANSISTRING,
    TDH_INTYPE_INT8,
    TDH_INTYPE_UINT8,
    TDH_INTYPE_INT16,
    TDH_INTYPE_UINT16,
    TDH_INTYPE_INT32,
    TDH_INTYPE_UINT32,
    TDH_INTYPE_INT64,
    TDH_INTYPE_UINT64,
    TDH_INTYPE_FLOAT,
    TDH_INTYPE_DOUBLE,
    TDH_INTYPE_BOOLEAN, /* 4 bytes */
    TDH_INTYPE_BINARY,
    TDH_INTYPE_GUID,
    TDH_INTYPE_POINTER, /* as wide as the event's pointers */
    TDH_INTYPE_FILETIME,
    TDH_INTYPE_SYSTEMTIME,
    TDH_INTYPE_SID,
    TDH_INTYPE_HEXINT32,
    TDH_INTYPE_HEXINT64,
    TDH_INTYPE_MANIFEST_COUNTEDSTRING,     /* u16 bytes, then as many */
    TDH_INTYPE_MANIFEST_COUNTEDANSISTRING, /* likewise */
    TDH_INTYPE_RESERVED24,
    TDH_INTYPE_MANIFEST_COUNTEDBINARY, /* likewise */
    TDH_INTYPE_COUNTEDSTRING = 300,
    TDH_INTYPE_COUNTEDANSISTRING,
    TDH_INTYPE_REVERSEDCOUNTEDSTRING, /* the u16 is big-endian */
    TDH_INTYPE_REVERSEDCOUNTEDANSISTRING,
    TDH_INTYPE_NONNULLTERMINATEDSTRING, /* to the end of the payload */
    TDH_INTYPE_NONNULLTERMINATEDANSISTRING,
    TDH_INTYPE_UNICODECHAR,
    TDH_INTYPE_ANSICHAR,
    TDH_INTYPE_SIZET,
    TDH_INTYPE_HEXDUMP, /* u32 bytes, then as many */
    TDH_INTYPE_WBEMSID  /* TOKEN_USER, then a SID */
};

/*
 * The comparisons of a field's value; etwas_trigger_on_payload takes them. ETW page:
 * "PAYLOAD_OPERATOR enumeration".
 */
typedef enum _PAYLOAD_OPERATOR {
    PAYLOADFIELD_EQ = 0, /* integers, up to MODULO */
    PAYLOADFIELD_NE = 1,
    PAYLOADFIELD_LE = 2,
    PAYLOADFIELD_GT = 3,
    PAYLOADFIELD_LT = 4,
    PAYLOADFIELD_GE = 5,
    PAYLOADFIELD_BETWEEN = 6, /* both bounds belong to it: "10,20" */
    PAYLOADFIELD_NOTBETWEEN = 7,
    PAYLOADFIELD_MODULO = 8,    /* a multiple of the value */
    PAYLOADFIELD_CONTAINS = 20, /* strings */
    PAYLOADFIELD_DOESNTCONTAIN = 21,
    PAYLOADFIELD_IS = 30, /* strings, and integers too */
    PAYLOADFIELD_ISNOT = 31,
    PAYLOADFIELD_INVALID = 32
} PAYLOAD_OPERATOR;

/* ETW page: "TDH_OUT_TYPE enumeration". */
enum _TDH_OUT_TYPE {
    TDH_OUTTYPE_NULL,
    TDH_OUTTYPE_STRING,
    TDH_OUTTYPE_DATETIME,
    TDH_OUTTYPE_BYTE,
    TDH_OUTTYPE_UNSIGNEDBYTE,
    TDH_OUTTYPE_SHORT,
    TDH_OUTTYPE_UNSIGNEDSHORT,
    TDH_OUTTYPE_INT,
    TDH_OUTTYPE_UNSIGNEDINT,
    TDH_OUTTYPE_LONG,
    TDH_OUTTYPE_UNSIGNEDLONG,
    TDH_OUTTYPE_FLOAT,
    TDH_OUTTYPE_DOUBLE,
    TDH_OUTTYPE_BOOLEAN,
    TDH_OUTTYPE_GUID,
    TDH_OUTTYPE_HEXBINARY,
    TDH_OUTTYPE_HEXINT8,
    TDH_OUTTYPE_HEXINT16,
    TDH_OUTTYPE_HEXINT32,
    TDH_OUTTYPE_HEXINT64,
    TDH_OUTTYPE_PID,
    TDH_OUTTYPE_TID,
    TDH_OUTTYPE_PORT,
    TDH_OUTTYPE_IPV4,
    TDH_OUTTYPE_IPV6,
    TDH_OUTTYPE_SOCKETADDRESS,
    TDH_OUTTYPE_CIMDATETIME,
    TDH_OUTTYPE_ETWTIME,
    TDH_OUTTYPE_XML,
    TDH_OUTTYPE_ERRORCODE,
    TDH_OUTTYPE_WIN32ERROR,
    TDH_OUTTYPE_NTSTATUS,
    TDH_OUTTYPE_HRESULT,
    TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME,
    TDH_OUTTYPE_JSON,
    TDH_OUTTYPE_UTF8,
    TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO,
    TDH_OUTTYPE_CODE_POINTER,
    TDH_OUTTYPE_DATETIME_UTC,
    TDH_OUTTYPE_REDUCEDSTRING = 300,
    TDH_OUTTYPE_NOPRINT
};

/*
 * A field, a struct, or a member of a struct. Members follow all top-level properties.
 * ETW page: "EVENT_PROPERTY_INFO structure".
 */
__extension__ typedef struct _EVENT_PROPERTY_INFO {
    uint32_t Flags; /* PROPERTY_FLAGS */
    uint32_t NameOffset;
    union {
        struct {
            uint16_t InType;
            uint16_t OutType;
            uint32_t MapNameOffset;
        } nonStructType;
        struct {
            uint16_t StructStartIndex;
            uint16_t NumOfStructMembers;
            uint32_t padding;
        } structType; /* PropertyStruct */
        struct {
            uint16_t padding2;
            uint16_t OutType;
            uint32_t CustomSchemaOffset;
        } customSchemaType; /* PropertyHasCustomSchema */
    };
    union {
        uint16_t count; /* elements; 1: no array, unless PropertyParamFixedCount */
        uint16_t countPropertyIndex;
    };
    union {
        uint16_t length; /* bytes, of strings characters; 0: the type says it */
        uint16_t lengthPropertyIndex;
    };
    union {
        uint32_t Reserved;
        struct {
            uint32_t Tags : 28;
        };
    };
} EVENT_PROPERTY_INFO, *PEVENT_PROPERTY_INFO;
ETWAS_ASSERT_SIZE(EVENT_PROPERTY_INFO, 24);

/* TRACE_EVENT_INFO.Flags. */
typedef enum _TEMPLATE_FLAGS {
    TEMPLATE_EVENT_DATA = 1,
    TEMPLATE_USER_DATA = 2,
    TEMPLATE_CONTROL_GUID = 4
} TEMPLATE_FLAGS;

/* The description of an event. ETW page: "TRACE_EVENT_INFO structure". */
__extension__ typedef struct _TRACE_EVENT_INFO {
    etwas_guid ProviderGuid;
    etwas_guid EventGuid;
    EVENT_DESCRIPTOR EventDescriptor;
    DECODING_SOURCE DecodingSource;
    uint32_t ProviderNameOffset;
    uint32_t LevelNameOffset;
    uint32_t ChannelNameOffset;
    uint32_t KeywordsNameOffset; /* several strings, and an empty one */
    uint32_t TaskNameOffset;
    uint32_t OpcodeNameOffset;
    uint32_t EventMessageOffset;
    uint32_t ProviderMessageOffset;
    uint32_t BinaryXMLOffset;
    uint32_t BinaryXMLSize;
    union {
        uint32_t EventNameOffset;
        uint32_t ActivityIDNameOffset;
    };
    union {
        uint32_t EventAttributesOffset;
        uint32_t RelatedActivityIDNameOffset;
    };
    uint32_t PropertyCount;
    uint32_t TopLevelPropertyCount;
    union {
        TEMPLATE_FLAGS Flags;
        struct {
            uint32_t Reserved : 4;
            uint32_t Tags : 28;
        };
    };
    EVENT_PROPERTY_INFO EventPropertyInfoArray[1];
} TRACE_EVENT_INFO, *PTRACE_EVENT_INFO;
ETWAS_ASSERT_SIZE(TRACE_EVENT_INFO, 136);

/* EVENT_MAP_INFO.Flag. ETW page: "MAP_FLAGS enumeration". */
typedef enum _MAP_FLAGS {
    EVENTMAP_INFO_FLAG_MANIFEST_VALUEMAP = 0x1,
    EVENTMAP_INFO_FLAG_MANIFEST_BITMAP = 0x2,
    EVENTMAP_INFO_FLAG_MANIFEST_PATTERNMAP = 0x4,
    EVENTMAP_INFO_FLAG_WBEM_VALUEMAP = 0x8,
    EVENTMAP_INFO_FLAG_WBEM_BITMAP = 0x10,
    EVENTMAP_INFO_FLAG_WBEM_FLAG = 0x20,
    EVENTMAP_INFO_FLAG_WBEM_NO_MAP = 0x40
} MAP_FLAGS;

typedef enum _MAP_VALUETYPE {
    EVENTMAP_ENTRY_VALUETYPE_ULONG = 0,
    EVENTMAP_ENTRY_VALUETYPE_STRING = 1
} MAP_VALUETYPE;

/* ETW page: "EVENT_MAP_ENTRY structure". */
__extension__ typedef struct _EVENT_MAP_ENTRY {
    uint32_t OutputOffset; /* the text */
    union {
        uint32_t Value;
        uint32_t InputOffset;
    };
} EVENT_MAP_ENTRY, *PEVENT_MAP_ENTRY;
ETWAS_ASSERT_SIZE(EVENT_MAP_ENTRY, 8);

/* Names of values or of bits. ETW page: "EVENT_MAP_INFO structure". */
__extension__ typedef struct _EVENT_MAP_INFO {
    uint32_t NameOffset;
    MAP_FLAGS Flag;
    uint32_t EntryCount;
    union {
        MAP_VALUETYPE MapEntryValueType;
        uint32_t FormatStringOffset;
    };
    EVENT_MAP_ENTRY MapEntryArray[1];
} EVENT_MAP_INFO, *PEVENT_MAP_INFO;
ETWAS_ASSERT_SIZE(EVENT_MAP_INFO, 24);

#endif
