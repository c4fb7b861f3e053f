/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The meaning of the keywords of system providers (provider/system_providers.h). Every event has
 * one keyword, so a MatchAllKeyword of two keywords matches nothing.
 *
 * Windows has eight masks, with a bit for each kind of event; EnableFlags are the first mask. Some
 * bits of the other masks (PERF_... in its ntwmi.h) mean the same as a flag or a keyword.
 */
#ifndef ETWAS_SYSTEM_KEYWORDS_H
#define ETWAS_SYSTEM_KEYWORDS_H

#include <stdint.h>

#include "provider/system_providers.h"

/* Returns the keywords of the provider that deliver events: a verb of provider/source.h. */
uint64_t etwas_system_provider_keywords(uint32_t provider);

/* Returns what the provider is requested to record; 0: it is not enabled. */
uint64_t etwas_system_provider_requested(const struct etwas_system_settings *settings,
                                         uint32_t provider);

/* Returns what EnableFlags and the other masks request. */
uint64_t etwas_settings_masks_requested(const struct etwas_system_settings *settings);

/* Returns what the masks and all system providers request together. */
uint64_t etwas_settings_requested(const struct etwas_system_settings *settings);

/*
 * Removes these bits from EnableFlags. Also removes each bit of the other masks, and each provider,
 * that requests any of them.
 */
void etwas_settings_drop(struct etwas_system_settings *settings, uint64_t requested);

/*
 * What a system logger is requested to record, as 64 bits. The lower half are EnableFlags. The
 * upper half are distinctions that keywords of system providers make and flags do not.
 */

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
