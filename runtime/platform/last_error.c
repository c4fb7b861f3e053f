/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The thread's last error: how functions that cannot return a code (OpenTrace,
 * GetTraceLoggerHandle…) say why they failed.
 */
#include <etwas/winerror.h>

static _Thread_local uint32_t last_error;

uint32_t etwas_GetLastError(void)
{
    return last_error;
}

void etwas_SetLastError(uint32_t ErrorCode)
{
    last_error = ErrorCode;
}
