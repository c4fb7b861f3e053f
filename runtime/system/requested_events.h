/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What a system logger is wanted to record, bit by bit: EnableFlags in the lower half of 64 bits, in the
 * upper half what keywords of system providers tell apart and no flag does.
 */
#ifndef ETWAS_SYSTEM_REQUESTED_EVENTS_H
#define ETWAS_SYSTEM_REQUESTED_EVENTS_H

#include <stdint.h>

/* Of EVENT_TRACE_FLAG_INTERRUPT a processor's own timer, and what processors ask of each other. */
#define ETWAS_WANT_CLOCK_INTERRUPT (UINT64_C(1) << 32)
#define ETWAS_WANT_PROCESSOR_REQUEST (UINT64_C(1) << 33)

/* Events of SystemConfig of an enum etwas_inventory_type, told where they are newly wanted. */
#define ETWAS_WANT_INVENTORY(type) (UINT64_C(1) << (32 + (type)))

#define ETWAS_WANT_EVERY_INVENTORY                                                                 \
    (~(uint64_t)UINT32_MAX & ~(ETWAS_WANT_CLOCK_INTERRUPT | ETWAS_WANT_PROCESSOR_REQUEST))

/* As etwas_inventory_tell takes them. */
static inline uint32_t etwas_wants_inventory(uint64_t wants)
{
    return (uint32_t)((wants & ETWAS_WANT_EVERY_INVENTORY) >> 32);
}

#endif
