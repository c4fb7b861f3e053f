/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TYPES_H
#define ETWAS_TYPES_H

/*
 * Base types of every etwas header, under names of our own.
 *
 * Structures and prototypes use only these and <stdint.h>, so that the headers compile together
 * with a host's own DWORD or GUID (see windows_types.h).
 */

#include <stddef.h>
#include <stdint.h>
#ifndef __cplusplus
#include <uchar.h>
#endif

#if !defined(__LP64__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "etwas needs a 64-bit little-endian target"
#endif

#ifdef __cplusplus
#define ETWAS_BEGIN_DECLS extern "C" {
#define ETWAS_END_DECLS }
#define ETWAS_STATIC_ASSERT(condition, message) static_assert(condition, message)
#else
#define ETWAS_BEGIN_DECLS
#define ETWAS_END_DECLS
#define ETWAS_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
#endif

/* The sizes are ETW's: a structure that fails here does not match the files or the documents. */
#define ETWAS_ASSERT_SIZE(type, bytes) ETWAS_STATIC_ASSERT(sizeof(type) == (bytes), #type)

/*
 * An exported name. The assembler label keeps our symbols apart from those of any other library
 * in the process that exports StartTrace, TraceEvent or GetLastError.
 */
#define ETWAS_API(symbol) __asm__(#symbol) __attribute__((visibility("default")))

/* The label of an unsuffixed name: the A function, or the W function under UNICODE. */
#if defined(UNICODE) || defined(_UNICODE)
#define ETWAS_API_AW(name) ETWAS_API(etwas_##name##W)
#else
#define ETWAS_API_AW(name) ETWAS_API(etwas_##name##A)
#endif

/* A UTF-16 literal: ETWAS_TEXT("name") where a Windows program writes L"name". */
#define ETWAS_TEXT_LITERAL(text) u##text
#define ETWAS_TEXT(text) ETWAS_TEXT_LITERAL(text)

/* One UTF-16 code unit. The L"..." of Linux is 32 bits wide and does not fit. */
typedef char16_t etwas_wchar;

/* The character of unsuffixed names: UTF-8, or UTF-16 under UNICODE. */
#if defined(UNICODE) || defined(_UNICODE)
typedef etwas_wchar etwas_tchar;
#else
typedef char etwas_tchar;
#endif

typedef void *etwas_handle;

/* A session, a registration or an open trace: never a pointer, 0 is never valid. */
typedef uint64_t etwas_trace_handle;

typedef struct etwas_guid {
    uint32_t Data1;
    uint16_t Data2;
    uint16_t Data3;
    uint8_t Data4[8];
} etwas_guid;

/* 100 ns units since 1601-01-01 UTC, in two halves. */
typedef struct etwas_filetime {
    uint32_t dwLowDateTime;
    uint32_t dwHighDateTime;
} etwas_filetime;

__extension__ typedef union etwas_large_integer {
    struct {
        uint32_t LowPart;
        int32_t HighPart;
    };
    struct {
        uint32_t LowPart;
        int32_t HighPart;
    } u;
    int64_t QuadPart;
} etwas_large_integer;

__extension__ typedef union etwas_ularge_integer {
    struct {
        uint32_t LowPart;
        uint32_t HighPart;
    };
    struct {
        uint32_t LowPart;
        uint32_t HighPart;
    } u;
    uint64_t QuadPart;
} etwas_ularge_integer;

typedef struct etwas_systemtime {
    uint16_t wYear;
    uint16_t wMonth;
    uint16_t wDayOfWeek;
    uint16_t wDay;
    uint16_t wHour;
    uint16_t wMinute;
    uint16_t wSecond;
    uint16_t wMilliseconds;
} etwas_systemtime;

typedef struct etwas_time_zone_information {
    int32_t Bias; /* minutes: UTC = local time + Bias */
    etwas_wchar StandardName[32];
    etwas_systemtime StandardDate;
    int32_t StandardBias;
    etwas_wchar DaylightName[32];
    etwas_systemtime DaylightDate;
    int32_t DaylightBias;
} etwas_time_zone_information;

ETWAS_ASSERT_SIZE(etwas_wchar, 2);
ETWAS_ASSERT_SIZE(etwas_guid, 16);
ETWAS_ASSERT_SIZE(etwas_filetime, 8);
ETWAS_ASSERT_SIZE(etwas_large_integer, 8);
ETWAS_ASSERT_SIZE(etwas_ularge_integer, 8);
ETWAS_ASSERT_SIZE(etwas_systemtime, 16);
ETWAS_ASSERT_SIZE(etwas_time_zone_information, 172);

#endif
