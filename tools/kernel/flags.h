/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_KERNEL_FLAGS_H
#define ETWAS_TOOLS_KERNEL_FLAGS_H

/*
 * EnableFlags of a kernel session by the names that `etwas record` takes: ETW's without
 * EVENT_TRACE_FLAG_, in small letters.
 */

#include <stddef.h>
#include <stdint.h>

/* In any case; 0: none is called so. */
uint32_t etwas_flags_find(const char *name, size_t length);

/* The name of one of the flags, which is taken out; NULL: none has one. */
const char *etwas_flags_next(uint32_t *flags);

#endif
