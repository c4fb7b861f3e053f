/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_NAME_HASH_H
#define ETWAS_TOOLS_STEER_NAME_HASH_H

/*
 * The GUID that a provider has by its name, as TraceLogging's and EventSource's providers do unless they choose
 * another one: of a SHA-1 over the name in upper case, in UTF-16 with the high byte first, behind 16 bytes that
 * are always the same.
 */

#include <etwas/types.h>

#include <stdbool.h>
#include <stddef.h>

/* False: the name is empty, not UTF-8, or longer than a provider's may be. */
bool etwas_steer_name_hash(const char *name, etwas_guid *guid);

#endif
