/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Why the kernel refused the calling thread's last start or update: stored for
 * etwas_kernel_refusal.
 */
#ifndef ETWAS_CONTROL_KERNEL_REFUSAL_H
#define ETWAS_CONTROL_KERNEL_REFUSAL_H

#include "provider/unavailability.h"

/* Stores the result of a start or update of a system logger, also of one that succeeded. */
void etwas_kernel_refusal_store(const struct etwas_unavailability *fault);

#endif
