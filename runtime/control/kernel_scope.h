/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a system logger may record, thread by thread: the scope of those that the calling thread
 * starts, and why the kernel refused its last start or update, for etwas_kernel_refusal.
 */
#ifndef ETWAS_CONTROL_KERNEL_SCOPE_H
#define ETWAS_CONTROL_KERNEL_SCOPE_H

#include <stdint.h>

#include "provider/unavailability.h"

/* ETWAS_KERNEL_SCOPE_* */
uint32_t etwas_kernel_scope_of_thread(void);

/* Stores the result of a start or update of a system logger, also of one that succeeded. */
void etwas_kernel_refusal_store(const struct etwas_unavailability *fault);

#endif
