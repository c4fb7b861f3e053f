/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The thread's last error: how functions that cannot return a code (OpenTrace,
 * GetTraceLoggerHandle…) say why they failed. GetLastError and SetLastError of <etwas/winerror.h>
 * read and write the same word. One 32-bit word a thread; async-signal-safe.
 */
#ifndef ETWAS_PLATFORM_LAST_ERROR_H
#define ETWAS_PLATFORM_LAST_ERROR_H

#include <stdint.h>

uint32_t etwas_last_error(void);
void etwas_set_last_error(uint32_t code);

#endif
