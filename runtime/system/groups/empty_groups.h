/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableFlags that are accepted and have no events, since Linux has nothing of the kind.
 */
#ifndef ETWAS_SYSTEM_GROUPS_EMPTY_GROUPS_H
#define ETWAS_SYSTEM_GROUPS_EMPTY_GROUPS_H

#include <stddef.h>
#include <stdint.h>

/* Returns those among the flags. */
uint32_t etwas_empty_group_flags(uint32_t flags);

/*
 * Writes a sentence on why they have no events, cut to `room`; empty: none of the flags is one of
 * them.
 */
void etwas_empty_group_explain(uint32_t flags, char *text, size_t room);

struct etwas_event_group_host;

/* Emits during a rundown that the flag has no events, or fewer than it should, for this reason. */
void etwas_empty_group_emit(const struct etwas_event_group_host *host, uint32_t flag,
                            const char *reason);

#endif
