/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * No Windows name of a base type exists under ETWAS_NO_WINDOWS_TYPES, so a program may give each
 * one a meaning of its own, also after our headers. Compiles as C and as C++.
 */

#define ETWAS_NO_WINDOWS_TYPES

#include <etwas/KernelTraceControl.h>
#include <etwas/TraceLoggingActivity.h>
#include <etwas/etwas.h>
#include <etwas/evntcons.h>
#include <etwas/evntprov.h>
#include <etwas/evntrace.h>
#include <etwas/winerror.h>
#include <etwas/wmistr.h>

#if defined(TRUE) || defined(FALSE) || defined(VOID) || defined(INFINITE) ||                       \
    defined(INVALID_HANDLE_VALUE) || defined(WINAPI) || defined(WMIAPI) || defined(EVNTAPI) ||     \
    defined(NTAPI) || defined(CALLBACK) || defined(DEFINE_GUID) || defined(ANYSIZE_ARRAY)
#error "a Windows macro of the base types is defined"
#endif

struct own {
    double value;
};

typedef struct own BOOL, BOOLEAN, BYTE, CHAR, DWORD, DWORD32, DWORD64, DWORDLONG, DWORD_PTR;
typedef struct own FILETIME, GUID, HANDLE, INT, INT16, INT32, INT64, INT8, INT_PTR, LARGE_INTEGER;
typedef struct own LONG, LONG32, LONG64, LONGLONG, LONG_PTR, SHORT, SIZE_T, SYSTEMTIME, TCHAR;
typedef struct own TIME_ZONE_INFORMATION, UCHAR, UINT, UINT16, UINT32, UINT64, UINT8, UINT_PTR;
typedef struct own ULARGE_INTEGER, ULONG, ULONG32, ULONG64, ULONGLONG, ULONG_PTR, USHORT, WCHAR;
typedef struct own WORD, VOID;
typedef struct own *LPBOOL, *LPBYTE, *LPCGUID, *LPCSTR, *LPCTSTR, *LPCVOID, *LPCWSTR, *LPDWORD;
typedef struct own *LPFILETIME, *LPGUID, *LPHANDLE, *LPLONG, *LPSTR, *LPSYSTEMTIME, *LPTSTR;
typedef struct own *LPTIME_ZONE_INFORMATION, *LPVOID, *LPWORD, *LPWSTR, *PBOOL, *PBOOLEAN, *PBYTE;
typedef struct own *PCHAR, *PCSTR, *PCTSTR, *PCWSTR, *PDWORD, *PFILETIME, *PGUID, *PHANDLE;
typedef struct own *PLARGE_INTEGER, *PLONG, *PLONGLONG, *PSTR, *PSYSTEMTIME, *PTSTR, *PUCHAR;
typedef struct own *PTIME_ZONE_INFORMATION, *PUINT, *PULARGE_INTEGER, *PULONG, *PULONG64;
typedef struct own *PULONGLONG, *PUSHORT, *PVOID, *PWCHAR, *PWORD, *PWSTR;

extern GUID IsEqualGUID, GetLastError, SetLastError;
