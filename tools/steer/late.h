/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */
#ifndef ETWAS_TOOLS_STEER_LATE_H
#define ETWAS_TOOLS_STEER_LATE_H

/*
 * Providers that are registered after a session has enabled their name. The GUID of a name that
 * nobody has registered is the one made of it; a program may come later, and have chosen another
 * for a provider that calls itself so.
 */

#include "steer/provider.h"

#include <etwas/evntrace.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * From now on a thread enables such providers in the session, each a few milliseconds after it was
 * registered, and says so on standard error. It does nothing if no provider is given by name. The
 * arguments must last as long as the process; `filter` may be NULL. Called once. False: there is
 * no thread.
 */
bool etwas_steer_late_begin(const char *command, TRACEHANDLE session,
                            const struct etwas_steer_provider *providers, uint32_t count,
                            EVENT_FILTER_DESCRIPTOR *filter);

/* Ends the thread, if there is one: before the session is stopped. */
void etwas_steer_late_end(void);

#endif
