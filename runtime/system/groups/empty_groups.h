/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableFlags that are accepted and of which nothing is ever told, since Linux has nothing of the kind.
 */
#ifndef ETWAS_SYSTEM_GROUPS_EMPTY_GROUPS_H
#define ETWAS_SYSTEM_GROUPS_EMPTY_GROUPS_H

#include <stddef.h>
#include <stdint.h>

/* Those among them. */
uint32_t etwas_empty_group_flags(uint32_t flags);

/* Why, of those among them, in a sentence; empty: there are none. Cut where there is no room. */
void etwas_empty_group_explain(uint32_t flags, char *text, size_t room);

struct etwas_event_group_host;

/* In the file, while a topic runs down: the flag records nothing, or less than it should, as the reason says. */
void etwas_empty_group_emit(const struct etwas_event_group_host *host, uint32_t flag,
                            const char *reason);

#endif
