/* SPDX-License-Identifier: BSD-2-Clause */
/* Copyright (c) 2026 the etwas authors */

/* Prepares what must exist before the first control call: tables, locks, and the fork handlers. */
#ifndef ETWAS_CONTROL_PREPARE_H
#define ETWAS_CONTROL_PREPARE_H

#include <stdint.h>

/*
 * Called first by every control call, except those with a handle, which an earlier call has
 * returned.
 */
void etwas_prepare(void);

/*
 * Does the same for a call that registers a provider, or starts or names a session.
 * ERROR_ALREADY_INITIALIZED: another copy of the library serves the process.
 */
uint32_t etwas_prepare_to_serve(void);

/*
 * Called before the first session can start: it makes a program linked with libetwas.a include
 * at_exit.c, which stops sessions at the end of a process (etwas_exit_wait in etwas.h).
 */
void etwas_at_exit_prepare(void);

#endif
