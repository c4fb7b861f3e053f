/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The nests of all processors (nest.h), as a topic's state.
 */
#ifndef ETWAS_SYSTEM_GROUPS_NESTS_H
#define ETWAS_SYSTEM_GROUPS_NESTS_H

#include "system/groups/nest.h"
#include "system/stream/event_group.h"

/* A topic's open and take_loss; free is its close. */
void *etwas_nests_open(const struct etwas_event_group_host *host);
void etwas_nests_take_loss(void *state, uint32_t slot);

/* The sample is its beginning. `routine`: as etwas_nests_end shall give it back. */
void etwas_nests_begin(const struct etwas_source_event *event, uint32_t kind, uint64_t key,
                       uint64_t routine);

/* The sample is its end. Where nobody saw it begin it is since now, and has this routine. */
struct etwas_nested etwas_nests_end(const struct etwas_source_event *event, uint32_t kind,
                                    uint64_t key, uint64_t routine);

#endif
