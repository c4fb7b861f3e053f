/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The calls on a log file that tests make fail (etwas_file_set_failure_hook). Included only by
 * file.c and file_open.c.
 */
#ifndef ETWAS_PLATFORM_FILE_INTERNAL_H
#define ETWAS_PLATFORM_FILE_INTERNAL_H

#include <stdbool.h>

#include "platform/file.h"

#ifdef ETWAS_TESTPOINTS

/*
 * Returns the number of bytes that the call may transfer. If it is negative, the call fails with
 * errno.
 */
long etwas_file_call_permitted(enum etwas_log_file_call call, size_t bytes);

/* Whether a call without a length is made. */
#define PERMITTED(call) (etwas_file_call_permitted(ETWAS_FILE_##call, 0) >= 0)
#define PERMITTED_BYTES(call, bytes) etwas_file_call_permitted(ETWAS_FILE_##call, bytes)

#else

#define PERMITTED(call) true
#define PERMITTED_BYTES(call, bytes) ((long)(bytes))

#endif

#endif
