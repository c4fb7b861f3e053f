/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * EnableFlags that are accepted and of which nothing is ever told, since Linux has nothing of the kind.
 */
#ifndef ETWAS_SYSTEM_SILENT_H
#define ETWAS_SYSTEM_SILENT_H

#include <stddef.h>
#include <stdint.h>

/* Those among them. */
uint32_t etwas_silent_flags(uint32_t flags);

/* Why, of those among them, in a sentence; empty: there are none. Cut where there is no room. */
void etwas_silent_explain(uint32_t flags, char *text, size_t room);

#endif
