/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The system providers, each a part of what a system logger can record, and what their keywords mean here.
 * Each event has one keyword, so MatchAllKeyword with two of them matches none.
 *
 * Windows has eight masks of what is wanted, a bit for each kind of event, the first of which are EnableFlags.
 * Some bits of the others (PERF_... of its ntwmi.h) mean the same as a flag or a keyword.
 */
#ifndef ETWAS_SYSTEM_KEYWORDS_H
#define ETWAS_SYSTEM_KEYWORDS_H

#include <etwas/types.h>
#include <stdint.h>

#include "system/settings.h"

/* Which of them it is; ETWAS_SYSTEM_PROVIDERS: none. */
uint32_t etwas_system_provider_of(const etwas_guid *guid);

/* 0 to ETWAS_SYSTEM_PROVIDERS - 1. */
const etwas_guid *etwas_system_provider_guid(uint32_t provider);

/* What it is asked for (requested_events.h); 0 where it is not enabled. */
uint64_t etwas_system_provider_requested(const struct etwas_system_settings *settings,
                                         uint32_t provider);

/* What EnableFlags and the other masks want. */
uint64_t etwas_settings_masks_requested(const struct etwas_system_settings *settings);

/* All that is wanted: by these, and by each system provider. */
uint64_t etwas_settings_requested(const struct etwas_system_settings *settings);

/* Takes it out of the flags, and of the other masks' bits and system providers all that want any of it. */
void etwas_settings_drop(struct etwas_system_settings *settings, uint64_t requested);

#endif
