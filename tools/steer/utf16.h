/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_UTF16_H
#define ETWAS_TOOLS_STEER_UTF16_H

/*
 * Arguments, which are UTF-8, as ETW wants some of them: in UTF-16.
 */

#include <etwas/types.h>

#include <stddef.h>

/*
 * The text with its 0 in `room` units. Returns how many there are without the 0; 0 where it is
 * empty, too long or not well formed.
 */
size_t etwas_steer_utf16(const char *text, etwas_wchar *units, size_t room);

#endif
