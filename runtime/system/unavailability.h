/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/*
 * Describes why kernel events are not available: by one of ETW's error codes, and by a sentence
 * that names what is missing.
 */
#ifndef ETWAS_SYSTEM_UNAVAILABILITY_H
#define ETWAS_SYSTEM_UNAVAILABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider/source.h"

/*
 * Returns ERROR_SUCCESS, ERROR_ACCESS_DENIED, ERROR_NOT_SUPPORTED (by this kernel), ERROR_NOT_FOUND
 * (the processor does not run), ERROR_PATH_NOT_FOUND (no tracefs, no /proc),
 * ERROR_NOT_ENOUGH_MEMORY, or else ERROR_NO_SYSTEM_RESOURCES.
 */
uint32_t etwas_unavailability_code(const struct etwas_unavailability *reason);

/* Whether a smaller ring may succeed. */
bool etwas_unavailability_is_memory(const struct etwas_unavailability *reason);

/*
 * Writes the sentence into `text`, cut to `room`. Reads the process's capabilities and the
 * machine's settings.
 */
void etwas_unavailability_explain(const struct etwas_unavailability *reason, char *text,
                                  size_t room);

#endif
