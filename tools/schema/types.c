/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Names of types, as in instrumentation manifests without `win:` and `xs:`. */

#include "schema/schema.h"

const char *etwas_schema_in_type(uint16_t type)
{
    static const char *const names[] = {
        "Null",
        "UnicodeString",
        "AnsiString",
        "Int8",
        "UInt8",
        "Int16",
        "UInt16",
        "Int32",
        "UInt32",
        "Int64",
        "UInt64",
        "Float",
        "Double",
        "Boolean",
        "Binary",
        "GUID",
        "Pointer",
        "FILETIME",
        "SYSTEMTIME",
        "SID",
        "HexInt32",
        "HexInt64",
        "CountedUnicodeString",
        "CountedAnsiString",
        "",
        "CountedBinary",
    };
    static const char *const classic_names[] = {
        "CountedString",
        "CountedAnsiString",
        "ReversedCountedString",
        "ReversedCountedAnsiString",
        "NonNullTerminatedString",
        "NonNullTerminatedAnsiString",
        "UnicodeChar",
        "AnsiChar",
        "SizeT",
        "HexDump",
        "WbemSID",
    };

    if (type < sizeof names / sizeof names[0]) {
        return names[type];
    }
    if (type >= TDH_INTYPE_COUNTEDSTRING &&
        type < TDH_INTYPE_COUNTEDSTRING + sizeof classic_names / sizeof classic_names[0]) {
        return classic_names[type - TDH_INTYPE_COUNTEDSTRING];
    }
    return "";
}

/* Returns the out-type that adds nothing to the in-type; NULL if there is none. */
static uint16_t plain_out_type(uint16_t in_type)
{
    static const uint8_t plain[] = {
        [TDH_INTYPE_UNICODESTRING] = TDH_OUTTYPE_STRING,
        [TDH_INTYPE_ANSISTRING] = TDH_OUTTYPE_STRING,
        [TDH_INTYPE_INT8] = TDH_OUTTYPE_BYTE,
        [TDH_INTYPE_UINT8] = TDH_OUTTYPE_UNSIGNEDBYTE,
        [TDH_INTYPE_INT16] = TDH_OUTTYPE_SHORT,
        [TDH_INTYPE_UINT16] = TDH_OUTTYPE_UNSIGNEDSHORT,
        [TDH_INTYPE_INT32] = TDH_OUTTYPE_INT,
        [TDH_INTYPE_UINT32] = TDH_OUTTYPE_UNSIGNEDINT,
        [TDH_INTYPE_INT64] = TDH_OUTTYPE_LONG,
        [TDH_INTYPE_UINT64] = TDH_OUTTYPE_UNSIGNEDLONG,
        [TDH_INTYPE_FLOAT] = TDH_OUTTYPE_FLOAT,
        [TDH_INTYPE_DOUBLE] = TDH_OUTTYPE_DOUBLE,
        [TDH_INTYPE_BOOLEAN] = TDH_OUTTYPE_BOOLEAN,
        [TDH_INTYPE_BINARY] = TDH_OUTTYPE_HEXBINARY,
        [TDH_INTYPE_GUID] = TDH_OUTTYPE_GUID,
        [TDH_INTYPE_POINTER] = TDH_OUTTYPE_HEXINT64,
        [TDH_INTYPE_FILETIME] = TDH_OUTTYPE_DATETIME,
        [TDH_INTYPE_SYSTEMTIME] = TDH_OUTTYPE_DATETIME,
        [TDH_INTYPE_SID] = TDH_OUTTYPE_STRING,
        [TDH_INTYPE_HEXINT32] = TDH_OUTTYPE_HEXINT32,
        [TDH_INTYPE_HEXINT64] = TDH_OUTTYPE_HEXINT64,
        [TDH_INTYPE_MANIFEST_COUNTEDSTRING] = TDH_OUTTYPE_STRING,
        [TDH_INTYPE_MANIFEST_COUNTEDANSISTRING] = TDH_OUTTYPE_STRING,
        [TDH_INTYPE_MANIFEST_COUNTEDBINARY] = TDH_OUTTYPE_HEXBINARY,
    };

    return in_type < sizeof plain / sizeof plain[0] ? plain[in_type] : TDH_OUTTYPE_STRING;
}

const char *etwas_schema_out_type(uint16_t in_type, uint16_t out_type)
{
    static const char *const names[] = {
        "",
        "String",
        "DateTime",
        "Byte",
        "UnsignedByte",
        "Short",
        "UnsignedShort",
        "Int",
        "UnsignedInt",
        "Long",
        "UnsignedLong",
        "Float",
        "Double",
        "Boolean",
        "GUID",
        "HexBinary",
        "HexInt8",
        "HexInt16",
        "HexInt32",
        "HexInt64",
        "PID",
        "TID",
        "Port",
        "IPv4",
        "IPv6",
        "SocketAddress",
        "CIMDateTime",
        "ETWTime",
        "Xml",
        "ErrorCode",
        "Win32Error",
        "NTSTATUS",
        "HResult",
        "DateTimeCultureInsensitive",
        "Json",
        "Utf8",
        "Pkcs7WithTypeInfo",
        "CodePointer",
        "DateTimeUtc",
    };

    if (out_type == plain_out_type(in_type)) {
        return "";
    }
    if (out_type < sizeof names / sizeof names[0]) {
        return names[out_type];
    }
    return out_type == TDH_OUTTYPE_REDUCEDSTRING ? "ReducedString"
           : out_type == TDH_OUTTYPE_NOPRINT     ? "NoPrint"
                                                 : "";
}

const char *etwas_schema_source(const etwas_schema *schema)
{
    switch (schema->info->DecodingSource) {
    case DecodingSourceXMLFile:
        return "manifest";
    case DecodingSourceWbem:
        return "classic";
    case DecodingSourceWPP:
        return "message";
    case DecodingSourceTlg:
        return "tracelogging";
    default:
        return "unknown";
    }
}

const void *etwas_schema_entry_text(const EVENT_MAP_INFO *map, uint32_t entry, size_t *units)
{
    const char *text = (const char *)map + map->MapEntryArray[entry].OutputOffset;

    for (*units = 0; text[2 * *units] != 0 || text[2 * *units + 1] != 0; (*units)++) {
    }
    /* Texts of manifests end with a space. */
    if (*units > 0 && text[2 * *units - 2] == ' ' && text[2 * *units - 1] == 0) {
        (*units)--;
    }
    return text;
}
