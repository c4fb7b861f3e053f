/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Classes whose instances are triggers of a flight recorder when they take too long.
 *
 *     mark    with the control lock held: limit 0, then who is asked, then the limit
 *     ask     anybody: the limit, who is asked, and the limit again; what changed meanwhile asks for nothing
 */
#ifndef ETWAS_PROVIDER_SLOW_CLASS_H
#define ETWAS_PROVIDER_SLOW_CLASS_H

#include <etwas/types.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * From now on an instance of the class that takes longer than `ticks` of `clock` asks `session`, which is a
 * handle; 0 ticks: none does. False: the class is not registered.
 */
bool etwas_slow_class_set_limit(etwas_handle class_handle, etwas_trace_handle session,
                                uint64_t ticks, uint32_t clock);

#endif
