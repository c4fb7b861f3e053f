/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * What the keywords of system providers (provider/system_providers.h) mean. Every event has one
 * keyword, so a MatchAllKeyword of two keywords matches nothing.
 *
 * Windows has eight masks, with a bit for each kind of event; EnableFlags are the first mask. Some
 * bits of the other masks (PERF_... in its ntwmi.h) mean the same as a flag or a keyword.
 */
#ifndef ETWAS_SYSTEM_KEYWORDS_H
#define ETWAS_SYSTEM_KEYWORDS_H

#include <stdint.h>

#include "provider/system_settings.h"

/* Returns the keywords of the provider that deliver events: a verb of provider/source.h. */
uint64_t etwas_system_provider_keywords(uint32_t provider);

/* Returns what the provider is requested to record (requested_events.h); 0: it is not enabled. */
uint64_t etwas_system_provider_requested(const struct etwas_system_settings *settings,
                                         uint32_t provider);

/* Returns what EnableFlags and the other masks request. */
uint64_t etwas_settings_masks_requested(const struct etwas_system_settings *settings);

/* Returns what the masks and all system providers request together. */
uint64_t etwas_settings_requested(const struct etwas_system_settings *settings);

/*
 * Removes these bits from EnableFlags, and from the other masks and the providers every bit and
 * every provider that requests any of them.
 */
void etwas_settings_drop(struct etwas_system_settings *settings, uint64_t requested);

#endif
