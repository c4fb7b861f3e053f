/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Error codes: the last one of each thread, for functions that cannot return a code (OpenTrace,
 * GetTraceLoggerHandle…), and the meaning of each code of <etwas/winerror.h>.
 */
#include <etwas/etwas.h>
#include <etwas/winerror.h>

/* ---- the last error -------------------------------------------------------------------------- */

static _Thread_local uint32_t last_error;

uint32_t etwas_GetLastError(void)
{
    return last_error;
}

void etwas_SetLastError(uint32_t ErrorCode)
{
    last_error = ErrorCode;
}

/* ---- meanings -------------------------------------------------------------------------------- */

static const struct {
    uint32_t code;
    const char *text;
} errors[] = {
    {ERROR_SUCCESS, "success"},
    {ERROR_INVALID_FUNCTION, "the function cannot be used here"},
    {ERROR_FILE_NOT_FOUND, "there is no such file"},
    {ERROR_PATH_NOT_FOUND, "there is no such folder"},
    {ERROR_ACCESS_DENIED, "access is denied"},
    {ERROR_INVALID_HANDLE, "the handle is not valid, or what it stood for has ended"},
    {ERROR_NOT_ENOUGH_MEMORY, "there is not enough memory, or no free buffer"},
    {ERROR_INVALID_DATA, "the data are not valid"},
    {ERROR_OUTOFMEMORY, "the system gives no more memory"},
    {ERROR_BAD_LENGTH, "a length or a count is wrong"},
    {ERROR_WRITE_FAULT, "the file could not be written"},
    {ERROR_SHARING_VIOLATION, "another process uses the file"},
    {ERROR_NOT_SUPPORTED, "not supported"},
    {ERROR_INVALID_PARAMETER, "a parameter is not valid"},
    {ERROR_BROKEN_PIPE, "the other end of the connection is closed"},
    {ERROR_BUFFER_OVERFLOW, "the text does not fit"},
    {ERROR_DISK_FULL, "the disk is full, or a quota or a limit of file sizes is reached"},
    {ERROR_INSUFFICIENT_BUFFER, "the caller's buffer is too small"},
    {ERROR_INVALID_NAME, "the name is not valid"},
    {ERROR_BAD_PATHNAME, "the file's name is missing, not valid, or in use"},
    {ERROR_BUSY, "it is in use"},
    {ERROR_ALREADY_EXISTS, "a session of that name or GUID exists"},
    {ERROR_INVALID_FLAG_NUMBER, "the event's flags are not valid"},
    {ERROR_FILENAME_EXCED_RANGE, "the file's name is too long"},
    {ERROR_MORE_DATA, "it does not fit"},
    {ERROR_ARITHMETIC_OVERFLOW, "the event is larger than any may be"},
    {ERROR_NOACCESS, "an address is not valid"},
    {ERROR_INVALID_FLAGS, "the flags are not valid"},
    {ERROR_NOT_FOUND, "it was not found"},
    {ERROR_CANCELLED, "cancelled by a callback"},
    {ERROR_PRIVILEGE_NOT_HELD, "a privilege is missing"},
    {ERROR_FILE_CORRUPT, "the file is damaged, or no trace"},
    {ERROR_NO_SYSTEM_RESOURCES, "no more of them can exist at once"},
    {ERROR_TIMEOUT, "the time is over"},
    {ERROR_ALREADY_INITIALIZED, "another copy of the library is at work in this process"},
    {ERROR_LOG_FILE_FULL, "the backlog for real time is full"},
    {ERROR_INVALID_TIME, "the time is not valid"},
    {ERROR_ACTIVE_CONNECTIONS, "the session is being stopped"},
    {ERROR_WMI_GUID_NOT_FOUND, "the GUID is not known"},
    {ERROR_WMI_INSTANCE_NOT_FOUND, "no such session runs"},
    {ERROR_WMI_ALREADY_ENABLED, "it is enabled already"},
    {ERROR_CTX_CLOSE_PENDING, "closed; what uses it comes to its end"},
    {ERROR_EVT_INVALID_EVENT_DATA, "the event's data are not valid"},
    {STATUS_LOG_FILE_FULL, "the log file is full"},
};

const char *etwas_error_text(uint32_t code)
{
    for (size_t index = 0; index < sizeof errors / sizeof errors[0]; index++) {
        if (errors[index].code == code) {
            return errors[index].text;
        }
    }
    return "unknown error";
}
