/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

#include "platform/last_error.h"

#include <etwas/winerror.h>

static _Thread_local uint32_t last_error;

uint32_t etwas_last_error(void)
{
    return last_error;
}

void etwas_set_last_error(uint32_t code)
{
    last_error = code;
}

uint32_t etwas_GetLastError(void)
{
    return last_error;
}

void etwas_SetLastError(uint32_t ErrorCode)
{
    last_error = ErrorCode;
}
