/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the calling thread wants of the system loggers that it starts: kept for etwas_kernel_scope.
 */
#ifndef ETWAS_CONTROL_KERNEL_SCOPE_H
#define ETWAS_CONTROL_KERNEL_SCOPE_H

#include <stdint.h>

/* ETWAS_KERNEL_SCOPE_* */
uint32_t etwas_kernel_scope_of_thread(void);

#endif
