/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * A real control group with a limit of memory, of version 1 or 2: whichever the machine lets us
 * make.
 */
#ifndef ETWAS_SUPPORT_MEMORY_GROUP_H
#define ETWAS_SUPPORT_MEMORY_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Below that of this process, which is one at a time. False: it is not granted. */
bool memory_group_make(uint64_t limit_bytes);

/*
 * The calling process is in it from here on, and so are the children that it makes; or in the one
 * it came from.
 */
bool memory_group_enter(void);
bool memory_group_leave(void);

/* Bytes that are charged to it now. */
uint64_t memory_group_used_bytes(void);

/* Processes of it that the kernel has killed for want of memory. */
uint64_t memory_group_kills(void);

/* Its processes have ended, or left. */
bool memory_group_remove(void);

#endif
