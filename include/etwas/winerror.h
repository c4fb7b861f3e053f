/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_WINERROR_H
#define ETWAS_WINERROR_H

/*
 * The Win32 codes that ETW functions return, and the thread's last error.
 *
 * A host header that defines the same codes must be included first; its definitions stay.
 */

#include <etwas/types.h>

#ifndef ETWAS_NO_WINDOWS_TYPES
#include <etwas/windows_types.h>
#endif

ETWAS_BEGIN_DECLS

/*
 * The reason of this thread's last failure of a function that cannot return a code: OpenTrace,
 * GetTraceLoggerHandle, GetTraceEnableLevel, GetTraceEnableFlags. Functions that return a code
 * leave it as it is. Starts as ERROR_SUCCESS in each thread.
 *
 * Each thread has its own. Safe in signal handlers; a handler that calls a function listed above
 * saves and restores the value.
 *
 * ETW page: "GetLastError function", "SetLastError function".
 */
uint32_t etwas_GetLastError(void) ETWAS_API(etwas_GetLastError);
void etwas_SetLastError(uint32_t ErrorCode) ETWAS_API(etwas_SetLastError);

/* The Windows names of the two, left out where the host may have functions of these names. */
#ifndef ETWAS_NO_WINDOWS_TYPES
uint32_t GetLastError(void) ETWAS_API(etwas_GetLastError);
void SetLastError(uint32_t ErrorCode) ETWAS_API(etwas_SetLastError);
#endif

ETWAS_END_DECLS

#ifndef ERROR_SUCCESS
#define ERROR_SUCCESS 0u
#endif
#ifndef ERROR_INVALID_FUNCTION
#define ERROR_INVALID_FUNCTION 1u
#endif
#ifndef ERROR_FILE_NOT_FOUND
#define ERROR_FILE_NOT_FOUND 2u
#endif
#ifndef ERROR_PATH_NOT_FOUND
#define ERROR_PATH_NOT_FOUND 3u
#endif
#ifndef ERROR_ACCESS_DENIED
#define ERROR_ACCESS_DENIED 5u
#endif
#ifndef ERROR_INVALID_HANDLE
#define ERROR_INVALID_HANDLE 6u
#endif
#ifndef ERROR_NOT_ENOUGH_MEMORY
#define ERROR_NOT_ENOUGH_MEMORY 8u
#endif
#ifndef ERROR_INVALID_DATA
#define ERROR_INVALID_DATA 13u
#endif
#ifndef ERROR_OUTOFMEMORY
#define ERROR_OUTOFMEMORY 14u
#endif
#ifndef ERROR_BAD_LENGTH
#define ERROR_BAD_LENGTH 24u
#endif
#ifndef ERROR_WRITE_FAULT
#define ERROR_WRITE_FAULT 29u
#endif
#ifndef ERROR_SHARING_VIOLATION
#define ERROR_SHARING_VIOLATION 32u
#endif
#ifndef ERROR_NOT_SUPPORTED
#define ERROR_NOT_SUPPORTED 50u
#endif
#ifndef ERROR_INVALID_PARAMETER
#define ERROR_INVALID_PARAMETER 87u
#endif
#ifndef ERROR_BROKEN_PIPE
#define ERROR_BROKEN_PIPE 109u
#endif
#ifndef ERROR_BUFFER_OVERFLOW
#define ERROR_BUFFER_OVERFLOW 111u
#endif
#ifndef ERROR_DISK_FULL
#define ERROR_DISK_FULL 112u
#endif
#ifndef ERROR_INSUFFICIENT_BUFFER
#define ERROR_INSUFFICIENT_BUFFER 122u
#endif
#ifndef ERROR_INVALID_NAME
#define ERROR_INVALID_NAME 123u
#endif
#ifndef ERROR_BAD_PATHNAME
#define ERROR_BAD_PATHNAME 161u
#endif
#ifndef ERROR_BUSY
#define ERROR_BUSY 170u
#endif
#ifndef ERROR_ALREADY_EXISTS
#define ERROR_ALREADY_EXISTS 183u
#endif
#ifndef ERROR_INVALID_FLAG_NUMBER
#define ERROR_INVALID_FLAG_NUMBER 186u
#endif
#ifndef ERROR_FILENAME_EXCED_RANGE
#define ERROR_FILENAME_EXCED_RANGE 206u
#endif
#ifndef ERROR_MORE_DATA
#define ERROR_MORE_DATA 234u
#endif
#ifndef ERROR_ARITHMETIC_OVERFLOW
#define ERROR_ARITHMETIC_OVERFLOW 534u
#endif
#ifndef ERROR_NOACCESS
#define ERROR_NOACCESS 998u
#endif
#ifndef ERROR_INVALID_FLAGS
#define ERROR_INVALID_FLAGS 1004u
#endif
#ifndef ERROR_NOT_FOUND
#define ERROR_NOT_FOUND 1168u
#endif
#ifndef ERROR_CANCELLED
#define ERROR_CANCELLED 1223u
#endif
#ifndef ERROR_ALREADY_INITIALIZED
#define ERROR_ALREADY_INITIALIZED 1247u
#endif
#ifndef ERROR_PRIVILEGE_NOT_HELD
#define ERROR_PRIVILEGE_NOT_HELD 1314u
#endif
#ifndef ERROR_FILE_CORRUPT
#define ERROR_FILE_CORRUPT 1392u
#endif
#ifndef ERROR_NO_SYSTEM_RESOURCES
#define ERROR_NO_SYSTEM_RESOURCES 1450u
#endif
#ifndef ERROR_TIMEOUT
#define ERROR_TIMEOUT 1460u
#endif
#ifndef ERROR_LOG_FILE_FULL
#define ERROR_LOG_FILE_FULL 1502u
#endif
#ifndef ERROR_INVALID_TIME
#define ERROR_INVALID_TIME 1901u
#endif
#ifndef ERROR_ACTIVE_CONNECTIONS
#define ERROR_ACTIVE_CONNECTIONS 2402u
#endif
#ifndef ERROR_WMI_GUID_NOT_FOUND
#define ERROR_WMI_GUID_NOT_FOUND 4200u
#endif
#ifndef ERROR_WMI_INSTANCE_NOT_FOUND
#define ERROR_WMI_INSTANCE_NOT_FOUND 4201u
#endif
#ifndef ERROR_WMI_ALREADY_ENABLED
#define ERROR_WMI_ALREADY_ENABLED 4206u
#endif
#ifndef ERROR_CTX_CLOSE_PENDING
#define ERROR_CTX_CLOSE_PENDING 7007u
#endif
#ifndef ERROR_EVT_INVALID_EVENT_DATA
#define ERROR_EVT_INVALID_EVENT_DATA 15005u
#endif
/* An HRESULT of a code. It is negative for an error. */
#ifndef HRESULT_FROM_WIN32
#define HRESULT_FROM_WIN32(code)                                                                   \
    ((int32_t)((code) == 0 ? 0u : ((uint32_t)(code)&0xFFFFu) | 0x80070000u))
#endif
#ifndef S_OK
#define S_OK ((int32_t)0)
#endif
#ifndef SUCCEEDED
#define SUCCEEDED(result) ((int32_t)(result) >= 0)
#endif
#ifndef FAILED
#define FAILED(result) ((int32_t)(result) < 0)
#endif
/* An NTSTATUS. The functions return its Win32 twin, ERROR_LOG_FILE_FULL. */
#ifndef STATUS_LOG_FILE_FULL
#define STATUS_LOG_FILE_FULL 0xC0000188u
#endif

#endif
