/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a system logger is requested to record, as bits: EnableFlags in the lower half of 64 bits,
 * in the upper half what keywords of system providers distinguish and no flag does.
 */
#ifndef ETWAS_SYSTEM_REQUESTED_EVENTS_H
#define ETWAS_SYSTEM_REQUESTED_EVENTS_H

#include <stdint.h>

/*
 * Parts of EVENT_TRACE_FLAG_INTERRUPT: a processor's own timer, and calls from one processor to
 * another.
 */
#define ETWAS_REQUESTED_CLOCK_INTERRUPT (UINT64_C(1) << 32)
#define ETWAS_REQUESTED_PROCESSOR_CALL (UINT64_C(1) << 33)

/*
 * Events of SystemConfig, by their types (ETWAS_INVENTORY_*); they are emitted when they are newly
 * requested.
 */
#define ETWAS_REQUESTED_INVENTORY(type) (UINT64_C(1) << (32 + (type)))

#define ETWAS_REQUESTED_EVERY_INVENTORY                                                            \
    (~(uint64_t)UINT32_MAX & ~(ETWAS_REQUESTED_CLOCK_INTERRUPT | ETWAS_REQUESTED_PROCESSOR_CALL))

/* The types of inventory events, one bit each, as etwas_inventory_emit takes them. */
static inline uint32_t etwas_requested_inventory(uint64_t requested)
{
    return (uint32_t)((requested & ETWAS_REQUESTED_EVERY_INVENTORY) >> 32);
}

#endif
