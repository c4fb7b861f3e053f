/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * The nests of all processors (nest.h), as the state of an event group.
 */
#ifndef ETWAS_SYSTEM_GROUPS_NESTS_H
#define ETWAS_SYSTEM_GROUPS_NESTS_H

#include "system/groups/nest.h"
#include "system/stream/event_group.h"

/* The group's open and handle_loss; its close is free. */
void *etwas_nests_open(const struct etwas_event_group_host *host);
void etwas_nests_take_loss(void *state, uint32_t slot);

/* The event is a beginning. etwas_nests_end returns its `routine`. */
void etwas_nests_begin(const struct etwas_source_event *event, uint32_t kind, uint64_t key,
                       uint64_t routine);

/*
 * The event is an end. If its beginning is not known, the result begins now and has this `routine`.
 */
struct etwas_nested etwas_nests_end(const struct etwas_source_event *event, uint32_t kind,
                                    uint64_t key, uint64_t routine);

#endif
