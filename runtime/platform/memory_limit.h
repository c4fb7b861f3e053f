/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * How much memory a pool may take: half of what the process has. That is the machine's memory, or
 * the least that its control group and the groups around it are allowed.
 */
#ifndef ETWAS_PLATFORM_MEMORY_LIMIT_H
#define ETWAS_PLATFORM_MEMORY_LIMIT_H

#include <stdint.h>

uint64_t etwas_memory_limit_bytes(void);

/*
 * The limit of the control groups, in both versions of the interface; UINT64_MAX: none. All paths
 * begin with `root`: "" is the machine, tests name a folder of made-up files.
 */
uint64_t etwas_control_group_limit_bytes(const char *root);

#endif
