/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_FLAGS_H
#define ETWAS_TOOLS_KERNEL_FLAGS_H

/*
 * The EnableFlags of a kernel session by the names that `etwas record` takes: ETW's names in lower
 * case, without EVENT_TRACE_FLAG_.
 */

#include <stddef.h>
#include <stdint.h>

/* Returns the flags of a name, ignoring case; 0 if there is no such name. */
uint32_t etwas_flags_find(const char *name, size_t length);

/* Removes one of the flags and returns its name; NULL if no flag has one. */
const char *etwas_flags_next(uint32_t *flags);

#endif
