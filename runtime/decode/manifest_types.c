/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "decode/manifest.h"

#include <etwas/tdh.h>
#include <string.h>

struct manifest_type {
    const char *name;
    uint16_t number;
};

static const struct manifest_type in_types[] = {
    {"UnicodeString", TDH_INTYPE_UNICODESTRING},
    {"AnsiString", TDH_INTYPE_ANSISTRING},
    {"Int8", TDH_INTYPE_INT8},
    {"UInt8", TDH_INTYPE_UINT8},
    {"Int16", TDH_INTYPE_INT16},
    {"UInt16", TDH_INTYPE_UINT16},
    {"Int32", TDH_INTYPE_INT32},
    {"UInt32", TDH_INTYPE_UINT32},
    {"Int64", TDH_INTYPE_INT64},
    {"UInt64", TDH_INTYPE_UINT64},
    {"Float", TDH_INTYPE_FLOAT},
    {"Double", TDH_INTYPE_DOUBLE},
    {"Boolean", TDH_INTYPE_BOOLEAN},
    {"Binary", TDH_INTYPE_BINARY},
    {"GUID", TDH_INTYPE_GUID},
    {"Pointer", TDH_INTYPE_POINTER},
    {"FILETIME", TDH_INTYPE_FILETIME},
    {"SYSTEMTIME", TDH_INTYPE_SYSTEMTIME},
    {"SID", TDH_INTYPE_SID},
    {"HexInt32", TDH_INTYPE_HEXINT32},
    {"HexInt64", TDH_INTYPE_HEXINT64},
    {"CountedUnicodeString", TDH_INTYPE_MANIFEST_COUNTEDSTRING},
    {"CountedAnsiString", TDH_INTYPE_MANIFEST_COUNTEDANSISTRING},
    {"CountedBinary", TDH_INTYPE_MANIFEST_COUNTEDBINARY},
};

static const struct manifest_type out_types[] = {
    {"xs:string", TDH_OUTTYPE_STRING},
    {"xs:dateTime", TDH_OUTTYPE_DATETIME},
    {"xs:byte", TDH_OUTTYPE_BYTE},
    {"xs:unsignedByte", TDH_OUTTYPE_UNSIGNEDBYTE},
    {"xs:short", TDH_OUTTYPE_SHORT},
    {"xs:unsignedShort", TDH_OUTTYPE_UNSIGNEDSHORT},
    {"xs:int", TDH_OUTTYPE_INT},
    {"xs:unsignedInt", TDH_OUTTYPE_UNSIGNEDINT},
    {"xs:long", TDH_OUTTYPE_LONG},
    {"xs:unsignedLong", TDH_OUTTYPE_UNSIGNEDLONG},
    {"xs:float", TDH_OUTTYPE_FLOAT},
    {"xs:double", TDH_OUTTYPE_DOUBLE},
    {"xs:boolean", TDH_OUTTYPE_BOOLEAN},
    {"xs:GUID", TDH_OUTTYPE_GUID},
    {"xs:hexBinary", TDH_OUTTYPE_HEXBINARY},
    {"win:HexInt8", TDH_OUTTYPE_HEXINT8},
    {"win:HexInt16", TDH_OUTTYPE_HEXINT16},
    {"win:HexInt32", TDH_OUTTYPE_HEXINT32},
    {"win:HexInt64", TDH_OUTTYPE_HEXINT64},
    {"win:PID", TDH_OUTTYPE_PID},
    {"win:TID", TDH_OUTTYPE_TID},
    {"win:Port", TDH_OUTTYPE_PORT},
    {"win:IPv4", TDH_OUTTYPE_IPV4},
    {"win:IPv6", TDH_OUTTYPE_IPV6},
    {"win:SocketAddress", TDH_OUTTYPE_SOCKETADDRESS},
    {"win:CIMDateTime", TDH_OUTTYPE_CIMDATETIME},
    {"win:ETWTIME", TDH_OUTTYPE_ETWTIME},
    {"win:Xml", TDH_OUTTYPE_XML},
    {"win:ErrorCode", TDH_OUTTYPE_ERRORCODE},
    {"win:Win32Error", TDH_OUTTYPE_WIN32ERROR},
    {"win:NTSTATUS", TDH_OUTTYPE_NTSTATUS},
    {"win:HResult", TDH_OUTTYPE_HRESULT},
    {"win:DateTimeCultureInsensitive", TDH_OUTTYPE_CULTURE_INSENSITIVE_DATETIME},
    {"win:Json", TDH_OUTTYPE_JSON},
    {"win:Utf8", TDH_OUTTYPE_UTF8},
    {"win:Pkcs7WithTypeInfo", TDH_OUTTYPE_PKCS7_WITH_TYPE_INFO},
    {"win:CodePointer", TDH_OUTTYPE_CODE_POINTER},
    {"win:DateTimeUtc", TDH_OUTTYPE_DATETIME_UTC},
    {"win:NoPrint", TDH_OUTTYPE_NOPRINT},
};

#define WORD(kind, word, number, text)                                                             \
    {                                                                                              \
        .name = {ETWAS_MANIFEST_##kind, NULL, word}, .value = (number), .message = (text)          \
    }

static const struct etwas_manifest_value predefined[] = {
    WORD(LEVEL, "win:LogAlways", 0, "Log Always"),
    WORD(LEVEL, "win:Critical", 1, "Critical"),
    WORD(LEVEL, "win:Error", 2, "Error"),
    WORD(LEVEL, "win:Warning", 3, "Warning"),
    WORD(LEVEL, "win:Informational", 4, "Information"),
    WORD(LEVEL, "win:Verbose", 5, "Verbose"),
    WORD(OPCODE, "win:Info", 0, "Info"),
    WORD(OPCODE, "win:Start", 1, "Start"),
    WORD(OPCODE, "win:Stop", 2, "Stop"),
    WORD(OPCODE, "win:DC_Start", 3, "DCStart"),
    WORD(OPCODE, "win:DC_Stop", 4, "DCStop"),
    WORD(OPCODE, "win:Extension", 5, "Extension"),
    WORD(OPCODE, "win:Reply", 6, "Reply"),
    WORD(OPCODE, "win:Resume", 7, "Resume"),
    WORD(OPCODE, "win:Suspend", 8, "Suspend"),
    WORD(OPCODE, "win:Send", 9, "Send"),
    WORD(OPCODE, "win:Receive", 240, "Receive"),
    WORD(CHANNEL, "TraceClassic", 0, "TraceClassic"),
    WORD(CHANNEL, "System", 8, "System"),
    WORD(CHANNEL, "Application", 9, "Application"),
    WORD(CHANNEL, "Security", 10, "Security"),
    WORD(CHANNEL, "TraceLogging", 11, "TraceLogging"),
    WORD(CHANNEL, "ProviderMetadata", 12, "ProviderMetadata"),
    WORD(KEYWORD, "win:ResponseTime", UINT64_C(1) << 48, "Response Time"),
    WORD(KEYWORD, "win:WDIDiag", UINT64_C(1) << 50, "WDI Diag"),
    WORD(KEYWORD, "win:SQM", UINT64_C(1) << 51, "SQM"),
    WORD(KEYWORD, "win:AuditFailure", UINT64_C(1) << 52, "Audit Failure"),
    WORD(KEYWORD, "win:AuditSuccess", UINT64_C(1) << 53, "Audit Success"),
    WORD(KEYWORD, "win:CorrelationHint", UINT64_C(1) << 54, "Correlation Hint"),
    WORD(KEYWORD, "win:EventlogClassic", UINT64_C(1) << 55, "Classic"),
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool manifest_find_type(const struct manifest_type *types, size_t count, const char *name,
                               uint16_t *number)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(types[i].name, name) == 0) {
            *number = types[i].number;
            return true;
        }
    }
    return false;
}

bool etwas_manifest_in_type(const char *name, uint16_t *in_type)
{
    const char *colon = strchr(name, ':');

    return manifest_find_type(in_types, COUNT(in_types), colon == NULL ? name : colon + 1, in_type);
}

bool etwas_manifest_out_type(const char *name, uint16_t *out_type)
{
    return manifest_find_type(out_types, COUNT(out_types), name, out_type);
}

const struct etwas_manifest_value *etwas_manifest_predefined(enum etwas_manifest_kind kind,
                                                             const char *name, size_t name_bytes)
{
    for (size_t i = 0; i < COUNT(predefined); i++) {
        if (predefined[i].name.kind == kind && strlen(predefined[i].name.name) == name_bytes &&
            memcmp(predefined[i].name.name, name, name_bytes) == 0) {
            return &predefined[i];
        }
    }
    return NULL;
}
