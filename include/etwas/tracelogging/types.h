/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TRACELOGGING_TYPES_H
#define ETWAS_TRACELOGGING_TYPES_H

/*
 * The types of fields, for TraceLoggingPackedField and its companions. Part of
 * <etwas/TraceLoggingProvider.h>.
 */

#include <etwas/types.h>

/* A string with its length in bytes, of TraceLoggingAnsiString and TraceLoggingUnicodeString. */
typedef struct etwas_ansi_string {
    uint16_t Length;
    uint16_t MaximumLength;
    char *Buffer;
} etwas_ansi_string;

typedef struct etwas_unicode_string {
    uint16_t Length;
    uint16_t MaximumLength;
    etwas_wchar *Buffer;
} etwas_unicode_string;

#ifndef ETWAS_NO_WINDOWS_TYPES
typedef etwas_ansi_string ANSI_STRING, *PANSI_STRING;
typedef etwas_unicode_string UNICODE_STRING, *PUNICODE_STRING;
#endif

/* The type of a field in the event's data. */
enum TlgIn_t {
    TlgInNULL = 0,
    TlgInUNICODESTRING = 1, /* UTF-16 to its NUL */
    TlgInANSISTRING = 2,    /* bytes to their NUL */
    TlgInINT8 = 3,
    TlgInUINT8 = 4,
    TlgInINT16 = 5,
    TlgInUINT16 = 6,
    TlgInINT32 = 7,
    TlgInUINT32 = 8,
    TlgInINT64 = 9,
    TlgInUINT64 = 10,
    TlgInFLOAT = 11,
    TlgInDOUBLE = 12,
    TlgInBOOL32 = 13,
    TlgInBINARY = 14, /* a length in 16 bits, then so many bytes */
    TlgInGUID = 15,
    TlgInFILETIME = 17,
    TlgInSYSTEMTIME = 18,
    TlgInSID = 19,
    TlgInHEXINT32 = 20,
    TlgInHEXINT64 = 21,
    TlgInCOUNTEDSTRING = 22,     /* a length in bytes in 16 bits, then UTF-16 */
    TlgInCOUNTEDANSISTRING = 23, /* a length in 16 bits, then characters */
    TlgInCOUNTEDBINARY = 25,     /* as TlgInBINARY, also in arrays */
    TlgInVcount = 0x40,          /* with any of them: a count in 16 bits, then so many */
    TlgInINTPTR = TlgInINT64,
    TlgInUINTPTR = TlgInUINT64,
    TlgInPOINTER = TlgInHEXINT64,
    TlgInLONG = TlgInINT64, /* of a `long`, as it is here */
    TlgInULONG = TlgInUINT64,
    TlgInHEXLONG = TlgInHEXINT64
};

/* The form in which a field is shown. */
enum TlgOut_t {
    TlgOutNULL = 0, /* as its type is */
    TlgOutNOPRINT = 1,
    TlgOutSTRING = 2,
    TlgOutBOOLEAN = 3,
    TlgOutHEX = 4,
    TlgOutPID = 5,
    TlgOutTID = 6,
    TlgOutPORT = 7,
    TlgOutIPV4 = 8,
    TlgOutIPV6 = 9,
    TlgOutSOCKETADDRESS = 10,
    TlgOutXML = 11,
    TlgOutJSON = 12,
    TlgOutWIN32ERROR = 13,
    TlgOutNTSTATUS = 14,
    TlgOutHRESULT = 15,
    TlgOutFILETIME = 16,
    TlgOutSIGNED = 17,
    TlgOutUNSIGNED = 18,
    TlgOutUTF8 = 35,
    TlgOutPKCS7_WITH_TYPE_INFO = 36,
    TlgOutCODE_POINTER = 37,
    TlgOutDATETIME_UTC = 38
};

#endif
