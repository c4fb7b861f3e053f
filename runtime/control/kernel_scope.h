/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* The scope of system loggers that the calling thread starts: stored for etwas_kernel_scope. */
#ifndef ETWAS_CONTROL_KERNEL_SCOPE_H
#define ETWAS_CONTROL_KERNEL_SCOPE_H

#include <stdint.h>

/* ETWAS_KERNEL_SCOPE_* */
uint32_t etwas_kernel_scope_of_thread(void);

#endif
