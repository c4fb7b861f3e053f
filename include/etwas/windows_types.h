/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_WINDOWS_TYPES_H
#define ETWAS_WINDOWS_TYPES_H

/*
 * The Windows names of the base types, for programs written for Windows.
 *
 * The other headers include this one unless ETWAS_NO_WINDOWS_TYPES is defined. Define that where
 * another header brings its own names (unixODBC, pcsc-lite, winpr), and include that header first.
 * BOOL is in <etwas/windows_bool.h>.
 * ETW's own names (EVENT_TRACE_PROPERTIES, TRACEHANDLE) are in the other headers and always there.
 */

#include <string.h>

#include <etwas/types.h>

#ifndef VOID
#define VOID void
#endif

typedef char CHAR;
typedef int8_t INT8;
typedef uint8_t BYTE, UCHAR, UINT8, BOOLEAN;
typedef int16_t SHORT, INT16;
typedef uint16_t WORD, USHORT, UINT16;
typedef int32_t INT, INT32, LONG, LONG32, HRESULT;
typedef uint32_t DWORD, UINT, UINT32, ULONG, ULONG32, DWORD32;
typedef int64_t INT64, LONGLONG;
#ifndef LONG64 /* X has a macro of that name */
typedef int64_t LONG64;
#endif
typedef uint64_t UINT64, ULONG64, ULONGLONG, DWORD64, DWORDLONG;
typedef intptr_t INT_PTR, LONG_PTR;
typedef uintptr_t UINT_PTR, ULONG_PTR, DWORD_PTR;
typedef size_t SIZE_T;
typedef etwas_wchar WCHAR;
typedef etwas_tchar TCHAR;
typedef etwas_handle HANDLE;

typedef void *PVOID, *LPVOID;
typedef const void *LPCVOID;
typedef CHAR *PCHAR, *PSTR, *LPSTR;
typedef const CHAR *PCSTR, *LPCSTR;
typedef WCHAR *PWCHAR, *PWSTR, *LPWSTR;
typedef const WCHAR *PCWSTR, *LPCWSTR;
typedef TCHAR *PTSTR, *LPTSTR;
typedef const TCHAR *PCTSTR, *LPCTSTR;
typedef BYTE *PBYTE, *LPBYTE;
typedef UCHAR *PUCHAR;
typedef BOOLEAN *PBOOLEAN;
typedef USHORT *PUSHORT;
typedef WORD *PWORD, *LPWORD;
typedef LONG *PLONG, *LPLONG;
typedef ULONG *PULONG;
typedef DWORD *PDWORD, *LPDWORD;
typedef UINT *PUINT;
typedef LONGLONG *PLONGLONG;
typedef ULONGLONG *PULONGLONG;
typedef ULONG64 *PULONG64;
typedef HANDLE *PHANDLE, *LPHANDLE;

typedef etwas_guid GUID;
typedef GUID *PGUID, *LPGUID;
typedef const GUID *LPCGUID;
typedef etwas_filetime FILETIME;
typedef FILETIME *PFILETIME, *LPFILETIME;
typedef etwas_systemtime SYSTEMTIME;
typedef SYSTEMTIME *PSYSTEMTIME, *LPSYSTEMTIME;
typedef etwas_large_integer LARGE_INTEGER;
typedef LARGE_INTEGER *PLARGE_INTEGER;
typedef etwas_ularge_integer ULARGE_INTEGER;
typedef ULARGE_INTEGER *PULARGE_INTEGER;
typedef etwas_time_zone_information TIME_ZONE_INFORMATION;
typedef TIME_ZONE_INFORMATION *PTIME_ZONE_INFORMATION, *LPTIME_ZONE_INFORMATION;

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif
#ifndef ANYSIZE_ARRAY
#define ANYSIZE_ARRAY 1
#endif
#ifndef INFINITE
#define INFINITE 0xFFFFFFFF
#endif
#ifndef INVALID_HANDLE_VALUE
#define INVALID_HANDLE_VALUE ((HANDLE)(LONG_PTR)-1)
#endif

/* Linux has one calling convention. */
#ifndef WINAPI
#define WINAPI
#endif
#ifndef WMIAPI
#define WMIAPI
#endif
#ifndef EVNTAPI
#define EVNTAPI
#endif
#ifndef NTAPI
#define NTAPI
#endif
#ifndef CALLBACK
#define CALLBACK
#endif
#ifndef __cdecl
#define __cdecl
#endif

/*
 * DEFINE_GUID declares a GUID, and defines it where INITGUID is defined. The definition is weak,
 * as on Windows, so several files may hold the same one. ETW's own GUIDs are in the library and
 * need no INITGUID.
 */
#ifndef DEFINE_GUID
#ifdef __cplusplus
#define ETWAS_EXTERN_GUID extern "C"
#else
#define ETWAS_EXTERN_GUID extern
#endif
#ifdef INITGUID
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                               \
    ETWAS_EXTERN_GUID const etwas_guid name __attribute__((weak));                                 \
    const etwas_guid name = {l, w1, w2, {b1, b2, b3, b4, b5, b6, b7, b8}}
#else
#define DEFINE_GUID(name, l, w1, w2, b1, b2, b3, b4, b5, b6, b7, b8)                               \
    ETWAS_EXTERN_GUID const etwas_guid name
#endif
#endif

/* Pointers in C and references in C++, as on Windows. */
#ifdef __cplusplus
static inline int IsEqualGUID(const etwas_guid &left, const etwas_guid &right)
{
    return memcmp(&left, &right, sizeof(etwas_guid)) == 0;
}
static inline bool operator==(const etwas_guid &left, const etwas_guid &right)
{
    return IsEqualGUID(left, right) != 0;
}
static inline bool operator!=(const etwas_guid &left, const etwas_guid &right)
{
    return IsEqualGUID(left, right) == 0;
}
#else
static inline int IsEqualGUID(const etwas_guid *left, const etwas_guid *right)
{
    return memcmp(left, right, sizeof(etwas_guid)) == 0;
}
#endif

#endif
