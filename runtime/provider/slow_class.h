/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Classes whose instances trigger a flight recorder when they take too long.
 *
 *     set     under the control lock: limit 0, then the session, then the limit
 *     read    any thread: the limit, the session, and the limit again; if it changed meanwhile
 *             nothing is triggered
 */
#ifndef ETWAS_PROVIDER_SLOW_CLASS_H
#define ETWAS_PROVIDER_SLOW_CLASS_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * From now on an instance of the class that takes longer than `ticks` of `clock` triggers
 * `session`, a handle; 0 ticks: none does. Returns false if the class is not registered.
 */
bool etwas_slow_class_set_limit(etwas_handle class_handle, etwas_trace_handle session,
                                uint64_t ticks, uint32_t clock);

#endif
