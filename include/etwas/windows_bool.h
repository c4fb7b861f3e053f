/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_WINDOWS_BOOL_H
#define ETWAS_WINDOWS_BOOL_H

/*
 * BOOL, which no function of ETW takes. It is separate because other headers (X, Objective-C)
 * define another type with this name. The headers in etwas/windows include it.
 */

#include <etwas/types.h>

typedef int32_t BOOL;
typedef BOOL *PBOOL, *LPBOOL;

#endif
